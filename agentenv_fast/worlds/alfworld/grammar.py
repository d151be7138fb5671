"""Grammar files of textworld's PDDL games (.twl2): text → actions and rules of symbols. Nothing here knows a scene."""

from __future__ import annotations

import ast
import functools
import json
import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentenv_fast.errors import WorldError

MAX_BYTES = 1 << 20
MAX_RULES = 20000
MAX_NESTING = 50  # of the JSON in a grammar block, of an expression


@dataclass(frozen=True, slots=True)
class Fact:
    """predicate(variables) of a condition; a variable is (name, type)."""

    predicate: str
    variables: tuple[tuple[str, str], ...]


Condition = tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Literal:
    text: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """#name#: replaced by the first of its rules whose condition holds."""

    name: str


@dataclass(frozen=True, slots=True)
class Eval:
    """{expression}: names joined by +, or, and."""

    expression: ast.expr
    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """{expression | condition}: the expression once for each way to meet the condition."""

    expression: Symbol | Eval
    given: Condition


@dataclass(frozen=True, slots=True)
class Listed:
    """[{...}]: the same, joined as a list."""

    choice: Choice


Part = Literal | Symbol | Eval | Choice | Listed


@dataclass(frozen=True, slots=True)
class Rule:
    parts: tuple[Part, ...]
    condition: Condition


@dataclass(frozen=True, slots=True)
class Command:
    """Of an action: its command and what it says."""

    template: tuple[Part, ...]
    feedback: tuple[Part, ...]


@dataclass
class Grammar:
    actions: dict[str, Command] = field(default_factory=dict)  # by name in lower case
    rules: dict[str, tuple[Rule, ...]] = field(default_factory=dict)


@functools.lru_cache(maxsize=8)
def _parse_cached(text: str) -> Grammar:
    return _Reader(text).run()


def parse(text: str, source: str) -> Grammar:
    """The grammar in a .twl2 text; the last few are remembered, since the scenes of a data set share theirs but for
    the sentence that names the task.

    Raises: WorldError as source:line:column: what, got, wanted.
    """
    if len(text) > MAX_BYTES:
        raise WorldError(f"{source}: a grammar of {len(text)} characters, at most {MAX_BYTES} are read")
    try:
        return _parse_cached(text)
    except WorldError as error:
        raise WorldError(f"{source}:{error}") from error.__cause__
    except RecursionError:
        raise WorldError(f"{source}: nested too deeply") from None


