"""The learner: env steps per second of whole training iterations, and where the time goes."""

import statistics

import pytest

pytest.importorskip("jax")


def test_training_iterations(benchmark, tmp_path):
    """Ten iterations of the default agent; the first two compile and are left out."""
    from agentenv_fast.train import load_config, read_metrics, train

    steps = 256 * 32
    config = load_config(
        {
            "suite": {"id": "keyquest-v0", "level": "easy", "size": 512},
            "train": {"num_envs": 256, "rollout_steps": 32, "total_steps": 10 * steps, "tensorboard": False},
            "eval": {"every": 1_000_000_000, "test_episodes": 0},
        }
    )
    benchmark.pedantic(train, args=(config,), kwargs={"out": tmp_path / "run"}, rounds=1)
    lines = [line for line in read_metrics(tmp_path / "run") if line["kind"] == "train"][2:]
    rates = [line["steps_per_s"] for line in lines]
    benchmark.extra_info.update(
        steps_per_second=statistics.median(rates),
        low=min(rates),
        high=max(rates),
        **{
            share: statistics.median(line[share] for line in lines)
            for share in lines[0]
            if share.endswith("_share")
        },
    )
    assert len(lines) == 8
