"""The default texts of a PDDL game, from the names in its files, and the grammar file that replaces them."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentenv_fast.errors import WorldError
from agentenv_fast.worlds.pddl.ast import Action, And, Atom, Equal, Exists, Forall, Formula, Not, Or, Typed
from agentenv_fast.worlds.pddl.lower import MAX_OPERANDS, Lowering
from agentenv_fast.worlds.source import (
    CompareOp,
    FactKind,
    Label,
    Pseudo,
    Section,
    TextBuilder,
    operand,
    outcome,
)

MAX_GRAMMAR_BYTES = 1 << 20
_SLOT = re.compile(r"\{([^{}]*)\}")
_KEYS = ("intro", "goal", "won", "invalid", "actions", "predicates", "objects")


@dataclass
class Grammar:
    """A grammar file (TOML), all of it optional; names in braces are parameters without their "?".

    intro = "Blocks lie on a table."
    goal = "Build the tower."
    won = "The tower stands."
    invalid = "That cannot be done now."
    [actions.pick-up]
    command = "pick up {x}"
    feedback = "You pick up {x}."
    [predicates]
    on = "{x} is on {y}."
    clear = ""                 # not printed
    [objects]
    a = "block A"
    """

    intro: str = ""
    goal: str | None = None
    won: str = "You have reached the goal."
    invalid: str = "That is not one of the commands listed."
    actions: dict[str, dict[str, str]] = field(default_factory=dict)
    predicates: dict[str, str] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)
    source: str = ""


def parse_grammar(text: str, source: str) -> Grammar:
    """Raises: WorldError naming the file and the key."""
    if len(text) > MAX_GRAMMAR_BYTES:
        raise WorldError(f"{source}: {len(text)} characters, at most {MAX_GRAMMAR_BYTES} are read")
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise WorldError(f"{source}: not a TOML grammar file: {error}") from None
    for key in data:
        if key not in _KEYS:
            raise WorldError(f"{source}: key {key} is not known; want some of {', '.join(_KEYS)}")
    out = Grammar(source=source)
    for key in ("intro", "goal", "won", "invalid"):
        if key in data:
            setattr(out, key, _text(data[key], f"{source}: {key}"))
    for key in ("predicates", "objects"):
        table = _table(data.get(key, {}), f"{source}: {key}")
        setattr(out, key, {n.lower(): _text(v, f"{source}: {key}.{n}") for n, v in table.items()})
    for name, entry in _table(data.get("actions", {}), f"{source}: actions").items():
        entry = _table(entry, f"{source}: actions.{name}")
        for key in entry:
            if key not in ("command", "feedback"):
                raise WorldError(f"{source}: actions.{name}.{key} is not known; want command, feedback")
        out.actions[name.lower()] = {k: _text(v, f"{source}: actions.{name}.{k}") for k, v in entry.items()}
    return out


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise WorldError(f"{where}: {type(value).__name__}, want a text")
    return value


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise WorldError(f"{where}: {type(value).__name__}, want a table")
    return value


class PlainTexts:
    """Commands and observations made of the names in the PDDL files, or of a grammar's sentences."""

    def __init__(self, grammar: Grammar | None = None) -> None:
        self.grammar = grammar or Grammar()

    # -- TextPart
    def object(self, lowering: Lowering, name: str) -> dict[str, str]:
        shown = self.grammar.objects.get(name, name)
        return {"name": shown, "the": shown, "indefinite": shown}

    def action(self, lowering: Lowering, action: Action) -> dict[str, Any]:
        given = self.grammar.actions.get(action.name, {})
        names = [p.name[1:] for p in action.parameters]
        default = " ".join([action.name, *(f"{{{n}}}" for n in names)])
        where = f"actions.{action.name}"
        command = self._pieces(given.get("command", default), names, f"{where}.command")
        shown = list(range(len(names)))[:MAX_OPERANDS]
        plain = " ".join([action.name, *(f"{{{names[i]}}}" for i in shown)])
        feedback = self._pieces(given.get("feedback", f"Done: {plain}."), names, f"{where}.feedback")
        operands = list(dict.fromkeys(piece for piece in feedback if isinstance(piece, int)))
        if len(operands) > MAX_OPERANDS:
            self._bad(f"{where}.feedback names {len(operands)} parameters, at most {MAX_OPERANDS}")
        text = lowering.builder.text()
        for piece in feedback:
            text.lit(piece) if isinstance(piece, str) else text.name(operand(operands.index(piece)))
        return {"command": command, "operands": operands, "outcomes": [outcome(text.lit("\n").index)]}

    def finish(self, lowering: Lowering) -> None:
        self._check_names(lowering)
        builder, grammar = lowering.builder, self.grammar
        for name, predicate in lowering.domain.predicates.items():
            names = [p.name[1:] for p in predicate.parameters]
            default = " ".join([name, *(f"{{{n}}}" for n in names)]) + "."
            sentence = grammar.predicates.get(name, default)
            if sentence:
                pieces = self._pieces(sentence, names, f"predicates.{name}")
                builder.sentence(lowering.predicate(name), [" ", *pieces])
        goal = grammar.goal if grammar.goal is not None else described(lowering.problem.goal, grammar.objects)
        start = builder.text()
        if grammar.intro:
            start.lit(grammar.intro + "\n")
        start.true_facts(FactKind.STATIC, "Always:", "\n")
        builder.start = start.index
        builder.invalid = builder.text().lit(grammar.invalid + "\n").index
        frame = builder.text().section(Section.BODY).call_event()
        frame.lit("Now:").true_facts(FactKind.CHANGING).lit("\n")
        frame.section(Section.OBJECTIVE).lit(f"Goal: {goal}\n").section(Section.END)
        _if_won(frame, grammar.won + "\n")
        builder.frame = frame.index
        lowering.extra |= {"objective": goal, **self._words(lowering)}

    # -- helpers
    def _words(self, lowering: Lowering) -> dict[str, Any]:
        """Names, verbs and templates of commands, as `infos` knows them from TextWorld."""
        domain, objects = lowering.domain, lowering.problem.objects
        shown = [(self.grammar.objects.get(name, name), one.types[0]) for name, one in objects.items()]
        templates: set[str] = set()
        for rule, action in zip(lowering.builder.rules, domain.actions.values(), strict=True):
            for types in itertools.islice(itertools.product(*(p.types for p in action.parameters)), 64):
                pieces = (p if isinstance(p, str) else f"{{{types[p]}}}" for p in rule["command"])
                templates.add("".join(pieces))
        return {
            "entities": [name for name, _ in shown],
            "typed_entities": shown,
            "types": {name: list(parents) for name, parents in domain.types.items()},
            "command_templates": sorted(templates),
            "verbs": sorted({template.split(" ")[0] for template in templates}),
        }

    def _check_names(self, lowering: Lowering) -> None:
        """What the grammar names must exist, else it would be ignored silently."""
        for key, known in (
            ("actions", lowering.domain.actions),
            ("predicates", lowering.domain.predicates),
        ):
            for name in getattr(self.grammar, key):
                if name not in known:
                    self._bad(f"{key}.{name}: {lowering.domain.source} declares no such name")

    def _pieces(self, template: str, names: list[str], where: str) -> list[str | int]:
        """ "pick up {x}" → ["pick up ", 0]."""
        out: list[str | int] = []
        at = 0
        for match in _SLOT.finditer(template):
            name = match[1].strip().removeprefix("?").lower()
            if name not in names:
                have = ", ".join(names) or "none"
                self._bad(f"{where}: {{{match[1]}}} is not a parameter; there are {have}")
            for beside in (template[: match.start()][-1:], template[match.end() :][:1]):
                if beside.isalnum() or beside == "{":
                    self._bad(
                        f"{where}: {match[0]} touches a letter; want a blank or a punctuation mark there"
                    )
            if match.start() > at:
                out.append(template[at : match.start()])
            out.append(names.index(name))
            at = match.end()
        if at < len(template):
            out.append(template[at:])
        return out

    def _bad(self, message: str) -> None:
        raise WorldError(f"{self.grammar.source or 'grammar'}: {message}")


