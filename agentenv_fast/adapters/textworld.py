"""TextWorld's own interfaces over compiled games: start(), register_games() and make(), so that agents run unchanged.

Neither textworld nor the .z8 files are needed: where a path ends in .z8, the .json beside it is read. Differences are
few and deliberate (docs/worlds_textworld.md): `done` stays true after the end, the step limit is the caller's, and
policy_commands, intermediate_reward and game are refused with a message.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agentenv_fast.envs import infos as host_infos
from agentenv_fast.envs.vec_env import VecEnv
from agentenv_fast.envs.vec_env import make as make_vec_env
from agentenv_fast.errors import ActionError, ConfigError
from agentenv_fast.worlds import suite as suites

TRACKED = frozenset({"admissible_commands", "facts", "last_action", "policy_commands", "intermediate_reward"})
ENDLESS = 2**31 - 1


class EnvInfos:
    """What to show beside the feedback: EnvInfos(facts=True, extras=["seeds"]), as textworld.EnvInfos.

    Raises: ConfigError for a name that is not known or not offered.
    """

    def __init__(self, extras: Sequence[str] = (), **names: bool) -> None:
        self.extras = list(extras)
        self.basics = [name for name, wanted in names.items() if wanted]
        host_infos.check_names(self.basics)

    def __len__(self) -> int:
        return len(self.basics) + len(self.extras)


def requested(request_infos: Any) -> EnvInfos:
    """EnvInfos from ours, textworld's, a list of names, or None.

    Raises: ConfigError for a name that is not known or not offered.
    """
    if request_infos is None:
        return EnvInfos()
    if isinstance(request_infos, EnvInfos):
        return request_infos
    if hasattr(request_infos, "basics"):
        return EnvInfos(extras=request_infos.extras, **dict.fromkeys(request_infos.basics, True))
    if isinstance(request_infos, str) or not isinstance(request_infos, Iterable):
        raise ConfigError(f"request_infos: {request_infos!r}, want EnvInfos or a list of names")
    return EnvInfos((), **dict.fromkeys(request_infos, True))


class GameState(dict):
    """What the game shows: state["feedback"] or state.feedback; a key that is absent reads as None."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def copy(self) -> GameState:
        return GameState(self)


class _Games:
    """Rows of compiled games, stepped by typed commands; makes GameStates."""

    def __init__(self, gamefiles: Sequence[str | Path], infos: EnvInfos, num_envs: int) -> None:
        self.infos = infos
        self.tracked = bool(TRACKED & set(infos.basics))
        self.suite = suites.load([Path(f).with_suffix(".json") for f in gamefiles])
        self.env: VecEnv = make_vec_env(
            self.suite,
            num_envs=num_envs,
            seed=0,
            text_mode="tracked" if self.tracked else "extra",
            tokens=None,
            autoreset="disabled",
            max_episode_steps=ENDLESS,
        )

    def reset(self, games: Sequence[int], mask: np.ndarray | None = None) -> list[GameState]:
        options: dict[str, Any] = {"game": np.asarray(games, np.int32)}
        if mask is not None:
            options["reset_mask"] = mask
        _, info = self.env.reset(options=options)
        return self._states(info, range(self.env.num_envs), [None] * self.env.num_envs)

    def step(self, rows: Sequence[int], commands: Sequence[str]) -> list[GameState]:
        for row, command in zip(rows, commands, strict=True):
            if not isinstance(command, str):
                raise ActionError(f"row {row}: command {command!r}, want a str")
        info = self.env.step([c.strip() for c in commands], rows=np.asarray(rows, np.int32))[4]
        return self._states(info, rows, [c.strip() for c in commands])

    def _states(
        self, info: dict[str, Any], rows: Iterable[int], commands: Sequence[str | None]
    ) -> list[GameState]:
        shown = list(rows)
        texts = self.env.get_state(np.asarray(shown, np.int32))
        turns = self.env.snapshot(np.asarray(shown, np.int32)).rows[:, 48:52].copy().view("<u4")[:, 0]
        wanted = [
            n
            for n in self.infos.basics
            if n not in ("score", "won", "lost", "moves", "feedback", "last_command")
        ]
        lists = host_infos.collect(self.env, wanted, np.asarray(shown, np.int32))
        out = []
        for k in range(len(shown)):
            extra = self.suite.extra(int(info["game"][k])) if self.infos.extras else {}
            won, lost = bool(info["won"][k]), bool(info["lost"][k])
            out.append(
                GameState(
                    {name: values[k] for name, values in lists.items()},
                    feedback=texts[k],
                    raw=texts[k],
                    last_command=commands[k],
                    score=int(info["score"][k]),
                    moves=int(
                        info["moves"][k] if self.tracked and "moves" in self.infos.basics else turns[k]
                    ),
                    won=won,
                    lost=lost,
                    done=won or lost,
                    **{f"extra.{name}": extra.get("metadata", {}).get(name) for name in self.infos.extras},
                )
            )
        return out

    def filtered(self, state: GameState) -> dict[str, Any]:
        """Only what was requested, as textworld's Filter."""
        names = [*self.infos.basics, *(f"extra.{name}" for name in self.infos.extras)]
        return {name: state.get(name) for name in names}

    def close(self) -> None:
        self.env.close()


