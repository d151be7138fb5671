"""A run from start to end, its folder, and how it goes on after being stopped or killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax")

from agentenv_fast.errors import CheckpointError, ConfigError
from agentenv_fast.evaluation import evaluate, load_policy, load_run
from agentenv_fast.evaluation.runs import checkpoints
from agentenv_fast.train import load_config, read_metrics, train
from agentenv_fast.train.checkpoint import RunFolder
from agentenv_fast.train.metrics import TIMING
from tests.probe_envs import ProbeEnv
from tests.train.worlds import Games, ProbeWorlds

pytestmark = pytest.mark.slow  # a run compiles four programs

SETTINGS = {
    "suite": {"id": "probe"},
    "train": {"total_steps": 12_800, "num_envs": 32, "rollout_steps": 8, "checkpoint_every": 2_000},
    "eval": {"every": 3_000, "episodes": 12, "test_episodes": 12, "baselines": ["random"]},
    "policy": {
        "embed": 16,
        "hidden": 24,
        "pairs": 32,
        "match_pairs": 64,
        "positions": 3,
        "slot_hidden": 8,
        "issued": 8,
    },
    "ppo": {"minibatches": 2, "learning_rate": 1e-2, "discount": 0.9},
}

CHILD = """
import sys
from agentenv_fast.train import load_config, train
from tests.train.test_run import SETTINGS
from tests.train.worlds import ProbeWorlds

class Slow:  # so that a signal can hit the middle
    def update(self, metrics):
        import time
        time.sleep(0.05)
        print(metrics["env_step"], flush=True)
    def close(self):
        pass

out = sys.argv[1]
result = train(load_config(SETTINGS), out=out, worlds=ProbeWorlds("matching"), display=Slow())
print(result.status, result.message)
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nobody disturbed."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    return train(load_config(SETTINGS), out=out, worlds=ProbeWorlds("matching"))


def comparable(folder: Path) -> list[dict]:
    """Metrics without the fields that depend on the moment."""
    return [{key: value for key, value in line.items() if key not in TIMING} for line in read_metrics(folder)]


def start(out: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(out)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": "."},
    )


def test_a_run_learns_and_leaves_its_folder(whole):
    assert whole.status == "finished" and whole.results["success"] == 1.0
    assert whole.results["random_success"] < 0.9
    names = {path.name for path in whole.folder.iterdir()}
    assert {
        "config.yaml",
        "suite.json",
        "metrics.jsonl",
        "checkpoints",
        "results.json",
        "tensorboard",
    } <= names
    lines = read_metrics(whole.folder)
    trained = [line for line in lines if line["kind"] == "train"]
    assert [line["env_step"] for line in trained] == list(range(256, 12_801, 256))
    assert [line["kind"] for line in lines].count("eval") == 4
    last = lines[-1]
    assert (
        last["kind"] == "final"
        and last["success"] == 1.0
        and last["return"] == 1.0
        and last["loss"] is not None
    )
    assert list((whole.folder / "tensorboard").iterdir())
    assert json.loads((whole.folder / "results.json").read_text())["episodes"] == 12


def test_the_latest_checkpoints_and_the_best_are_kept(whole):
    kept = [int(path.name) for path in checkpoints(whole.folder)]
    assert kept[-1] == whole.env_step and whole.results["best_env_step"] in kept and len(kept) <= 3


def test_a_finished_run_resumes_to_the_same_results_without_training(whole):
    again = train(resume=whole.folder, worlds=ProbeWorlds("matching"))
    assert again.status == "finished" and again.results["success"] == whole.results["success"]


@pytest.mark.parametrize("wait_for", [5_000])
def test_a_killed_run_resumes_to_the_same_numbers_bit_for_bit(whole, tmp_path, wait_for):
    out = tmp_path / "killed"
    child = start(out)
    for line in child.stdout:
        if int(line.split()[0]) >= wait_for:
            child.kill()
            break
    child.wait(60)
    assert child.returncode == -signal.SIGKILL
    assert not (out / "results.json").exists()
    resumed = train(resume=out, worlds=ProbeWorlds("matching"))
    assert resumed.status == "finished"
    assert comparable(out) == comparable(whole.folder)
    for a, b in zip(checkpoints(out), checkpoints(whole.folder), strict=True):
        with np.load(a / "arrays.npz") as mine, np.load(b / "arrays.npz") as theirs:
            assert sorted(mine) == sorted(theirs)
            for name in mine:
                np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)


@pytest.mark.parametrize("saves", [1, 4])
def test_a_run_that_dies_right_after_a_save_loses_no_line(whole, tmp_path, monkeypatch, saves):
    from agentenv_fast.train import loop

    class Dies(loop.RunFolder):
        left = saves

        def save(self, *args):
            super().save(*args)
            Dies.left -= 1
            if Dies.left == 0:
                raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(loop, "RunFolder", Dies)
        with pytest.raises(SystemExit):
            train(load_config(SETTINGS), out=tmp_path / "run", worlds=ProbeWorlds("matching"))
    train(resume=tmp_path / "run", worlds=ProbeWorlds("matching"))
    assert comparable(tmp_path / "run") == comparable(whole.folder)


def test_an_interrupt_saves_and_says_how_to_resume(whole, tmp_path):
    out = tmp_path / "interrupted"
    child = start(out)
    next(child.stdout)
    child.send_signal(signal.SIGINT)
    said = child.stdout.read()
    assert child.wait(60) == 0
    assert (
        "interrupted stopped and saved at env step" in said and f"agentenv-fast train --resume {out}" in said
    )
    assert len(checkpoints(out)) == 1
    train(resume=out, worlds=ProbeWorlds("matching"))
    assert comparable(out) == comparable(whole.folder)


