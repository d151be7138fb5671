"""The whole way on real games: built-in suites, their codec, native rows in checkpoints, the oracle."""

import json

import pytest

pytest.importorskip("jax")

from agentenv_fast.evaluation import OracleAgent, RandomAgent, evaluate, load_run
from agentenv_fast.train import load_config, read_metrics, train
from agentenv_fast.train.metrics import TIMING

pytestmark = pytest.mark.slow

SETTINGS = {
    "suite": {"id": "keyquest-v0", "level": "easy", "size": 64},
    "train": {
        "total_steps": 6_144,
        "num_envs": 32,
        "rollout_steps": 16,
        "checkpoint_every": 1_500,
        "word_dropout": 0.1,
    },
    "eval": {"every": 2_000, "episodes": 16, "test_episodes": 16, "num_envs": 8},
    "policy": {"embed": 16, "hidden": 24, "pairs": 32, "match_pairs": 64, "slot_hidden": 8, "issued": 8},
    "ppo": {"minibatches": 2},
}


class Crash(Exception):
    pass


class CrashAt:
    """A display that fails once: to a run that is like any other sudden end."""

    def __init__(self, env_step):
        self.env_step = env_step

    def update(self, metrics):
        if metrics["env_step"] >= self.env_step:
            raise Crash

    def close(self):
        pass


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return train(load_config(SETTINGS), out=tmp_path_factory.mktemp("runs") / "whole")


def comparable(folder):
    return [{key: value for key, value in line.items() if key not in TIMING} for line in read_metrics(folder)]


def test_a_run_on_native_rows_resumes_to_the_same_numbers(whole, tmp_path):
    out = tmp_path / "crashed"
    with pytest.raises(Crash):
        train(load_config(SETTINGS), out=out, display=CrashAt(4_000))
    assert not (out / "results.json").exists()
    train(resume=out)
    assert comparable(out) == comparable(whole.folder)


def test_the_results_hold_the_oracle_and_a_random_policy(whole):
    results = json.loads((whole.folder / "results.json").read_text())
    assert results["oracle_success"] == 1.0 and results["random_success"] <= 0.3
    assert results["split"] == "test" and results["episodes"] == 16
    assert {"greedy_success", "sampled_success", "oracle_steps_mean"} <= set(results)


def test_the_run_folder_says_which_games_and_words_it_used(whole):
    suites = json.loads((whole.folder / "suite.json").read_text())
    assert suites["train"]["games"] == 64 and suites["test"]["hash"] != suites["train"]["hash"]
    run = load_run(whole.folder)
    assert run.codec is not None and "key" in run.codec.to_dict()["words"]


def test_a_run_plays_the_test_games_as_it_did_at_its_end(whole):
    import agentenv_fast as ae

    run = load_run(whole.folder)
    games = ae.suite("keyquest-v0", split="test", size=16, level="easy")
    report = evaluate(run.agent(), games, num_envs=16, make=run.make)
    assert report["success"] == whole.results["success"]
    assert [e["steps"] for e in report["by_game"]] == [e["steps"] for e in whole.results["by_game"]]


def test_the_oracle_needs_exactly_its_walkthrough_and_beats_chance():
    import agentenv_fast as ae

    games = ae.suite("keyquest-v0", split="test", size=24, level="easy")
    oracle = evaluate(OracleAgent(), games, num_envs=7)
    assert oracle["success"] == 1.0 and oracle["steps_mean"] == oracle["oracle_steps_mean"]
    assert evaluate(RandomAgent(), games, num_envs=7)["success"] < 0.5
