"""PDDL games beside Fast Downward: applicable operators, facts and goal in every state of fresh random walks."""

import secrets
from pathlib import Path

import pytest

from agentenv_fast.worlds.pddl.files import Game
from agentenv_fast.worlds.pddl.verify import compare

CORPUS = Path(__file__).parents[1] / "corpus" / "pddl"
PROBLEMS = sorted(CORPUS.glob("*/p*.pddl"))


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_operators_facts_and_goal_equal_fast_downward(problem):
    pytest.importorskip("fast_downward")
    seed = secrets.randbits(31)
    walks, differences = compare(Game(problem, problem.with_name("domain.pddl")), walks=4, seed=seed, steps=25)
    assert not differences, f"seed {seed}: {differences[0]}"
    assert sum(len(walk.operators) for walk in walks) > 0
