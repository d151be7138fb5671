"""What a learner carries from update to update."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp


class TrainState(NamedTuple):
    """A pytree: shard it, donate it, save it."""

    params: Any  # the policy's, float32
    opt_state: Any
    updates: Any  # int32[], calls of update so far; the version of params

    @classmethod
    def create(cls, params, optimizer) -> TrainState:
        return cls(params=params, opt_state=optimizer.init(params), updates=jnp.int32(0))
