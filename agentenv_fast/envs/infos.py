"""Host-side lists that `make(..., infos=[...])` adds to info, under the names of TextWorld's EnvInfos.

They cost Python time and describe the state that `obs` shows. What info has as arrays anyway (score, won, lost, moves)
may be named too. Not offered: policy_commands and intermediate_reward (use a RewardSpec), game (use `metadata`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from agentenv_fast.errors import ConfigError

ARRAYS = frozenset({"score", "won", "lost", "moves"})
REFUSED = {
    "policy_commands": "textworld's planner is not part of this engine; `walkthrough` has the game's own solution",
    "intermediate_reward": "it needs textworld's planner; ae.make(..., reward=RewardSpec(...)) shapes rewards natively",
    "game": "there is no textworld.Game here; `metadata`, `typed_entities`, `win_facts` hold what the file says",
}
RAW = 1  # text mode of what is rendered apart from the observation


class Variable(NamedTuple):
    """An entity as TextWorld names it in facts."""

    name: str
    type: str

    def __str__(self) -> str:
        return self.name if self.name == self.type else f"{self.name}: {self.type}"


class Fact(NamedTuple):
    """A fact in readable names: `fact.name`, `fact.arguments[0].name`; str as TextWorld's Proposition prints."""

    name: str
    arguments: tuple[Variable, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.arguments)

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(a.type for a in self.arguments)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"


# -- of the game ------------------------------------------------------------------------------------------------------
def _cached(env, kind: str, game: int, make: Callable[[], Any]) -> Any:
    cache = env.__dict__.setdefault("_info_cache", {})
    if (kind, game) not in cache:
        cache[kind, game] = make()
    return cache[kind, game]


def _extras(env, game: int) -> dict[str, Any]:
    return _cached(env, "extra", game, lambda: env.suite.extra(game))


def _extra(key: str, default: Any = None) -> Callable:
    def read(env, row: int, game: int) -> Any:
        return _extras(env, game).get(key, default)

    return read


def _variables(env, game: int) -> dict[str, Variable]:
    """By id. An entity without a name goes by its id, as in TextWorld."""
    objects = env.suite.program(game).objects
    return {id: Variable(name or id, type) for id, name, type in objects}


def _fact(text: str, variables: dict[str, Variable]) -> Fact | None:
    name, _, rest = text.partition("(")
    ids = rest[:-1].split(", ") if len(rest) > 1 else []
    if not rest.endswith(")") or not all(i in variables for i in ids):
        return None  # a flag of the engine's own, such as a quest's
    return Fact(name, tuple(variables[i] for i in ids))


def _typed_entities(env, row: int, game: int) -> list[tuple[str, str]]:
    return [(name, kind) for name, kind in _extras(env, game).get("typed_entities", [])]


def _event_facts(key: str) -> Callable:
    def read(env, row: int, game: int) -> list[list[tuple[Fact, ...]]]:
        variables = _cached(env, "variables", game, lambda: _variables(env, game))
        quests = _extras(env, game).get(key, [])
        return [
            [tuple(Fact(f[0], tuple(variables[i] for i in f[1:])) for f in event) for event in events]
            for events in quests
        ]

    return read


def _possible_commands(env, row: int, game: int) -> list[str]:
    """Every template with every entity in each place, as TextWorld's Game.possible_commands."""

    def make() -> list[str]:
        names = [name for name, _ in _typed_entities(env, row, game)]
        shapes = {tuple(_literals(t)) for t in _extras(env, game).get("command_templates", [])}
        return sorted(
            _filled(shape, words)
            for shape in shapes
            for words in itertools.product(names, repeat=len(shape) - 1)
        )

    return _cached(env, "possible", game, make)


def _possible_admissible(env, row: int, game: int) -> list[str]:
    """Every template with every entity of the right type, as TextWorld's Game.possible_admissible_commands."""

    def make() -> list[str]:
        parents = _extras(env, game).get("types", {})
        below: dict[str, list[str]] = {}
        for kind in parents:
            for above in _above(kind, parents):
                below.setdefault(above, []).append(kind)
        names: dict[str, list[str]] = {}
        for name, kind in _typed_entities(env, row, game):
            names.setdefault(kind, []).append(name)
        out: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
        for template in _extras(env, game).get("command_templates", []):
            shape = tuple(_literals(template))
            slots = [below.get(slot, [slot]) for slot in _slots(template)]
            out |= {(shape, kinds) for kinds in itertools.product(*slots)}
        return sorted(
            _filled(shape, words)
            for shape, kinds in out
            for words in itertools.product(*(names.get(kind, []) for kind in kinds))
        )

    return _cached(env, "possible admissible", game, make)


