"""Each probe is solved within a few updates; one that is not names the part at fault."""

import functools

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from agentenv_fast.learner.optimizers import make_optimizer  # noqa: E402
from agentenv_fast.learner.ppo import PPO, PPOConfig  # noqa: E402
from agentenv_fast.policy import SmallConfig, SmallPolicy  # noqa: E402
from agentenv_fast.rollout.actor import Actor  # noqa: E402
from agentenv_fast.rollout.collect import Collector  # noqa: E402
from tests.probe_envs import PROBES, ProbeEnv  # noqa: E402
from tests.probe_envs.worlds import ID, SLOTS  # noqa: E402

TINY = SmallConfig(
    embed=16, hidden=24, words=16, pairs=32, match_pairs=64, positions=3, slot_hidden=8, issued=8
)


@functools.cache
def learner(discount: float) -> tuple[Actor, PPO]:
    """One compiled policy and learner for all probes: their tables have one shape."""
    policy = SmallPolicy(TINY, np.zeros((SLOTS, 4), np.int32))
    config = PPOConfig(
        discount=discount, epochs=4, minibatches=2, entropy_coef=0.0, value_clip=None, target_kl=None
    )
    return Actor(policy), PPO(policy, config, make_optimizer("adam"))


def learn(probe: str, updates: int, discount: float = 0.5):
    env = ProbeEnv(probe, 32)
    actor, ppo = learner(discount)
    commands = actor.policy.table(env.command_tokens)
    state, collector = ppo.init(actor.policy.init(0)), Collector(env, actor, commands, 8, seed=1)
    for i in range(updates):
        trajectory, _ = collector.collect(state.params, i)
        rate = 1e-2 * (1 - 0.7 * i / updates)
        state, _ = ppo.update(state, trajectory, jax.random.key(i), rate, commands)
    return collector.collect(state.params)[0]


@pytest.mark.parametrize(
    ("probe", "value"),
    [
        ("constant_value", {"lamp": 1.0}),
        ("observed_value", {"dark": 0.0, "lamp": 1.0}),
        ("discounting", {"dark": 0.5, "lamp": 1.0}),
        ("truncation", {"lamp": 2.0}),  # 1 + γ + γ² + ... at γ = 0.5, however short the episodes
        ("termination", {"lamp": 1.0}),
    ],
)
def test_value_probes_reach_the_true_value(probe, value):
    trajectory = learn(probe, 60)
    for word, want in value.items():
        shown = trajectory.obs["tokens"][..., 0] == ID[word]
        got = trajectory.value[shown]
        assert shown.any()
        assert np.abs(got - want).max() < 0.15, (
            f"{probe}: V({word}) = {got.mean():.2f}, want {want}: {PROBES[probe].accuses}"
        )


@pytest.mark.parametrize("probe", ["action", "observed_action", "memory", "last_command", "matching"])
def test_policy_probes_earn_the_reward(probe):
    trajectory = learn(probe, 60, discount=0.9)
    ended = trajectory.terminated
    earned = trajectory.reward[ended].mean()
    assert earned > 0.9, f"{probe}: mean reward {earned:.2f} of 1: {PROBES[probe].accuses}"
