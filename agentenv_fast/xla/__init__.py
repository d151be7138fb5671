"""Environments as pure functions of arrays, for jax.jit, lax.scan and shard_map; reached as `ae.xla`.

f = ae.xla.make("keyquest-v0", num_envs=1024)
state, obs = f.reset(0)
state, batch = jax.jit(f.step, donate_argnums=0)(state, action)
"""

from agentenv_fast.xla.ffi import why_not
from agentenv_fast.xla.functional import Functional, State, make

__all__ = ["Functional", "State", "make", "why_not"]
