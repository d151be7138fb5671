"""One scene → compiled game: PDDL through worlds.pddl, ground natively, then the texts over what can ever be true."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentenv_fast.errors import WorldError
from agentenv_fast.worlds.alfworld import grammar as grammars
from agentenv_fast.worlds.alfworld.facts import Context, Facts, Test
from agentenv_fast.worlds.alfworld.grammar import Grammar, Symbol
from agentenv_fast.worlds.alfworld.names import shown_names
from agentenv_fast.worlds.alfworld.texts import Code, PerAction, Piece, Texts
from agentenv_fast.worlds.pddl import Lowering, parse_domain, parse_problem
from agentenv_fast.worlds.pddl.ast import Action, Domain, Problem
from agentenv_fast.worlds.source import CompareOp, Op, Section, operand, outcome

SUFFIX = ".tw-pddl"
FAMILY = "alfworld"
MAX_EPISODE_STEPS = 50  # as alfworld's own configuration has it
NOTHING = "Nothing happens."
DELETED = "not_"  # a condition not_p holds once p was deleted, and not before
MAX_PLACE_TRIES = 8


def compile_game(content: bytes, file: str | Path, name: str | None = None) -> bytes:
    """The bytes of a .tw-pddl file → a compiled game.

    Args:
      name: the game's name; default: the file's, without its suffix.

    Raises: WorldError naming the file, and the place in it.
    """
    file = Path(file)
    try:
        return _Scene(read(content, str(file)), name or file.stem, str(file)).run()
    except WorldError as error:
        if str(error).startswith(f"{file}:"):
            raise
        raise WorldError(f"{file}: {error}") from error.__cause__
    except RecursionError:
        raise WorldError(f"{file}: nested too deeply") from None


def read(content: bytes, file: str) -> dict[str, Any]:
    """The JSON of a .tw-pddl file.

    Raises: WorldError as file:line:column.
    """
    try:
        data = json.loads(content)
    except json.JSONDecodeError as error:
        raise WorldError(
            f"{file}:{error.lineno}:{error.colno}: not JSON: {error.msg}; is the file cut short?"
        ) from None
    except UnicodeDecodeError as error:
        raise WorldError(f"{file}: byte {error.start} is not UTF-8") from None
    except RecursionError:
        raise WorldError(f"{file}: JSON nested too deeply") from None
    if not isinstance(data, dict):
        raise WorldError(
            f"{file}: JSON {type(data).__name__}, want an object with pddl_domain, pddl_problem, grammar"
        )
    for key in ("pddl_domain", "pddl_problem", "grammar"):
        if key not in data:
            raise WorldError(f"{file}: no {key!r}; a .tw-pddl file has pddl_domain, pddl_problem and grammar")
        if not isinstance(data[key], str):
            raise WorldError(f"{file}: {key} is {type(data[key]).__name__}, want a text")
    return data


@functools.lru_cache(maxsize=8)
def _domain(text: str, source: str) -> Domain:
    return parse_domain(text, source, unknown_types="empty")


class _Plain:
    """Names for the ground game that only this module reads: objects and bindings as numbers."""

    def object(self, lowering: Lowering, name: str) -> Mapping[str, Any]:
        return {"name": str(len(lowering.objects))}

    def action(self, lowering: Lowering, action: Action) -> Mapping[str, Any]:
        command: list[str | int] = []
        for i in range(len(action.parameters)):
            command += [" ", i] if i else [i]
        return {"command": command or ["-"], "operands": [], "outcomes": [outcome(0)]}

    def finish(self, lowering: Lowering) -> None:
        empty = lowering.builder.text().index
        lowering.builder.frame = lowering.builder.start = lowering.builder.invalid = empty


class _Scene:
    def __init__(self, data: Mapping[str, Any], name: str, file: str) -> None:
        self.data, self.name, self.file = data, name, file
        self.grammar: Grammar = grammars.parse(data["grammar"], f"{file}: grammar")
        self.domain = _domain(data["pddl_domain"], f"{file}: pddl_domain")
        self.problem: Problem = parse_problem(data["pddl_problem"], self.domain, f"{file}: pddl_problem")

    def run(self) -> bytes:
        from agentenv_fast.native import _core

        self.check_actions()
        lowering = Lowering(self.domain, self.problem, self.name, FAMILY, _Plain())
        builder = lowering.run()
        builder.max_episode_steps = MAX_EPISODE_STEPS
        self.objects = list(self.problem.objects)
        self.types = {o: t.types[0] for o, t in self.problem.objects.items()}
        occurring = {o for atom in self.problem.init for o in atom.args}
        self.names = shown_names(occurring)
        game = _core.GroundGame(builder.build())
        flags = game.flags
        initial = game.initial
        actions = game.actions
        self.split_facts(flags, game.statics)
        deletable = [i for i, (p, _) in self.flags.items() if DELETED + p in self.predicates_asked()]
        deleted = dict(zip(deletable, game.track_deletions(deletable), strict=True))
        tests = self.places(game, flags, initial, lowering) or [
            (v, int(CompareOp.SET), 0) for v in range(game.num_variables)
        ]
        facts = self.facts(lambda i: tests[i], {i: tests[d] for i, d in deleted.items() if d >= 0})
        texts = Texts(self.grammar, facts, self.shown)
        told = self.tell(texts, actions)
        start, objective = self.start(texts, initial)
        frame, invalid = Code(texts.literals), Code(texts.literals)
        frame.emit(int(Op.SECTION), int(Section.BODY))
        frame.emit(int(Op.CALL_EVENT))
        invalid.lit(NOTHING)
        programs = [texts.program(c) for c in (frame, start, invalid)]
        return game.emit(
            told,
            [self.shown(o) for o in self.objects],
            texts.programs,
            texts.literals.texts,
            programs,
            json.dumps(self.extra(objective, lowering.extra), separators=(",", ":")),
        )

    def check_actions(self) -> None:
        for name, action in self.domain.actions.items():
            if name not in self.grammar.actions:
                where = f"{self.domain.source}:{action.where.line}:{action.where.column}"
                raise WorldError(f"{where}: the grammar has no action {name}")

    def shown(self, thing: str) -> str:
        return self.names.get(thing, thing)

    # -- facts
    def split_facts(self, flags: Sequence[str], statics: Sequence[str]) -> None:
        self.flags: dict[int, tuple[str, tuple[str, ...]]] = {}
        for i, text in enumerate(flags):
            if (fact := self.fact(text)) is not None:
                self.flags[i] = fact
        self.statics = [fact for text in statics if (fact := self.fact(text)) is not None]

    def fact(self, text: str) -> tuple[str, tuple[str, ...]] | None:
        """ "inreceptacle(a, b)" → its parts; None for what is no fact of the domain (conditions, the goal)."""
        predicate, _, rest = text.partition("(")
        if predicate not in self.domain.predicates:
            return None
        inside = rest[:-1]
        return predicate, tuple(inside.split(", ")) if inside else ()

    @functools.cached_property
    def _asked(self) -> frozenset[str]:
        asked: set[str] = set()
        for rules in self.grammar.rules.values():
            for rule in rules:
                asked |= {fact.predicate for fact in rule.condition}
                for part in rule.parts:
                    choice = getattr(part, "choice", part)
                    asked |= {fact.predicate for fact in getattr(choice, "given", ())}
        for action in self.grammar.actions.values():
            for part in (*action.template, *action.feedback):
                choice = getattr(part, "choice", part)
                asked |= {fact.predicate for fact in getattr(choice, "given", ())}
        return frozenset(asked)

    def predicates_asked(self) -> frozenset[str]:
        return self._asked

    def places(
        self, game: Any, flags: Sequence[str], initial: Sequence[int], lowering: Lowering
    ) -> list[Test] | None:
        """Makes the agent's place a variable, if the game has such a thing: facts that agree in all arguments but the
        last, of which exactly one holds in every state."""
        groups: dict[tuple[str, ...], list[int]] = {}
        for i, (predicate, args) in self.flags.items():
            if len(args) >= 2:
                groups.setdefault((predicate, *args[:-1]), []).append(i)
        likely = [g for g in groups.values() if len(g) > 1 and sum(initial[i] for i in g) == 1]
        for group in sorted(likely, key=len, reverse=True)[:MAX_PLACE_TRIES]:
            tests = game.make_places(group, [lowering.objects[self.flags[i][1][-1]] for i in group])
            if tests is not None:
                return tests
        return None

    def facts(self, test: Any, deleted: Mapping[int, Test]) -> Facts:
        out = Facts(self.types, self.domain.types)
        for predicate, args in self.statics:
            out.add(predicate, args, None)
        for i, (predicate, args) in self.flags.items():
            out.add(predicate, args, test(i))
        for i, one in deleted.items():
            predicate, args = self.flags[i]
            out.add(DELETED + predicate, args, one)
        out.finish()
        return out

    # -- texts
    def tell(self, texts: Texts, actions: Sequence[tuple[int, str]]) -> list[tuple[str, list[int], int]]:
        """Command, operands and text of every ground action."""
        rules = list(self.domain.actions.values())
        commands, feedbacks = [], []
        for rule in rules:
            parameters = [(p.name[1:], p.types[0]) for p in rule.parameters]
            said = self.grammar.actions[rule.name]
            commands.append(PerAction(parameters, self._command(texts, rule.name, said.template)))
            feedbacks.append(PerAction(parameters, self._feedback(texts, said.feedback)))
        shown = [self.shown(o) for o in self.objects]
        out = []
        for rule, numbers in actions:
            ids = [] if numbers == "-" else [int(n) for n in numbers.split(" ")]
            binding = [self.objects[i] for i in ids]
            pieces: Any = commands[rule](binding)
            used, program = feedbacks[rule](binding)  # type: ignore[misc]
            command = "".join([p if isinstance(p, str) else shown[ids[p]] for p in pieces])
            out.append((command, [ids[i] for i in used], program))
        return out

    @staticmethod
    def _command(texts: Texts, name: str, template: Any) -> Any:
        def write(context: Context) -> list[Piece]:
            return texts.constant(template, context, f"the command of action {name}")

        return write

    @staticmethod
    def _feedback(texts: Texts, parts: Any) -> Any:
        def write(context: Context) -> tuple[list[int], int]:
            code = texts.write(parts, context)
            used = code.operands()
            code.done = [
                (op, operand(used.index(operand(0) - a)) if op == Op.NAME else a, b, c, value)
                for op, a, b, c, value in code.done
            ]
            return used, texts.program(code)

        return write

    def start(self, texts: Texts, initial: Sequence[int]) -> tuple[Code, str]:
        """The introduction, which sees the state at the start alone, and the sentence in it that names the task."""
        now = Facts(self.types, self.domain.types)
        for predicate, args in self.statics:
            now.add(predicate, args, None)
        for i, (predicate, args) in self.flags.items():
            if initial[i]:
                now.add(predicate, args, None)
        now.finish()
        writer = Texts(self.grammar, now, self.shown)
        writer.literals, writer.programs, writer._same = texts.literals, texts.programs, texts._same
        code = writer.write((Symbol("intro"),), Context(), sections=True)
        task = ""
        if "task" in self.grammar.rules:
            task = "".join(str(p) for p in writer.constant((Symbol("task"),), Context(), "grammar: #task#"))
        return code, task.strip()

    def extra(self, objective: str, more: Mapping[str, Any]) -> dict[str, Any]:
        out = {"objective": objective, "max_score": 1, "domain": more.get("domain", "")}
        walkthrough = self.data.get("walkthrough")
        if isinstance(walkthrough, list) and all(isinstance(c, str) for c in walkthrough):
            out["walkthrough"] = walkthrough
        if isinstance(self.data.get("solvable"), bool):
            out["solvable"] = self.data["solvable"]
        return out
