"""Time-major host memory for one trajectory, written step by step and reused from update to update."""

from __future__ import annotations

from typing import Any

import numpy as np

from agentenv_fast.spec import Trajectory

OBS_KEYS = ("tokens", "token_count", "admissible", "admissible_count")  # what a policy reads
PAD = {"admissible": -1}  # all others pad with 0


class Width:
    """The padded width of a ragged axis: rounded up and never shrinking, so that few shapes are ever compiled.

    It belongs into checkpoints: a sum over another number of zeros may round differently.
    """

    def __init__(self, step: int, cap: int):
        self.step, self.cap, self.value = step, cap, min(step, cap)

    def cover(self, largest: int) -> int:
        """The width for entries up to `largest`."""
        if largest > self.value:
            self.value = min(self.cap, -(-largest // self.step) * self.step)
        return self.value


class Widths:
    """Of the two ragged axes of an observation: tokens and admissible commands."""

    def __init__(self, max_tokens: int, max_admissible: int, *, token_step: int = 32, slot_step: int = 4):
        self.tokens, self.slots = Width(token_step, max_tokens), Width(slot_step, max_admissible)

    def raise_caps(self, max_tokens: int, max_admissible: int) -> None:
        """For another env with wider arrays."""
        self.tokens.cap, self.slots.cap = (
            max(self.tokens.cap, max_tokens),
            max(self.slots.cap, max_admissible),
        )

    def state(self) -> np.ndarray:
        return np.array([self.tokens.value, self.slots.value], np.int64)

    def load(self, state) -> None:
        self.tokens.value, self.slots.value = (int(x) for x in state)

    def trim(self, obs) -> dict[str, np.ndarray]:
        """The policy's view of obs [N, ...]: only its keys, ragged axes cut to the current widths."""
        tokens = self.tokens.cover(int(obs["token_count"].max(initial=1)))
        slots = self.slots.cover(int(obs["admissible_count"].max(initial=1)))
        return {
            "tokens": obs["tokens"][:, :tokens],
            "token_count": obs["token_count"],
            "admissible": obs["admissible"][:, :slots],
            "admissible_count": obs["admissible_count"],
        }


class Buffer:
    """[T, N, ...] arrays. Ragged axes are as wide as the env's own; `trajectory` hands out cut views."""

    SCALARS = {
        "action": np.int32,
        "logp": np.float32,
        "value": np.float32,
        "next_value": np.float32,
        "reward": np.float32,
        "terminated": np.bool_,
        "truncated": np.bool_,
        "first": np.bool_,
        "valid": np.bool_,
        "game": np.int32,
        "episode": np.int32,
        "policy_version": np.int32,
    }

    def __init__(self, steps: int, num_envs: int, max_tokens: int, max_admissible: int):
        shape = (steps, num_envs)
        self.arrays: dict[str, np.ndarray] = {
            name: np.zeros(shape, kind) for name, kind in self.SCALARS.items()
        }
        self.obs = {
            "tokens": np.zeros((*shape, max_tokens), np.int32),
            "token_count": np.zeros(shape, np.int32),
            "admissible": np.full((*shape, max_admissible), -1, np.int32),
            "admissible_count": np.zeros(shape, np.int32),
        }

    def write_obs(self, t: int, obs) -> None:
        """Writes trimmed observations and clears what an earlier, wider one left behind."""
        for name, array in self.obs.items():
            source = obs[name]
            if array.ndim == 2:
                array[t] = source
            else:
                array[t, :, : source.shape[1]] = source
                array[t, :, source.shape[1] :] = PAD.get(name, 0)

    def write(self, t: int, **values) -> None:
        for name, value in values.items():
            self.arrays[name][t] = value

    def trajectory(self, widths: Widths, carry: Any) -> Trajectory:
        obs = {
            "tokens": self.obs["tokens"][..., : widths.tokens.value],
            "token_count": self.obs["token_count"],
            "admissible": self.obs["admissible"][..., : widths.slots.value],
            "admissible_count": self.obs["admissible_count"],
        }
        return Trajectory(obs=obs, carry=carry, **self.arrays)
