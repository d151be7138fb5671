"""What can be true in a ground game, as the grammar's conditions ask for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agentenv_fast.errors import WorldError
from agentenv_fast.worlds.alfworld.grammar import Condition

Test = tuple[int, int, int]  # variable, CompareOp, value: what UNLESS takes
MAX_STEPS = 3_000_000
Variable = tuple[str, str]  # name, type


class NeedsObject(Exception):
    """A parameter that a text treats as open must be a certain object for it to be written."""

    def __init__(self, variable: Variable) -> None:
        super().__init__(variable)
        self.variable = variable


@dataclass(frozen=True)
class Context:
    """Variables on the way through a grammar.

    Attributes:
      objects: variable → object.
      open: parameters whose object differs from action to action → index of the operand.
    """

    objects: Mapping[Variable, str] = field(default_factory=dict)
    open: Mapping[Variable, int] = field(default_factory=dict)

    def named(self, name: str) -> str | int | None:
        """The object (or operand) that an expression means by a name: the last one bound to it."""
        found: str | int | None = None
        for (other, _), index in self.open.items():
            if other == name:
                found = index
        for (other, _), value in self.objects.items():
            if other == name:
                found = value
        return found


@dataclass(frozen=True, slots=True)
class Entry:
    objects: tuple[str, ...]
    test: Test | None  # None: always


class Facts:
    """Facts by predicate, sorted as textworld sorts them, with the test that tells whether each holds."""

    def __init__(self, types: Mapping[str, str], parents: Mapping[str, Sequence[str]]) -> None:
        """types: of each object; parents: of each type."""
        self.types = types
        self._above: dict[str, frozenset[str]] = {}
        for name in {*types.values(), *parents}:
            todo, seen = [name], set()
            while todo:
                one = todo.pop()
                if one not in seen:
                    seen.add(one)
                    todo += parents.get(one, ())
            self._above[name] = frozenset(seen)
        self._all: dict[str, list[Entry]] = {}
        self._by: dict[tuple[str, int], dict[str, list[Entry]]] = {}
        self._steps = 0
        self.distinct_outside = False  # see ways()

    def add(self, predicate: str, objects: tuple[str, ...], test: Test | None) -> None:
        self._all.setdefault(predicate, []).append(Entry(objects, test))

    def finish(self) -> None:
        for entries in self._all.values():
            entries.sort(key=lambda e: [(o, self.types[o]) for o in e.objects])

    def is_a(self, thing: str, type_name: str) -> bool:
        return type_name in self._above[self.types[thing]]

    def entries(self, predicate: str, position: int, thing: str) -> list[Entry]:
        key = (predicate, position)
        table = self._by.get(key)
        if table is None:
            table = self._by[key] = {}
            for entry in self._all.get(predicate, ()):
                if position < len(entry.objects):
                    table.setdefault(entry.objects[position], []).append(entry)
        return table.get(thing, [])

    def ways(
        self, condition: Condition, context: Context, relevant: frozenset[str] | None = None
    ) -> Iterator[tuple[Context, tuple[Test, ...]]]:
        """Every way in which a condition could hold, in textworld's order, with the tests that say whether it does.

        Distinct variables bind distinct objects. `distinct_outside` becomes True if a variable not in `relevant`
        excluded an object.
        Raises: NeedsObject for an open parameter that matters.
        """
        yield from self._ways(condition, 0, context, (), relevant)

    def _ways(
        self,
        condition: Condition,
        at: int,
        context: Context,
        tests: tuple[Test, ...],
        relevant: frozenset[str] | None,
    ) -> Iterator[tuple[Context, tuple[Test, ...]]]:
        if at == len(condition):
            yield context, tests
            return
        fact = condition[at]
        bound: list[str | None] = []
        for variable in fact.variables:
            if variable in context.open and variable not in context.objects:
                raise NeedsObject(variable)
            bound.append(context.objects.get(variable))
        entries = self._all.get(fact.predicate, [])
        known = [(i, o) for i, o in enumerate(bound) if o is not None]
        if known:
            entries = min([self.entries(fact.predicate, i, o) for i, o in known], key=len)
        if not entries:
            return
        used = set(context.objects.values())
        for entry in entries:
            self._steps += 1
            if self._steps > MAX_STEPS:
                raise WorldError(
                    f"the grammar's conditions can hold in too many ways; the last is {fact.predicate}"
                )
            if len(entry.objects) != len(bound):
                continue
            new: dict[Variable, str] = {}
            for variable, want, thing in zip(fact.variables, bound, entry.objects, strict=True):
                if not self.is_a(thing, variable[1]):
                    break
                want = want if want is not None else new.get(variable)
                if want is None:
                    if thing in used or thing in new.values():
                        if relevant is not None and thing in used:
                            owners = {v[0] for v, o in context.objects.items() if o == thing}
                            self.distinct_outside = self.distinct_outside or not owners & relevant
                        break
                    for other in context.open:
                        if other not in context.objects and self.is_a(thing, other[1]):
                            raise NeedsObject(other)
                    new[variable] = thing
                elif want != thing:
                    break
            else:
                inner = Context({**context.objects, **new}, context.open) if new else context
                more = tests if entry.test is None or entry.test in tests else (*tests, entry.test)
                yield from self._ways(condition, at + 1, inner, more, relevant)
