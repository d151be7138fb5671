"""The built-in families: keyquest-v0 and coinhunt-v0. Levels are numbers here; sampler, oracle, emitter are native."""

from __future__ import annotations

from typing import Any

from agentenv_fast.errors import ConfigError, SuiteError
from agentenv_fast.native import _core

# name → parameters; each may be overridden: ae.suite("keyquest-v0", level="easy", rooms=6)
LEVELS: dict[str, dict[str, dict[str, int]]] = {
    "keyquest-v0": {
        "easy": {
            "rooms": 4,
            "doors": 1,
            "locked_doors": 0,
            "containers": 2,
            "locked_containers": 1,
            "supporters": 2,
            "goals": 1,
            "distractors": 2,
            "min_oracle": 4,
            "max_episode_steps": 40,
        },
        "medium": {
            "rooms": 6,
            "doors": 2,
            "locked_doors": 1,
            "containers": 3,
            "locked_containers": 1,
            "supporters": 3,
            "goals": 1,
            "distractors": 4,
            "min_oracle": 7,
            "max_episode_steps": 80,
        },
        "hard": {
            "rooms": 10,
            "doors": 4,
            "locked_doors": 2,
            "containers": 4,
            "locked_containers": 2,
            "supporters": 4,
            "goals": 2,
            "distractors": 8,
            "min_oracle": 14,
            "max_episode_steps": 150,
        },
        "long": {
            "rooms": 12,
            "doors": 5,
            "locked_doors": 3,
            "containers": 4,
            "locked_containers": 3,
            "supporters": 5,
            "goals": 3,
            "distractors": 8,
            "min_oracle": 30,
            "max_episode_steps": 200,
        },
    },
    "coinhunt-v0": {
        "easy": {"rooms": 7, "min_oracle": 3, "max_episode_steps": 40},
        "medium": {"rooms": 12, "min_oracle": 6, "max_episode_steps": 60},
        "hard": {"rooms": 20, "min_oracle": 9, "max_episode_steps": 100},
        "long": {"rooms": 90, "min_oracle": 30, "max_episode_steps": 400},
    },
}
SPLITS = ("train", "valid", "test")
DEFAULT_SIZE = 512


def keyquest(
    split: str = "train", size: int | None = 512, seed: int = 0, level: str = "medium", **params: int
):
    """Find a thing, unlock and open what is in the way, carry it, and put it where the task says.

    Action: an index into the admissible commands: go north/east/south/west; open, close, unlock A with B; take A
      (from B), drop A, put A on B, insert A into B.
    Observation: what just happened, the room with its exits and what is in or on things, what is carried, the task.
    Start: in a room of a map that is a tree; doors and containers are closed, some are locked.
    Reward: 1 the first time that each thing of the oracle's walk is taken and each of its locks opened, 1 for each
      thing brought to its place; the sum is info["max_score"] for who asks for it in `infos`.
    End: won when every thing of the task is in its place; never lost; truncated at max_episode_steps.
    Arguments: rooms, doors, locked_doors, containers, locked_containers, supporters, goals, distractors, min_oracle,
      max_oracle (length of the oracle's walk), max_episode_steps.
    Version history: v0, the first.

    Returns: a Suite of `size` games. Raises: ConfigError, SuiteError.
    """
    return _suite("keyquest-v0", split, size, seed, level, params)


def coinhunt(
    split: str = "train", size: int | None = 512, seed: int = 0, level: str = "medium", **params: int
):
    """Find the coin in a maze of corridors that look alike; nothing tells where one came from.

    Action: an index into the admissible commands: go north/east/south/west, take coin.
    Observation: the ways out, and the coin where it lies.
    Start: in a corridor; the coin is in a dead end and never in sight.
    Reward: 1 for the coin. End: won with the coin; never lost; truncated at max_episode_steps.
    Arguments: rooms, min_oracle, max_oracle, max_episode_steps.
    Version history: v0, the first.

    Returns: a Suite of `size` games. Raises: ConfigError, SuiteError.
    """
    return _suite("coinhunt-v0", split, size, seed, level, params)


def _suite(family: str, split: str, size: int | None, seed: int, level: str, params: dict[str, int]):
    from agentenv_fast.worlds.suite import Suite

    size = DEFAULT_SIZE if size is None else size
    programs = generate_games(family, split, size, seed, level, **params)
    source: dict[str, Any] = {"id": family, "split": split, "size": size, "seed": seed, "level": level}
    source["params"] = params
    return Suite(programs, name=family, source=source, words=_core.family_words(family), split=split)


def generate_games(family: str, split: str, size: int, seed: int, level: str, **params: int) -> list[bytes]:
    """The first `size` different games of a split, compiled.

    Raises: ConfigError for a level or parameter that is unknown or out of range, SuiteError for a split.
    """
    if level not in LEVELS[family]:
        raise ConfigError(f"{family}: level {level!r}, want one of {', '.join(LEVELS[family])}")
    if split not in SPLITS:
        raise SuiteError(f"{family}: split {split!r}, want one of {', '.join(SPLITS)}")
    for name, value, least in (("size", size, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**32:
            raise ConfigError(f"{family}: {name}={value!r}, want an int from {least}")
    chosen = {**LEVELS[family][level], **params}
    return _core.generate(family, chosen, split, size, seed, _core.available_threads())
