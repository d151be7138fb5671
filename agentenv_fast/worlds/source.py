"""SourceBuilder: a front end's way to write a Source (csrc/logic/source.h) as a plain dict.

`agentenv_fast.native.compile_source(dict)` turns the dict into a compiled game. Keys are the field names of the C++
structs; the enums below mirror those of the header, which tests/worlds/test_source.py checks.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


class Op(enum.IntEnum):
    """Instructions of a text program; see source.h for what a, b, c and value mean."""

    LIT = 1
    NAME = 2
    LISTED_NAME = 3
    LIST = 4
    JUMP = 5
    UNLESS = 6
    UNLESS_ANY = 7
    UNLESS_FACT = 8
    NUMBER = 9
    NUMBER_WORDS = 10
    CALL = 11
    CALL_OBJECT = 12
    CALL_PLACE = 13
    CALL_EVENT = 14
    SECTION = 15
    END = 16
    UNLESS_PRINTS = 17
    UNLESS_HOLDS = 18
    FACTS = 19
    ITEM = 20
    JOINED = 21


class FactKind(enum.IntEnum):
    CHANGING = 0
    STATIC = 1


class Article(enum.IntEnum):
    NONE = 0
    THE = 1
    INDEFINITE = 2
    CAPITAL_THE = 3


class ObjectText(enum.IntEnum):
    DESCRIPTION = 0
    LISTED = 1
    LOOK = 2
    TITLE = 3


class Section(enum.IntEnum):
    BANNER = 0
    OBJECTIVE = 1
    BODY = 2
    SCORE = 3
    STATUS = 4
    END = 5


class Pseudo(enum.IntEnum):
    """Values of the row's header that texts can read."""

    SCORE_CHANGE = 0xFF00
    SCORE = 0xFF01
    TURNS = 0xFF02
    MOVES = 0xFF03
    WON = 0xFF04
    LOST = 0xFF05
    EVENT = 0xFF06
    TEXT_MODE = 0xFF07
    OUTCOME = 0xFF08
    STEP = 0xFF09
    SCORE_CHANGE_ABS = 0xFF0A
    SCORE_BEFORE = 0xFF0B
    SCORE_TOLD = 0xFF0C
    NEXT_TURN = 0xFF0D


class CompareOp(enum.IntEnum):
    SET = 0
    CLEAR = 1
    EQUAL = 2
    NOT_EQUAL = 3
    LESS_EQUAL = 4
    GREATER_EQUAL = 5


class TextMode(enum.IntEnum):
    TRACKED = 0
    RAW = 1
    EXTRA = 2


PLAYER_HERE = -16  # as a container: the place where the player is


def operand(k: int) -> int:
    """Operand k of the last action or refusal, as an object argument."""
    return -1 - k


Atom = tuple  # (predicate, (args...)) or (predicate, (args...), negated)

# A condition of a first-order rule. A term is a variable (>= 0: the rule's parameters, then those of the quantifiers
# around, outermost first) or an object (-1 - object).
#   ("and" | "or", [formulas])   ("not", formula)   ("atom", predicate, [terms])   ("=", [term, term])
#   ("exists" | "forall", [types of its variables], formula)
Formula = tuple
TRUE: Formula = ("and", [])


class Label:
    """A place in a text program; jumps to it are patched once it is placed."""

    __slots__ = ("at", "waiting")

    def __init__(self) -> None:
        self.at: int | None = None
        self.waiting: list[int] = []


