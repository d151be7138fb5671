"""train, eval, plot and play --policy on one small run."""

import io
import json
import sys

import pytest

from agentenv_fast import cli
from agentenv_fast.cli import play
from agentenv_fast.cli.suites import open_suite

pytest.importorskip("jax")
pytestmark = pytest.mark.slow

SMALL = {
    "suite.size": 32, "train.total_steps": 512, "train.num_envs": 16, "train.rollout_steps": 8,
    "train.checkpoint_every": 128, "eval.every": 256, "eval.episodes": 8, "eval.test_episodes": 12, "policy.hidden": 16,
    "policy.embed": 16, "ppo.epochs": 1, "ppo.minibatches": 1, "train.tensorboard": "false",
}  # fmt: skip


def leave(*argv: str) -> int:
    with pytest.raises(SystemExit) as done:
        cli.main(list(argv))
    return int(done.value.code or 0)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run folder, and what training printed on stdout and stderr."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    settings = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        assert leave("train", "keyquest-v0", "--out", str(folder), *settings) == 0
    return folder, out.getvalue(), err.getvalue()


def test_train_leaves_a_run_and_ends_with_its_results_as_json(run):
    folder, out, err = run
    last = json.loads(out.splitlines()[-1])
    results = json.loads((folder / "results.json").read_text())
    assert last["success"] == results["success"] and last["status"] == "finished" and last["episodes"] == 12
    assert last["oracle_success"] == 1.0 and 0 <= last["random_success"] <= 1
    assert "final  step 512" in err and f"next: agentenv-fast eval {folder}" in err


def test_a_finished_run_resumes_to_its_results(run, capsys):
    folder, out, _ = run
    assert leave("train", "--resume", str(folder)) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == json.loads(out.splitlines()[-1])


def test_a_second_run_in_the_same_folder_is_refused(run, capsys):
    assert leave("train", "keyquest-v0", "--out", str(run[0])) == 2
    assert "holds a run already" in capsys.readouterr().err


def test_eval_repeats_the_test_that_ended_the_training(run, capsys, tmp_path):
    folder, out, _ = run
    report = tmp_path / "report.json"
    assert leave("eval", str(folder), "--out", str(report)) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(report.read_text())
    ended = json.loads(out.splitlines()[-1])
    assert {key: found[key] for key in ("success", "episodes", "split", "return_mean")} == {
        key: ended[key] for key in ("success", "episodes", "split", "return_mean")
    }
    assert sorted(game["game"] for game in found["by_game"]) == list(range(12))


@pytest.mark.parametrize("policy", ["random", "oracle", "sampled"])
def test_eval_of_other_policies_and_games(run, capsys, policy):
    assert leave("eval", str(run[0]), "--policy", policy, "--split", "valid", "--episodes", "5") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["policy"], found["split"], found["episodes"]) == (policy, "valid", 5)
    assert policy != "oracle" or found["success"] == 1.0


def test_eval_on_another_suite(run, capsys):
    assert leave("eval", str(run[0]), "--suite", "coinhunt-v0", "--episodes", "3", "--policy", "oracle") == 0
    assert json.loads(capsys.readouterr().out)["suite"] == "coinhunt-v0"


def test_the_policy_reads_along_and_forgets_what_is_undone(run, capsys):
    suite = open_suite(["keyquest-v0"], split="test", size=1, level="easy")
    session = play.Session(suite, adviser=play.Adviser(run[0], suite))
    first, value = session.opinions(), session.adviser.value
    assert len(first) == len(session.commands) and sum(first) == pytest.approx(1, abs=1e-5)  # float32 softmax
    session.answer("1")
    session.answer("1")
    session.answer("undo")
    session.answer("undo")
    assert session.opinions() == first and session.adviser.value == value


def test_play_with_a_policy_takes_the_games_it_was_tested_on(run, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\nquit\n"))
    assert leave("play", "--policy", str(run[0])) == 0
    shown = capsys.readouterr().out
    assert "value" in shown and "%" in shown
