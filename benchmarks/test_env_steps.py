"""Env steps: one call of step() per round; `extra_info` has steps/s and what a step showed."""

import pytest

import agentenv_fast as ae
from agentenv_fast.cli import measure


@pytest.mark.parametrize("copy", [False, True], ids=["tuned", "default"])
@pytest.mark.parametrize("num_envs", [1, 1024])
@pytest.mark.parametrize("layer", ["admissible", "text", "tokens"])
def test_env_steps(benchmark, suite, layer, num_envs, copy):
    env = ae.make(suite, num_envs, seed=0, num_threads=1, copy=copy, **measure.LAYERS[layer])
    walk = measure.RandomWalk(env)
    benchmark.pedantic(walk.step, rounds=200, warmup_rounds=20, iterations=max(1, 64 // num_envs))
    benchmark.extra_info.update(
        steps_per_second=num_envs / benchmark.stats["median"],
        row_bytes=suite.caps.stride,
        admissible_per_step=float(walk.obs["admissible_count"].mean()),
    )
    assert benchmark.stats["median"] > 0


def test_fork_in_bulk(benchmark, suite):
    record = benchmark.pedantic(measure.forks, args=(suite,), kwargs={"seconds": 0.1}, rounds=1)
    benchmark.extra_info.update(record)
    assert record["forks_per_second"] > 0


def test_resets(benchmark, suite):
    record = benchmark.pedantic(measure.resets, args=(suite,), kwargs={"seconds": 0.1}, rounds=1)
    benchmark.extra_info.update(record)
    assert record["resets_per_second"] > 0