def _if_won(text: TextBuilder, sentence: str) -> None:
    over = Label()
    text.unless(Pseudo.WON, CompareOp.SET, 0, over).lit(sentence).place(over)


def described(formula: Formula, names: Mapping[str, str] | None = None) -> str:
    """A goal in words: "on a b; not clear c; every ?x (ball): at ?x kitchen"."""
    if isinstance(formula, And):
        return "; ".join(_words(part, names or {}) for part in formula.parts) + "."
    return _words(formula, names or {}) + "."


def _words(formula: Formula, names: Mapping[str, str]) -> str:
    match formula:
        case Atom(predicate, args):
            return " ".join([predicate, *(names.get(a, a) for a in args)])
        case Equal(left, right):
            return f"{names.get(left, left)} is {names.get(right, right)}"
        case Not(part):
            return f"not {_words(part, names)}"
        case And(parts):
            return "(" + " and ".join(_words(part, names) for part in parts) + ")"
        case Or(parts):
            return "(" + " or ".join(_words(part, names) for part in parts) + ")"
        case Exists(variables, part):
            return f"some {_listed(variables)}: {_words(part, names)}"
        case Forall(variables, part):
            return f"every {_listed(variables)}: {_words(part, names)}"
    raise TypeError(f"{type(formula).__name__}: not a formula")


def _listed(variables: tuple[Typed, ...]) -> str:
    return ", ".join(f"{v.name} ({' or '.join(v.types)})" for v in variables)
