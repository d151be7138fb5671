"""Bad PDDL is refused with file, line and column, in bounded time and memory; good odd PDDL is read."""

import random
import re
import resource
import string
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agentenv_fast as ae
from agentenv_fast.errors import WorldError
from agentenv_fast.native import _core
from agentenv_fast.worlds.pddl import PlainTexts, lower, parse_domain, parse_grammar, parse_problem

DOMAIN = """(define (domain d)
  (:requirements :adl :action-costs)
  (:types t - object)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x ?y - t) (e))
  (:functions (total-cost) - number (far ?x - t) - number)
  (:action a
    :parameters (?x - t)
    :precondition (p ?x)
    :effect (and (not (p ?x)) (q ?x k) (increase (total-cost) (far ?x)))))
"""
PROBLEM = """(define (problem one)
  (:domain d)
  (:objects o - t)
  (:init (p o) (= (far o) 3))
  (:goal (q o k))
  (:metric minimize (total-cost)))
"""


def compiled(domain=DOMAIN, problem=PROBLEM):
    parsed = parse_domain(domain, "d.pddl")
    return _core.compile_source(
        lower(parsed, parse_problem(problem, parsed, "p.pddl"), name="one", texts=PlainTexts()).build()
    )


def test_the_two_files_that_are_damaged_below_are_good():
    assert _core.Program(compiled()).commands == ["a o"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(define", "(", r"d.pddl:1:1: want \(define \(domain"),
        ("(domain d)", "(problem d)", r"d.pddl:1:9: a problem, want \(domain NAME\)"),
        (":adl", ":durative-actions", "d.pddl:2:18: requirement :durative-actions is not supported"),
        ("t - object", "t - object u - v v - u", "is its own supertype"),
        ("t - object", "t - (either u)", "d.pddl:3:23: type u is not declared in :types"),
        ("t - object", "t -", "'-' without a type behind it"),
        ("k - t", "k k - t", r"d.pddl:4:17: object k is declared twice \(t\); want one type each"),
        ("k - t", "?k - t", "d.pddl:4:15: '\\?k', want an object"),
        ("(e)", "(e) (p)", "d.pddl:5:46: predicate p is declared twice"),
        ("(e)", "(=)", "'=' is equality"),
        ("(e)", "(e ?a ?b ?c ?d ?e ?f ?g ?h)", "8 arguments of e, at most 7"),
        ("(e)", "(e ?a ?a)", "argument \\?a is declared twice"),
        ("(:types", "(:typos", "d.pddl:3:4: section :typos is not known here"),
        ("(:types t - object)", "(:types t) (:types u)", "section :types stands twice"),
        ("(:action a", "(:durative-action a", "d.pddl:7:3: :durative-action: durative actions are not supported"),
        ("(:action a", "(:constraints a", "trajectory constraints are not supported"),
        (":parameters", ":duration", "action a: ':duration', want one of .*durative actions are not supported"),
        (":precondition (p ?x)", ":precondition (r ?x)", "d.pddl:9:20: predicate r is not declared"),
        (":precondition (p ?x)", ":precondition (p ?x k)", "d.pddl:9:19: p with 2 arguments, want 1"),
        (":precondition (p ?x)", ":precondition (p ?z)", "d.pddl:9:22: variable \\?z is not declared here"),
        (":precondition (p ?x)", ":precondition (p z)", "d.pddl:9:22: object z is not declared"),
        (":precondition (p ?x)", ":precondition (> (far ?x) 2)", "d.pddl:9:19: '>': numeric conditions"),
        (":precondition (p ?x)", ":precondition (= (far ?x) 2)", "d.pddl:9:19: a comparison of functions"),
        (":precondition (p ?x)", ":precondition (far ?x)", "far is not declared in :predicates: it is a function"),
        (":precondition (p ?x)", ":precondition (preference n (p ?x))", "preferences are not supported"),
        (":precondition (p ?x)", ":precondition (not (p ?x) (e))", "'not' with 2 parts, want 1"),
        (":precondition (p ?x)", ":precondition p", "d.pddl:9:19: 'p', want a list: a condition"),
        (":precondition (p ?x)", ":precondition", "nothing behind|want one of|want a list"),
        (":precondition (p ?x)", ":precondition (forall (?y - u) (p ?y))", "type u is not declared"),
        ("(increase (total-cost) (far ?x))", "(increase (far ?x) 1)", "other than total-cost are not supported"),
        ("(increase (total-cost) (far ?x))", "(assign (far ?x) 1)", "'assign': numeric fluents other than"),
        ("(increase (total-cost) (far ?x))", "(when (e) (increase (total-cost) 1))", "a cost inside `when`"),
        ("(increase (total-cost) (far ?x))", "(increase (total-cost) -2)", "negative costs are not supported"),
        ("(increase (total-cost) (far ?x))", "(increase (total-cost) (near ?x))", "want a number or a declared"),
        ("(increase (total-cost) (far ?x))", "(t ?x)", "a type cannot change"),
        ("(increase (total-cost) (far ?x))", "(forall (?x - t) (p ?x))", "\\?x hides another"),
        (" :effect (and", " :effect (if", "predicate if is not declared"),
        ("(:action a", "(:derived (p ?x) (e)) (:action a", "action a: p is derived and cannot be an effect"),
        ("(:action a", "(:derived (e ?x) (p k)) (:action a", "e with 1 arguments, want 0"),
        ("(:action a", "(:action a :effect (e)) (:action a", "action a is declared twice"),
        ("(far ?x - t) - number", "(far ?x - t) - t", "object fluents are not supported"),
        (")))\n", "))", "d.pddl:.*: this '\\(' is never closed: is the file cut short"),
        (")))\n", ")))) (x)", "after the end of \\(define ...\\)"),
        ("(p ?x)", "(p é)", "names are ASCII"),
        (":effect (and (not (p ?x)) (q ?x k) (increase (total-cost) (far ?x)))", ":effect ()", "no action with an eff"),
    ],
)  # fmt: skip
def test_a_bad_domain_is_refused_with_its_place(old, new, message):
    assert old in DOMAIN
    with pytest.raises(WorldError, match=r"^d.pddl:\d+:\d+: ") as caught:
        compiled(domain=DOMAIN.replace(old, new, 1))
    assert re.search(message, str(caught.value)), str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(:domain d)", "(:domain e)", r"^p.pddl:2:3: a problem of domain e, but d.pddl is d$"),
        ("(:domain d)", "", "^p.pddl:1:1: section :domain is missing"),
        ("o - t", "o - u", "^p.pddl:3:17: type u is not declared"),
        ("o - t", "o - t o - object", r"^p.pddl:3:19: object o is declared twice \(object and t\)"),
        ("o - t", "o k - t", "^p.pddl:3:15: object k is declared twice"),
        ("(p o)", "(p z)", "^p.pddl:4:13: object z is not declared"),
        ("(p o)", "(p ?o)", r"^p.pddl:4:13: variable \?o is not declared here"),
        ("(p o)", "(p o) (not (p o))", "^p.pddl:4:21: .p o. is both true and false"),
        ("(p o)", "(q o)", "^p.pddl:4:10: q with 1 arguments, want 2"),
        ("(p o)", "(t o)", "t is a type; give the object that type"),
        ("(p o)", "(at 5 (p o))", "timed facts are not supported"),
        ("(= (far o) 3)", "(= (far o) 3) (= (far o) 4)", "has two values"),
        ("(= (far o) 3)", "(= (near o) 3)", "not declared in :functions"),
        ("(= (far o) 3)", "(= (far o) x)", r"want \(= \(FUNCTION"),
        ("(:goal (q o k))", "", "section :goal is missing"),
        ("(:goal (q o k))", "(:goal (q o k) (p o))", "':goal' with 2 parts, want 1"),
        ("(:goal (q o k))", "(:goal (q o o))", "^one: p.pddl:5:10: the goal can never hold, whatever is done"),
        ("(:goal (q o k))", "(:goal (or))", "^one: p.pddl:5:10: the goal can never hold"),
        ("(:goal (q o k))", "(:goal (forall (?x - t) (q ?x k)))", "^one: p.pddl:5:10: the goal can never hold"),
        ("minimize", "maximize", r"only \(:metric minimize \(total-cost\)\)"),
        ("(:init", "(:constraints (x)) (:init", "trajectory constraints are not supported"),
    ],
)  # fmt: skip
def test_a_bad_problem_is_refused_with_its_place(old, new, message):
    assert old in PROBLEM
    with pytest.raises(WorldError, match=message):
        compiled(problem=PROBLEM.replace(old, new, 1))


def test_axioms_that_depend_on_their_own_negation_are_refused():
    domain = DOMAIN.replace("(e))", "(e) (f))").replace(
        "(:action", "(:derived (e) (not (f))) (:derived (f) (not (e))) (:action", 1
    )
    with pytest.raises(WorldError, match=r"axioms are not stratified: [ef].. depends on not"):
        compiled(domain, PROBLEM.replace("(:goal (q o k))", "(:goal (e))"))


def test_files_are_paired_and_missing_ones_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("domain.pddl").write_text(DOMAIN)
    Path("p1.pddl").write_text(PROBLEM)
    Path("p2.pddl").write_text(PROBLEM.replace("o - t", "o m - t"))
    Path("other.pddl").write_text(PROBLEM.replace("(:domain d)", "(:domain x)"))
    suite = ae.load("domain.pddl", problem="p*.pddl")
    assert suite.names == ["p1", "p2"]
    assert ae.load(["p2.pddl", "p1.pddl"]).names == ["p2", "p1"]
    assert ae.load("domain.pddl", problem={"train": "p1.pddl", "test": "p2.pddl"}).split("test").names == [
        "p2"
    ]
    for call, message in [
        (lambda: ae.load("domain.pddl"), "^domain.pddl: a domain alone is no game; name its problems too"),
        (lambda: ae.load("domain.pddl", problem="z*.pddl"), r"^z\*.pddl: no file matches"),
        (lambda: ae.load("p1.pddl", problem="p2.pddl"), "p1.pddl: with problem=..., want the one .pddl file"),
        (lambda: ae.load("other.pddl"), "a problem of domain x, but domain.pddl is d"),
        (lambda: ae.load(["p1.pddl", "p1.pddl"]), "the same game as p1.pddl"),
        (lambda: ae.load("p1.pddl", grammar="no.toml"), "^no.toml: no such file"),
    ]:
        with pytest.raises(WorldError, match=message):
            call()
    Path("domain.pddl").unlink()
    with pytest.raises(WorldError, match=r"^p1.pddl: a problem of domain d, which is not among the files"):
        ae.load("p1.pddl")
    Path("p1.pddl").write_text("hello")
    with pytest.raises(WorldError, match=r"^p1.pddl:1:1: neither"):
        ae.load("p1.pddl")


# -- grammar files ----------------------------------------------------------------------------------------------------
def test_a_grammar_file_replaces_the_texts(tmp_path):
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "p.pddl").write_text(PROBLEM)
    (tmp_path / "g.toml").write_text(
        'intro = "Welcome."\nwon = "Done!"\n[actions.a]\ncommand = "use {x}"\nfeedback = "You use {x}."\n'
        '[predicates]\np = "{x} shines."\nq = ""\n[objects]\no = "the lamp"\n'
    )
    env = ae.make(ae.load(tmp_path / "p.pddl", grammar=tmp_path / "g.toml"))
    env.reset(seed=0)
    assert env.get_state()[0] == "Welcome.\nNow: the lamp shines.\nGoal: q the lamp k.\n"
    assert env.get_available_actions() == [["use the lamp"]]
    obs, _, terminated, _, info = env.step(["use the lamp"])
    final = bytes(info["final_obs"]["text"][0][: info["final_obs"]["text_size"][0]]).decode()
    assert terminated[0] and final == "You use the lamp.\nNow:\nGoal: q the lamp k.\nDone!\n"
    assert obs["text_size"][0] > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "^g: key x is not known"),
        ("intro = 3", "^g: intro: int, want a text"),
        ("[actions.a]\ncomand = 'x'", "^g: actions.a.comand is not known"),
        ("[actions.zap]\ncommand = 'x'", "^g: actions.zap: d.pddl declares no such name"),
        ("[predicates]\nzap = 'x'", "^g: predicates.zap: d.pddl declares no such name"),
        ("[actions.a]\ncommand = 'use {y}'", "^g: actions.a.command: {y} is not a parameter; there are x"),
        ("[actions.a]\nfeedback = 'un{x}ed'", "touches a letter"),
        ("[[", "^g: not a TOML grammar file"),
        ("actions = 3", "^g: actions: int, want a table"),
    ],
)
def test_a_bad_grammar_file_is_refused_with_the_key(text, message):
    domain = parse_domain(DOMAIN, "d.pddl")
    problem = parse_problem(PROBLEM, domain, "p.pddl")
    with pytest.raises(WorldError, match=message):
        lower(domain, problem, name="x", texts=PlainTexts(parse_grammar(text, "g")))


