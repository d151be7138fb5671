"""The terms of policy-gradient losses; every mean is over valid rows only."""

from __future__ import annotations

import jax.numpy as jnp


def masked_mean(x, valid):
    """Mean over valid entries, 0 if there is none. x: float32, valid: bool, of one shape → float32[]."""
    weight = valid.astype(jnp.float32)
    return jnp.sum(jnp.where(valid, x, 0.0)) / jnp.maximum(weight.sum(), 1.0)


def normalise(advantage, valid, epsilon=1e-8):
    """Zero mean and unit deviation over valid entries; invalid ones become 0."""
    centred = advantage - masked_mean(advantage, valid)
    deviation = jnp.sqrt(masked_mean(centred**2, valid))
    return jnp.where(valid, centred / (deviation + epsilon), 0.0)


def clipped_policy_loss(logp, old_logp, advantage, valid, *, clip):
    """PPO's surrogate (Schulman et al. 2017, arXiv:1707.06347, eq. 7), to be minimised.

    Args:
      logp, old_logp, advantage: [T, N] float32, of the action taken.
      clip: ε; the ratio beyond [1 - ε, 1 + ε] earns nothing.
    Returns: (loss, share of clipped entries), float32[].
    """
    ratio = jnp.exp(logp - old_logp)
    bounded = jnp.clip(ratio, 1.0 - clip, 1.0 + clip)
    loss = -masked_mean(jnp.minimum(ratio * advantage, bounded * advantage), valid)
    return loss, masked_mean((jnp.abs(ratio - 1.0) > clip).astype(jnp.float32), valid)


def clipped_value_loss(value, old_value, target, valid, *, clip):
    """Half the squared error, the prediction held within `clip` of the old one (None: not held). → float32[]"""
    error = (value - target) ** 2
    if clip is not None:
        held = old_value + jnp.clip(value - old_value, -clip, clip)
        error = jnp.maximum(error, (held - target) ** 2)
    return 0.5 * masked_mean(error, valid)


def approx_kl(logp, old_logp, valid):
    """KL(old ‖ new) by the low-variance estimator (r - 1) - log r (Schulman 2020, joschu.net/blog/kl-approx). →
    float32[]
    """
    log_ratio = logp - old_logp
    return masked_mean(jnp.expm1(log_ratio) - log_ratio, valid)


def explained_variance(value, target, valid):
    """1 - Var(target - value) / Var(target) over valid entries; NaN if the targets do not vary. → float32[]"""

    def variance(x):
        return masked_mean((x - masked_mean(x, valid)) ** 2, valid)

    spread = variance(target)
    return jnp.where(spread > 0, 1.0 - variance(target - value) / jnp.where(spread > 0, spread, 1.0), jnp.nan)