class _Reader:
    """Errors begin with line:column; parse() puts the file's name before them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.out = Grammar()
        self.actions: dict[str, tuple[str, str]] = {}
        self.raw: dict[str, list[Any]] = {}
        self.lines: dict[str, int] = {}  # of the block that a rule stands in
        self.symbols: dict[str, Any] = {}

    def run(self) -> Grammar:
        from lark.exceptions import UnexpectedInput

        try:
            tree = _document().parse(self.text)
        except UnexpectedInput as error:
            at = getattr(error, "line", None) or 1, getattr(error, "column", None) or 1
            got = str(getattr(error, "token", None) or getattr(error, "char", "")) or "the end"
            raise WorldError(
                f"{at[0]}:{at[1]}: {got[:30]!r} cannot stand here; a grammar file has action NAME {{...}} and "
                'grammar :: """...""";'
            ) from None
        for node in tree.children:
            if node.data == "grammar":
                self.block(node.children[0], comments=False)
            else:
                self.action(node)
        if sum(len(rules) for rules in self.raw.values()) > MAX_RULES:
            raise WorldError(f"1:1: more than {MAX_RULES} rules")
        for name, rules in self.raw.items():
            self.out.rules[name] = tuple(self.rule(name, rule) for rule in rules)
        for name, (template, feedback) in self.actions.items():
            self.out.actions[name] = Command(
                self.parts(template, f"action {name}", 1), self.parts(feedback, f"action {name}", 1)
            )
        return self.out

    def action(self, node: Any) -> None:
        name, *entries = node.children
        found: dict[str, str] = {}
        for entry in entries:
            value = entry.children[0]
            if entry.data == "grammar":
                self.block(value, comments=True)
            elif entry.data != "pddl":
                found[entry.data] = str(value)[1:-1]
        for key in ("template", "feedback"):
            if key not in found:
                raise WorldError(f'{name.line}:{name.column}: action {name} has no {key} :: "...";')
        self.actions[name.lower()] = (found["template"], found["feedback"])

    def block(self, token: Any, *, comments: bool) -> None:
        text = textwrap.dedent(str(token)[3:-3])
        if comments:
            text = "\n".join("" if line.lstrip().startswith("#") else line for line in text.split("\n"))
        try:
            data = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
            message = getattr(error, "msg", "nested too deeply")
            raise WorldError(f"{token.line + line - 1}:{column}: not JSON: {message}") from None
        if not isinstance(data, dict):
            raise WorldError(f"{token.line}:1: a grammar block is {type(data).__name__}, want an object")
        for name, rules in data.items():
            if not isinstance(rules, list) or not all(isinstance(r, dict) for r in rules):
                raise WorldError(f"{token.line}:1: rules of {name!r}: want a list of objects")
            self.raw[name] = rules
            self.lines[name] = token.line

    def rule(self, name: str, rule: dict[str, Any]) -> Rule:
        line = self.lines[name]
        right, condition = rule.get("rhs"), rule.get("condition", "")
        if not isinstance(right, str) or not isinstance(condition, str):
            raise WorldError(f'{line}:1: a rule of {name!r}: want {{"rhs": "text", "condition": "text"}}')
        return Rule(self.parts(right, repr(name), line), self.condition(condition, repr(name), line))

    def parts(self, text: str, where: str, line: int) -> tuple[Part, ...]:
        out = []
        for token in _symbols().parse(text).children:
            if token.type == "REST":
                break  # textworld ignores what it cannot read
            out.append(self.part(token.type, str(token), where, line))
        return tuple(out)

    def part(self, kind: str, token: str, where: str, line: int) -> Part:
        if kind == "LITERAL":
            return Literal(token.replace("\\n", "\n"))
        if kind == "QUOTED":
            return Literal(token[1:-1].replace("\\n", "\n"))
        if kind == "SYMBOL":
            return Symbol(token[1:-1].lstrip("\t").replace("\\n", "\n"))
        if kind == "LIST":
            return Listed(self.choice(token[1:-1].strip("\t"), where, line))
        choice = self.choice(token, where, line)
        return choice if choice.given else choice.expression

    def choice(self, token: str, where: str, line: int) -> Choice:
        """ "{expression | condition}"; the condition may be missing."""
        expression, bar, given = token[1:-1].partition("|")
        expression = expression.lstrip("\t")
        if match := re.fullmatch(r"#(\t*[\w()/!<>\-\s,.]+)#\s*", expression):
            inner: Symbol | Eval = Symbol(match[1].lstrip("\t").replace("\\n", "\n"))
        else:
            inner = Eval(self.expression(expression.strip(), where, line), expression.strip())
        return Choice(inner, self.condition(given.strip(), where, line) if bar else ())

    def expression(self, text: str, where: str, line: int) -> ast.expr:
        try:
            if len(text) > 2000:
                raise ValueError("too long")
            return ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise WorldError(f"{line}:1: {where}: {{{text[:60]}}} is not an expression") from None

    def condition(self, text: str, where: str, line: int) -> Condition:
        if not text.strip():
            return ()
        if text in self.symbols:
            return self.symbols[text]
        from lark.exceptions import UnexpectedInput

        try:
            tree = _condition().parse(text)
        except UnexpectedInput:
            raise WorldError(
                f"{line}:1: {where}: condition {text[:80]!r}, want predicate(variable: type, ...) & ..."
            ) from None
        facts = []
        for node in tree.children:
            name, *variables = node.children
            pairs = [
                (str(v.children[0]), str(v.children[1] or v.children[0])) for v in variables if v is not None
            ]
            facts.append(Fact(str(name), tuple(pairs)))
        self.symbols[text] = tuple(facts)
        return tuple(facts)


def _lark(name: str) -> Any:
    from lark import Lark

    grammar = Path(__file__).with_name(f"{name}.lark").read_text()
    return Lark(grammar, parser="lalr", lexer="basic", maybe_placeholders=True)


@functools.cache
def _document() -> Any:
    return _lark("twl2")


@functools.cache
def _symbols() -> Any:
    return _lark("symbols")


@functools.cache
def _condition() -> Any:
    return _lark("condition")
