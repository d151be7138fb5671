"""Every rule of the known families, with the texts that its outcomes print."""

from __future__ import annotations

import functools
import itertools
from typing import Any

from agentenv_fast.worlds.source import SourceBuilder, outcome
from agentenv_fast.worlds.textworld.game import GameFile
from agentenv_fast.worlds.textworld.logic import CONSTANT_TYPES, Parameter, Predicate, Rule
from agentenv_fast.worlds.textworld.texts import COOKED, CUTS, Tail, Texts

# rule → (placeholders that its texts name, sentence, tail)
SENTENCES: dict[str, tuple[tuple[str, ...], str, Tail]] = {
    "take": (("o",), "You pick up {0} from the ground.", Tail.TAKE),
    "take/c": (("o", "c"), "You take {0} from {1}.", Tail.CARRY_OUT),
    "take/s": (("o", "s"), "You take {0} from {1}.", Tail.CARRY_OUT),
    "drop": (("o",), "You drop {0} on the ground.", Tail.REPORT),
    "insert": (("o", "c"), "You put {0} into {1}.", Tail.REPORT),
    "put": (("o", "s"), "You put {0} on {1}.", Tail.REPORT),
    "open/d": (("d",), "You open {0}.", Tail.REPORT),
    "close/d": (("d",), "You close {0}.", Tail.REPORT),
    "lock/d": (("d", "k"), "You lock {0}.", Tail.REPORT),
    "unlock/d": (("d", "k"), "You unlock {0}.", Tail.REPORT),
    "close/c": (("c",), "You close {0}.", Tail.REPORT),
    "lock/c": (("c", "k"), "You lock {0}.", Tail.REPORT),
    "unlock/c": (("c", "k"), "You unlock {0}.", Tail.REPORT),
    "eat": (("f",), "You eat {0}. Not bad.", Tail.REPORT),
    "drink": (("f",), "You drink {0}. Not bad.", Tail.REPORT),
    "slice": (("f", "o"), "You slice {0}.", Tail.CARRY_OUT),
    "dice": (("f", "o"), "You dice {0}.", Tail.CARRY_OUT),
    "chop": (("f", "o"), "You chop {0}.", Tail.CARRY_OUT),
    "cook/oven/burned": (("f", "oven"), "You burned {0}!", Tail.CARRY_OUT),
    "cook/stove/burned": (("f", "stove"), "You burned {0}!", Tail.CARRY_OUT),
    "cook/toaster/burned": (("f", "toaster"), "You burned {0}!", Tail.CARRY_OUT),
    "cook/oven/cooked/raw": (("f", "oven"), "You roasted {0}.", Tail.CARRY_OUT),
    "cook/oven/cooked/needs_cooking": (("f", "oven"), "You roasted {0}.", Tail.CARRY_OUT),
    "cook/stove/cooked/raw": (("f", "stove"), "You fried {0}.", Tail.CARRY_OUT),
    "cook/stove/cooked/needs_cooking": (("f", "stove"), "You fried {0}.", Tail.CARRY_OUT),
    "cook/toaster/cooked/raw": (("f", "toaster"), "You grilled {0}.", Tail.CARRY_OUT),
    "cook/toaster/cooked/needs_cooking": (("f", "toaster"), "You grilled {0}.", Tail.CARRY_OUT),
}
DRUNK = "in (drunk)"  # in(food, I) of a thing that was drunk: listed among the facts as before, but nowhere to be seen
TOO_MANY = "You're carrying too many things already."
UNSEEN = "You can't see any such thing."
EXAMINE = {"examine/I": "o", "examine/s": "o", "examine/c": "o", "examine/t": "t", "examine/d": "d"}
MISSING, UNCOOKED, UNCUT = (
    "You still miss something.",
    "Something still needs to be cooked.",
    "Something still needs to be cut.",
)


