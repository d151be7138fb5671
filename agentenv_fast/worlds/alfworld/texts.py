"""The grammar of a scene → text programs over its variables, and the commands of its actions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from agentenv_fast.errors import WorldError
from agentenv_fast.worlds.alfworld.facts import Context, Facts, NeedsObject, Test, Variable
from agentenv_fast.worlds.alfworld.grammar import Choice, Eval, Grammar, Listed, Literal, Part, Symbol
from agentenv_fast.worlds.source import Op, Section, operand

MAX_DEPTH = 30  # of symbols within symbols
MAX_CALLS = 6  # of programs within programs (render.h allows more, for the frame around)
MAX_CODE = 1_000_000
MAX_OPERANDS = 4
MAX_TEXT = 1 << 20  # characters of one text
INLINE = 8  # a text of fewer instructions is copied to where it is used
Instruction = tuple[int, int, int, int, int]
# Plain numbers: millions of instructions are made, and members of an enum are slow to hash.
LIT, NAME, CALL, JUMP, UNLESS = int(Op.LIT), int(Op.NAME), int(Op.CALL), int(Op.JUMP), int(Op.UNLESS)
ITEM, JOINED, SECTION = int(Op.ITEM), int(Op.JOINED), int(Op.SECTION)
JUMPS = (JUMP, UNLESS)

Piece = str | int  # a text, or the name of operand i


class Literals:
    """Texts by number; the same text gets the same number."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._ids: dict[str, int] = {}

    def id(self, text: str) -> int:
        found = self._ids.setdefault(text, len(self.texts))
        if found == len(self.texts):
            self.texts.append(text)
        return found


