"""The nouns that every part shares: what an env is, what a step returns, what a trajectory holds. NumPy only.

Axes: N envs (rows), T steps, L tokens, B bytes of text, K admissible slots, C commands of a suite, R reward terms.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np


class Autoreset(str, enum.Enum):
    """What happens to a row whose episode has ended."""

    SAME_STEP = "same_step"  # the step that ends it also resets it; the end is in info["final_obs"]
    NEXT_STEP = "next_step"  # the next step resets it, ignores its action and returns reward 0, valid False
    DISABLED = "disabled"  # the row stays as it is until reset: reward 0, flags kept


class Status(enum.IntEnum):
    """info["status"]; the numbers never change."""

    OK = 0
    INVALID_ACTION = 1
    UNKNOWN_COMMAND = 2
    TIMEOUT = 3
    FAULT = 4
    DENIED = 5


class Overflow(enum.IntFlag):
    """info["overflow"]; what did not fit."""

    TEXT = 1
    TOKENS = 2
    ADMISSIBLE = 4


class Caps(NamedTuple):
    """The compile-time shape of a suite: upper bounds over its games. Equal Caps: no recompilation on a swap."""

    K: int  # admissible commands in one state
    B: int  # bytes of one observation
    L: int  # tokens of one observation
    stride: int  # bytes of one row
    games: int


@dataclass(frozen=True)
class EnvSpec:
    """What a consumer must know about an env before the first reset."""

    id: str
    num_envs: int
    caps: Caps
    num_commands: int  # C
    num_games: int
    max_episode_steps: int
    autoreset: Autoreset
    text_mode: str
    reward_names: tuple[str, ...]  # R
    reward_range: tuple[float, float]
    vocab_size: int  # 0 without tokens
    pad_id: int = 0
    unknown_id: int = 1
    max_tokens: int = 0  # L of this env
    max_text: int = 0  # B of this env
    max_admissible: int = 0  # K of this env
    max_command_tokens: int = 0  # Lc
    tokens_exact: bool = True  # False: the tokenizer runs on the rendered text at every step
    suite_hash: str = ""
    version: str = ""
    options: dict[str, Any] = field(default_factory=dict)  # the keywords of make()


class StepBatch(NamedTuple):
    """What a step writes."""

    obs: dict[str, np.ndarray]
    reward: np.ndarray  # float32[N]
    terminated: np.ndarray  # bool[N]
    truncated: np.ndarray  # bool[N]
    info: dict[str, Any]


class Trajectory(NamedTuple):
    """Time-major experience, [T, N, ...]. NumPy or JAX arrays.

    Minibatches split N, never T; a recurrent carry is cleared where `first`.
    """

    obs: Any  # dict of [T, N, ...]
    action: Any  # int32[T, N]
    logp: Any  # float32[T, N], of the behaviour policy
    value: Any  # float32[T, N], of the state acted in
    next_value: Any  # float32[T, N], of the state reached, before any reset (of final_obs where cut)
    reward: Any  # float32[T, N]
    terminated: Any  # bool[T, N]
    truncated: Any  # bool[T, N]
    first: Any  # bool[T, N], obs[t] begins an episode
    valid: Any  # bool[T, N], False for next_step's dummy row
    game: Any  # int32[T, N]
    episode: Any  # int32[T, N]
    policy_version: Any  # int32[T, N]
    carry: Any  # pytree of [N, ...] at t = 0


@runtime_checkable
class VectorEnv(Protocol):
    """What rollouts, adapters and check_env rely on."""

    num_envs: int
    spec: EnvSpec

    def reset(self, *, seed=None, options=None) -> tuple[dict, dict]: ...

    def step(self, action, rows=None) -> tuple[dict, np.ndarray, np.ndarray, np.ndarray, dict]: ...

    def observe(self, rows=None) -> tuple[dict, dict]: ...


@runtime_checkable
class Policy(Protocol):
    """Pure functions over pytrees; see policy/small.py."""

    def init_carry(self, n: int) -> Any: ...

    def act(self, params, obs, carry, first, key) -> tuple[Any, Any, Any, Any]:
        """→ action int32[N], logp float32[N], value float32[N], carry."""
        ...

    def evaluate(self, params, trajectory: Trajectory) -> tuple[Any, Any, Any]:
        """→ logp, value, entropy, each float32[T, N]."""
        ...

    def scores(self, params, obs, carry) -> Any:
        """→ float32[N, K], -inf where there is no command."""
        ...


class Recorder(Protocol):
    """Receives every transition of a rollout."""

    def record(self, step: StepBatch, action: np.ndarray) -> None: ...


class Guard(Protocol):
    """May replace actions before they are stepped."""

    def check(self, obs: dict[str, np.ndarray], action: np.ndarray) -> np.ndarray: ...
