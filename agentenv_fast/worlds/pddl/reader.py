"""Text → nested lists of words with their places; the only part of the PDDL front end that sees characters."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, NoReturn

from agentenv_fast.errors import WorldError
from agentenv_fast.worlds.pddl.ast import Where

MAX_BYTES = 16 << 20
MAX_DEPTH = 100


class List(list):
    """A parenthesised list: words (lark tokens, which are str) and Lists."""

    __slots__ = ("column", "depth", "line")

    def __init__(self, items: list[Any], line: int, column: int) -> None:
        super().__init__(items)
        self.line, self.column = line, column
        self.depth = 1 + max((item.depth for item in items if isinstance(item, List)), default=0)


def where(node: Any) -> Where:
    return Where(node.line or 1, node.column or 1)


def refuse(source: str, at: Any, message: str) -> NoReturn:
    """Raises WorldError at the place of a node (or of a Where)."""
    raise WorldError(f"{source}:{at.line}:{at.column}: {message}")


def read(text: str, source: str) -> List:
    """The one list that a PDDL file consists of; words in lower case.

    Raises: WorldError as file:line:column: what is wrong.
    """
    if len(text) > MAX_BYTES:
        raise WorldError(f"{source}: {len(text)} characters, at most {MAX_BYTES} are read: is this PDDL?")
    from lark.exceptions import UnexpectedInput

    try:
        tree = _parser().parse(text.lower())
    except UnexpectedInput as error:
        _explain(text, source, error)
    if tree.depth > MAX_DEPTH:
        refuse(source, tree, f"lists nested {tree.depth} deep, at most {MAX_DEPTH} are read")
    if not text.isascii():
        _only_ascii_words(tree, source)
    return tree


@functools.cache
def _parser() -> Any:
    from lark import Lark, Transformer

    class Build(Transformer):
        """Called while parsing, so that no tree is made first."""

        def start(self, items: list[Any]) -> Any:
            return items[0]

        def list(self, items: Any) -> List:
            return List(items[1:-1], items[0].line, items[0].column)

    grammar = Path(__file__).with_name("pddl.lark").read_text()
    return Lark(grammar, parser="lalr", lexer="basic", transformer=Build())


def _explain(text: str, source: str, error: Any) -> NoReturn:
    """Says which parenthesis is missing or too many."""
    opened: list[Where] = []
    line, column, comment, closed = 1, 1, False, False
    for character in text:
        if character == "\n":
            line, column, comment = line + 1, 1, False
            continue
        if character == ";":
            comment = True
        if not comment and not character.isspace():
            if closed:
                refuse(
                    source,
                    Where(line, column),
                    f"{character!r} after the end of (define ...): a parenthesis too many?",
                )
            if character == "(":
                opened.append(Where(line, column))
            elif not opened:
                refuse(source, Where(line, column), f"{character!r}, want '(': PDDL begins with (define ...)")
            elif character == ")":
                opened.pop()
                closed = not opened
        column += 1
    if opened:
        refuse(source, opened[-1], "this '(' is never closed: is the file cut short?")
    raise WorldError(f"{source}:1:1: an empty file, want (define ...)") from error


def _only_ascii_words(tree: List, source: str) -> None:
    stack: list[List] = [tree]
    while stack:
        for item in stack.pop():
            if isinstance(item, List):
                stack.append(item)
            elif not item.isascii():
                refuse(source, item, f"{str(item)!r}: names are ASCII; other characters only in comments")
