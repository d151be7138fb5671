"""Host-side lists that `make(..., infos=[...])` adds to info, under the names of TextWorld's EnvInfos."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agentenv_fast.errors import ConfigError


def _extra(key: str, default: Any = None) -> Callable:
    def read(env, row: int, game: int) -> Any:
        return _extras(env, game).get(key, default)

    return read


def _extras(env, game: int) -> dict[str, Any]:
    cache = env.__dict__.setdefault("_extra_cache", {})
    if game not in cache:
        cache[game] = env.suite.extra(game)
    return cache[game]


def _facts(env, row: int, game: int) -> list[str]:
    names, place = env._native.facts(row)
    return sorted([*names, *_statics(env, game), *([f"at(P, {place})"] if place is not None else [])])


def _statics(env, game: int) -> list[str]:
    cache = env.__dict__.setdefault("_static_cache", {})
    if game not in cache:
        cache[game] = env.suite.program(game).static_facts
    return cache[game]


def _admissible(env, row: int, game: int) -> list[str]:
    return env.get_available_actions([row])[0]


def _last_command(env, row: int, game: int) -> str | None:
    return env._native.last_event(row)[3] or None


READERS: dict[str, Callable[[Any, int, int], Any]] = {
    "admissible_commands": _admissible,
    "facts": _facts,
    "last_command": _last_command,
    "objective": _extra("objective", ""),
    "walkthrough": _extra("walkthrough", []),
    "max_score": _extra("max_score", 0),
    "entities": _extra("entities", []),
    "verbs": _extra("verbs", []),
    "command_templates": _extra("command_templates", []),
    "metadata": _extra("metadata", {}),
}


def check_names(names: Sequence[str]) -> None:
    """Raises: ConfigError for a name that is not in READERS."""
    for name in names:
        if name not in READERS:
            raise ConfigError(f"infos: {name!r} is not known; want some of {', '.join(sorted(READERS))}")


def collect(env, names: Sequence[str], rows) -> dict[str, list]:
    """Each name → a list with one entry per row shown."""
    shown = range(env.num_envs) if rows is None else [int(r) for r in rows]
    snapshot = env._native.get_rows(None if rows is None else env_rows(rows))
    games = snapshot[:, 28:32].copy().view("<u4")[:, 0]
    return {name: [READERS[name](env, r, int(g)) for r, g in zip(shown, games, strict=True)] for name in names}


def env_rows(rows):
    from agentenv_fast.envs.vec_env import _rows

    return _rows(rows)
