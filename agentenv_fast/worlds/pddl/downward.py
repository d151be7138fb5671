"""Fast Downward as it stands behind textworld's PddlEnv: the oracle that PDDL games are compared with.

Needs `fast-downward-textworld`. Imported by `verify` and by tests alone.
"""

from __future__ import annotations

import contextlib
import io
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentenv_fast.errors import DependencyError, WorldError


@dataclass(frozen=True)
class Shown:
    """A state as Fast Downward has it."""

    operators: tuple[str, ...]  # names such as "stack a b", sorted, each once
    won: bool
    facts: frozenset[str]  # that are true, of those with a variable: "on(a, b)"; derived ones included
    false: frozenset[str]  # that are false


@dataclass
class Walk:
    """Operators applied one after the other, and every state on the way; `states` is one longer."""

    operators: list[str]
    states: list[Shown]


class Downward:
    """One problem, stepped by operator names. Close it after use; it loads a library of its own."""

    def __init__(self, domain: str, problem: str) -> None:
        try:
            import fast_downward
        except ImportError as error:
            raise DependencyError(
                "Fast Downward is missing; to have it: pip install fast-downward-textworld"
            ) from error
        self._module: Any = fast_downward
        self._argv = sys.argv
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                self.task, self.sas = fast_downward.pddl2sas(domain, problem)
        except (SystemExit, AssertionError, KeyError, TypeError, ValueError) as error:
            raise WorldError(f"Fast Downward refuses the problem: {type(error).__name__}: {error}") from error
        finally:
            sys.argv = self._argv  # pddl2sas replaces it
        self._lib = fast_downward.load_lib()
        self._lib.load_sas(self.sas.encode())
        self._ids: dict[str, int] = {}

    @property
    def solvable(self) -> bool:
        """False if the goal cannot even be reached when nothing is ever deleted; there are no operators then."""
        return "Atom dummy(val1)" not in self.sas

    def __enter__(self) -> Downward:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the task. The library stays loaded: a process that unloads two of them crashes at its end."""
        self._lib.cleanup()

    def restart(self) -> None:
        self._lib.load_sas(self.sas.encode())

    def show(self) -> Shown:
        count = self._lib.get_applicable_operators_count()
        found = (self._module.Operator * count)()
        self._lib.get_applicable_operators(found)
        self._ids.clear()
        self._effects = {}
        for one in found:
            name = one.name.strip()
            if name not in self._ids:  # as textworld does: the first of a name stands for all
                self._ids[name] = one.id
                self._effects[name] = one.nb_effect_atoms
        return Shown(tuple(sorted(self._ids)), bool(self._lib.check_goal()), *self._facts())

    def apply(self, name: str) -> None:
        """An operator that the last show() listed."""
        effects = (self._module.Atom * self._effects[name])()
        self._lib.apply_operator(self._ids[name], effects)

    def _facts(self) -> tuple[frozenset[str], frozenset[str]]:
        atoms = (self._module.Atom * self._lib.get_state_size())()
        self._lib.get_state(atoms)
        signs = ("Atom ", "NegatedAtom ")
        true, false = (
            frozenset(a.name.removeprefix(s) for a in atoms if a.name.startswith(s)) for s in signs
        )
        return true, false

    def walk(self, rng: random.Random, steps: int) -> Walk:
        """A random walk from the start; it ends where nothing is applicable."""
        self.restart()
        walk = Walk([], [self.show()])
        while len(walk.operators) < steps and walk.states[-1].operators:
            walk.operators.append(rng.choice(walk.states[-1].operators))
            self.apply(walk.operators[-1])
            walk.states.append(self.show())
        return walk

    def follow(self, operators: Sequence[str]) -> Walk:
        """The walk along given operators.

        Raises: WorldError if one of them is not applicable.
        """
        self.restart()
        walk = Walk([], [self.show()])
        for name in operators:
            if name not in walk.states[-1].operators:
                raise WorldError(f"operator '{name}' is not applicable after {walk.operators}")
            walk.operators.append(name)
            self.apply(name)
            walk.states.append(self.show())
        return walk

    def plan(self) -> list[str] | None:
        """Operators that lead from the start to the goal; None if Fast Downward finds none. Restarts."""
        if not self._lib.solve_sas(self.sas.encode(), False):
            return None
        found = (self._module.Operator * self._lib.get_last_plan_length())()
        self._lib.get_last_plan(found)
        self.restart()
        return [one.name.strip() for one in found]