class TextBuilder:
    """Writes one text program. Every method that prints returns the builder, so that calls can be chained."""

    def __init__(self, source: SourceBuilder, index: int) -> None:
        self.index = index
        self._source = source
        self.code: list[tuple[int, int, int, int, int]] = []
        self.facts: list[Atom] = []
        self._open: list[Label] = []

    def lit(self, text: str) -> TextBuilder:
        """Prints `text`; cut texts only beside blanks, newlines or punctuation: tokens are made per literal."""
        if text:
            self._emit(Op.LIT, self._source.literal(text))
        return self

    def name(self, obj: int, article: Article = Article.NONE) -> TextBuilder:
        return self._emit(Op.NAME, obj, article)

    def listed_name(self, obj: int) -> TextBuilder:
        return self._emit(Op.LISTED_NAME, obj)

    def list(self, container: int, mask: int = 1, *, bare: bool = False) -> TextBuilder:
        """The children, as lists print them; `bare`: their names without articles."""
        return self._emit(Op.LIST, container, mask, 0, int(bare))

    def true_facts(
        self, kind: FactKind = FactKind.CHANGING, before: str = "", behind: str = ""
    ) -> TextBuilder:
        """The sentence (SourceBuilder.sentence) of every fact that holds; first-order sources only.

        If there is no fact of the kind, not even a false one, `before` and `behind` are not printed either.
        """
        around = [1 + self._source.literal(text) if text else 0 for text in (before, behind)]
        return self._emit(Op.FACTS, kind, around[0], 0, around[1])

    def item(self, literal: str, separator: str) -> TextBuilder:
        """An entry of a list that joined() ends; `separator` stands between it and an entry before it."""
        return self._emit(Op.ITEM, self._source.literal(literal), 0, self._source.literal(separator))

    def item_program(self, program: int, separator: str) -> TextBuilder:
        """Like item(); a program prints the entry."""
        return self._emit(Op.ITEM, program, 1, self._source.literal(separator))

    def joined(self, last: str, empty: str = "") -> TextBuilder:
        """Ends a list: `last` stands before the last of several entries; `empty` is printed if there was none."""
        return self._emit(
            Op.JOINED, self._source.literal(last), 0, 1 + self._source.literal(empty) if empty else 0
        )

    def number(self, pseudo: int) -> TextBuilder:
        return self._emit(Op.NUMBER, pseudo)

    def number_words(self, pseudo: int) -> TextBuilder:
        return self._emit(Op.NUMBER_WORDS, pseudo)

    def call(self, program: int) -> TextBuilder:
        return self._emit(Op.CALL, program)

    def call_object(self, obj: int, which: ObjectText) -> TextBuilder:
        return self._emit(Op.CALL_OBJECT, obj, which)

    def call_place(self, which: ObjectText) -> TextBuilder:
        return self._emit(Op.CALL_PLACE, 0, which)

    def call_event(self) -> TextBuilder:
        return self._emit(Op.CALL_EVENT)

    def section(self, section: Section) -> TextBuilder:
        return self._emit(Op.SECTION, section)

    # -- control ------------------------------------------------------------------------------------------------------
    def jump(self, label: Label) -> TextBuilder:
        return self._emit(Op.JUMP, 0, 0, self._target(label))

    def unless(self, var: int, op: CompareOp, value: int, label: Label) -> TextBuilder:
        """Goes on if the comparison holds, else jumps."""
        return self._emit(Op.UNLESS, var, op, self._target(label), value)

    def unless_any(self, container: int, mask: int, label: Label, *, beside: int = 0) -> TextBuilder:
        """Goes on if the container holds more than `beside` children of the mask, else jumps."""
        return self._emit(Op.UNLESS_ANY, container, mask, self._target(label), beside)

    def unless_fact(self, atom: Atom, label: Label) -> TextBuilder:
        """Goes on if the fact holds, else jumps."""
        self.facts.append(atom)
        return self._emit(Op.UNLESS_FACT, len(self.facts) - 1, 0, self._target(label))

    def unless_prints(self, obj: int, which: ObjectText, label: Label) -> TextBuilder:
        """Runs an object's program; goes on if that printed something, else jumps."""
        return self._emit(Op.UNLESS_PRINTS, obj, which, self._target(label))

    def unless_holds(self, container: int, obj: int, label: Label) -> TextBuilder:
        """Goes on if the object is a child of the container, else jumps."""
        return self._emit(Op.UNLESS_HOLDS, container, 0, self._target(label), obj)

    def place(self, label: Label) -> TextBuilder:
        """The label's jumps end here."""
        label.at = len(self.code)
        for i in label.waiting:
            op, a, b, _, value = self.code[i]
            self.code[i] = (op, a, b, label.at, value)
        label.waiting.clear()
        return self

    def _target(self, label: Label) -> int:
        if label.at is not None:
            raise ValueError(f"program {self.index}: a jump backwards; text programs run forward only")
        label.waiting.append(len(self.code))
        return 0

    def _emit(self, op: Op, a: int = 0, b: int = 0, c: int = 0, value: int = 0) -> TextBuilder:
        self.code.append((int(op), int(a), int(b), int(c), int(value)))
        return self

    def done(self) -> tuple[list[tuple[int, int, int, int, int]], list[Atom]]:
        return [*self.code, (int(Op.END), 0, 0, 0, 0)], self.facts


