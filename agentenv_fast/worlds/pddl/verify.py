"""Proof that a PDDL game equals Fast Downward: applicable operators, facts and goal in every state of random walks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agentenv_fast.worlds.pddl.downward import Downward, Shown, Walk
from agentenv_fast.worlds.pddl.files import Game, compile_problem
from agentenv_fast.worlds.pddl.parse import parse_domain

MAX_STEPS = 1 << 20


def compare(
    game: Game, walks: int, seed: int, steps: int
) -> tuple[list[Walk], list[tuple[str, Any, Any, list[str]]]]:
    """Walks beside Fast Downward, then along its plan if it finds one.

    The grammar file is left out: with the default texts a command is an operator's name.

    Args:
      walks: random walks from the start.
      seed: of the walks.
      steps: of one walk, at most.
    Returns: the walks, and (what, got, want, operators before) for the first difference of each that differs.
    Raises: DependencyError without Fast Downward, WorldError for a game that cannot be compiled.
    """
    plain = Game(game.problem, game.domain)
    program = compile_problem(plain)
    with Downward(game.domain.read_text(), game.problem.read_text()) as original:
        rngs = (random.Random(f"{seed}/{game.problem.name}/{walk}") for walk in range(walks))
        records = [original.walk(rng, steps) for rng in rngs]
        plan = original.plan()
        if plan:
            records.append(original.follow(plan))
    differences = follow(program, records, base_predicates(game.domain))
    if plan and not differences and not records[-1].states[-1].won:
        differences.append(("the end of Fast Downward's plan", "not won", "won", plan))
    return records, differences


def base_predicates(domain: Path) -> frozenset[str]:
    """Predicates that are not derived: their facts are compared."""
    parsed = parse_domain(domain.read_text(), str(domain), unknown_types="empty")
    return frozenset(parsed.predicates) - parsed.derived_names


def follow(
    program: bytes, walks: Sequence[Walk], base: frozenset[str]
) -> list[tuple[str, Any, Any, list[str]]]:
    """Steps a compiled game along walks, one row each; → the first difference of each walk that differs."""
    from agentenv_fast.envs.vec_env import make
    from agentenv_fast.worlds.suite import Suite

    suite = Suite([program], name="verify")
    static = frozenset(suite.program(0).static_facts)
    found: dict[int, tuple[str, Any, Any, list[str]]] = {}
    env = make(
        suite,
        num_envs=len(walks),
        seed=0,
        tokens=None,
        text=False,
        autoreset="disabled",
        max_episode_steps=MAX_STEPS,
        num_threads=1,
    )
    with env:
        env.reset()
        over: set[int] = set()
        for step in range(max(len(walk.states) for walk in walks)):
            rows = [
                i for i, w in enumerate(walks) if step < len(w.states) and i not in found and i not in over
            ]
            if not rows:
                break
            won = [False] * len(rows)
            if step:
                commands = [walks[i].operators[step - 1] for i in rows]
                _, _, _, _, info = env.step(commands, rows=np.array(rows, np.int32))
                won = [bool(w) for w in info["won"]]
            lists = env.get_available_actions(np.array(rows, np.int32))
            for k, i in enumerate(rows):
                facts = frozenset(env._native.facts(i)[0]) | static
                difference = _difference(
                    walks[i].states[step], lists[k], won[k], facts, base, started=step > 0
                )
                if difference is not None:
                    found[i] = (*difference, walks[i].operators[:step])
                if won[k]:
                    over.add(i)  # the game ends here; Fast Downward would go on
    return [found[i] for i in sorted(found)]


def _difference(
    want: Shown, commands: list[str], won: bool, facts: frozenset[str], base: frozenset[str], started: bool
) -> tuple[str, Any, Any] | None:
    if tuple(commands) != want.operators:
        extra, missing = set(commands) - set(want.operators), set(want.operators) - set(commands)
        return "applicable operators", f"{sorted(extra)} too many", f"{sorted(missing)} as well"
    if started and won != want.won:
        return "won", won, want.won
    got = frozenset(f for f in facts if f.partition("(")[0] in base)
    extra = got & want.false  # what Fast Downward has no variable for cannot be compared
    missing = {f for f in want.facts - got if f.partition("(")[0] in base}
    if extra or missing:
        return "facts", f"{sorted(extra)} too many", f"{sorted(missing)} as well"
    return None