# -- bounds -----------------------------------------------------------------------------------------------------------
def spent(call):
    """Runs a call that must raise a WorldError. Returns: seconds, mebibytes of new peak memory, the message."""
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(WorldError) as caught:
        call()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return time.process_time() - began, grown, str(caught.value)


def test_deep_nesting_is_refused_quickly():
    seconds, grown, message = spent(lambda: parse_domain("(" * 300_000 + ")" * 300_000, "deep.pddl"))
    assert "nested 300000 deep, at most 100" in message and seconds < 20 and grown < 1000
    deep = "(not " * 95 + "(p ?x)" + ")" * 95
    assert compiled(DOMAIN.replace("(p ?x)\n", deep + "\n"), PROBLEM.replace("(p o)", ""))


def test_grounding_that_explodes_names_the_operator():
    objects = " ".join(f"o{i}" for i in range(60))
    parameters = " ".join(f"?v{i}" for i in range(12))
    domain = f"""(define (domain big) (:predicates (p ?x) (q ?x))
      (:action fine :parameters (?x) :effect (q ?x))
      (:action explode :parameters ({parameters}) :precondition (not (p ?v0)) :effect (p ?v1)))"""
    parsed = parse_domain(domain, "big.pddl")
    problem = parse_problem(
        f"(define (problem x) (:domain big) (:objects {objects}) (:init) (:goal (p o0)))", parsed, "x.pddl"
    )
    source = lower(parsed, problem, name="x", texts=PlainTexts()).build()
    seconds, grown, message = spent(lambda: _core.compile_source(source))
    assert "more than 200000 ground actions, the last in rule explode" in message
    assert seconds < 20 and grown < 1000