# -- one game ---------------------------------------------------------------------------------------------------------
class TextWorldEnv:
    """One game: reset() → state, step(command) → (state, score, done)."""

    def __init__(self, path: str | Path, request_infos: Any = None) -> None:
        self.request_infos = requested(request_infos)
        self._path = path
        self._games = _Games([path], self.request_infos, 1)
        self.state = GameState()

    def reset(self) -> GameState:
        self.state = self._games.reset([0])[0]
        return self.state

    def step(self, command: str) -> tuple[GameState, int, bool]:
        """Raises: ActionError before the first reset, or for a command that is not a str."""
        if not self.state:
            raise ActionError("step before reset: call env.reset() first")
        self.state = self._games.step([0], [command])[0]
        return self.state, self.state["score"], self.state["done"]

    def copy(self) -> TextWorldEnv:
        """An env of its own in the same state."""
        other = TextWorldEnv(self._path, self.request_infos)
        if self.state:
            other.reset()
            other._games.env.restore(self._games.env.snapshot())
            other.state = self.state.copy()
        return other

    def render(self, mode: str = "human") -> str | None:
        """Prints the last command and its feedback; "text" returns them instead."""
        command = self.state.last_command
        message = (
            (f"> {command}\n" if command is not None else "") + (self.state.feedback or "").rstrip() + "\n"
        )
        if mode == "text":
            return message
        print("\n".join("\n".join(textwrap.wrap(line, 80)) for line in message.split("\n")), file=sys.stdout)
        return None

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Games hold no chance; accepted for agents that seed."""
        return [seed]

    def close(self) -> None:
        self._games.close()


def start(path: str | Path, request_infos: Any = None) -> TextWorldEnv:
    """Starts a game, as textworld.start.

    Args:
      path: .json, or the .z8 beside it.
      request_infos: EnvInfos (ours or textworld's) or a list of names.
    Raises: WorldError for a file that cannot be used, ConfigError for infos that are not offered.
    """
    return TextWorldEnv(path, request_infos)


# -- batches ----------------------------------------------------------------------------------------------------------
class TextWorldBatchEnv:
    """Games in a batch, as textworld.gym's TextworldBatchGymEnv: lists of str in and out, infos as a dict of lists.

    Each reset starts the next games of the pool, in textworld's own order (shuffled by seed 1234 unless seed() is
    called).
    """

    def __init__(
        self,
        gamefiles: Sequence[str | Path],
        request_infos: Any = None,
        batch_size: int = 1,
        asynchronous: bool = True,
        auto_reset: bool = False,
        max_episode_steps: int | None = None,
    ) -> None:
        """
        Args:
          asynchronous: accepted; rows are always stepped together, by native threads.
          auto_reset: a row that was done starts its game again at the next step, whatever the command.
          max_episode_steps: a row is done after so many steps; None: never.
        """
        del asynchronous
        self.gamefiles = [str(f) for f in gamefiles]
        self.batch_size = batch_size
        self.auto_reset = auto_reset
        self.max_episode_steps = max_episode_steps
        self.request_infos = requested(request_infos)
        self._games = _Games(self.gamefiles, self.request_infos, batch_size)
        self.seed(1234)
        self._states: list[GameState] = []

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Sets the order of the games."""
        rng = np.random.RandomState(seed)
        games = list(range(len(self.gamefiles)))
        rng.shuffle(games)
        self._order = _shuffled_cycle(games, rng)
        return [seed]

    def reset(self) -> tuple[list[str], dict[str, list[Any]]]:
        """Starts the next games. Returns: (observations, infos)."""
        self._chosen = [next(self._order) for _ in range(self.batch_size)]
        self._states = self._games.reset(self._chosen)
        self._steps = np.zeros(self.batch_size, int)
        self._done = [False] * self.batch_size
        return self._observations(), self._infos()

    def skip(self, nb_games: int = 1) -> None:
        for _ in range(nb_games):
            next(self._order)

    def step(self, commands: Sequence[str]) -> tuple[list[str], list[int], list[bool], dict[str, list[Any]]]:
        """Returns: (observations, cumulative scores, dones, infos); a row that is done stays as it is.

        Raises: ActionError before the first reset, or unless there is one str per row.
        """
        if not self._states:
            raise ActionError("step before reset: call env.reset() first")
        if not isinstance(commands, (list, tuple)) or len(commands) != self.batch_size:
            raise ActionError(f"commands: {commands!r:.80}, want a list of {self.batch_size} str")
        again = np.array(self._done) & self.auto_reset
        playing = [i for i in range(self.batch_size) if not self._done[i]]
        if again.any():
            fresh = self._games.reset(self._chosen, again)
            for i in np.flatnonzero(again):
                self._states[i], self._steps[i], self._done[i] = fresh[i], 0, False
        if playing:
            for i, state in zip(
                playing, self._games.step(playing, [commands[i] for i in playing]), strict=True
            ):
                self._states[i] = state
                self._steps[i] += 1
                out_of_steps = self.max_episode_steps is not None and self._steps[i] >= self.max_episode_steps
                self._done[i] = bool(state["done"] or out_of_steps)
        return self._observations(), [s["score"] for s in self._states], list(self._done), self._infos()

    def _observations(self) -> list[str]:
        return [state["feedback"] for state in self._states]

    def _infos(self) -> dict[str, list[Any]]:
        shown = [self._games.filtered(state) for state in self._states]
        return {name: [one[name] for one in shown] for name in shown[0]}

    def close(self) -> None:
        self._games.close()


