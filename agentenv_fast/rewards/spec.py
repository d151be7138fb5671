"""RewardSpec: which terms make up the reward of a step. They are computed natively, per row, inside the step."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from agentenv_fast.errors import ConfigError


@dataclass(frozen=True)
class RewardSpec:
    """reward = score * (change of score) + win * won + loss * lost + step + invalid * (status is 1 or 2).

    Each term is reported in info["reward_terms"] float32[N, 5], in the order of `names`, weights included, so that
    they sum to the reward.
    """

    score: float = 1.0
    win: float = 0.0
    loss: float = 0.0
    step: float = 0.0  # added at every step; a step cost is negative
    invalid: float = 0.0  # added where the action was invalid or the command unknown

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise ConfigError(f"RewardSpec.{field.name}: {value!r}, want a finite number")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self))

    @property
    def weights(self) -> tuple[float, ...]:
        return tuple(float(getattr(self, name)) for name in self.names)
