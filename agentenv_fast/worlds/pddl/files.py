"""PDDL files on disk: which problem belongs to which domain, and a problem's compiled game."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentenv_fast.errors import WorldError
from agentenv_fast.worlds.pddl.ast import Domain
from agentenv_fast.worlds.pddl.lower import lower
from agentenv_fast.worlds.pddl.parse import parse_domain, parse_problem
from agentenv_fast.worlds.pddl.reader import MAX_BYTES
from agentenv_fast.worlds.pddl.texts import Grammar, PlainTexts, parse_grammar

SUFFIX = ".pddl"
_KIND = re.compile(r"\s*\(\s*define\s*\(\s*(domain|problem)\s+([^\s()]+)", re.IGNORECASE)
_DOMAIN_OF = re.compile(r"\(\s*:domain\s+([^\s()]+)", re.IGNORECASE)
_COMMENT = re.compile(r";[^\n]*")


@dataclass(frozen=True)
class Game:
    """A problem with its domain, and the grammar file if there is one."""

    problem: Path
    domain: Path
    grammar: Path | None = None

    def content(self) -> bytes:
        """What the compiled game depends on."""
        parts = [_bytes(path) for path in (self.domain, self.problem)]
        parts.append(_bytes(self.grammar) if self.grammar else b"")
        return b"".join(len(part).to_bytes(8, "little") + part for part in parts)


def pair(paths: Sequence[Path], grammar: Path | None = None) -> list[Game]:
    """The games among PDDL files, in the order of their problems.

    A problem's domain is, of those in the list with the name that the problem gives, the last one before it, else the
    first one; without any the `domain.pddl` in the problem's own folder.

    Raises: WorldError for a file that is neither, a domain without problems, a problem without a domain.
    """
    named = [(path, *_named(path)) for path in paths]
    problems = [path for path, kind, _ in named if kind == "problem"]
    if not problems:
        raise WorldError(
            f"{paths[0]}: a domain alone is no game; name its problems too: "
            'ae.load("domain.pddl", problem="p*.pddl")'
        )
    games = []
    for at, (path, kind, wanted) in enumerate(named):
        if kind == "domain":
            continue
        fitting = [(i, p) for i, (p, k, name) in enumerate(named) if k == "domain" and name == wanted]
        before = [p for i, p in fitting if i < at]
        beside = path.with_name("domain.pddl")
        if fitting:
            domain = before[-1] if before else fitting[0][1]
        elif beside.is_file():
            domain = beside
        else:
            raise WorldError(
                f"{path}: a problem of domain {wanted}, which is not among the files; name its file too, "
                "or put it beside as domain.pddl"
            )
        games.append(Game(path, domain, grammar))
    return games


def is_domain(path: Path) -> bool:
    """Raises: WorldError for a file that is neither a domain nor a problem."""
    return _named(path)[0] == "domain"


def _named(path: Path) -> tuple[str, str]:
    """("domain", its name) or ("problem", the name of its domain), as far as a quick look tells."""
    text = _COMMENT.sub("", _text(path))
    found = _KIND.match(text)
    if found is None:
        raise WorldError(
            f"{path}:1:1: neither (define (domain ...) ...) nor (define (problem ...) ...): is this PDDL?"
        )
    if found[1].lower() == "domain":
        return "domain", found[2].lower()
    of = _DOMAIN_OF.search(text)
    return "problem", of[1].lower() if of else ""


def compile_problem(game: Game) -> bytes:
    """The compiled game. The game's name is the problem file's stem.

    Raises: WorldError naming file, line and column.
    """
    from agentenv_fast.native import _core

    try:
        return _core.compile_source(source_of(game))
    except WorldError as error:
        if str(error).startswith(tuple(f"{p}:" for p in (game.problem, game.domain, game.grammar))):
            raise
        message = str(error).removeprefix(f"{game.problem.stem}: ")
        if message.startswith((f"{game.problem}:", f"{game.domain}:")):
            raise WorldError(message) from error.__cause__
        raise WorldError(f"{game.problem}: {message}") from error.__cause__


def source_of(game: Game) -> dict[str, Any]:
    """The Source of a game, ready for compile_source."""
    domain = _domain(_text(game.domain), str(game.domain))
    problem = parse_problem(_text(game.problem), domain, str(game.problem))
    texts = PlainTexts(_grammar(_text(game.grammar), str(game.grammar)) if game.grammar else None)
    return lower(domain, problem, name=game.problem.stem, texts=texts).build()


@functools.lru_cache(maxsize=8)
def _domain(text: str, source: str) -> Domain:
    return parse_domain(text, source)


@functools.lru_cache(maxsize=8)
def _grammar(text: str, source: str) -> Grammar:
    return parse_grammar(text, source)


def _bytes(path: Path) -> bytes:
    if not path.is_file():
        raise WorldError(f"{path}: no such file")
    if path.stat().st_size > MAX_BYTES:
        raise WorldError(f"{path}: {path.stat().st_size} bytes, at most {MAX_BYTES} are read: is this PDDL?")
    return path.read_bytes()


def _text(path: Path) -> str:
    try:
        return _bytes(path).decode()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise WorldError(f"{path}:{line}:1: not UTF-8 text (byte {error.start})") from None