def test_a_condition_that_multiplies_out_gets_flags_of_its_own():
    """2^40 conjunctions in disjunctive form."""
    pairs = " ".join(f"(or (p o{i}) (q o{i}))" for i in range(40))
    objects = " ".join(f"o{i}" for i in range(40))
    domain = f"""(define (domain wide) (:requirements :adl) (:constants {objects}) (:predicates (p ?x) (q ?x) (done))
      (:action set-p :parameters (?x) :effect (p ?x))
      (:action set-q :parameters (?x) :effect (q ?x))
      (:action finish :parameters () :precondition (and {pairs}) :effect (done)))"""
    parsed = parse_domain(domain, "wide.pddl")
    problem = parse_problem("(define (problem x) (:domain wide) (:init) (:goal (done)))", parsed, "x.pddl")
    suite = ae.Suite(
        [_core.compile_source(lower(parsed, problem, name="x", texts=PlainTexts()).build())], name="x"
    )
    env = ae.make(suite, tokens=None, autoreset="disabled")
    env.reset(seed=0)
    rng = random.Random(1)
    for i in range(40):
        assert "finish" not in env.get_available_actions()[0]
        env.step([f"set-{rng.choice('pq')} o{i}"])
    assert "finish" in env.get_available_actions()[0]
    assert env.step(["finish"])[4]["won"][0]