class TextWorldGymEnv(TextWorldBatchEnv):
    """One game at a time: str in, str out, as textworld.gym's TextworldGymEnv."""

    def reset(self) -> tuple[str, dict[str, Any]]:  # type: ignore[override]
        observations, infos = super().reset()
        return observations[0], {name: values[0] for name, values in infos.items()}

    def step(self, command: str) -> tuple[str, int, bool, dict[str, Any]]:  # type: ignore[override]
        observations, scores, dones, infos = super().step([command])
        return observations[0], scores[0], dones[0], {name: values[0] for name, values in infos.items()}


registry: dict[str, dict[str, Any]] = {}


def register_games(
    gamefiles: Sequence[str | Path],
    request_infos: Any = None,
    batch_size: int | None = None,
    auto_reset: bool = False,
    max_episode_steps: int = 50,
    asynchronous: bool = True,
    name: str = "",
) -> str:
    """Names a pool of games, as textworld.gym.register_games; without batch_size, one game at a time.

    Returns: the id for make().
    """
    base = f"tw-{name}" if name else "tw"
    version = 1 + max(
        (int(i.rpartition("-v")[2]) for i in registry if i.rpartition("-v")[0] == base), default=-1
    )
    env_id = f"{base}-v{version}"
    registry[env_id] = {
        "gamefiles": list(gamefiles),
        "request_infos": request_infos,
        "batch_size": batch_size,
        "auto_reset": auto_reset,
        "max_episode_steps": max_episode_steps,
        "asynchronous": asynchronous,
    }
    return env_id


def register_game(gamefile: str | Path, request_infos: Any = None, **keywords: Any) -> str:
    """register_games() with one game."""
    return register_games([gamefile], request_infos, **keywords)


def make(env_id: str) -> TextWorldBatchEnv:
    """The env that register_games() named.

    Raises: ConfigError for an unknown id.
    """
    if env_id not in registry:
        known = ", ".join(sorted(registry)) or "none yet"
        raise ConfigError(
            f"{env_id!r}: not registered here; register_games() returns an id (registered: {known})"
        )
    keywords = dict(registry[env_id])
    if keywords["batch_size"] is None:
        return TextWorldGymEnv(**{**keywords, "batch_size": 1})
    return TextWorldBatchEnv(**keywords)


def _shuffled_cycle(games: list[int], rng: np.random.RandomState) -> Iterator[int]:
    """textworld's order: as given once, then shuffled anew before every round."""
    elements = list(games)
    yield from elements
    while True:
        rng.shuffle(elements)
        yield from elements