def test_a_run_without_a_checkpoint_starts_over(whole, tmp_path):
    out = tmp_path / "fresh"
    out.mkdir()
    (out / "config.yaml").write_text((whole.folder / "config.yaml").read_text())
    (out / "metrics.jsonl").write_text('{"kind": "train", "env_step": 256, "loss": 1e9}\n{"kind": "tr')
    train(resume=out, worlds=ProbeWorlds("matching"))
    assert comparable(out) == comparable(whole.folder)


def test_each_way_a_run_cannot_begin_is_explained(whole, tmp_path):
    with pytest.raises(
        CheckpointError, match="holds a run already; continue it with: agentenv-fast train --resume"
    ):
        train(load_config(SETTINGS), out=whole.folder, worlds=ProbeWorlds("matching"))
    with pytest.raises(CheckpointError, match=r"no config\.yaml: not a run folder"):
        train(resume=tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="goes on with its own settings"):
        train(load_config(SETTINGS), resume=whole.folder)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (
            lambda path: (path / "arrays.npz").write_bytes((path / "arrays.npz").read_bytes()[:-100]),
            "arrays.npz is damaged",
        ),
        (lambda path: (path / "rows.npz").unlink(), "rows.npz is missing"),
        (lambda path: (path / "meta.json").write_text("{"), "no readable meta.json"),
    ],
)
def test_a_damaged_checkpoint_is_refused_and_named(whole, tmp_path, harm, message):
    import shutil

    out = tmp_path / "damaged"
    shutil.copytree(whole.folder, out)
    (out / "results.json").unlink()
    harm(checkpoints(out)[-1])
    with pytest.raises(CheckpointError, match=message):
        train(resume=out, worlds=ProbeWorlds("matching"))


def test_a_checkpoint_of_another_policy_is_refused(whole, tmp_path):
    import shutil

    out = tmp_path / "other"
    shutil.copytree(whole.folder, out)
    (out / "results.json").unlink()
    text = (out / "config.yaml").read_text()
    (out / "config.yaml").write_text(text.replace("hidden: 24", "hidden: 20"))
    with pytest.raises(CheckpointError, match=r"float32\[24.*want float32\[20|want float32"):
        train(resume=out, worlds=ProbeWorlds("matching"))


def test_early_stopping_ends_a_run_at_the_target(tmp_path):
    config = load_config(SETTINGS, ["eval.every=1000", "eval.target=0.9", "train.tensorboard=false"])
    result = train(config, out=tmp_path / "run", worlds=ProbeWorlds("matching"))
    assert result.env_step < 12_000 and "reached eval.target" in result.results["stopped"]


def test_a_run_folder_gives_its_policy_back(whole):
    run = load_run(whole.folder)
    assert run.env_step == whole.results["best_env_step"]
    report = evaluate(run.agent(), Games("matching"), make=ProbeWorlds("matching").make, num_envs=5)
    assert report["success"] == 1.0
    policy = load_policy(whole.folder)
    env = ProbeEnv("matching", 1)
    obs, _ = env.reset(seed=3)
    carry = policy.start(env)
    for _ in range(2):
        chances, value, carry = policy.scores(obs, carry)
        assert chances.shape == (1, 3) and chances.sum() == pytest.approx(1.0) and value.shape == (1,)
        slot = chances.argmax(axis=1).astype(np.int32)
        carry = policy.issued(obs, carry, slot)
        obs, reward, *_ = env.step(slot)
    assert reward[0] == 1.0


def test_a_run_folder_that_cannot_be_read_is_explained(whole, tmp_path):
    with pytest.raises(CheckpointError, match="not a run folder"):
        load_run(tmp_path)
    with pytest.raises(CheckpointError, match="no checkpoint 7; there are"):
        load_run(whole.folder, checkpoint=7)


def test_displays_get_every_line(tmp_path):
    class Display:
        lines, closed = [], 0

        def update(self, metrics):
            self.lines.append(metrics)

        def close(self):
            self.closed += 1

    display = Display()
    config = load_config(SETTINGS, ["train.total_steps=512"])
    began = time.perf_counter()
    result = train(config, out=tmp_path / "run", worlds=ProbeWorlds("matching"), display=display)
    assert display.lines == read_metrics(result.folder) and display.closed == 1
    line = display.lines[0]
    assert 0 < line["elapsed_s"] < time.perf_counter() - began
    shares = [line[f"{part}_share"] for part in ("env", "policy", "copy", "learn")]
    assert all(share > 0 for share in shares) and 0.9 < sum(shares) <= 1.0


def test_replacing_a_checkpoint_never_deletes_under_its_name(tmp_path, monkeypatch):
    from agentenv_fast.learner import archive

    folder = tmp_path / "256"
    archive.save(folder, {"a": np.zeros(2)}, {})
    deleted = []
    monkeypatch.setattr(archive.shutil, "rmtree", lambda path, **_: deleted.append(Path(path).name))
    archive.save(folder, {"a": np.ones(2)}, {})
    assert deleted and "256" not in deleted
    np.testing.assert_array_equal(archive.load(folder, {"a": np.zeros(2)})["a"], np.ones(2))


def test_a_damaged_results_file_is_named_with_the_way_out(tmp_path):
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"results\.json: damaged .*delete it and resume"):
        RunFolder(tmp_path).results()
