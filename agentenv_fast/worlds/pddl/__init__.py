"""PDDL: a domain and a problem → a compiled game. docs/worlds_pddl.md says what is read and how it is played."""

from __future__ import annotations

from agentenv_fast.worlds.pddl.lower import Lowering, TextPart, lower
from agentenv_fast.worlds.pddl.parse import parse_domain, parse_problem
from agentenv_fast.worlds.pddl.texts import Grammar, PlainTexts, parse_grammar

__all__ = [
    "Grammar",
    "Lowering",
    "PlainTexts",
    "TextPart",
    "lower",
    "parse_domain",
    "parse_grammar",
    "parse_problem",
]
