"""Who may be evaluated: anything that chooses slots for the rows of an env."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from agentenv_fast.errors import SuiteError


class Agent(Protocol):
    """Chooses an index into each row's admissible list; keeps its own memory per row."""

    name: str

    def start(self, env: Any, seed: int) -> None:
        """Before the first `act`."""
        ...

    def act(self, obs: dict[str, np.ndarray], first, game, step) -> np.ndarray:
        """obs [N, ...], first bool[N], game int32[N], step int32[N] (0 at first) → int32[N]."""
        ...


class RandomAgent:
    """Uniform over the commands offered; a draw depends on seed, game and step alone."""

    name = "random"

    def start(self, env: Any, seed: int) -> None:
        self.seed = seed

    def act(self, obs, first, game, step) -> np.ndarray:
        count = np.maximum(obs["admissible_count"], 1).astype(np.uint64)
        raw = [
            np.random.Philox(key=[self.seed, (int(g) << 32) | int(s)]).random_raw()
            for g, s in zip(game, step, strict=True)
        ]
        return (np.array(raw, np.uint64) % count).astype(np.int32)


class OracleAgent:
    """Replays each game's own walkthrough (suite.extra(i)["walkthrough"])."""

    name = "oracle"

    def start(self, env: Any, seed: int) -> None:
        self.suite = env.suite
        self.ids = {command: i for i, command in enumerate(env.suite.commands)}

    def act(self, obs, first, game, step) -> np.ndarray:
        return np.array(
            [self._slot(obs, row, int(g), int(s)) for row, (g, s) in enumerate(zip(game, step, strict=True))],
            np.int32,
        )

    def _slot(self, obs, row: int, game: int, step: int) -> int:
        walk = walkthrough(self.suite, game)
        if walk is None:
            raise SuiteError(f"game {game}: no walkthrough, so there is no oracle to compare with")
        if step >= len(walk):
            return 0  # past its end: the row loses time like anyone else
        slots = np.flatnonzero(obs["admissible"][row] == self.ids.get(walk[step], -2))
        return int(slots[0]) if len(slots) else 0


def walkthrough(suite: Any, game: int) -> list[str] | None:
    """The commands that win a game, None if the suite does not know any."""
    try:
        walk = suite.extra(game).get("walkthrough")
    except (AttributeError, KeyError, NotImplementedError):
        return None
    return list(walk) if walk else None
