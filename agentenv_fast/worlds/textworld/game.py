"""A TextWorld .json, read and checked: facts, entities, quests, logic. Nothing here trusts the file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

from agentenv_fast.errors import WorldError
from agentenv_fast.worlds.textworld import families
from agentenv_fast.worlds.textworld import logic as logic_module
from agentenv_fast.worlds.textworld.logic import Logic

MAX_BYTES = 64 << 20
MAX_FACTS = 100_000
MAX_ENTITIES = 20_000
MAX_QUESTS = 5_000
MAX_TEXT = 1 << 20


class Fact(NamedTuple):
    name: str
    args: tuple[str, ...]  # ids of entities


@dataclass
class Entity:
    id: str
    type: str
    name: str = ""
    desc: str = ""
    definite: str = ""
    indefinite: str = ""
    synonyms: tuple[str, ...] = ()
    listed: bool = False  # the file's infos name it


@dataclass
class Quest:
    win: list[list[Fact]]
    fail: list[list[Fact]]
    reward: int
    optional: bool
    repeatable: bool


@dataclass
class GameFile:
    logic: Logic
    facts: list[Fact]  # sorted, as textworld does
    entities: dict[str, Entity]  # in the order in which the original declares them
    infos: list[str]  # ids in the file's order
    quests: list[Quest]
    objective: str
    metadata: dict[str, Any]

    @property
    def max_score(self) -> float:
        if any(q.repeatable and q.reward > 0 for q in self.quests):
            return float("inf")
        return sum(q.reward for q in self.quests if not q.optional or q.reward > 0)


def read(content: bytes) -> GameFile:
    """The game in a .json file.

    Raises: WorldError naming the place in the file.
    """
    data = _load(content)
    logic = logic_module.parse(_logic_text(data))
    families.check(logic)
    facts, types = _facts(logic, data.get("world"))
    infos = _infos(data.get("infos"), types)
    entities = _declared(logic, facts, types, infos)
    quests = _quests(logic, data.get("quests"), types)
    metadata = data.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise WorldError(f"metadata: {type(metadata).__name__}, want an object")
    return GameFile(
        logic, facts, entities, list(infos), quests, _string(data, "objective", "objective"), metadata
    )


def _load(content: bytes) -> dict[str, Any]:
    if len(content) > MAX_BYTES:
        raise WorldError(f"{len(content)} bytes, at most {MAX_BYTES} are read: is this a TextWorld game?")
    try:
        data = json.loads(content)
    except UnicodeDecodeError as error:
        raise WorldError(f"byte {error.start}: not UTF-8 text; a TextWorld .json is") from None
    except json.JSONDecodeError as error:
        raise WorldError(
            f"line {error.lineno}, column {error.colno}: not JSON ({error.msg}); is it cut short?"
        ) from None
    except (RecursionError, ValueError) as error:
        raise WorldError(
            f"not JSON that can be read ({type(error).__name__}: nested too deeply or a number too long)"
        ) from None
    if not isinstance(data, dict):
        raise WorldError(
            f"a JSON {_kind(data)}, want an object with world, infos, quests and KB: is this a TextWorld game?"
        )
    for key in ("KB", "world", "infos", "quests"):
        if key not in data:
            raise WorldError(f'no "{key}" section: is this a TextWorld game? (tw-make writes one)')
    if data.get("version", 1) != 1:
        raise WorldError(f"version: {data['version']!r}, want 1")
    return data


def _logic_text(data: dict[str, Any]) -> str:
    knowledge = data["KB"]
    text = knowledge.get("logic") if isinstance(knowledge, dict) else None
    if not isinstance(text, str):
        raise WorldError("KB.logic: missing or not a text; the game's rules live there")
    return text


# -- facts ------------------------------------------------------------------------------------------------------------
def _facts(logic: Logic, world: Any) -> tuple[list[Fact], dict[str, str]]:
    if not isinstance(world, list):
        raise WorldError(f"world: {_kind(world)}, want a list of facts")
    if len(world) > MAX_FACTS:
        raise WorldError(f"world: {len(world)} facts, at most {MAX_FACTS} are read")
    types: dict[str, str] = {"P": "P", "I": "I"}
    facts = [_fact(logic, fact, types, f"world[{i}]") for i, fact in enumerate(world)]
    if not any(f.name == "at" and f.args[:1] == ("P",) for f in facts):
        raise WorldError("world: no fact at(P, room): the player is nowhere")
    return sorted(set(facts), key=lambda f: (f.name, [(a, types[a]) for a in f.args])), types


def _fact(logic: Logic, fact: Any, types: dict[str, str], where: str) -> Fact:
    if (
        not isinstance(fact, dict)
        or not isinstance(fact.get("name"), str)
        or not isinstance(fact.get("arguments"), list)
    ):
        raise WorldError(f"{where}: want {{name, arguments}}, got {_kind(fact)}")
    args = []
    for j, argument in enumerate(fact["arguments"]):
        if not isinstance(argument, dict):
            raise WorldError(f"{where}.arguments[{j}]: {_kind(argument)}, want {{name, type}}")
        name, type_name = argument.get("name"), argument.get("type")
        if not isinstance(name, str) or not isinstance(type_name, str):
            raise WorldError(f"{where}.arguments[{j}]: want a name and a type")
        if type_name not in logic.types:
            raise WorldError(f"{where}.arguments[{j}]: type {type_name!r} is not declared in KB.logic")
        if types.setdefault(name, type_name) != type_name:
            raise WorldError(f"{where}.arguments[{j}]: {name} is a {type_name}, elsewhere a {types[name]}")
        if len(types) > MAX_ENTITIES:
            raise WorldError(f"{where}: more than {MAX_ENTITIES} entities")
        args.append(name)
    if (fact["name"], len(args)) not in logic.names:
        raise WorldError(
            f"{where}: predicate {fact['name']!r} with {len(args)} arguments is not declared in KB.logic"
        )
    return Fact(fact["name"], tuple(args))


# -- entities ---------------------------------------------------------------------------------------------------------
def _infos(infos: Any, types: dict[str, str]) -> dict[str, Entity]:
    if not isinstance(infos, list):
        raise WorldError(f"infos: {_kind(infos)}, want a list of [id, info]")
    if len(infos) > MAX_ENTITIES:
        raise WorldError(f"infos: {len(infos)} entities, at most {MAX_ENTITIES} are read")
    out: dict[str, Entity] = {}
    for i, pair in enumerate(infos):
        if (
            not isinstance(pair, list)
            or len(pair) != 2
            or not isinstance(pair[0], str)
            or not isinstance(pair[1], dict)
        ):
            raise WorldError(f"infos[{i}]: want [id, {{...}}], got {_kind(pair)}")
        id, info = pair
        if id in out:
            raise WorldError(f"infos[{i}]: id {id!r} appears twice")
        where = f"infos[{i}] ({id})"
        type_name = types.get(id) or _string(info, "type", where)
        synonyms = info.get("synonyms") or []
        if not isinstance(synonyms, list) or not all(isinstance(s, str) for s in synonyms):
            raise WorldError(f"{where}.synonyms: want a list of texts")
        out[id] = Entity(
            id=id,
            type=type_name,
            name=_string(info, "name", where),
            desc=_string(info, "desc", where),
            definite=_string(info, "definite", where),
            indefinite=_string(info, "indefinite", where),
            synonyms=tuple(synonyms),
            listed=True,
        )
    return out


def _declared(
    logic: Logic, facts: list[Fact], types: dict[str, str], infos: dict[str, Entity]
) -> dict[str, Entity]:
    """Entities in the order in which the original's source declares them: rooms, then type by type.

    Within a type the order is that in which textworld's World meets them: rooms' facts, doors' links, other facts.
    """
    met: dict[str, None] = {"P": None, "I": None}
    for fact in facts:
        if fact.args and logic.is_a(types[fact.args[0]], "r"):
            met.setdefault(fact.args[0])
            if fact.name.endswith("_of"):
                met.setdefault(fact.args[1])
    for fact in facts:
        if fact.name == "link":
            for id in fact.args:
                met.setdefault(id)
    for fact in facts:
        if fact.args and not logic.is_a(types[fact.args[0]], "r"):
            met.setdefault(fact.args[0])
            if fact.name in ("match", "in", "on", "at"):
                met.setdefault(fact.args[1])
    for id in types:
        met.setdefault(id)
    ordered = sorted(
        met, key=lambda id: (types[id] != "r", types[id])
    )  # stable: order of meeting within a type
    return {id: infos.get(id) or Entity(id, types[id]) for id in ordered}


# -- quests -----------------------------------------------------------------------------------------------------------
def _quests(logic: Logic, quests: Any, types: dict[str, str]) -> list[Quest]:
    if not isinstance(quests, list):
        raise WorldError(f"quests: {_kind(quests)}, want a list")
    if len(quests) > MAX_QUESTS:
        raise WorldError(f"quests: {len(quests)}, at most {MAX_QUESTS} are read")
    return [_quest(logic, quest, types, f"quests[{i}]") for i, quest in enumerate(quests)]


def _quest(logic: Logic, quest: Any, types: dict[str, str], where: str) -> Quest:
    if not isinstance(quest, dict):
        raise WorldError(f"{where}: {_kind(quest)}, want an object")
    reward = quest.get("reward", 0)
    if isinstance(reward, bool) or not isinstance(reward, int) or not -9999 <= reward <= 9999:
        raise WorldError(f"{where}.reward: {reward!r}, want an int within ±9999")
    out = Quest(
        win=_events(logic, quest.get("win_events"), types, f"{where}.win_events"),
        fail=_events(logic, quest.get("fail_events"), types, f"{where}.fail_events"),
        reward=reward,
        optional=_flag(quest, "optional", where),
        repeatable=_flag(quest, "repeatable", where),
    )
    if not out.win and not out.fail:
        raise WorldError(f"{where}: neither win_events nor fail_events")
    return out


def _events(logic: Logic, events: Any, types: dict[str, str], where: str) -> list[list[Fact]]:
    if events is None:
        return []
    if not isinstance(events, list):
        raise WorldError(f"{where}: {_kind(events)}, want a list")
    out = []
    for i, event in enumerate(events):
        condition = event.get("condition") if isinstance(event, dict) else None
        before = condition.get("preconditions") if isinstance(condition, dict) else None
        if not isinstance(before, list) or not before:
            raise WorldError(f"{where}[{i}].condition.preconditions: want a list of at least one fact")
        at = f"{where}[{i}].condition.preconditions"
        out.append([_known_fact(logic, fact, types, f"{at}[{j}]") for j, fact in enumerate(before)])
    return out


def _known_fact(logic: Logic, fact: Any, types: dict[str, str], where: str) -> Fact:
    known = dict(types)
    out = _fact(logic, fact, known, where)
    for id in out.args:
        if id not in types:
            raise WorldError(
                f"{where}: {out.name}({', '.join(out.args)}) names {id!r}, which is in no fact of world"
            )
    return out


# -- small checks -----------------------------------------------------------------------------------------------------
def _string(info: dict[str, Any], key: str, where: str) -> str:
    value = info.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise WorldError(f"{where}.{key}: {_kind(value)}, want a text")
    if len(value) > MAX_TEXT:
        raise WorldError(f"{where}.{key}: {len(value)} characters, at most {MAX_TEXT} are read")
    return value


def _flag(info: dict[str, Any], key: str, where: str) -> bool:
    value = info.get(key, False)
    if not isinstance(value, bool):
        raise WorldError(f"{where}.{key}: {value!r}, want true or false")
    return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), "a number")
