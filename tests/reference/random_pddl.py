"""Random small PDDL domains and problems with every connective: what nobody would write, for two engines to compare."""

from __future__ import annotations

import random

TYPES = ("t", "u", "v")  # u and v are kinds of t
OBJECTS = {"a": "t", "b": "u", "c": "u", "d": "v"}
PREDICATES = {"p": ("t",), "q": ("u",), "r": ("t", "t"), "s": ("t",), "z": (), "never": ("t",)}
STATIC = {"k": ("t", "t"), "m": ("u",)}


class Writer:
    def __init__(self, rng: random.Random, derived: bool) -> None:
        self.rng = rng
        self.derived = {"d1": ("t",), "d2": ("t", "t"), "d3": ()} if derived else {}
        self.variables = 0
        self.constant = rng.choice(list(OBJECTS))
        self.kind = OBJECTS[self.constant]

    def domain(self) -> str:
        actions = "\n".join(self.action(i) for i in range(self.rng.randint(2, 4)))
        predicates = {**PREDICATES, **STATIC, **self.derived}
        declared = " ".join(
            f"({name} {' '.join(f'?x{i} - {t}' for i, t in enumerate(types))})"
            for name, types in predicates.items()
        )
        return (
            "(define (domain random)\n  (:requirements :adl :derived-predicates)\n  (:types t - object u v - t)\n"
            f"  (:constants {self.constant} - {self.kind})\n  (:predicates {declared})\n{self.axioms()}{actions})"
        )

    def problem(self) -> str:
        facts = []
        for name, types in {**PREDICATES, **STATIC}.items():
            if name == "never":
                continue
            for args in self.tuples(types):
                if self.rng.random() < 0.35:
                    facts.append(f"({' '.join((name, *args))})")
        objects = " ".join(f"{name} - {kind}" for name, kind in OBJECTS.items() if name != self.constant)
        goal = f"(or (and {self.formula({}, 2)} {self.formula({}, 2)}) (p b))"
        return (
            f"(define (problem one) (:domain random)\n  (:objects {objects})\n  (:init {' '.join(facts)})\n"
            f"  (:goal {goal}))"
        )

    def tuples(self, types: tuple[str, ...]) -> list[tuple[str, ...]]:
        out: list[tuple[str, ...]] = [()]
        for kind in types:
            out = [(*args, o) for args in out for o, k in OBJECTS.items() if kind in ("t", k)]
        return out

    def axioms(self) -> str:
        """d1 and d2 may be recursive (positively); d3 looks at them in every way."""
        if not self.derived:
            return ""
        one = {"?x": "t"}
        two = {"?x": "t", "?y": "t"}
        base = [self.formula(one, 2), self.formula(two, 2), self.formula({}, 2)]
        return (
            f"  (:derived (d1 ?x - t) (or {base[0]} (exists (?w - t) (and (d1 ?w) (d2 ?w ?x)))))\n"
            f"  (:derived (d2 ?x - t ?y - t) {base[1]})\n"
            f"  (:derived (d2 ?x - t ?y - {self.rng.choice(TYPES)}) (exists (?w - t) (and (r ?x ?w) (d2 ?w ?y))))\n"
            f"  (:derived (d3) (or {base[2]} (forall (?w - u) (not (d1 ?w)))))\n"
        )

    def action(self, number: int) -> str:
        names = [f"?x{i}" for i in range(self.rng.randint(0, 2))]
        scope = {name: self.rng.choice(TYPES) for name in names}
        parameters = " ".join(f"{name} - {kind}" for name, kind in scope.items())
        effects = " ".join(self.effect(scope) for _ in range(self.rng.randint(1, 4)))
        return (
            f"  (:action act{number}\n    :parameters ({parameters})\n"
            f"    :precondition {self.formula(scope, 3, derived=True)}\n    :effect (and {effects}))"
        )

    def effect(self, scope: dict[str, str]) -> str:
        kind = self.rng.random()
        if kind < 0.25:
            name = self.fresh()
            inner = {**scope, name: self.rng.choice(TYPES)}
            if self.rng.random() < 0.5:
                return f"(forall ({name} - {inner[name]}) {self.effect(inner)})"
            when = self.formula(inner, 1, derived=True)
            return f"(forall ({name} - {inner[name]}) (when {when} {self.change(inner)}))"
        if kind < 0.55:
            both = (
                f"(and {self.change(scope)} {self.change(scope)})"
                if self.rng.random() < 0.3
                else self.change(scope)
            )
            return f"(when {self.formula(scope, 2, derived=True)} {both})"
        return self.change(scope)

    def change(self, scope: dict[str, str]) -> str:
        name = self.rng.choice([n for n in PREDICATES if n != "never" or self.rng.random() < 0.3])
        atom = self.atom(scope, name, PREDICATES[name])
        deletes = name == "never" or self.rng.random() < 0.45
        return f"(not {atom})" if deletes else atom

    def fresh(self) -> str:
        self.variables += 1
        return f"?v{self.variables}"

    def atom(self, scope: dict[str, str], name: str, types: tuple[str, ...]) -> str:
        terms = [*scope, *scope, self.constant]
        return f"({' '.join((name, *(self.rng.choice(terms) for _ in types)))})"

    def formula(self, scope: dict[str, str], depth: int, *, derived: bool = False) -> str:
        kind = self.rng.random()
        if depth == 0 or kind < 0.25:
            if kind < 0.04:
                return f"(= {self.rng.choice([*scope, self.constant])} {self.rng.choice([*scope, self.constant])})"
            known = {**PREDICATES, **STATIC, **(self.derived if derived else {})}
            name = self.rng.choice(list(known))
            return self.atom(scope, name, known[name])
        parts = [self.formula(scope, depth - 1, derived=derived) for _ in range(self.rng.randint(1, 3))]
        if kind < 0.42:
            return f"(and {' '.join(parts)})"
        if kind < 0.55:
            return f"(or {' '.join(parts)})"
        if kind < 0.68:
            return f"(not {parts[0]})"
        if kind < 0.74:
            return f"(imply {parts[0]} {parts[-1]})"
        name = self.fresh()
        inner = {**scope, name: self.rng.choice(TYPES)}
        quantifier = "exists" if kind < 0.87 else "forall"
        return f"({quantifier} ({name} - {inner[name]}) {self.formula(inner, depth - 1, derived=derived)})"


def random_pddl(seed: int | str) -> tuple[str, str]:
    """A domain and a problem. Both engines may refuse it (a goal that can never hold)."""
    rng = random.Random(seed)
    writer = Writer(rng, derived=rng.random() < 0.5)
    return writer.domain(), writer.problem()