@dataclass
class SourceBuilder:
    """Collects a Source. Indices that methods return are those of the C++ vectors."""

    name: str
    family: str
    types: list[tuple[str, list[int]]] = field(default_factory=list)
    objects: list[dict[str, Any]] = field(default_factory=list)
    predicates: list[tuple[str, bool]] = field(default_factory=list)
    rules: list[dict[str, Any]] = field(default_factory=list)
    init: list[Atom] = field(default_factory=list)
    quests: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[dict[str, Any]] = field(default_factory=list)
    place_predicate: int = -1
    player: int = -1
    inventory: int = -1
    frame: int = -1
    start: int = -1
    invalid: int = -1
    max_score: int = 0
    max_episode_steps: int = 100
    extra_json: str = ""
    derived: list[dict[str, Any]] = field(default_factory=list)
    sentences: list[tuple[int, list[str | int]]] = field(default_factory=list)
    distinct_parameters: bool = (
        True  # False in first-order sources, which then use operator() instead of rule()
    )

    def __post_init__(self) -> None:
        self._programs: list[TextBuilder] = []
        self._literals: dict[str, int] = {}
        self._predicates: dict[Any, int] = {}

    def literal(self, text: str) -> int:
        """The id of a literal; the same text gets the same id."""
        return self._literals.setdefault(text, len(self._literals))

    def text(self) -> TextBuilder:
        """A new text program."""
        program = TextBuilder(self, len(self._programs))
        self._programs.append(program)
        return program

    def type(self, name: str, parents: Iterable[int] = ()) -> int:
        self.types.append((name, list(parents)))
        return len(self.types) - 1

    def object(self, id: str, type: int, **fields: Any) -> int:
        self.objects.append({"id": id, "type": type, **fields})
        return len(self.objects) - 1

    def predicate(self, name: str, key: Any = None, *, placement: bool = False) -> int:
        """The index of a predicate; `key` tells apart predicates of one name."""
        key = name if key is None else key
        if key not in self._predicates:
            self._predicates[key] = len(self.predicates)
            self.predicates.append((name, placement))
        return self._predicates[key]

    def rule(
        self,
        name: str,
        *,
        parameters: Sequence[tuple[int, int]],
        preconditions: Sequence[Atom],
        adds: Sequence[Atom],
        deletes: Sequence[Atom],
        command: Sequence[str | int],
        operands: Sequence[int],
        outcomes: Sequence[dict[str, Any]],
    ) -> int:
        self.rules.append(
            {
                "name": name,
                "parameters": list(parameters),
                "preconditions": list(preconditions),
                "adds": list(adds),
                "deletes": list(deletes),
                "command": list(command),
                "operands": list(operands),
                "outcomes": list(outcomes),
            }
        )
        return len(self.rules) - 1

    def operator(
        self,
        name: str,
        *,
        parameters: Sequence[tuple[int, int]],
        precondition: Formula,
        effects: Sequence[tuple[Sequence[int], Formula, Atom]],
        command: Sequence[str | int],
        operands: Sequence[int],
        outcomes: Sequence[dict[str, Any]],
        where: str = "",
    ) -> int:
        """A rule of a first-order source.

        Args:
          parameters: (type, object or -1) each; two may bind the same object.
          effects: (types of further variables, condition, (predicate, terms, negated)) each; what is both deleted and
            added is true afterwards.
          where: "file:line:column", for errors.
        """
        self.rules.append(
            {
                "name": name,
                "parameters": list(parameters),
                "precondition": precondition,
                "effects": [(list(types), condition, atom) for types, condition, atom in effects],
                "command": list(command),
                "operands": list(operands),
                "outcomes": list(outcomes),
                "where": where,
            }
        )
        return len(self.rules) - 1

    def axiom(self, predicate: int, types: Sequence[int], formula: Formula, where: str = "") -> None:
        """The facts of a derived predicate hold wherever `formula` does; its variables 0, 1, ... are the arguments."""
        self.derived.append(
            {"predicate": predicate, "types": list(types), "formula": formula, "where": where}
        )

    def sentence(self, predicate: int, pieces: Sequence[str | int]) -> None:
        """How true_facts() prints a fact; a piece is a text or the index of an argument."""
        self.sentences.append((predicate, list(pieces)))

    def refusal(self, name: str, text: int, *, turn_passes: bool = True) -> int:
        self.refusals.append({"name": name, "text": text, "turn_passes": turn_passes})
        return len(self.refusals) - 1

    def build(self) -> dict[str, Any]:
        """The Source as a dict."""
        return {
            "name": self.name,
            "family": self.family,
            "types": self.types,
            "objects": self.objects,
            "predicates": self.predicates,
            "rules": self.rules,
            "init": self.init,
            "place_predicate": self.place_predicate,
            "player": self.player,
            "inventory": self.inventory,
            "quests": self.quests,
            "programs": [program.done() for program in self._programs],
            "literals": list(self._literals),
            "refusals": self.refusals,
            "texts": {"frame": self.frame, "start": self.start, "invalid": self.invalid},
            "max_score": self.max_score,
            "max_episode_steps": self.max_episode_steps,
            "extra_json": self.extra_json,
            "derived": self.derived,
            "sentences": self.sentences,
            "distinct_parameters": self.distinct_parameters,
        }


def outcome(
    text: int,
    conditions: Sequence[Atom] = (),
    *,
    applies: bool = True,
    turn_passes: bool = True,
    counts_as_move: bool | None = None,
    when: Formula = TRUE,
) -> dict[str, Any]:
    """One alternative of a rule; `counts_as_move` defaults to `applies`; `when`: of first-order rules only."""
    return {
        "conditions": list(conditions),
        "applies": applies,
        "turn_passes": turn_passes,
        "counts_as_move": applies if counts_as_move is None else counts_as_move,
        "text": text,
        "when": when,
    }
