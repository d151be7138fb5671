"""PDDL games beside Fast Downward (and a slow simulator): operators, facts and goal in every state of fresh walks."""

import ast
import random
import secrets
from pathlib import Path

import numpy as np
import pytest

import agentenv_fast as ae
from agentenv_fast.errors import WorldError
from agentenv_fast.native import _core
from agentenv_fast.worlds.pddl import PlainTexts, lower, parse_domain, parse_problem
from agentenv_fast.worlds.pddl.files import Game, compile_problem
from agentenv_fast.worlds.pddl.verify import base_predicates, compare, follow
from tests.reference.pddl import Simulator
from tests.reference.random_pddl import random_pddl

CORPUS = Path(__file__).parents[1] / "corpus" / "pddl"
PROBLEMS = sorted(CORPUS.glob("*/p*.pddl"))
ROUNDS = 60  # random domains


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_operators_facts_and_goal_equal_fast_downward(problem):
    pytest.importorskip("fast_downward")
    seed = secrets.randbits(31)
    game = Game(problem, problem.with_name("domain.pddl"))
    walks, differences = compare(game, walks=4, seed=seed, steps=25)
    assert not differences, f"seed {seed}: {differences[0]}"
    assert walks[-1].states[-1].won, "Fast Downward solves every problem of the corpus"


def test_random_domains_equal_fast_downward(tmp_path):
    """Operators that Fast Downward lists beyond ours must do nothing: its exploration is coarser in odd cases."""
    pytest.importorskip("fast_downward")
    from agentenv_fast.worlds.pddl.downward import Downward

    seed = secrets.randbits(31)
    compared = refused = coarser = 0
    for i in range(ROUNDS):
        domain, problem = random_pddl(f"{seed}/{i}")
        game = Game(tmp_path / "p.pddl", tmp_path / "domain.pddl")
        game.domain.write_text(domain)
        game.problem.write_text(problem)
        try:
            program = compile_problem(game)
        except WorldError as error:
            assert "the goal can never hold" in str(error), f"seed {seed}/{i}: {error}"
            refused += 1
            continue
        try:
            original = Downward(domain, problem)
        except WorldError:
            continue  # an assertion of its translator
        with original:
            walks = [original.walk(random.Random(f"{seed}/{i}/{k}"), 10) for k in range(2)]
            for what, got, want, before in follow(program, walks, base_predicates(game.domain)):
                assert what == "applicable operators" and got.startswith("[]"), (
                    f"{seed}/{i}: {what} {got} {want}"
                )
                coarser += 1
                for name in ast.literal_eval(want.removesuffix(" as well")):
                    state = original.follow(before).states[-1]
                    original.apply(name)
                    assert original.show().facts == state.facts, f"seed {seed}/{i}: {name} after {before}"
        compared += 1
    assert compared > ROUNDS / 4 and coarser < max(3, compared / 10), (compared, refused, coarser)


ODD_DOMAIN = """(define (domain odd)
  (:requirements :adl :derived-predicates)
  (:types cat dog bird - animal wet dry - place boat - (either wet dry) animal place - object)
  (:constants ark - boat)
  (:predicates (at ?x - (either cat dog bird) ?p - (either place boat)) (fed ?x - animal) (seen ?x ?y - animal)
               (together ?x ?y - animal))
  (:derived (together ?x ?y - animal) (exists (?p - place) (and (at ?x ?p) (at ?y ?p) (not (= ?x ?y)))))
  (:action go
    :parameters (?x - (either cat dog) ?p ?q - place)
    :precondition (and (at ?x ?p) (or (dry ?q) (= ?q ark) (dog ?x)) (not (= ?p ?q)))
    :effect (and (not (at ?x ?p)) (at ?x ?q)))
  (:action fly
    :parameters (?x - bird ?p - place ?q - (either wet dry))
    :precondition (and (at ?x ?p) (not (= ?p ?q)))
    :effect (and (at ?x ?q) (not (at ?x ?p))))
  (:action meet
    :parameters (?x ?y - (either cat bird))
    :precondition (and (together ?x ?y) (not (seen ?x ?y)))
    :effect (and (seen ?x ?y) (when (exists (?d - dog) (together ?d ?x)) (fed ?x)))))
"""
ODD_PROBLEM = """(define (problem flood) (:domain odd)
  (:objects tom - cat rex - dog jay - bird lake - wet hill - dry marsh - (either wet dry))
  (:init (at tom hill) (at rex lake) (at jay marsh))
  (:goal (or (seen tom jay) (and (fed jay) (forall (?x - animal) (not (at ?x hill)))))))
"""


