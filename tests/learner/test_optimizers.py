"""Optimizers by name, true clipping, and the learning-rate schedule."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

from agentenv_fast.errors import ConfigError  # noqa: E402
from agentenv_fast.learner.optimizers import make_optimizer, schedule, with_learning_rate  # noqa: E402

PARAMS = {"w": jnp.ones((3, 4)), "b": jnp.ones(4)}


def step(optimizer, gradient, rate=0.1):
    state = with_learning_rate(optimizer.init(PARAMS), rate)
    return optimizer.update(gradient, state, PARAMS)[0]


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("adamw", {}),
        ("adam", {}),
        ("sgd", {"momentum": 0.9}),
        ("lion", {}),
        ("adafactor", {}),
        ("rmsprop", {}),
        ("contrib.muon", {}),
    ],
)
def test_any_optimizer_of_optax_moves_against_the_gradient_and_only_with_a_rate(name, kwargs):
    gradient = jax.tree.map(jnp.ones_like, PARAMS)
    updates = step(make_optimizer(name, **kwargs), gradient)
    assert all(np.isfinite(u).all() and (u < 0).all() for u in jax.tree.leaves(updates))
    still = step(make_optimizer(name, **kwargs), gradient, rate=0.0)
    assert all((np.asarray(u) == 0).all() for u in jax.tree.leaves(still))


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_the_norm_of_all_gradients_together_is_clipped(size):
    gradient = jax.tree.map(lambda x: size * jnp.ones_like(x), PARAMS)
    updates = step(make_optimizer("sgd", max_grad_norm=0.5), gradient, rate=1.0)
    norm = float(jnp.sqrt(sum((u**2).sum() for u in jax.tree.leaves(updates))))
    assert norm == pytest.approx(min(0.5, size * 4), rel=1e-5)  # 16 entries: the whole norm is 4 * size


def test_weight_decay_spares_vectors():
    zero = jax.tree.map(jnp.zeros_like, PARAMS)
    updates = step(make_optimizer("adamw", weight_decay=0.5), zero)
    assert (np.asarray(updates["b"]) == 0).all() and (np.asarray(updates["w"]) < 0).all()


@pytest.mark.parametrize(
    ("name", "kwargs", "message"),
    [
        ("adamv", {}, r"optimizer.name: optax has no 'adamv'"),
        ("clip", {}, r"optimizer.name: optax.clip does not take a learning_rate"),
        ("adam", {"beta1": 0.9}, r"optimizer.kwargs.beta1: optax.adam takes b1, b2, eps"),
        ("adam", {"learning_rate": 1}, r"optimizer.kwargs.learning_rate: .* set by ppo.learning_rate"),
    ],
)
def test_a_wrong_optimizer_setting_is_named(name, kwargs, message):
    with pytest.raises(ConfigError, match=message):
        make_optimizer(name, **kwargs)


def test_schedules_start_at_the_peak_and_end_at_the_final_share():
    for kind, middle in (("constant", 1.0), ("linear", 0.55), ("cosine", 0.55)):
        got = [schedule(kind, 1.0, p, final=0.1) for p in (0.0, 0.5, 1.0)]
        want = [1.0, middle, 1.0 if kind == "constant" else 0.1]
        assert got == pytest.approx(want)
    assert [schedule("linear", 1.0, p, warmup=0.2) for p in (0.0, 0.1, 0.2)] == pytest.approx([0.0, 0.5, 1.0])
    with pytest.raises(ConfigError, match="'square', want one of constant, linear, cosine"):
        schedule("square", 1.0, 0.5)