class Code:
    """One text program in the making. Literals side by side become one."""

    def __init__(self, literals: Literals) -> None:
        self._literals = literals
        self.done: list[Instruction] = []
        self._text = ""
        self.calls = 0  # how deep programs are nested in it

    def literal_id(self, text: str) -> int:
        return self._literals.id(text)

    def lit(self, text: str) -> None:
        self._text += text

    def flush(self) -> None:
        if self._text:
            self.done.append((LIT, self.literal_id(self._text), 0, 0, 0))
            self._text = ""

    def pieces(self, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            if isinstance(piece, str):
                self.lit(piece)
            else:
                self.emit(NAME, operand(piece), 0)

    def emit(self, op: int, a: int = 0, b: int = 0, c: int = 0, value: int = 0) -> int:
        if self._text:
            self.flush()
        self.done.append((op, a, b, c, value))
        return len(self.done) - 1

    def unless(self, tests: Sequence[Test]) -> list[int]:
        """Goes on if all hold; → the jumps to be aimed at where to go else."""
        return [self.emit(UNLESS, var, op, 0, value) for var, op, value in tests]

    def jump(self) -> int:
        return self.emit(JUMP)

    def land(self, jumps: Sequence[int]) -> None:
        """The jumps end here."""
        self.flush()
        for i in jumps:
            op, a, b, _, value = self.done[i]
            self.done[i] = (op, a, b, len(self.done), value)

    def operands(self) -> list[int]:
        """The operands whose names it prints."""
        return sorted({operand(0) - a for op, a, *_ in self.done if op == NAME})

    def copy(self, other: Code) -> None:
        """Appends a program's instructions."""
        self.calls = max(self.calls, other.calls)
        if len(other.done) == 1 and other.done[0][0] == LIT:
            self.lit(self._literals.texts[other.done[0][1]])
            return
        self.flush()
        at = len(self.done)
        for op, a, b, c, value in other.done:
            self.done.append((op, a, b, c + at if op in JUMPS else c, value))


class Texts:
    """Writes all that one scene says.

    Attributes:
      programs, literals: what GroundGame.emit takes.
    """

    def __init__(self, grammar: Grammar, facts: Facts, shown: Callable[[str], str]) -> None:
        self.grammar = grammar
        self.facts = facts
        self.shown = shown
        self.literals = Literals()
        self.programs: list[list[Instruction]] = []
        self._same: dict[tuple[Instruction, ...], int] = {}
        self._codes: dict[object, Code] = {}
        self._calls: dict[int, int] = {}  # id of a Code → its program
        self._names: dict[str, frozenset[str]] = {}
        self._constants: dict[str, str] = {}  # texts of symbols that name nothing
        self._size = 0

    # -- programs
    def program(self, code: Code) -> int:
        """The index of a program; equal programs are one."""
        code.flush()
        key = tuple(code.done)
        if key not in self._same:
            self._size += len(key)
            if self._size > MAX_CODE:
                raise WorldError(
                    f"the grammar makes texts of more than {MAX_CODE} instructions for this scene"
                )
            self._same[key] = len(self.programs)
            self.programs.append(code.done)
        return self._same[key]

    def write(self, parts: Sequence[Part], context: Context, *, sections: bool = False) -> Code:
        """A text as a program.

        Raises: NeedsObject if it depends on which object an open parameter is, WorldError.
        """
        code = Code(self.literals)
        self._parts(parts, context, code, 0, None, sections)
        code.flush()
        self._check_names(code, context)
        return code

    def constant(self, parts: Sequence[Part], context: Context, what: str) -> list[Piece]:
        """A text that does not depend on the state, as pieces.

        Raises: NeedsObject, WorldError if it depends on the state.
        """
        code = self.write(parts, context)
        texts = self.literals.texts
        out: list[Piece] = []
        for op, a, *_ in code.done:
            if op == LIT:
                out.append(texts[a])
            elif op == NAME:
                out.append(operand(0) - a)
            elif op == CALL:
                raise WorldError(f"{what}: too long")
            else:
                raise WorldError(f"{what} changes with the state of the game, which is not supported")
        return out

    # -- parts
    def _parts(
        self,
        parts: Sequence[Part],
        context: Context,
        code: Code,
        depth: int,
        relevant: frozenset[str] | None,
        sections: bool = False,
    ) -> None:
        for part in parts:
            match part:
                case Literal(text):
                    code.lit(text)
                case Eval():
                    code.pieces(self._value(part, context))
                case Symbol(name):
                    if sections and name == "task":
                        code.emit(SECTION, int(Section.OBJECTIVE))
                        self._symbol(name, context, code, depth, relevant)
                        code.emit(SECTION, int(Section.BODY))
                    elif sections:
                        self._rules(name, context, code, depth, relevant, sections)
                    else:
                        self._symbol(name, context, code, depth, relevant)
                case Choice(expression, given):
                    for inner, tests in self.facts.ways(given, context, relevant):
                        jumps = code.unless(tests)
                        self._parts((expression,), inner, code, depth, relevant)
                        if jumps:
                            code.land(jumps)
                case Listed(choice):
                    self._list(choice, context, code, depth, relevant)

    def _symbol(
        self, name: str, context: Context, code: Code, depth: int, relevant: frozenset[str] | None
    ) -> None:
        """A symbol's text, written once for each choice of the objects that it names, and called or copied."""
        names = self._names_in(name)
        key = (
            name,
            tuple((v, o) for v, o in context.objects.items() if v[0] in names),
            tuple((v, o) for v, o in context.open.items() if v not in context.objects),
        )
        made = self._codes.get(key)
        if made is None:
            before, self.facts.distinct_outside = self.facts.distinct_outside, False
            made = Code(self.literals)
            self._rules(name, context, made, depth, names)
            made.flush()
            if not self.facts.distinct_outside:
                self._codes[key] = made
            self.facts.distinct_outside = self.facts.distinct_outside or before
        if len(made.done) < INLINE or made.calls >= MAX_CALLS or made.operands():
            code.copy(made)
        else:
            code.calls = max(code.calls, made.calls + 1)
            code.emit(CALL, self.program(made))

    def _rules(
        self,
        name: str,
        context: Context,
        code: Code,
        depth: int,
        relevant: frozenset[str] | None,
        sections: bool = False,
    ) -> None:
        if depth > MAX_DEPTH:
            raise WorldError(
                f"grammar: #{name}# is {depth} symbols deep in itself or in others; does it ever end?"
            )
        rules = self.grammar.rules.get(name)
        if not rules:
            raise WorldError(f"grammar: no rule for #{name}#")
        ends: list[int] = []
        for rule in rules:
            if rule.condition:
                ways = [tests for _, tests in self.facts.ways(rule.condition, context, relevant)]
                if not ways:
                    continue
                always = any(not tests for tests in ways)
            else:
                ways, always = [], True
            if always:
                self._parts(rule.parts, context, code, depth + 1, relevant, sections)
                break
            ends.append(
                self._alternative(list(dict.fromkeys(ways)), rule.parts, context, code, depth, relevant)
            )
        code.land(ends)
        if len(code.done) > MAX_CODE:
            raise WorldError(f"grammar: #{name}# makes more than {MAX_CODE} instructions")

    def _alternative(
        self,
        ways: Sequence[tuple[Test, ...]],
        parts: Sequence[Part],
        context: Context,
        code: Code,
        depth: int,
        relevant: frozenset[str] | None,
    ) -> int:
        """The parts if one of the ways holds; → the jump behind them, to what follows all rules."""
        found: list[int] = []
        missed: list[int] = []
        for i, tests in enumerate(ways):
            code.land(missed)
            missed = code.unless(tests)
            if i + 1 < len(ways):
                found.append(code.jump())
        code.land(found)
        self._parts(parts, context, code, depth + 1, relevant)
        end = code.jump()
        code.land(missed)
        return end

    def _list(
        self, choice: Choice, context: Context, code: Code, depth: int, relevant: frozenset[str] | None
    ) -> None:
        ways = list(self.facts.ways(choice.given, context, relevant))
        if not ways:
            return self._symbol("list_empty", context, code, depth, relevant)
        if len(ways) == 1 and not ways[0][1]:
            return self._parts((choice.expression,), ways[0][0], code, depth, relevant)
        comma = code.literal_id(self._plain("list_separator", context))
        last = code.literal_id(self._plain("list_last_separator", context))
        certain = any(not tests for _, tests in ways)
        empty = 0 if certain else 1 + code.literal_id(self._plain("list_empty", context))
        for inner, tests in ways:
            jumps = code.unless(tests)
            entry = Code(self.literals)
            self._parts((choice.expression,), inner, entry, depth, relevant)
            entry.flush()
            if named := entry.operands():
                raise NeedsObject(self._variable(named[0], inner))
            if len(entry.done) == 1 and entry.done[0][0] == LIT:
                code.emit(ITEM, entry.done[0][1], 0, comma)
            else:
                code.calls = max(code.calls, entry.calls + 1)
                code.emit(ITEM, self.program(entry), 1, comma)
            code.land(jumps)
        code.emit(JOINED, last, 0, empty)

    def _plain(self, name: str, context: Context) -> str:
        """The text of a symbol that does not depend on the state."""
        if name in self._constants:
            return self._constants[name]
        pieces = self.constant((Symbol(name),), context, f"grammar: #{name}#")
        if not all(isinstance(p, str) for p in pieces):
            raise WorldError(f"grammar: #{name}# names parameters, which is not supported")
        text = "".join(str(p) for p in pieces)
        if not self._names_in(name):
            self._constants[name] = text
        return text

    # -- expressions
    def _value(self, part: Eval, context: Context) -> list[Piece]:
        return self._evaluate(part.expression, part, context)

    def _evaluate(self, node: ast.expr, part: Eval, context: Context) -> list[Piece]:
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.Name(id=name):
                return self._attribute(name, "name", part, context)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                return self._attribute(name, attribute, part, context)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._evaluate(left, part, context) + self._evaluate(right, part, context)
            case ast.BoolOp(op=op, values=values):
                found: list[Piece] = []
                for value in values:
                    found = self._evaluate(value, part, context)
                    if any(p != "" for p in found) == isinstance(op, ast.Or):
                        break
                return found
        self._refuse(part)

    def _attribute(self, name: str, attribute: str, part: Eval, context: Context) -> list[Piece]:
        found = context.named(name)
        if found is None:
            raise WorldError(f"grammar: {{{part.text}}}: nothing is bound to {name}")
        if attribute in ("definite", "indefinite"):
            return ["the" if attribute == "definite" else "a"]
        if isinstance(found, int):
            if attribute == "name":
                return [found]
            raise NeedsObject(next(v for v, i in context.open.items() if i == found))
        if attribute == "name":
            return [self.shown(found)]
        if attribute == "id":
            return [found]
        if attribute == "type":
            return [self.facts.types[found]]
        self._refuse(part)

    @staticmethod
    def _refuse(part: Eval) -> NoReturn:
        raise WorldError(
            f"grammar: {{{part.text}}}: want texts, x, x.name, x.id, x.type, x.definite and x.indefinite, joined by +, "
            "or, and"
        )

    # -- which names a symbol's text depends on
    def _names_in(self, name: str) -> frozenset[str]:
        if name not in self._names:
            seen: set[str] = set()
            names: set[str] = set()
            todo = [name, "list_empty", "list_separator", "list_last_separator"]
            while todo:
                one = todo.pop()
                if one in seen:
                    continue
                seen.add(one)
                for rule in self.grammar.rules.get(one, ()):
                    names |= {v[0] for fact in rule.condition for v in fact.variables}
                    for part in rule.parts:
                        self._collect(part, names, todo)
            self._names[name] = frozenset(names)
        return self._names[name]

    def _collect(self, part: Part, names: set[str], todo: list[str]) -> None:
        match part:
            case Symbol(name):
                todo.append(name)
            case Eval(expression):
                names |= {n.id for n in ast.walk(expression) if isinstance(n, ast.Name)}
            case Choice(expression, given):
                names |= {v[0] for fact in given for v in fact.variables}
                self._collect(expression, names, todo)
            case Listed(choice):
                self._collect(choice, names, todo)
            case Literal():
                pass

    def _check_names(self, code: Code, context: Context) -> None:
        """Tokens are made per literal: a name that touches a letter must be part of the literal."""
        for before, after in zip(code.done, code.done[1:], strict=False):
            for name, other, end in ((before, after, 0), (after, before, -1)):
                touches = name[0] == NAME and other[0] == LIT
                if touches and self.literals.texts[other[1]][end].isalnum():
                    raise NeedsObject(self._variable(operand(0) - name[1], context))
        if len(used := code.operands()) > MAX_OPERANDS:
            raise NeedsObject(self._variable(used[-1], context))

    @staticmethod
    def _variable(index: int, context: Context) -> Variable:
        return next(v for v, i in context.open.items() if i == index)


class PerAction:
    """One text of an action (command, feedback), written once for all actions that agree in what it depends on."""

    def __init__(self, parameters: Sequence[Variable], write: Callable[[Context], object]) -> None:
        self._parameters = parameters
        self._write = write
        self._fixed: list[int] = []  # parameters that the text depends on, beyond their names
        self._made: dict[tuple[str, ...], object] = {}

    def __call__(self, binding: Sequence[str]) -> object:
        key = tuple([binding[i] for i in self._fixed])
        found = self._made.get(key)
        if found is None:
            found = self._make(binding)
        return found

    def _make(self, binding: Sequence[str]) -> object:
        while True:
            objects: Mapping[Variable, str] = {self._parameters[i]: binding[i] for i in self._fixed}
            free = {v: i for i, v in enumerate(self._parameters) if i not in self._fixed}
            try:
                made = self._write(Context(objects, free))
            except NeedsObject as need:
                self._fixed.append(self._parameters.index(need.variable))
                self._made.clear()
                continue
            self._made[tuple([binding[i] for i in self._fixed])] = made
            return made
