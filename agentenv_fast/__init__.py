"""Text worlds at native speed, and a learner that keeps up with them.

    import agentenv_fast as ae
    env = ae.make("keyquest-v0", num_envs=1024, seed=0)
    obs, info = env.reset()

Everything is loaded when it is first used: importing this package imports neither JAX nor Gymnasium.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from agentenv_fast.envs.check import check_env as check_env
    from agentenv_fast.envs.registry import register as register
    from agentenv_fast.envs.registry import suites as suites
    from agentenv_fast.envs.snapshot import Snapshot as Snapshot
    from agentenv_fast.envs.text import Codec as Codec
    from agentenv_fast.envs.vec_env import VecEnv as VecEnv
    from agentenv_fast.envs.vec_env import make as make
    from agentenv_fast.rewards import RewardSpec as RewardSpec
    from agentenv_fast.worlds.suite import Suite as Suite
    from agentenv_fast.worlds.suite import load as load
    from agentenv_fast.worlds.suite import suite as suite

_WHERE = {
    "make": "agentenv_fast.envs.vec_env",
    "VecEnv": "agentenv_fast.envs.vec_env",
    "load": "agentenv_fast.worlds.suite",
    "suite": "agentenv_fast.worlds.suite",
    "Suite": "agentenv_fast.worlds.suite",
    "register": "agentenv_fast.envs.registry",
    "suites": "agentenv_fast.envs.registry",
    "Codec": "agentenv_fast.envs.text",
    "Snapshot": "agentenv_fast.envs.snapshot",
    "RewardSpec": "agentenv_fast.rewards",
    "check_env": "agentenv_fast.envs.check",
}
__all__ = list(_WHERE)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str):
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    if name in ("errors", "spec", "worlds", "envs", "rewards", "xla"):
        return importlib.import_module(f"agentenv_fast.{name}")
    raise AttributeError(f"module 'agentenv_fast' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