class Rules:
    """Writes the rules of a game into its source."""

    def __init__(
        self, source: SourceBuilder, game: GameFile, texts: Texts, objects: dict[str, int], types, predicate
    ) -> None:
        self.source, self.game, self.texts, self.objects = source, game, texts, objects
        self.types: dict[str, int] = types
        self.predicate = predicate  # (name, number of arguments) → index
        self._facts = {(f.name, *f.args) for f in game.facts}
        self._args: dict[str, list[tuple[str, ...]]] = {}
        for fact in game.facts:
            self._args.setdefault(fact.name, []).append(fact.args)

    def write(self) -> None:
        """Rules with more preconditions first: of actions with one command textworld takes the most specific."""
        rules = sorted(self.game.logic.rules.values(), key=lambda r: (-len(r.preconditions), r.name))
        for rule in rules:
            if rule.name.startswith("make/recipe/"):
                self._make(rule)
            elif rule.name == "drink":
                self._plain(_drinking(rule))
            elif self._overfull and any(p.name == "free" and len(p.args) == 1 for p in rule.preconditions):
                self._take_while_overfull(rule)
            else:
                self._plain(rule)
            if "drinkable" in self._args:
                self._of_a_drunk_thing(rule)

    def _plain(self, rule: Rule) -> None:
        parameters = rule.parameters()
        index = {p.name: i for i, p in enumerate(parameters)}
        operands, outcomes = self._texts_of(rule, index)
        self._add(
            rule, parameters, [self._bound(p) for p in parameters], [index[o] for o in operands], outcomes
        )

    def _texts_of(self, rule: Rule, index: dict[str, int]) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
        name, texts = rule.name, self.texts
        if name == "look":
            return (), [outcome(texts.look_text)]
        if name == "inventory":
            return (), [outcome(texts.inventory_text)]
        if name.startswith("go/"):
            return (), [outcome(texts.go_text)]
        if name == "open/c":
            return ("c",), [outcome(texts.opened_text)]
        if name in EXAMINE:
            return (EXAMINE[name],), self._examine(index[EXAMINE[name]])
        operands, sentence, tail = SENTENCES[name]
        said = texts.say(sentence, tail, _nouns(rule))
        return operands, [outcome(said, counts_as_move=name != "drink")]

    def _examine(self, what: int) -> list[dict[str, Any]]:
        """A food whose printed name has a prefix is not recognised by textworld's tracking: no move is counted."""
        text = self.texts.examine_text
        if not self.texts.cooking:
            return [outcome(text)]
        marked = [
            outcome(text, [(self.predicate(p, 1), (what,))], counts_as_move=False)
            for p in self.texts.prefix_facts()
        ]
        return [*marked, outcome(text)]

    def _bound(self, parameter: Parameter) -> tuple[int, int]:
        if parameter.type in CONSTANT_TYPES:
            return self.types[parameter.type], self.objects[parameter.type]
        return self.types[parameter.type], -1

    def _add(self, rule: Rule, parameters: list[Parameter], bound, operands: list[int], outcomes) -> None:
        index = {p: i for i, p in enumerate(parameters)}
        by_name = {p.name: i for i, p in enumerate(parameters)}

        def atoms(predicates):
            return [
                (self.predicate(p.name, len(p.args)), tuple(index[a] for a in p.args)) for p in predicates
            ]

        self.source.rule(
            rule.name,
            parameters=bound,
            preconditions=atoms(rule.preconditions),
            adds=atoms(rule.adds),
            deletes=atoms(rule.deletes),
            command=[by_name[piece] if is_name else piece for is_name, piece in pieces(rule.command)],
            operands=operands,
            outcomes=outcomes,
        )

    @functools.cached_property
    def _overfull(self) -> int:
        """By how much the player carries more at the start than the slots of the game account for."""
        carried = sum(args[1:] == ("I",) for args in self._args.get("in", []))
        used = len([a for a in self._args.get("used", []) if len(a) == 1])
        return max(0, carried - used) if used else 0

    def _take_while_overfull(self, rule: Rule) -> None:
        """The story counts what is carried, the logic its free slots: that many of them must be left over.

        One rule for each slot that the logic may take, the smallest first.
        """
        slots = sorted({a[0] for name in ("free", "used") for a in self._args.get(name, []) if len(a) == 1})
        parameters = rule.parameters()
        at = next(i for i, p in enumerate(parameters) if p.type == "slot")
        index = {p.name: i for i, p in enumerate(parameters)}
        operands, (success,) = self._texts_of(rule, index)
        too_many = outcome(
            self.texts.say(TOO_MANY, Tail.TAKE if rule.name == "take" else Tail.CARRY_OUT), applies=False
        )
        for slot in slots:
            bound = [self._bound(p) for p in parameters]
            bound[at] = (bound[at][0], self.objects[slot])
            others = [s for s in slots if s != slot]
            extra = {s: len(bound) + i for i, s in enumerate(others)}
            bound += [(self.types["slot"], self.objects[s]) for s in others]
            free = self.predicate("free", 1)
            enough = [
                {**success, "conditions": [(free, (extra[s],)) for s in chosen]}
                for chosen in itertools.combinations(others, self._overfull)
            ]
            self._add(rule, parameters, bound, [index[o] for o in operands], [*enough, too_many])

    def _of_a_drunk_thing(self, rule: Rule) -> None:
        """textworld does not notice that something was drunk and still offers it; the story cannot see it."""
        held = [p for p in rule.preconditions if p.name == "in" and p.args[1].type == "I"]
        if len(held) != 1 or not self.game.logic.is_a("f", held[0].args[0].type):
            return
        gone = tuple(Predicate(DRUNK, p.args) if p in held else p for p in rule.preconditions)
        unseen = [outcome(self.texts.say(UNSEEN, Tail.PARSER), applies=False, turn_passes=False)]
        parameters = rule._replace(preconditions=gone, adds=(), deletes=()).parameters()
        bound = [self._bound(p) for p in parameters]
        self._add(rule._replace(preconditions=gone, adds=(), deletes=()), parameters, bound, [], unseen)

    # -- preparing a meal: Inform checks more than the rule does ------------------------------------------------------
    def _make(self, rule: Rule) -> None:
        foods = {}
        for predicate in rule.preconditions:
            if predicate.name.startswith("ingredient_"):
                found = self._args.get(predicate.name)
                if not found:
                    return  # a recipe of fewer ingredients: this rule can never apply
                foods[predicate.args[0]] = found[0][0]
        parameters = rule.parameters()
        bound = [self._bound(p) for p in parameters]
        for i, parameter in enumerate(parameters):
            if parameter in foods:
                bound[i] = (bound[i][0], self.objects[foods[parameter]])
        outcomes = self._guards(parameters, bound)
        outcomes.append(outcome(self.texts.say("Adding the meal to your inventory.", Tail.CARRY_OUT)))
        self._add(rule, parameters, bound, [], outcomes)

    def _guards(self, parameters: list[Parameter], bound: list[tuple[int, int]]) -> list[dict[str, Any]]:
        inventory = next(i for i, p in enumerate(parameters) if p.type == "I")
        where = {obj: i for i, (_, obj) in enumerate(bound) if obj >= 0}
        out = []

        def guard(text: str, predicate: str, args: tuple[int, ...], negated: bool) -> None:
            key = self.predicate(predicate, len(args))
            out.append(outcome(self.texts.say(text, Tail.REPORT), [(key, args, negated)], applies=False))

        for ingredient, food in self._ingredients():
            obj = self.objects[food]
            if obj not in where:
                where[obj] = len(bound)
                bound.append((self.source.objects[obj]["type"], obj))
            at = where[obj]
            guard(MISSING, "in", (at, inventory), True)
            for text, states in ((UNCOOKED, COOKED), (UNCUT, CUTS)):
                wanted = next((s for s in states if (s, ingredient) in self._facts), None)
                if wanted is not None:
                    guard(text, wanted, (at,), True)
                else:
                    for state in states:
                        guard(text, state, (at,), False)
        return out

    def _ingredients(self) -> list[tuple[str, str]]:
        """(ingredient, food) in the order in which the original adds them to its recipe."""
        base = {ingredient: food for food, ingredient in self._args.get("base", [])}
        return [(e, base[e]) for e in self.game.entities if e in base and ("in", e, "RECIPE") in self._facts]


def _drinking(rule: Rule) -> Rule:
    """What drinking does to the story; the fact in(food, I) that textworld keeps becomes one of its own."""
    held = next(p for p in rule.preconditions if p.name == "in")
    return rule._replace(adds=(Predicate(DRUNK, held.args),), deletes=(held,))


def _nouns(rule: Rule) -> tuple[str | None, bool]:
    between = [piece.strip() for is_name, piece in pieces(rule.command)[1:] if not is_name]
    preposition = between[-1] if between else None
    return preposition, preposition == "from"


def pieces(template: str) -> list[tuple[bool, str]]:
    """ "take {o} from {c}" → literals and placeholder names: [(False, "take "), (True, "o"), ...]."""
    out: list[tuple[bool, str]] = []
    rest = template
    while "{" in rest:
        literal, rest = rest.split("{", 1)
        name, rest = rest.split("}", 1)
        out += [(False, literal)] * bool(literal) + [(True, name)]
    return out + [(False, rest)] * bool(rest)
