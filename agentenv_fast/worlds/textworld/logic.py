"""The logic of a TextWorld game: the .twl text inside its .json → types, rules and Inform 7 texts.

Parsed with lark and kept by content: a second game of the same family parses nothing.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from agentenv_fast.errors import WorldError

MAX_LOGIC_BYTES = 1 << 20
MAX_EXPANDED = 64  # facts that one fact may stand for, through aliases of aliases
CONSTANT_TYPES = frozenset({"P", "I", "RECIPE"})  # a type of one object, named like it


class Parameter(NamedTuple):
    name: str
    type: str


class Predicate(NamedTuple):
    name: str
    args: tuple[Parameter, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{a.name}: {a.type}' for a in self.args)})"


class Rule(NamedTuple):
    """Pure positive STRIPS: adds are what the postconditions add, deletes what they do not keep."""

    name: str
    preconditions: tuple[Predicate, ...]  # aliases replaced; those kept are not told apart
    adds: tuple[Predicate, ...]
    deletes: tuple[Predicate, ...]
    command: str
    fingerprint: str

    def parameters(self) -> list[Parameter]:
        """Each placeholder once, in order of appearance."""
        seen: dict[Parameter, None] = {}
        for predicate in (*self.preconditions, *self.adds):
            for argument in predicate.args:
                seen.setdefault(argument)
        return list(seen)


@dataclass
class Logic:
    """Everything that a family of games shares."""

    types: dict[str, list[str]] = field(default_factory=dict)
    predicates: set[tuple[str, tuple[str, ...]]] = field(default_factory=set)
    aliases: dict[tuple[str, tuple[str, ...]], tuple[Predicate, list[Predicate]]] = field(
        default_factory=dict
    )
    rules: dict[str, Rule] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    texts: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)
    commands: dict[str, tuple[str, str]] = field(default_factory=dict)
    code: list[str] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)  # type → fingerprint of its Inform 7 texts

    def __post_init__(self) -> None:
        self._above: dict[str, list[str]] = {}

    def ancestors(self, type_name: str) -> list[str]:
        """The type and every type above it, nearest first."""
        known = self._above.get(type_name)
        if known is None:
            known, todo = [], [type_name]
            while todo:
                at = todo.pop(0)
                if at not in known:
                    known.append(at)
                    todo += self.types.get(at, [])
            self._above[type_name] = known
        return known

    def is_a(self, type_name: str, ancestor: str) -> bool:
        return ancestor in self.ancestors(type_name)

    @functools.cached_property
    def names(self) -> frozenset[tuple[str, int]]:
        """(name, number of arguments) of every predicate that the logic names."""
        declared = {(name, len(types)) for name, types in (*self.predicates, *self.aliases)}
        used = {
            (p.name, len(p.args)) for rule in self.rules.values() for p in (*rule.preconditions, *rule.adds)
        }
        return frozenset(declared | used)

    def inform_text(self, name: str, types: tuple[str, ...]) -> str | None:
        """The Inform 7 sentence of a fact with arguments of these types; "" or None: Inform cannot test it."""
        for (declared, parameters), text in self.texts.items():
            if declared == name and len(parameters) == len(types) and all(map(self.is_a, types, parameters)):
                return text
        return None

    @functools.cached_property
    def command_templates(self) -> list[str]:
        """As textworld's Game.command_templates: every command of the logic, sorted."""
        return sorted({command for command, _ in self.commands.values()})


def fingerprint(*parts: str) -> str:
    """12 hex digits of what the parts say, blanks apart."""
    return hashlib.sha256("\x1f".join(" ".join(p.split()) for p in parts).encode()).hexdigest()[:12]


@functools.lru_cache(maxsize=64)
def parse(text: str) -> Logic:
    """The logic of a game.

    Raises: WorldError naming line and column, or the rule or predicate at fault.
    """
    if len(text) > MAX_LOGIC_BYTES:
        raise WorldError(f"KB.logic: {len(text)} characters, at most {MAX_LOGIC_BYTES} are read")
    import lark

    try:
        tree = _parser().parse(text)
    except lark.UnexpectedInput as error:
        line, column = getattr(error, "line", "?"), getattr(error, "column", "?")
        near = (
            error.get_context(text, 20).split("\n")[0].strip()
            if getattr(error, "pos_in_stream", None)
            else "its end"
        )
        raise WorldError(
            f"KB.logic: line {line}, column {column}: not TextWorld logic, near {near!r}"
        ) from None
    return _Reader().read(tree)


@functools.lru_cache(maxsize=1)
def _parser() -> Any:
    import lark

    grammar = Path(__file__).with_name("twl.lark").read_text()
    return lark.Lark(
        grammar, parser="lalr", lexer="contextual", propagate_positions=False, maybe_placeholders=True
    )


