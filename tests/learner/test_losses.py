"""The loss terms against hand-made cases, and the whole gradient against finite differences."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

from agentenv_fast.learner import losses  # noqa: E402
from agentenv_fast.learner.optimizers import make_optimizer  # noqa: E402
from agentenv_fast.learner.ppo import PPO, PPOConfig  # noqa: E402
from agentenv_fast.policy import SmallConfig, SmallPolicy  # noqa: E402
from agentenv_fast.rollout.actor import Actor  # noqa: E402
from agentenv_fast.rollout.collect import Collector  # noqa: E402
from tests.probe_envs import ProbeEnv  # noqa: E402

ALL = jnp.ones((1, 2), bool)


def row(*values):
    return jnp.asarray([values], jnp.float32)


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss"),
    [
        (1.0, 1.0, -1.0),
        (2.0, 1.0, -1.2),  # beyond 1 + ε a good action earns no more
        (0.5, 1.0, -0.5),  # but a good action made rarer is pulled back
        (0.5, -1.0, 0.8),  # beyond 1 - ε a bad action earns no more
        (2.0, -1.0, 2.0),  # but a bad action made likelier pays in full
    ],
)
def test_the_surrogate_is_clipped_on_one_side_only(ratio, advantage, loss):
    got, _ = losses.clipped_policy_loss(
        row(np.log(ratio)), row(0.0), row(advantage), jnp.ones((1, 1), bool), clip=0.2
    )
    assert float(got) == pytest.approx(loss, abs=1e-6)


def test_the_value_may_not_profit_from_moving_further_than_the_clip():
    valid = jnp.ones((1, 1), bool)
    near = losses.clipped_value_loss(row(0.1), row(0.0), row(1.0), valid, clip=0.2)
    far = losses.clipped_value_loss(row(0.9), row(0.0), row(1.0), valid, clip=0.2)
    assert float(near) == pytest.approx(0.5 * 0.9**2)
    assert float(far) == pytest.approx(0.5 * 0.8**2)  # as if it had stopped at 0.2
    assert float(losses.clipped_value_loss(row(0.9), row(0.0), row(1.0), valid, clip=None)) == pytest.approx(
        0.005
    )


def test_means_and_normalisation_leave_invalid_rows_out():
    valid = jnp.asarray([[True, True, False]])
    x = row(1.0, 3.0, 1e6)
    assert float(losses.masked_mean(x, valid)) == 2.0
    np.testing.assert_allclose(losses.normalise(x, valid), [[-1.0, 1.0, 0.0]], atol=1e-6)


def test_kl_and_explained_variance_of_simple_cases():
    assert float(losses.approx_kl(row(0.0, 0.0), row(0.0, 0.0), ALL)) == 0.0
    assert float(losses.approx_kl(row(np.log(2), 0.0), row(0.0, 0.0), ALL)) == pytest.approx(
        (1 - np.log(2)) / 2
    )
    assert float(losses.explained_variance(row(1.0, 2.0), row(1.0, 2.0), ALL)) == 1.0
    assert float(losses.explained_variance(row(1.5, 1.5), row(1.0, 2.0), ALL)) == 0.0
    assert np.isnan(losses.explained_variance(row(1.0, 1.0), row(2.0, 2.0), ALL))


@pytest.mark.slow
def test_the_gradient_of_each_parameter_equals_finite_differences():
    env = ProbeEnv("matching", 4)
    sizes = SmallConfig(
        embed=8, hidden=8, words=16, pairs=8, match_pairs=16, positions=3, slot_hidden=8, issued=4
    )
    policy = SmallPolicy(sizes, env.command_tokens)
    ppo = PPO(policy, PPOConfig(minibatches=1, value_clip=None, clip=10.0), make_optimizer())
    params = jax.tree.map(lambda x: 1.5 * np.asarray(x), policy.init(0))  # away from the flat start
    trajectory, _ = Collector(env, Actor(policy), policy.commands, 5, seed=0).collect(policy.init(1))
    batch = ppo._prepare(trajectory, None)
    loss = jax.jit(lambda p: ppo._loss(p, batch, None)[0])
    leaves, structure = jax.tree.flatten(params)
    for i, gradient in enumerate(map(np.asarray, jax.tree.leaves(jax.jit(jax.grad(loss))(params)))):
        norm = float(np.sqrt((gradient**2).sum()))
        assert norm > 1e-5, f"parameter {i} of {structure} gets no gradient"
        step = min(3e-3 / norm, 3e-2)  # large enough to see in float32, small enough to cross few kinks

        def moved(sign, i=i, gradient=gradient, norm=norm, step=step):
            there = leaves[i] + sign * step * gradient / norm
            return float(loss(jax.tree.unflatten(structure, [*leaves[:i], there, *leaves[i + 1 :]])))

        measured = (moved(1) - moved(-1)) / (2 * step)
        # float32 leaves 2e-7 of a loss near 1; curvature and relu kinks the rest.
        assert measured == pytest.approx(norm, rel=0.03, abs=4e-7 / step), f"parameter {i} of {structure}"