def _above(kind: str, parents: dict[str, list[str]]) -> list[str]:
    """The type and those above it by first parents, as TextWorld's type tree has it."""
    out = [kind]
    while parents.get(out[-1]) and len(out) <= len(parents):
        out.append(parents[out[-1]][0])
    return out


def _literals(template: str) -> list[str]:
    return [part.rpartition("}")[2] for part in template.split("{")]


def _slots(template: str) -> list[str]:
    return [part.partition("}")[0] for part in template.split("{")[1:]]


def _filled(shape: Sequence[str], words: Sequence[str]) -> str:
    return shape[0] + "".join(word + literal for word, literal in zip(words, shape[1:], strict=True))


# -- of the row -------------------------------------------------------------------------------------------------------
def _facts(env, row: int, game: int) -> list[Fact]:
    variables = _cached(env, "variables", game, lambda: _variables(env, game))
    statics = _cached(env, "statics", game, lambda: env.suite.program(game).static_facts)
    names, place = env._native.facts(row)
    texts = [*names, *statics, *([f"at(P, {place})"] if place is not None else [])]
    found = (_fact(text, variables) for text in texts)
    return sorted({fact for fact in found if fact is not None})


def _description(env, row: int, game: int) -> str:
    look, _ = env._native.place_programs(row)
    return env._native.render_program(row, look, RAW).strip() if look >= 0 else ""


def _inventory(env, row: int, game: int) -> str:
    program = _extras(env, game).get("inventory_program", -1)
    return env._native.render_program(row, program, RAW).strip() if program >= 0 else ""


def _location(env, row: int, game: int) -> str | None:
    _, place = env._native.facts(row)
    variables = _cached(env, "variables", game, lambda: _variables(env, game))
    return variables[place].name if place is not None else None


def _admissible(env, row: int, game: int) -> list[str]:
    return env.get_available_actions([row])[0]


def _last_command(env, row: int, game: int) -> str | None:
    return env._native.last_event(row)[3] or None


def _feedback(env, row: int, game: int) -> str:
    return env.get_state([row])[0]


READERS: dict[str, Callable[[Any, int, int], Any]] = {
    "feedback": _feedback,
    "description": _description,
    "inventory": _inventory,
    "location": _location,
    "facts": _facts,
    "win_facts": _event_facts("win_facts"),
    "fail_facts": _event_facts("fail_facts"),
    "admissible_commands": _admissible,
    "possible_commands": _possible_commands,
    "possible_admissible_commands": _possible_admissible,
    "last_action": _last_command,
    "last_command": _last_command,
    "objective": _extra("objective", ""),
    "walkthrough": _extra("walkthrough", []),
    "max_score": _extra("max_score", 0),
    "entities": _extra("entities", []),
    "typed_entities": _typed_entities,
    "verbs": _extra("verbs", []),
    "command_templates": _extra("command_templates", []),
    "metadata": _extra("metadata", {}),
}


def check_names(names: Sequence[str]) -> None:
    """Raises: ConfigError for a name that is not known, or that cannot be honoured (and why)."""
    for name in names:
        if name in REFUSED:
            raise ConfigError(f"infos: {name!r} is not offered: {REFUSED[name]}")
        if name not in READERS and name not in ARRAYS:
            known = ", ".join(sorted([*READERS, *ARRAYS]))
            raise ConfigError(f"infos: {name!r} is not known; want some of {known}")


def collect(env, names: Sequence[str], rows) -> dict[str, list]:
    """Each name → a list with one entry per row shown; names that info has as arrays are left out."""
    shown = range(env.num_envs) if rows is None else [int(r) for r in rows]
    snapshot = env._native.get_rows(None if rows is None else env_rows(rows))
    games = snapshot[:, 28:32].copy().view("<u4")[:, 0]
    wanted = [name for name in names if name not in ARRAYS]
    return {
        name: [READERS[name](env, r, int(g)) for r, g in zip(shown, games, strict=True)] for name in wanted
    }


def env_rows(rows):
    from agentenv_fast.envs.vec_env import _rows

    return _rows(rows)
