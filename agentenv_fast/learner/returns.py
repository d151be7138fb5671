"""Advantages and value targets of time-major trajectories."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def gae(reward, value, next_value, terminated, truncated, *, discount, lam):
    """Generalised advantage estimate (Schulman et al. 2016, arXiv:1506.02438, eq. 16).

    Args:
      reward: [T, N] float32.
      value: [T, N] float32, of the state acted in.
      next_value: [T, N] float32, of the state reached, before any reset.
      terminated, truncated: [T, N] bool; both cut the trace, only the first drops next_value.
      discount, lam: in [0, 1].
    Returns: (advantage, target), each [T, N] float32.
    Raises: ValueError if leading axes differ.
    """
    shapes = {
        "reward": reward.shape,
        "value": value.shape,
        "next_value": next_value.shape,
        "terminated": terminated.shape,
        "truncated": truncated.shape,
    }
    if len(set(shapes.values())) > 1:
        raise ValueError(f"gae: axes differ: {shapes}; all must be [T, N]")
    delta = reward + discount * jnp.where(terminated, 0.0, next_value) - value
    keep = jnp.where(terminated | truncated, 0.0, discount * lam)

    def backwards(later, at):
        advantage = at[0] + at[1] * later
        return advantage, advantage

    _, advantage = jax.lax.scan(backwards, jnp.zeros_like(delta[0]), (delta, keep), reverse=True)
    return advantage, advantage + value


def without_invalid(reward, value, next_value, truncated, valid):
    """Neutralises rows that must not teach: dummy steps, timeouts, faults.

    Their own temporal difference becomes 0 and they cut the trace, so that nothing of them reaches their neighbours.
    Args and shapes as in `gae`; valid: [T, N] bool.
    Returns: (reward, next_value, truncated).
    """
    return jnp.where(valid, reward, value), jnp.where(valid, next_value, 0.0), truncated | ~valid
