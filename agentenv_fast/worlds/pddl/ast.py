"""What a PDDL domain and problem say, as plain data: the parser's product, the lowering's input."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a file: lines and columns from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Typed:
    """A name (of a variable, an object or a constant) and its types: one, or several by `either`."""

    name: str
    types: tuple[str, ...]
    where: Where


# -- formulas: a term is the name of an object, or of a variable with its "?" ------------------------------------------
@dataclass(frozen=True, slots=True)
class Atom:
    predicate: str
    args: tuple[str, ...]
    where: Where


@dataclass(frozen=True, slots=True)
class Equal:
    left: str
    right: str
    where: Where


@dataclass(frozen=True, slots=True)
class Not:
    part: Formula
    where: Where


@dataclass(frozen=True, slots=True)
class And:
    """Of no parts: always true."""

    parts: tuple[Formula, ...]
    where: Where


@dataclass(frozen=True, slots=True)
class Or:
    """Of no parts: never true. `(imply a b)` is Or(Not(a), b)."""

    parts: tuple[Formula, ...]
    where: Where


@dataclass(frozen=True, slots=True)
class Exists:
    variables: tuple[Typed, ...]
    part: Formula
    where: Where


@dataclass(frozen=True, slots=True)
class Forall:
    variables: tuple[Typed, ...]
    part: Formula
    where: Where


Formula = Atom | Equal | Not | And | Or | Exists | Forall


@dataclass(frozen=True, slots=True)
class Effect:
    """forall `variables`, when `condition` holds before the action, the atom becomes true (or false)."""

    variables: tuple[Typed, ...]
    condition: Formula
    atom: Atom
    negated: bool


@dataclass(frozen=True, slots=True)
class Cost:
    """What an action adds to total-cost: a number, or a static function of its arguments."""

    amount: float | None
    function: str = ""
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    name: str
    parameters: tuple[Typed, ...]
    precondition: Formula
    effects: tuple[Effect, ...]
    cost: Cost | None
    where: Where


@dataclass(frozen=True, slots=True)
class Derived:
    """An axiom: the atom of `predicate` over `variables` holds wherever `formula` does."""

    predicate: str
    variables: tuple[Typed, ...]
    formula: Formula
    where: Where


@dataclass(frozen=True, slots=True)
class Predicate:
    name: str
    parameters: tuple[Typed, ...]
    where: Where


@dataclass
class Domain:
    name: str
    source: str  # the file's name, as errors show it
    requirements: tuple[str, ...] = ()
    types: dict[str, tuple[str, ...]] = field(default_factory=dict)  # name → supertypes; "object" is the root
    constants: dict[str, Typed] = field(default_factory=dict)
    predicates: dict[str, Predicate] = field(default_factory=dict)
    functions: dict[str, tuple[Typed, ...]] = field(default_factory=dict)
    actions: dict[str, Action] = field(
        default_factory=dict
    )  # without effects: left out, as Fast Downward does
    derived: list[Derived] = field(default_factory=list)

    @property
    def derived_names(self) -> frozenset[str]:
        return frozenset(d.predicate for d in self.derived)


@dataclass
class Problem:
    name: str
    source: str
    domain: str
    objects: dict[str, Typed]  # the domain's constants first
    init: list[Atom]
    goal: Formula
    goal_text: str  # as it stands in the file, blanks made single
    costs: dict[tuple[str, ...], float] = field(default_factory=dict)  # (function, *args) → value
    minimize_cost: bool = False
