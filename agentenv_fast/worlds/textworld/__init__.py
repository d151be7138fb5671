"""TextWorld games: from a .json that tw-make writes to a compiled game that prints what the original story prints.

The .json alone suffices. Families: custom (tw-make custom, every theme), tw-simple, tw-coin_collector,
tw-treasure_hunter, tw-cooking; docs/worlds_textworld.md names each deliberate difference.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentenv_fast.errors import WorldError
from agentenv_fast.worlds.source import SourceBuilder
from agentenv_fast.worlds.textworld.extras import extras
from agentenv_fast.worlds.textworld.game import Fact, GameFile, read
from agentenv_fast.worlds.textworld.rules import Rules
from agentenv_fast.worlds.textworld.texts import Tail, Texts

PLACEMENT = frozenset({"at", "in", "on"})


def compile_game(content: bytes, file: str | Path) -> bytes:
    """The bytes of a .json → a compiled game.

    Raises: WorldError naming the file and the place in it.
    """
    from agentenv_fast.native import _core

    try:
        return _core.compile_source(source_of(content, Path(file).stem))
    except WorldError as error:
        raise WorldError(f"{file}: {error}") from error.__cause__


def source_of(content: bytes, name: str) -> dict[str, Any]:
    """The Source of a game (agentenv_fast.worlds.source), ready for compile_source.

    Raises: WorldError naming the place in the file.
    """
    return _Compiler(read(content), name).run()


class _Compiler:
    def __init__(self, game: GameFile, name: str) -> None:
        self.game = game
        self.source = SourceBuilder(name, "textworld")

    def run(self) -> dict[str, Any]:
        source, game = self.source, self.game
        self.types = self._types()
        self.objects = self._objects()
        texts = Texts(source, game, self.objects, self._state)
        for id, index in self.objects.items():
            source.objects[index] |= texts.describe(game.entities[id])
        texts.share()
        Rules(source, game, texts, self.objects, self.types, self._predicate).write()
        self._init()
        self._quests()
        source.frame, source.start = texts.frame(), texts.start()
        source.invalid = texts.say("That is not one of the commands listed.", Tail.PARSER)
        source.place_predicate = source.predicate("at", ("at", 2), placement=True)
        source.player, source.inventory = self.objects["P"], self.objects["I"]
        source.max_score = int(game.max_score) if game.max_score != float("inf") else 0
        source.extra_json = json.dumps(extras(game), separators=(",", ":"))
        return source.build()

    def _types(self) -> dict[str, int]:
        names = {name: i for i, name in enumerate(self.game.logic.types)}
        for name, parents in self.game.logic.types.items():
            self.source.type(name, [names[p] for p in parents])
        return names

    def _objects(self) -> dict[str, int]:
        """By id, rooms last: operands of refusals are one byte, and rooms are never among them."""
        entities = sorted(self.game.entities.values(), key=lambda e: (e.type == "r", e.id))
        return {e.id: self.source.object(e.id, self.types[e.type]) for e in entities}

    def _predicate(self, name: str, arity: int) -> int:
        return self.source.predicate(name, (name, arity), placement=name in PLACEMENT and arity == 2)

    def _atom(self, fact: Fact) -> tuple[int, tuple[int, ...]]:
        return self._predicate(fact.name, len(fact.args)), tuple(self.objects[a] for a in fact.args)

    def _state(self, name: str, *objects: int) -> tuple[int, tuple[int, ...]]:
        return self._predicate(name, len(objects)), objects

    def _init(self) -> None:
        """Of the children of one place the first declared comes first, so it is attached last."""
        declared = {id: i for i, id in enumerate(self.game.entities)}
        facts = sorted(self.game.facts, key=lambda f: -declared[f.args[0]] if f.args else 0)
        self.source.init = [self._atom(f) for f in facts]

    def _quests(self) -> None:
        for i, quest in enumerate(self.game.quests):
            self.source.quests.append(
                {
                    "fail_events": [
                        self._condition(e, f"quests[{i}].fail_events[{j}]") for j, e in enumerate(quest.fail)
                    ],
                    "win_events": [
                        self._condition(e, f"quests[{i}].win_events[{j}]") for j, e in enumerate(quest.win)
                    ],
                    "reward": quest.reward,
                    "optional": quest.optional,
                    "repeatable": quest.repeatable,
                }
            )

    def _condition(self, event: list[Fact], where: str) -> list[tuple[int, tuple[int, ...]]]:
        """Inform tests only what its texts can say; facts without an Inform text are dropped."""
        logic, entities = self.game.logic, self.game.entities
        kept = [f for f in event if logic.inform_text(f.name, tuple(entities[a].type for a in f.args))]
        if not kept:
            raise WorldError(f"{where}: none of its facts can be tested by the story file")
        return [self._atom(f) for f in dict.fromkeys(kept)]
