"""Trajectories hold what happened: episode ends, last observations, statistics, exclusions."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from agentenv_fast.policy import SmallConfig, SmallPolicy  # noqa: E402
from agentenv_fast.rollout.actor import Actor  # noqa: E402
from agentenv_fast.rollout.buffer import Width, Widths  # noqa: E402
from agentenv_fast.rollout.collect import Collector  # noqa: E402
from agentenv_fast.rollout.stats import EpisodeStats, wilson  # noqa: E402
from agentenv_fast.spec import Status  # noqa: E402
from tests.probe_envs import ProbeEnv  # noqa: E402

TINY = SmallConfig(
    embed=16, hidden=24, words=16, pairs=32, match_pairs=64, positions=3, slot_hidden=8, issued=8
)

ACTOR = Actor(SmallPolicy(TINY, np.zeros((3, 4), np.int32)))  # compiled once for all tests


def collector(env, steps=7, **options):
    commands = ACTOR.policy.table(env.command_tokens)
    return Collector(env, ACTOR, commands, steps, seed=0, **options), ACTOR.policy.init(0)


def test_next_value_follows_the_trajectory_and_ends_with_it():
    collect, params = collector(ProbeEnv("memory", 4))
    trajectory, log = collect.collect(params)
    ends = trajectory.terminated
    assert ends[2].all() and ends[5].all()  # episodes of three steps
    running = ~ends[:-1]
    np.testing.assert_array_equal(trajectory.next_value[:-1][running], trajectory.value[1:][running])
    assert (trajectory.next_value[ends] == 0).all()
    assert len(log.episodes) == 8 and all(e.length == 3 for e in log.episodes)
    last = trajectory.next_value[-1].copy()  # the arrays are reused
    after, _ = collect.collect(params)
    np.testing.assert_allclose(last, after.value[0], atol=1e-6)


def test_a_cut_episode_is_worth_its_own_last_observation_not_the_next_first():
    class Cut(ProbeEnv):
        """Ends by truncation in observations that say "goal", which no first observation does."""

        def step(self, action, rows=None):
            obs, reward, terminated, truncated, info = super().step(action, rows)
            for n in np.flatnonzero(truncated):
                info["final_obs"]["tokens"][n, :4] = [8, 8, 9, 9]
                info["final_obs"]["token_count"][n] = 4
            return obs, reward, terminated, truncated, info

    env = Cut("truncation", 4)
    collect, params = collector(env, steps=5)
    policy = collect.actor.policy
    trajectory, _ = collect.collect(params)
    assert trajectory.truncated[3].all()
    # The same by hand: run the policy along the four steps, then read the last observation.
    carry, forward, remember = policy.init_carry(4), jax.jit(policy.forward), jax.jit(policy.remember)
    for t in range(4):
        obs = {name: array[t] for name, array in trajectory.obs.items()}
        _, _, carry = forward(params, obs, carry, trajectory.first[t], commands=collect.commands)
        carry = remember(carry, obs, trajectory.action[t], commands=collect.commands)
    last = {
        **obs,
        "tokens": np.tile(np.array([8, 8, 9, 9, 0, 0, 0, 0], np.int32), (4, 1)),
        "token_count": np.full(4, 4),
    }
    np.testing.assert_allclose(
        trajectory.next_value[3], collect.actor.value(params, last, carry, collect.commands), atol=1e-5
    )
    assert (trajectory.next_value[3] != trajectory.value[4]).all()


@pytest.mark.parametrize(
    ("status", "learnt"), [(0, True), (1, True), (2, True), (3, False), (4, False), (5, True)]
)
def test_only_timeouts_and_faults_are_not_learnt_from(status, learnt):
    class Odd(ProbeEnv):
        def step(self, action, rows=None):
            result = super().step(action, rows)
            result[4]["status"][1] = status
            return result

    collect, params = collector(Odd("action", 4), steps=3)
    trajectory, log = collect.collect(params)
    assert (trajectory.valid[:, 1] == learnt).all() and trajectory.valid[:, [0, 2, 3]].all()
    assert log.excluded == (0 if learnt else 3)
    assert log.invalid_actions == (3 if status == Status.INVALID_ACTION else 0)


def test_a_row_whose_action_a_guard_replaced_is_not_learnt_from():
    class Guard:
        def check(self, obs, action):
            return np.where(np.arange(len(action)) == 2, (action + 1) % 2, action).astype(np.int32)

    class Recorder:
        actions = []

        def record(self, step, action):
            self.actions.append(action)

    recorder = Recorder()
    collect, params = collector(ProbeEnv("action", 4), steps=3, guards=[Guard()], recorders=[recorder])
    trajectory, _ = collect.collect(params)
    assert not trajectory.valid[:, 2].any() and trajectory.valid[:, [0, 1, 3]].all()
    assert (np.array(recorder.actions)[:, 2] != trajectory.action[:, 2]).all()


def test_statistics_of_episodes_are_exact_and_skip_dummy_rows():
    stats = EpisodeStats(2)
    no, yes = np.zeros(2, bool), np.ones(2, bool)
    info = {"valid": yes, "game": np.array([7, 8]), "won": np.array([True, False]), "lost": no}
    for t in range(3):
        stats.step(np.ones(2), yes if t == 2 else no, no, info)
    stats.step(np.full(2, 100.0), yes, no, {**info, "valid": no})  # next_step's dummy
    for t in range(3):
        stats.step(np.ones(2), no, yes if t == 2 else no, info)
    assert [(e.ret, e.length, e.won, e.truncated) for e in stats.recent] == [
        (3.0, 3, True, False), (3.0, 3, False, False), (3.0, 3, True, True), (3.0, 3, False, True)
    ]  # fmt: skip
    again = EpisodeStats(2)
    again.load(stats.state())
    assert list(again.recent) == list(stats.recent) and again.finished == 4


def test_wilson_equals_the_formula():
    def formula(k, n, z=1.959963984540054):
        centre, half = (k + z * z / 2) / (n + z * z), z / (n + z * z) * (k * (n - k) / n + z * z / 4) ** 0.5
        return centre - half, centre + half

    for k, n in ((0, 10), (190, 200), (5, 5)):
        assert wilson(k, n) == pytest.approx(formula(k, n), abs=1e-9)
    assert wilson(0, 0) == (None, None)


def test_padded_widths_grow_in_steps_and_never_shrink():
    width = Width(32, 100)
    assert [width.cover(n) for n in (1, 33, 5, 90, 100)] == [32, 64, 64, 96, 100]
    widths = Widths(64, 64)
    obs = {
        "tokens": np.zeros((2, 64)), "token_count": np.array([3, 40]),
        "admissible": np.zeros((2, 64)), "admissible_count": np.array([5, 2]),
    }  # fmt: skip
    trimmed = widths.trim(obs)
    assert trimmed["tokens"].shape == (2, 64) and trimmed["admissible"].shape == (2, 8)


def test_word_dropout_hides_the_same_words_all_through_an_episode_and_others_in_the_next():
    collect, params = collector(ProbeEnv("memory", 64), steps=6, word_dropout=0.5)
    trajectory, _ = collect.collect(params)
    tokens, first = trajectory.obs["tokens"][..., 0], trajectory.first
    hidden = tokens == 1
    assert 0.35 < hidden.mean() < 0.65
    waits = hidden[[1, 2, 4, 5]]  # the steps that say "wait"; two in each of two episodes
    np.testing.assert_array_equal(waits[0], waits[1])
    np.testing.assert_array_equal(waits[2], waits[3])
    assert first[3].all() and (waits[0] != waits[2]).any()
    again, _ = collector(ProbeEnv("memory", 64), steps=6, word_dropout=0.5)[0].collect(params)
    np.testing.assert_array_equal(again.obs["tokens"], trajectory.obs["tokens"])


def test_word_dropout_hides_the_last_observation_like_the_episode_it_ends():
    env = ProbeEnv("truncation", 32)
    collect, params = collector(env, steps=4, word_dropout=0.5)
    collect.collect(params)
    shown = collect.buffer.obs["tokens"][3, :, 0]
    hidden = shown == 1
    assert hidden.any() and not hidden.all()
    # Same text, same hidden words, and the carry one step on: two values only, one for each kind of row.
    ends = collect.buffer.arrays["next_value"][3]
    assert np.unique(np.round(ends[hidden], 5)).size == np.unique(np.round(ends[~hidden], 5)).size == 1
    assert abs(ends[hidden][0] - ends[~hidden][0]) > 1e-6
