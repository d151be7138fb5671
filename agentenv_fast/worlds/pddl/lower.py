"""Domain and Problem → Source, ready for compile_source. What is printed is the business of a TextPart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from agentenv_fast.errors import WorldError
from agentenv_fast.worlds import source as ir
from agentenv_fast.worlds.pddl.ast import (
    Action,
    And,
    Atom,
    Domain,
    Equal,
    Exists,
    Forall,
    Formula,
    Not,
    Or,
    Problem,
    Typed,
    Where,
)
from agentenv_fast.worlds.source import SourceBuilder

MAX_VARIABLES = 64  # in scope at once (source_check.h, kMaxParameters)
MAX_OPERANDS = 4


class TextPart(Protocol):
    """What a front end says. Called in this order: object() for each object, action() for each action, finish()."""

    def object(self, lowering: Lowering, name: str) -> Mapping[str, Any]:
        """Fields of the object beside id and type: `name` (as commands and texts print it), `the`, `indefinite`."""
        ...

    def action(self, lowering: Lowering, action: Action) -> Mapping[str, Any]:
        """`command` (texts and parameter indices), `operands` (at most 4 parameter indices), `outcomes`."""
        ...

    def finish(self, lowering: Lowering) -> None:
        """Sets the builder's frame, start and invalid, its sentences, and what `extra` should hold."""
        ...


