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
_KIND = re.compile(r"^\s*\(\s*define\s*\(\s*(domain|problem)\b", re.IGNORECASE)
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


def is_domain(path: Path) -> bool:
    """True for a domain, False for a problem.

    Raises: WorldError for a file that is neither.
    """
    text = _COMMENT.sub("", _text(path))
    found = _KIND.match(text)
    if found is None:
        raise WorldError(
            f"{path}:1:1: neither (define (domain ...) ...) nor (define (problem ...) ...): is this PDDL?"
        )
    return found[1].lower() == "domain"


def pair(paths: Sequence[Path], grammar: Path | None = None) -> list[Game]:
    """The games among PDDL files: a domain is for the problems behind it in the list (for those before it, if it is
    the only one), else the `domain.pddl` in the problem's own folder.

    Raises: WorldError for a domain without problems, or a problem without a domain.
    """
    domains = {path: None for path in paths if is_domain(path)}
    problems = [path for path in paths if path not in domains]
    if domains and not problems:
        raise WorldError(
            f"{next(iter(domains))}: a domain alone is no game; name its problems too: "
            'ae.load("domain.pddl", problem="p*.pddl")'
        )
    current = next(iter(domains)) if len(domains) == 1 else None
    games = []
    for path in paths:
        if path in domains:
            current = path
            continue
        domain = current or path.with_name("domain.pddl")
        if current is None and not domain.is_file():
            raise WorldError(
                f"{path}: a problem without its domain; name it too, or put it beside as domain.pddl"
            )
        games.append(Game(path, domain, grammar))
    return games


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