class _Reader:
    """Walks lark's tree; rules are finished once every alias is known."""

    def __init__(self) -> None:
        self.logic = Logic()
        self._pending: list[tuple[str, list[tuple[bool, Predicate]], list[Predicate]]] = []
        self._inform: dict[str, list[str]] = {}

    def read(self, tree: Any) -> Logic:
        for node in tree.children:
            self._type(node)
        for name, before, after in self._pending:
            if name in self.logic.rules:
                raise WorldError(f"KB.logic: rule {name}: declared twice")
            self.logic.rules[name] = self._rule(name, before, after)
        self.logic.sections = {name: fingerprint(*parts) for name, parts in self._inform.items()}
        self._check_types()
        return self.logic

    def _check_types(self) -> None:
        for name, parents in self.logic.types.items():
            for parent in parents:
                if parent not in self.logic.types:
                    raise WorldError(f"KB.logic: type {name}: its parent {parent} is not declared")
                if self.logic.is_a(parent, name):
                    raise WorldError(f"KB.logic: type {name}: is its own ancestor")

    def _type(self, node: Any) -> None:
        name, parents, *parts = node.children
        self._current = str(name)
        if self._current in self.logic.types:
            raise WorldError(f"KB.logic: type {name}: declared twice")
        self.logic.types[self._current] = [str(p) for p in parents.children] if parents is not None else []
        for part in parts:
            getattr(self, f"_{part.data}")(part.children)

    def _predicates(self, nodes: list[Any]) -> None:
        for node in nodes:
            if node.data == "alias":
                left, *right = (self._predicate(n) for n in node.children)
                self.logic.aliases[_signature(left)] = (left, right)
            else:
                self.logic.predicates.add(_signature(self._predicate(node)))

    def _rules(self, nodes: list[Any]) -> None:
        for node in nodes:
            name, *before, after = node.children
            kept = [(n.children[0] is not None, self._predicate(n.children[1])) for n in before]
            self._pending.append((str(name), kept, [self._predicate(n) for n in after.children]))

    def _reverse_rules(self, nodes: list[Any]) -> None:
        """Undoing is textworld's generator's business."""

    def _constraints(self, nodes: list[Any]) -> None:
        """Constraints are the generator's business too."""

    def _inform7(self, nodes: list[Any]) -> None:
        for node in nodes:
            getattr(self, f"_{node.data}")(node.children)

    def _kind(self, children: list[Any]) -> None:
        kind, definition = (_unquote(c) for c in children)
        self.logic.kinds[self._current] = kind
        self._inform.setdefault(self._current, []).append(f"kind {kind}: {definition}")

    def _texts(self, children: list[Any]) -> None:
        for node, text in zip(children[::2], children[1::2], strict=True):
            predicate = self._predicate(node)
            self.logic.texts[_signature(predicate)] = _unquote(text)
            self._inform.setdefault(self._current, []).append(f"{predicate}: {_unquote(text)}")

    def _commands(self, children: list[Any]) -> None:
        for name, command, event in zip(children[::3], children[1::3], children[2::3], strict=True):
            self.logic.commands[str(name)] = (_unquote(command), _unquote(event))

    def _code(self, children: list[Any]) -> None:
        code = str(children[0])[3:-3]
        self.logic.code.append(code)
        self._inform.setdefault(self._current, []).append(f"code {code}")

    def _predicate(self, node: Any) -> Predicate:
        name, *args = node.children
        return Predicate(str(name), tuple(self._parameter(a.children) for a in args if a is not None))

    @staticmethod
    def _parameter(children: list[Any]) -> Parameter:
        name, type_name = children
        return Parameter(str(name), str(type_name) if type_name is not None else str(name).rstrip("'"))

    # -- rules --------------------------------------------------------------------------------------------------------
    def _rule(self, name: str, before: list[tuple[bool, Predicate]], after: list[Predicate]) -> Rule:
        pre = [p for _, predicate in before for p in self._expand(predicate)]
        post = [
            p for predicate in (*after, *(p for keep, p in before if keep)) for p in self._expand(predicate)
        ]
        command, event = self.logic.commands.get(name, ("", ""))
        if not command:
            raise WorldError(f"KB.logic: rule {name}: has no inform7 command, so nobody can play it")
        said = " & ".join(("$" if keep else "") + str(p) for keep, p in before)
        return Rule(
            name=name,
            preconditions=tuple(dict.fromkeys(pre)),
            adds=tuple(p for p in dict.fromkeys(post) if p not in pre),
            deletes=tuple(p for p in dict.fromkeys(pre) if p not in post),
            command=command,
            fingerprint=fingerprint(said, " & ".join(map(str, after)), command, event),
        )

    def _expand(self, predicate: Predicate, depth: int = 0) -> list[Predicate]:
        found = self.logic.aliases.get(_signature(predicate))
        if found is None:
            return [predicate]
        if depth > 8:
            raise WorldError(f"KB.logic: {predicate}: aliases that lead to themselves")
        pattern, replacement = found
        mapping = dict(zip(pattern.args, predicate.args, strict=True))
        out = []
        for part in replacement:
            renamed = Predicate(part.name, tuple(mapping.get(a, a) for a in part.args))
            out += self._expand(renamed, depth + 1)
            if len(out) > MAX_EXPANDED:
                raise WorldError(
                    f"KB.logic: {predicate}: aliases that stand for more than {MAX_EXPANDED} facts"
                )
        return out


def _signature(predicate: Predicate) -> tuple[str, tuple[str, ...]]:
    return predicate.name, tuple(a.type for a in predicate.args)


def _unquote(token: Any) -> str:
    return str(token)[1:-1] if token is not None else ""
