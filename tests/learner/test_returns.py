"""Advantages against tables worked out by hand and against a slow, obvious reference."""

import numpy as np
import pytest

pytest.importorskip("jax")

from agentenv_fast.learner.returns import gae, without_invalid

# Two envs, six steps, γ = 0.5, λ = 0.5 (so γλ = 0.25); env 0 terminates at t = 2, env 1 is truncated at t = 3.
# Rewards are 1, values 2, the state reached is worth 4 (8 after the cut of env 1). Then δ = 1 + 0.5 * 4 - 2 = 1, but
# δ = 1 - 2 = -1 at the termination and δ = 1 + 0.5 * 8 - 2 = 3 at the truncation; A_t = δ_t + 0.25 A_{t+1} within an
# episode.
TABLE = np.array(
    [
        # env 0                       env 1
        [1 + 0.25 * 0.75, 1 + 0.25 * (1 + 0.25 * 1.75)],
        [1 + 0.25 * -1, 1 + 0.25 * 1.75],
        [-1, 1 + 0.25 * 3],
        [1 + 0.25 * (1 + 0.25 * 1), 3],
        [1 + 0.25 * 1, 1 + 0.25 * 1],
        [1, 1],
    ]
)


def table_case():
    ones = np.ones((6, 2), np.float32)
    next_value = 4 * ones
    next_value[3, 1] = 8
    terminated, truncated = np.zeros((6, 2), bool), np.zeros((6, 2), bool)
    terminated[2, 0] = truncated[3, 1] = True
    return ones, 2 * ones, next_value, terminated, truncated


def test_gae_equals_the_table_worked_out_by_hand():
    advantage, target = gae(*table_case(), discount=0.5, lam=0.5)
    np.testing.assert_allclose(advantage, TABLE, atol=1e-6)
    np.testing.assert_allclose(target, TABLE + 2, atol=1e-6)


def reference(reward, value, next_value, terminated, truncated, discount, lam):
    """The sum of eq. 16, term by term."""
    steps, rows = reward.shape
    out = np.zeros((steps, rows))
    for n in range(rows):
        for t in range(steps):
            weight = 1.0
            for later in range(t, steps):
                bootstrap = 0.0 if terminated[later, n] else next_value[later, n]
                out[t, n] += weight * (reward[later, n] + discount * bootstrap - value[later, n])
                if terminated[later, n] or truncated[later, n]:
                    break
                weight *= discount * lam
    return out


@pytest.mark.parametrize("seed", range(3))
def test_gae_equals_the_sum_of_the_definition(seed):
    draw = np.random.default_rng(seed)
    reward, value, next_value = draw.normal(size=(3, 9, 5)).astype(np.float32)
    ends = draw.random((9, 5))
    terminated, truncated = ends < 0.2, (ends >= 0.2) & (ends < 0.4)
    advantage, _ = gae(reward, value, next_value, terminated, truncated, discount=0.9, lam=0.8)
    want = reference(reward, value, next_value, terminated, truncated, 0.9, 0.8)
    np.testing.assert_allclose(advantage, want, atol=1e-5)  # float32 sums of at most nine terms near 1


def test_an_advantage_never_sees_the_next_episode():
    reward, value, next_value, terminated, truncated = table_case()
    before, _ = gae(reward, value, next_value, terminated, truncated, discount=0.5, lam=0.5)
    reward = reward.copy()
    reward[3:, 0], reward[4:, 1] = 100, -100
    after, _ = gae(reward, value, next_value, terminated, truncated, discount=0.5, lam=0.5)
    np.testing.assert_array_equal(before[:3, 0], after[:3, 0])
    np.testing.assert_array_equal(before[:4, 1], after[:4, 1])


def test_an_invalid_row_teaches_nothing_and_does_not_reach_its_neighbours():
    reward, value, next_value, terminated, truncated = table_case()
    valid = np.ones((6, 2), bool)
    valid[4, 0] = False
    results = []
    for poison in (1.0, 1e6):
        reward[4, 0] = next_value[4, 0] = poison
        clean = without_invalid(reward, value, next_value, truncated, valid)
        advantage, _ = gae(clean[0], value, clean[1], terminated, clean[2], discount=0.5, lam=0.5)
        results.append(np.asarray(advantage))
    np.testing.assert_array_equal(results[0], results[1])
    assert results[0][4, 0] == 0
    assert results[0][3, 0] == 1  # its own δ, bootstrapped from the value of the row after


def test_axes_that_differ_are_named():
    reward, value, next_value, terminated, truncated = table_case()
    with pytest.raises(ValueError, match=r"'reward': \(5, 2\)"):
        gae(reward[1:], value, next_value, terminated, truncated, discount=0.5, lam=0.5)