class Lowering:
    """One problem on its way to a Source.

    Attributes:
      builder: the SourceBuilder that is filled.
      types, objects: name → index in the builder.
      extra: what goes along as JSON (objective, costs, ...); a TextPart may add to it.
    """

    def __init__(self, domain: Domain, problem: Problem, name: str, family: str, texts: TextPart) -> None:
        self.domain = domain
        self.problem = problem
        self.texts = texts
        self.builder = SourceBuilder(name, family, distinct_parameters=False)
        self.types: dict[str | tuple[str, ...], int] = {}
        self.objects: dict[str, int] = {}
        self.extra: dict[str, Any] = {}

    def run(self) -> SourceBuilder:
        self._types()
        self._objects()
        for action in self.domain.actions.values():
            self._action(action)
        for derived in self.domain.derived:
            scope = self.scope(derived.variables)
            self.builder.axiom(
                self.predicate(derived.predicate),
                [self.type(v.types) for v in derived.variables],
                self.formula(derived.formula, scope),
                self._place(self.domain.source, derived.where),
            )
        self.builder.init += [self.fact(atom.predicate, *atom.args) for atom in self.problem.init]
        self._goal()
        self._costs()
        self.texts.finish(self)
        self.builder.extra_json = json.dumps(self.extra, separators=(",", ":"))
        return self.builder

    # -- for text parts
    def predicate(self, name: str) -> int:
        """The index of a predicate, or of the test of a type."""
        if name in self.domain.predicates:
            return self.builder.predicate(name)
        known = len(self.builder.predicates)
        index = self.builder.predicate(name, ("type", name))
        if index == known:
            self.builder.init += [(index, (self.objects[o],)) for o in self.objects if self._is_a(o, name)]
        return index

    def fact(self, predicate: str, *objects: str) -> ir.Atom:
        """A fact over objects, as SourceBuilder.init and TextBuilder.unless_fact take it."""
        return self.predicate(predicate), tuple(self.objects[name] for name in objects)

    def scope(self, variables: Sequence[Typed]) -> dict[str, int]:
        """The variables of a rule, as formula() takes them."""
        return {v.name: i for i, v in enumerate(variables)}

    def formula(self, formula: Formula, scope: Mapping[str, int], depth: int | None = None) -> ir.Formula:
        """A condition over the variables in scope, as SourceBuilder.operator and outcome(when=) take it."""
        depth = len(scope) if depth is None else depth
        match formula:
            case Atom(predicate, args):
                if any(not a.startswith("?") and a not in self.objects for a in args):
                    return ("or", [])  # said of an object that this problem does not have
                return ("atom", self.predicate(predicate), [self.term(a, scope) for a in args])
            case Equal(left, right):
                if any(not a.startswith("?") and a not in self.objects for a in (left, right)):
                    return ("or", [])
                return ("=", [self.term(left, scope), self.term(right, scope)])
            case Not(part):
                return ("not", self.formula(part, scope, depth))
            case And(parts):
                return ("and", [self.formula(part, scope, depth) for part in parts])
            case Or(parts):
                return ("or", [self.formula(part, scope, depth) for part in parts])
            case Exists(variables, part) | Forall(variables, part):
                inner = {**scope, **{v.name: depth + i for i, v in enumerate(variables)}}
                if depth + len(variables) > MAX_VARIABLES:
                    raise WorldError(
                        f"{self._place(self.domain.source, formula.where)}: {depth + len(variables)} variables at "
                        f"once, at most {MAX_VARIABLES}"
                    )
                kind = "exists" if isinstance(formula, Exists) else "forall"
                types = [self.type(v.types) for v in variables]
                return (kind, types, self.formula(part, inner, depth + len(variables)))
        raise TypeError(f"{type(formula).__name__}: not a formula")

    def term(self, name: str, scope: Mapping[str, int]) -> int:
        return scope[name] if name.startswith("?") else -1 - self.objects[name]

    def type(self, names: tuple[str, ...]) -> int:
        """The index of a type; of several: of their union."""
        if len(names) == 1:
            return self._single(names[0])
        key = tuple(sorted(names))
        if key not in self.types:
            union = self.types[key] = self.builder.type(f"either {' '.join(key)}")
            for name in key:
                self.builder.types[self._single(name)][1].append(union)
        return self.types[key]

    # -- parts
    def _single(self, name: str) -> int:
        if name not in self.types:  # allowed by unknown_types="empty"
            self.types[name] = self.builder.type(name)
        return self.types[name]

    def _types(self) -> None:
        for name in self.domain.types:
            self.types[name] = self.builder.type(name)
        root = self.types["object"]
        for name, parents in self.domain.types.items():
            above = [self.types[p] for p in parents] or ([root] if name != "object" else [])
            self.builder.types[self.types[name]][1].extend(above)

    def _objects(self) -> None:
        for name, one in self.problem.objects.items():
            index = self._single(one.types[0]) if len(one.types) == 1 else self._several(one.types)
            fields = self.texts.object(self, name)
            self.objects[name] = self.builder.object(name, index, **fields)

    def _several(self, types: tuple[str, ...]) -> int:
        """The type of an object that is of several types at once."""
        key = ("all of", *sorted(types))
        if key not in self.types:
            self.types[key] = self.builder.type(" and ".join(sorted(types)), [self._single(t) for t in types])
        return self.types[key]

    def _is_a(self, object: str, type_name: str) -> bool:
        todo, seen = list(self.problem.objects[object].types), set()
        while todo:
            name = todo.pop()
            if name == type_name:
                return True
            if name not in seen:
                seen.add(name)
                todo += self.domain.types.get(name, ()) or (() if name == "object" else ("object",))
        return False

    def _action(self, action: Action) -> None:
        scope = self.scope(action.parameters)
        effects = []
        for effect in action.effects:
            inner = {**scope, **{v.name: len(scope) + i for i, v in enumerate(effect.variables)}}
            effects.append(
                (
                    [self.type(v.types) for v in effect.variables],
                    self.formula(effect.condition, inner, len(scope) + len(effect.variables)),
                    (
                        self.predicate(effect.atom.predicate),
                        [self.term(a, inner) for a in effect.atom.args],
                        effect.negated,
                    ),
                )
            )
        self.builder.operator(
            action.name,
            parameters=[(self.type(p.types), -1) for p in action.parameters],
            precondition=self.formula(action.precondition, scope),
            effects=effects,
            where=self._place(self.domain.source, action.where),
            **self.texts.action(self, action),
        )

    def _goal(self) -> None:
        self.builder.quests.append(
            {
                "win": self.formula(self.problem.goal, {}),
                "reward": 1,
                "where": self._place(self.problem.source, self.problem.goal.where),
            }
        )
        self.builder.max_score = 1

    def _costs(self) -> None:
        """Action costs go along for planners; they do not change what happens."""
        self.extra |= {"max_score": 1, "domain": self.domain.name, "problem": self.problem.name}
        if not self.problem.minimize_cost:
            return
        costs: dict[str, Any] = {}
        for action in self.domain.actions.values():
            cost = action.cost
            if cost is None:
                costs[action.name] = 0
            elif cost.amount is not None:
                costs[action.name] = cost.amount
            else:
                names = {p.name: i for i, p in enumerate(action.parameters)}
                costs[action.name] = [cost.function, *(names.get(a, a) for a in cost.args)]
        self.extra["costs"] = costs
        self.extra["cost_values"] = {" ".join(key): value for key, value in self.problem.costs.items()}

    @staticmethod
    def _place(source: str, where: Where) -> str:
        return f"{source}:{where.line}:{where.column}"


def lower(
    domain: Domain, problem: Problem, *, name: str, texts: TextPart, family: str = "pddl"
) -> SourceBuilder:
    """A problem of a domain → a SourceBuilder whose build() compile_source takes.

    Args:
      name: the game's name.
      texts: what the game says.
      family: selects the parser of typed commands; "pddl" has none but the commands themselves.
    Raises: WorldError.
    """
    return Lowering(domain, problem, name, family, texts).run()