# -- any text ----------------------------------------------------------------------------------------------------------
@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=string.ascii_lowercase + "()?-:;= \n", max_size=300), st.integers(0, len(DOMAIN)))
def test_any_text_is_a_domain_or_refused(text, at):
    for candidate in (text, DOMAIN[:at] + text + DOMAIN[at:], DOMAIN[:at]):
        try:
            parse_domain(candidate, "any.pddl")
        except WorldError as error:
            assert str(error).startswith("any.pddl:")


def test_the_command_line_takes_folders_lists_and_globs(tmp_path):
    from agentenv_fast.cli.suites import games_of, open_suite

    (tmp_path / "domain.pddl").write_text(DOMAIN)
    for name, objects in (("p1", "o - t"), ("p2", "o m - t")):
        (tmp_path / f"{name}.pddl").write_text(PROBLEM.replace("o - t", objects))
    one, two, domain = (str(tmp_path / f"{name}.pddl") for name in ("p1", "p2", "domain"))
    assert games_of([str(tmp_path)]) == games_of([str(tmp_path / "*.pddl")]) == [[domain, one], [domain, two]]
    assert games_of([two]) == [[domain, two]]
    assert open_suite([one]).names == ["p1"] and open_suite([str(tmp_path)]).names == ["p1", "p2"]
    with pytest.raises(WorldError, match="a domain alone is no game"):
        games_of([domain])
