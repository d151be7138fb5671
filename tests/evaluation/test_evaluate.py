"""Every listed game once, whatever the batch; what is reported is what happened."""

import numpy as np
import pytest

from agentenv_fast.errors import ConfigError
from agentenv_fast.evaluation import OracleAgent, RandomAgent, evaluate
from tests.probe_envs import ProbeEnv
from tests.train.worlds import Games, ProbeWorlds


class Counting(ProbeEnv):
    """Counts row-steps and remembers which games were begun."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.stepped, self.begun = 0, []

    def step(self, action, rows=None):
        self.stepped += self.num_envs if rows is None else len(rows)
        return super().step(action, rows)

    def _restart(self, row, game=-1):
        self.begun.append(game)
        super()._restart(row, game)


class Fixed:
    """Always the same slot."""

    name = "fixed"

    def start(self, env, seed):
        pass

    def act(self, obs, first, game, step):
        return np.zeros(len(game), np.int32)


def run(num_envs, agent=None, **options):
    envs = []

    def make(suite, *, num_envs, max_episode_steps=None, **rest):
        envs.append(Counting("matching", num_envs, **rest))
        return envs[-1]

    report = evaluate(agent or Fixed(), Games("matching"), num_envs=num_envs, make=make, **options)
    return report, envs[-1]


@pytest.mark.parametrize("num_envs", [1, 5, 12, 64])
def test_each_game_is_played_once_and_no_row_is_stepped_in_vain(num_envs):
    report, env = run(num_envs)
    assert sorted(env.begun) == list(range(12)) and env.num_envs == min(num_envs, 12)
    assert [e["game"] for e in report["by_game"]] == list(range(12))
    assert env.stepped == report["env_steps"] == sum(e["steps"] for e in report["by_game"]) == 24
    assert report["success"] == pytest.approx(1 / 3) and report["won"] == 4
    assert report["success_low"] < 1 / 3 < report["success_high"]


@pytest.mark.parametrize("agent", [Fixed, RandomAgent])
def test_the_result_does_not_depend_on_the_number_of_rows(agent):
    reports = [run(n, agent(), seed=3)[0] for n in (1, 5, 12)]
    assert reports[0] == reports[1] == reports[2]


def test_another_seed_is_another_random_walk():
    walks = [tuple(e["won"] for e in run(4, RandomAgent(), seed=seed)[0]["by_game"]) for seed in range(4)]
    assert len(set(walks)) > 1


def test_chosen_games_and_a_number_of_episodes():
    report, _ = run(2, games=[5, 3])
    assert [e["game"] for e in report["by_game"]] == [5, 3]
    report, _ = run(2, episodes=4, split="valid")
    assert report["episodes"] == 4 and report["split"] == "valid"


def test_nothing_to_play_is_an_error():
    with pytest.raises(ConfigError, match="nothing to play: 12 games in the suite, episodes 0"):
        run(2, episodes=0)


def test_the_oracle_follows_the_walkthrough():
    class Known(Games):
        commands = ["take red key", "take blue key", "take green key"]

        def extra(self, index):
            return {"walkthrough": [self.commands[0], self.commands[index % 3]]}

    def make(suite, *, num_envs, max_episode_steps=None, **rest):
        env = ProbeWorlds("matching").make(suite, num_envs=num_envs, **rest)
        env.suite = suite
        return env

    report = evaluate(OracleAgent(), Known("matching"), num_envs=5, make=make)
    assert report["success"] == 1.0 and report["oracle_steps_mean"] == report["steps_mean"] == 2.0


def test_success_is_won_and_nothing_else():
    class Partial(Counting):
        """Pays well and never wins."""

        def step(self, action, rows=None):
            obs, reward, terminated, truncated, info = super().step(action, rows)
            info["won"][:] = False
            return obs, reward + 5, terminated, truncated, info

    report = evaluate(
        Fixed(),
        Games("matching"),
        make=lambda suite, num_envs, max_episode_steps, **rest: Partial("matching", num_envs, **rest),
    )
    assert report["success"] == 0.0 and report["return_mean"] > 9
