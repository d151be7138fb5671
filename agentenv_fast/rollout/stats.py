"""Episode statistics of a batch of rows: returns, lengths, and success, which is `won` and nothing else. NumPy only."""

from __future__ import annotations

import collections
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Episode:
    """One finished episode."""

    game: int
    ret: float  # undiscounted sum of rewards
    length: int  # env steps
    won: bool
    lost: bool
    truncated: bool


class EpisodeStats:
    """Follows each row's episode; keeps the last `window` finished ones.

    Dummy rows (`valid` False, next_step autoreset) count for nothing.
    """

    def __init__(self, num_envs: int, window: int = 256):
        self.ret = np.zeros(num_envs, np.float64)
        self.length = np.zeros(num_envs, np.int64)
        self.recent: collections.deque[Episode] = collections.deque(maxlen=window)
        self.finished = 0

    def step(self, reward, terminated, truncated, info) -> list[Episode]:
        """Adds one step of all rows; returns the episodes that it ended, in row order."""
        valid = np.asarray(info["valid"])
        self.ret += np.where(valid, reward, 0.0)
        self.length += valid
        rows = np.flatnonzero((terminated | truncated) & valid).tolist()
        ended = [self._close(row, bool(truncated[row] and not terminated[row]), info) for row in rows]
        self.recent.extend(ended)
        self.finished += len(ended)
        return ended

    def _close(self, row: int, cut: bool, info) -> Episode:
        episode = Episode(
            game=int(info["game"][row]),
            ret=float(self.ret[row]),
            length=int(self.length[row]),
            won=bool(info["won"][row]),
            lost=bool(info["lost"][row]),
            truncated=cut,
        )
        self.ret[row], self.length[row] = 0.0, 0
        return episode

    def state(self) -> dict[str, np.ndarray]:
        """Everything, as arrays: for checkpoints."""
        recent = np.array(
            [[e.game, e.ret, e.length, e.won, e.lost, e.truncated] for e in self.recent], np.float64
        )
        return {
            "ret": self.ret.copy(),
            "length": self.length.copy(),
            "recent": recent.reshape(-1, 6),
            "finished": np.array(self.finished),
        }

    def load(self, state) -> None:
        """The inverse of `state`."""
        self.ret, self.length = np.array(state["ret"], np.float64), np.array(state["length"], np.int64)
        self.recent.clear()
        for game, ret, length, won, lost, truncated in np.asarray(state["recent"]):
            self.recent.append(
                Episode(int(game), float(ret), int(length), bool(won), bool(lost), bool(truncated))
            )
        self.finished = int(state["finished"])


def wilson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float | None, float | None]:
    """The Wilson score interval of a proportion (Wilson 1927); (None, None) without trials."""
    if trials == 0:
        return None, None
    from scipy.stats import binomtest

    interval = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)


def mean(values) -> float | None:
    """The mean, None if there is nothing to average."""
    values = list(values)
    return float(np.mean(values)) if values else None