def test_either_and_types_as_predicates_equal_the_slow_simulator():
    domain = parse_domain(ODD_DOMAIN, "odd.pddl")
    problem = parse_problem(ODD_PROBLEM, domain, "flood.pddl")
    game = _core.compile_source(lower(domain, problem, name="flood", texts=PlainTexts()).build())
    steps = wins = 0
    for walk in range(12):
        rng = random.Random(secrets.randbits(40))
        slow = Simulator(domain, problem)
        env = ae.make(
            ae.Suite([game], name="flood"), tokens=None, autoreset="disabled", max_episode_steps=10**6
        )
        env.reset(seed=walk)
        for _ in range(60):
            after = slow.operators()
            assert env.get_available_actions()[0] == sorted(after)
            name = rng.choice(sorted(after))
            slow.state = after[name]
            _, _, _, _, info = env.step([name])
            steps += 1
            assert bool(info["won"][0]) == slow.won()
            if info["won"][0]:
                wins += 1
                break
    assert steps > 100 and wins > 0


def test_parameters_may_bind_the_same_object():
    domain = parse_domain(
        "(define (domain d) (:predicates (p ?x ?y)) (:action a :parameters (?x ?y) :effect (p ?x ?y)))",
        "d.pddl",
    )
    problem = parse_problem(
        "(define (problem x) (:domain d) (:objects a b) (:init) (:goal (p a a)))", domain, "p"
    )
    game = _core.compile_source(lower(domain, problem, name="x", texts=PlainTexts()).build())
    assert _core.Program(game).commands == ["a a a", "a a b", "a b a", "a b b"]


def test_a_type_with_a_comma_is_another_type():
    """Fast Downward reads `(?l - location, ?r - receptacle)` so, and the type `location,` has no objects."""
    text = """(define (domain d) (:types location) (:predicates (p ?x - location))
      (:action a :parameters (?x - location)
       :precondition (or (p ?x) (exists (?l - location, ?r - location) (p ?r))) :effect (not (p ?x))))"""
    with pytest.raises(
        WorldError, match=r"d.pddl:3:47: type location, is not declared in :types; a comma is part"
    ):
        parse_domain(text, "d.pddl")
    domain = parse_domain(text, "d.pddl", unknown_types="empty")
    problem = parse_problem(
        "(define (problem x) (:domain d) (:objects l m - location) (:init (p l)) (:goal (not (p l))))",
        domain,
        "p",
    )
    game = _core.compile_source(lower(domain, problem, name="x", texts=PlainTexts()).build())
    env = ae.make(ae.Suite([game], name="x"))
    env.reset(seed=0)
    assert env.get_available_actions() == [["a l"]]
    _, reward, terminated, _, info = env.step(np.array([0], np.int32))
    assert reward[0] == 1 and terminated[0] and info["won"][0]


@pytest.mark.slow
def test_a_suite_of_pddl_games_keeps_the_contract():
    suite = ae.load([str(path) for path in sorted(CORPUS.glob("*/*.pddl"))], name="corpus")
    assert len(suite) == len(PROBLEMS)
    report = ae.check_env(lambda **keywords: ae.make(suite, **keywords), wide=64)
    assert {check.name for check in report.of("skipped")} <= {"fork_of_the_process"}  # where JAX has threads


def test_verify_compares_with_fast_downward_and_says_what_differs(monkeypatch):
    pytest.importorskip("fast_downward")
    from agentenv_fast.worlds.pddl import verify as pddl_verify
    from agentenv_fast.worlds.verify import verify

    report = verify(CORPUS / "ferry" / "p1.pddl", walks=2, seed=5)
    assert report.ok and report.games == 1 and report.walks == 3 and report.steps > 20
    other = compile_problem(Game(CORPUS / "gripper" / "p1.pddl", CORPUS / "gripper" / "domain.pddl"))
    monkeypatch.setattr(pddl_verify, "compile_problem", lambda game: other)
    report = verify(CORPUS / "ferry" / "p1.pddl", walks=2, seed=5)
    assert not report.ok and "applicable operators differs" in str(report)


def test_infos_tell_facts_goal_and_templates():
    suite = ae.load(CORPUS / "above" / "p1.pddl")
    env = ae.make(suite, infos=("facts", "objective", "command_templates", "verbs", "typed_entities"))
    _, info = env.reset(seed=0)
    facts = {(f.name, *(a.name for a in f.arguments)) for f in info["facts"][0]}
    assert {("on", "a", "b"), ("above", "a", "desk"), ("clear", "desk")} <= facts and (
        "crowded",
    ) not in facts
    assert info["objective"] == ["above d a; above a c; not above b d."]
    assert info["command_templates"] == [["move {block} {support} {support}"]] and info["verbs"] == [["move"]]
    assert ("desk", "table") in info["typed_entities"][0]
