"""TextWorld games: from a .json that tw-make writes to a compiled game that prints what the original story prints.

The .json alone suffices. Families: custom (tw-make custom, every theme), tw-simple, tw-coin_collector,
tw-treasure_hunter, tw-cooking; docs/worlds_textworld.md names each deliberate difference.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentenv_fast.errors import WorldError
from agentenv_fast.worlds.source import Atom, SourceBuilder
from agentenv_fast.worlds.textworld import refusals
from agentenv_fast.worlds.textworld.extras import extras
from agentenv_fast.worlds.textworld.game import Fact, GameFile, read
from agentenv_fast.worlds.textworld.rules import DRUNK, Rules
from agentenv_fast.worlds.textworld.texts import Tail, Texts

MAX_ALTERNATIVES = 256
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
        self.drinkable = {f.args[0] for f in game.facts if f.name == "drinkable"}

    def run(self) -> dict[str, Any]:
        source, game = self.source, self.game
        self.types = self._types()
        self.objects = self._objects()
        texts = Texts(source, game, self.objects, self._state)
        for id, index in self.objects.items():
            source.objects[index] |= texts.describe(game.entities[id])
        texts.share()
        Rules(source, game, texts, self.objects, self.types, self._predicate).write()
        refusals.write(source, game, texts)
        self._init()
        self._quests()
        source.frame, source.start = texts.frame(), texts.start()
        source.invalid = texts.say("That is not one of the commands listed.", Tail.PARSER)
        source.place_predicate = source.predicate("at", ("at", 2), placement=True)
        source.player, source.inventory = self.objects["P"], self.objects["I"]
        source.max_score = int(game.max_score) if game.max_score != float("inf") else 0
        source.extra_json = json.dumps(extras(game, texts.inventory_alone), separators=(",", ":"))
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
        if name == DRUNK:
            return self.source.predicate("in", DRUNK)
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
                    "fail_events": self._events(quest.fail, f"quests[{i}].fail_events"),
                    "win_events": self._events(quest.win, f"quests[{i}].win_events"),
                    "reward": quest.reward,
                    "optional": quest.optional,
                    "repeatable": quest.repeatable,
                }
            )

    def _events(self, events: list[list[Fact]], where: str) -> list[list[Atom]]:
        return [c for j, event in enumerate(events) for c in self._conditions(event, f"{where}[{j}]")]

    def _conditions(self, event: list[Fact], where: str) -> list[list[Atom]]:
        """Conjunctions, one of which must hold. Facts that Inform has no text for are not tested.

        For the story a thing that was drunk is consumed, although textworld does not notice.
        """
        logic, entities = self.game.logic, self.game.entities
        kept = [f for f in event if logic.inform_text(f.name, tuple(entities[a].type for a in f.args))]
        if not kept:
            raise WorldError(f"{where}: none of its facts can be tested by the story file")
        out: list[list[Atom]] = [[]]
        for fact in dict.fromkeys(kept):
            choices = [self._atom(fact)]
            if fact.name == "consumed" and fact.args[0] in self.drinkable:
                choices.append((self._predicate(DRUNK, 2), (self.objects[fact.args[0]], self.objects["I"])))
            out = [[*conjunction, choice] for conjunction in out for choice in choices]
            if len(out) > MAX_ALTERNATIVES:
                raise WorldError(f"{where}: more than {MAX_ALTERNATIVES} ways to meet one condition")
        return out
