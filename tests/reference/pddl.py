"""PDDL played the slow and obvious way: states are sets of facts, conditions are read off the syntax tree.

The oracle for what Fast Downward does not read (`either`). It lists every operator whose precondition holds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from agentenv_fast.worlds.pddl.ast import (
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
)

Fact = tuple[str, ...]


class Simulator:
    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.domain = domain
        self.problem = problem
        self.state: frozenset[Fact] = frozenset((a.predicate, *a.args) for a in problem.init)

    def is_a(self, name: str, wanted: tuple[str, ...]) -> bool:
        todo = list(self.problem.objects[name].types)
        above = set()
        while todo:
            kind = todo.pop()
            above.add(kind)
            todo += [t for t in self.domain.types[kind] or ("object",) if t not in above]
        return any(kind in above for kind in wanted)

    def bindings(self, variables: Sequence[Typed]) -> Iterator[dict[str, str]]:
        fitting = [[o for o in self.problem.objects if self.is_a(o, v.types)] for v in variables]
        for objects in itertools.product(*fitting):
            yield dict(zip((v.name for v in variables), objects, strict=True))

    def derived(self, state: frozenset[Fact]) -> frozenset[Fact]:
        """The state with what its axioms add; only for axioms without negation of derived facts."""
        while True:
            more = {
                (d.predicate, *(b[v.name] for v in d.variables))
                for d in self.domain.derived
                for b in self.bindings(d.variables)
                if self.holds(d.formula, b, state)
            }
            if more <= state:
                return state
            state |= more

    def holds(self, formula: Formula, binding: Mapping[str, str], state: frozenset[Fact]) -> bool:
        def term(name: str) -> str:
            return binding.get(name, name)

        match formula:
            case Atom(predicate, args) if predicate in self.domain.predicates:
                return (predicate, *map(term, args)) in state
            case Atom(kind, args):
                return self.is_a(term(args[0]), (kind,))
            case Equal(left, right):
                return term(left) == term(right)
            case Not(part):
                return not self.holds(part, binding, state)
            case And(parts):
                return all(self.holds(p, binding, state) for p in parts)
            case Or(parts):
                return any(self.holds(p, binding, state) for p in parts)
            case Exists(variables, part):
                return any(self.holds(part, {**binding, **b}, state) for b in self.bindings(variables))
            case Forall(variables, part):
                return all(self.holds(part, {**binding, **b}, state) for b in self.bindings(variables))
        raise TypeError(formula)

    def operators(self) -> dict[str, frozenset[Fact]]:
        """Every operator whose precondition holds → the state after it."""
        state = self.derived(self.state)
        return {
            " ".join([name, *binding.values()]): self.after(name, binding, state)
            for name, action in self.domain.actions.items()
            for binding in self.bindings(action.parameters)
            if self.holds(action.precondition, binding, state)
        }

    def after(self, name: str, binding: dict[str, str], state: frozenset[Fact]) -> frozenset[Fact]:
        adds, deletes = set(), set()
        for effect in self.domain.actions[name].effects:
            for more in self.bindings(effect.variables):
                inner = {**binding, **more}
                if self.holds(effect.condition, inner, state):
                    fact = (effect.atom.predicate, *(inner.get(a, a) for a in effect.atom.args))
                    (deletes if effect.negated else adds).add(fact)
        return (self.state - deletes) | adds

    def won(self) -> bool:
        return self.holds(self.problem.goal, {}, self.derived(self.state))
