"""A policy's functions, compiled once and shared by whoever collects or evaluates."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np


class Actor:
    """Jitted `act`, `value` and `encode` of one policy; parameters and command tables are operands.

    A suite whose table has the same shape [C, Lc] as one seen before compiles nothing.
    """

    def __init__(self, policy: Any):
        self.policy = policy
        self.encode = jax.jit(policy.encode_commands)
        self.value = jax.jit(
            lambda params, obs, carry, commands: policy.value(params, obs, carry, commands=commands)
        )
        self._act = jax.jit(self._act_once)
        self._act_by_game = jax.jit(self._act_once_by_game, static_argnames="greedy")

    def act(self, params, obs, carry, first, key, draw: int, commands):
        """One draw for all rows, the `draw`-th of `key`. → (action, logp, value, carry)."""
        return self._act(params, obs, carry, first, key, np.int32(draw), commands)

    def act_by_game(self, params, obs, carry, first, key, game, step, commands, *, greedy: bool):
        """A draw per row by its game and step alone, whatever the batch. → (action, logp, value, carry)."""
        return self._act_by_game(params, obs, carry, first, key, game, step, commands, greedy=greedy)

    def _act_once(self, params, obs, carry, first, key, draw, commands):
        return self.policy.act(params, obs, carry, first, jax.random.fold_in(key, draw), commands=commands)

    def _act_once_by_game(self, params, obs, carry, first, key, game, step, commands, *, greedy):
        keys = jax.vmap(lambda g, s: jax.random.fold_in(jax.random.fold_in(key, g), s))(game, step)
        return self.policy.act(params, obs, carry, first, keys, commands=commands, greedy=greedy)


def command_table(env: Any) -> np.ndarray:
    """int32[C, Lc]: the commands of an env's suite in that env's codec, padded with 0."""
    codec = getattr(env, "codec", None)
    table = env.command_tokens if codec is None else codec.command_tokens(env.suite.commands)
    return np.ascontiguousarray(table, np.int32)
