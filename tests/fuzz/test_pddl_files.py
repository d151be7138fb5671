"""Damaged PDDL: a game that plays, or a WorldError that names the place, in bounded time. AE_FUZZ_SECONDS sets how long
(`make fuzz`)."""

import os
import random
import re
import time
from pathlib import Path

import agentenv_fast as ae
from agentenv_fast.errors import WorldError
from agentenv_fast.native import _core
from agentenv_fast.worlds.pddl import PlainTexts, lower, parse_domain, parse_problem

CORPUS = sorted((Path(__file__).parents[1] / "corpus" / "pddl").glob("*/*.pddl"))
SECONDS = float(os.environ.get("AE_FUZZ_SECONDS", "6"))
LONGEST = 20.0  # seconds of processor time for one damaged pair


def compiled(domain, problem):
    parsed = parse_domain(domain, "d.pddl")
    return _core.compile_source(
        lower(parsed, parse_problem(problem, parsed, "p.pddl"), name="one", texts=PlainTexts()).build()
    )


WORDS = [
    "(", ")", "((", "))", " - ", "?x", ",", ";", "and", "or", "not", "imply", "exists", "forall", "when", "=",
    "increase", "either", "object", ":derived", ":action", ":init", ":goal", ":types", "(define", "define", "1e400",
    "total-cost", "-1", "?", "\x00", "é", "\ud800", "()", "(and)", "(or)", "(not", "(forall (?x) ", "(either object)",
]  # fmt: skip


def damaged(text, rng):
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice([0, 1, 5, 40]))
        other = rng.randrange(len(text) + 1)
        piece = rng.choice(
            [rng.choice(WORDS), text[other : other + rng.choice([3, 20, 200])], "", rng.choice(WORDS) * 50]
        )
        text = text[:at] + piece + text[end:] if rng.random() < 0.9 else text[:at]
    return text


def test_damaged_files_compile_or_are_refused_in_bounded_time():
    seed = random.SystemRandom().getrandbits(40)
    rng = random.Random(seed)
    end, tried, accepted = time.monotonic() + SECONDS, 0, 0
    domains = [path for path in CORPUS if path.stem == "domain"]
    while time.monotonic() < end:
        path = rng.choice(domains)
        texts = [path.read_text(), rng.choice(sorted(path.parent.glob("p*.pddl"))).read_text()]
        which = rng.randrange(2)
        texts[which] = damaged(texts[which], rng)
        began = time.process_time()
        tried += 1
        try:
            game = compiled(*texts)
        except WorldError as error:
            assert re.match(r"(d|p).pddl:|one: ", str(error)), f"seed {seed}: {error}"
        else:
            accepted += 1
            env = ae.make(ae.Suite([game], name="x"), tokens=None)
            env.reset(seed=0)
            for _ in range(3):
                if env.get_available_actions()[0]:
                    env.step([env.get_available_actions()[0][-1]])
        assert time.process_time() - began < LONGEST, f"seed {seed}, try {tried}"
    assert tried > 20 and 0 < accepted < tried
