"""The text programs of a game: what the original story file prints, in its three text modes.

How many newlines end a text is a property of the verb, of the mode and of what follows (a score line, the end). The
kinds of tail below were measured against the story files; docs/worlds_textworld.md has the table.
"""

from __future__ import annotations

import enum

from agentenv_fast.worlds.source import (
    PLAYER_HERE,
    Article,
    CompareOp,
    Label,
    ObjectText,
    Pseudo,
    Section,
    SourceBuilder,
    TextBuilder,
    operand,
)
from agentenv_fast.worlds.textworld import inform
from agentenv_fast.worlds.textworld.clarity import Clarity, announce
from agentenv_fast.worlds.textworld.game import Entity, GameFile

PORTABLE, FIXED = 1, 2  # object classes: what lists show, and what they do not
CUTS = ("sliced", "diced", "chopped")
COOKED = ("grilled", "roasted", "fried")
PROMPT_BLANKS, QUESTION_BLANKS = 128, 129

BANNER = "\n".join(
    (
        r"                    ________  ________  __    __  ________        ",
        r"                   |        \|        \|  \  |  \|        \       ",
        r"                    \$$$$$$$$| $$$$$$$$| $$  | $$ \$$$$$$$$       ",
        r"                      | $$   | $$__     \$$\/  $$   | $$          ",
        r"                      | $$   | $$  \     >$$  $$    | $$          ",
        r"                      | $$   | $$$$$    /  $$$$\    | $$          ",
        r"                      | $$   | $$_____ |  $$ \$$\   | $$          ",
        r"                      | $$   | $$     \| $$  | $$   | $$          ",
        r"                       \$$    \$$$$$$$$ \$$   \$$    \$$          ",
        r"              __       __   ______   _______   __        _______  ",
        r"             |  \  _  |  \ /      \ |       \ |  \      |       \ ",
        r"             | $$ / \ | $$|  $$$$$$\| $$$$$$$\| $$      | $$$$$$$\ ".rstrip(" "),
        r"             | $$/  $\| $$| $$  | $$| $$__| $$| $$      | $$  | $$",
        r"             | $$  $$$\ $$| $$  | $$| $$    $$| $$      | $$  | $$",
        r"             | $$ $$\$$\$$| $$  | $$| $$$$$$$\| $$      | $$  | $$",
        r"             | $$$$  \$$$$| $$__/ $$| $$  | $$| $$_____ | $$__/ $$",
        r"             | $$$    \$$$ \$$    $$| $$  | $$| $$     \| $$    $$",
        r"              \$$      \$$  \$$$$$$  \$$   \$$ \$$$$$$$$ \$$$$$$$ ",
    )
)
QUESTION = "\n\n\nWould you like to RESTART, RESTORE a saved game, QUIT or UNDO the last command?"


Nouns = tuple[str | None, bool] | None
ONE_NOUN: Nouns = (None, False)


class Tail(enum.Enum):
    """Newlines after a text: (tracked, raw, extra) before prompt or score line, and before the end without one."""

    REPORT = ((3, 2, 3), (3, 3, 3))  # said by a report rule: drop, put, open, eat, ...
    CARRY_OUT = ((4, 2, 3), (4, 3, 3))  # said while the action is carried out: look, examine, cook, ...
    TAKE = ((4, 3, 4), (4, 4, 4))  # from the floor
    PARSER = ((2, 2, 2), (2, 2, 2))  # said by the parser: no turn passes


class Texts:
    """Programs that objects, rules and refusals share."""

    def __init__(self, source: SourceBuilder, game: GameFile, objects: dict[str, int], fact) -> None:
        self.source = source
        # Jericho cuts the first line break, the prompt and the status line if a file's name begins with "tw-".
        self.prompted = not source.name.startswith("tw-")
        self.game = game
        self.objects = objects
        self.fact = fact
        self.scope = inform.Scope(objects, fact)
        self.clarity = Clarity(game, objects, fact)
        self._tails: dict[Tail, int] = {}
        self._said: dict[tuple[str, Tail, Nouns], int] = {}
        self._prefix: dict[str, int] = {}
        self.cooking = ("needs_cooking", 1) in game.logic.names

    def share(self) -> None:
        """Programs that many rules use."""
        self.look_text = self.look("\n")
        self.go_text = self.look("\n\n")
        self.inventory_text = self.inventory()
        self.opened_text = self.opened()
        self.examine_text = self.examine()

    # -- objects ------------------------------------------------------------------------------------------------------
    def describe(self, entity: Entity) -> dict[str, object]:
        """The text fields of an object."""
        logic = self.game.logic
        if entity.type == "r":
            return self._room(entity)
        portable = logic.is_a(entity.type, "o")
        fields: dict[str, object] = {"object_class": PORTABLE if portable else FIXED}
        if not entity.name:
            return fields
        fields |= self._names(entity)
        if self.is_food(entity):
            fields["listed"] = self._listed_food(entity, str(fields["indefinite"]))
        fields["description"] = self._description(entity)
        return fields | self.clarity.fields(entity, self.source, str(fields["the"]))

    def is_food(self, entity: Entity) -> bool:
        return self.cooking and self.game.logic.is_a(entity.type, "f")

    def _names(self, entity: Entity) -> dict[str, object]:
        shown = inform.quotes(entity.name)
        if entity.type == "d":  # a door has a proper name for Inform: no article
            return {"name": entity.name, "the": shown, "indefinite": shown}
        return {
            "name": entity.name,
            "the": f"{entity.definite or 'the'} {shown}",
            "indefinite": f"{entity.indefinite} {shown}"
            if entity.indefinite
            else inform.article(shown) + shown,
        }

    def _room(self, entity: Entity) -> dict[str, object]:
        title = self.title(entity)
        name = self.source.text().lit(title).index
        look = self.source.text().lit(title).lit("\n")
        where = f"infos ({entity.id}).desc"
        for part in _room_parts(entity.desc):
            inform.compile_text(look, inform.line_breaks(inform.quotes(part)), self.scope, where)
        floor = Label()
        room = self.objects[entity.id]
        look.unless_any(room, PORTABLE, floor).lit("\n\nThere is ").list(room, PORTABLE).lit(
            " on the floor."
        ).place(floor)
        return {"name": entity.name, "look": look.index, "title": name, "object_class": FIXED}

    @staticmethod
    def title(entity: Entity) -> str:
        return inform.quotes(f"-= {entity.name.title()} =-")

    def _description(self, entity: Entity) -> int:
        out, logic, me = self.source.text(), self.game.logic, self.objects[entity.id]
        shown = inform.quotes(entity.name)

        def print_noun(to: TextBuilder) -> None:
            if self.is_food(entity):
                to.call(self.prefix(entity))
            to.lit(shown)

        if entity.desc:
            inform.compile_text(
                out,
                inform.quotes(entity.desc),
                self.scope,
                f"infos ({entity.id}).desc",
                noun=me,
                print_noun=print_noun,
            )
        else:
            out.lit("You see nothing special about ")
            the = entity.definite or "the"
            out.lit(f"{the} ") if entity.type != "d" else None
            print_noun(out)
            out.lit(".")
        if logic.is_a(entity.type, "s"):
            self._contents(out, me, f"\n\nOn the {shown} ")
        elif logic.is_a(entity.type, "c"):
            closed = Label()
            out.unless_fact(self.fact("open", me), closed)
            self._contents(out, me, f"\n\nIn the {shown} ")
            out.place(closed)
        return out.index

    def _contents(self, out: TextBuilder, container: int, start: str) -> None:
        empty, one, listed = Label(), Label(), Label()
        out.unless_any(container, PORTABLE, empty).unless_any(container, PORTABLE, one, beside=1)
        out.lit(start + "are ").jump(listed).place(one).lit(start + "is ").place(listed)
        out.list(container, PORTABLE).lit(".").place(empty)

    # -- food: how it is cut and cooked is part of its name while it is looked at or listed ---------------------------
    def prefix(self, entity: Entity) -> int:
        """The program of "diced fried " and the like."""
        if entity.id not in self._prefix:
            me = self.objects[entity.id]
            out = self.source.text()
            self._first_of(out, [(self.fact(cut, me), f"{cut} ") for cut in CUTS])
            self._first_of(out, self._cooking_words(me))
            self._prefix[entity.id] = out.index
        return self._prefix[entity.id]

    def prefix_facts(self) -> list[str]:
        """Predicates one of which holds if the printed name of a food has a prefix."""
        return [*CUTS, "needs_cooking", "burned", *COOKED]

    def _cooking_words(self, me: int) -> list[tuple[tuple, str]]:
        words = [(self.fact("needs_cooking", me), "raw "), (self.fact("burned", me), "burned ")]
        return words + [(self.fact(cooked, me), f"{cooked} ") for cooked in COOKED]

    def _first_of(
        self, out: TextBuilder, choices: list[tuple[tuple, str]], before: str = "", done: Label | None = None
    ) -> None:
        """Prints the word of the first fact that holds; with `done`, jumps there after it."""
        end = Label() if done is None else done
        for atom, word in choices:
            no = Label()
            out.unless_fact(atom, no).lit(before + word).jump(end).place(no)
        if done is None:
            out.place(end)

    def _listed_food(self, entity: Entity, indefinite: str) -> int:
        me, shown = self.objects[entity.id], inform.quotes(entity.name)
        before = f"{entity.indefinite} " if entity.indefinite else "a "
        out = self.source.text()
        cut, name, end = Label(), Label(), Label()
        self._first_of(out, [(self.fact(word, me), f"{word} ") for word in CUTS], before, cut)
        self._first_of(out, self._cooking_words(me), before, name)
        out.lit(indefinite).jump(end).place(cut)
        self._first_of(out, self._cooking_words(me))
        out.place(name).lit(shown).place(end)
        return out.index

    # -- sentences ----------------------------------------------------------------------------------------------------
    def say(self, text: str, tail: Tail, nouns: Nouns = None) -> int:
        """A sentence with its tail. {0} ... {3} are operands with "the", {0:a} with "a", {0:n} bare.

        `nouns`: those of the command, for what the parser announces: the preposition between two (None: one noun),
        and whether the first is looked for inside the second.
        """
        if (text, tail, nouns) not in self._said:
            out = self._begin(nouns)
            for literal, k, article in _template(text):
                out.lit(literal)
                if k is not None:
                    out.name(operand(k), article)
            self._said[text, tail, nouns] = out.call(self.tail(tail)).index
        return self._said[text, tail, nouns]

    def _begin(self, nouns: Nouns) -> TextBuilder:
        out = self.source.text().section(Section.BODY).lit(self._lead("\n"))
        if nouns is not None and self.clarity.rivals:
            announce(out, nouns[0], inside=nouns[1])
        return out

    def look(self, lead: str) -> int:
        """The room, as `look` and `go` print it."""
        out = self.source.text().section(Section.BODY).lit(self._lead(lead)).call_place(ObjectText.LOOK)
        bare, end = Label(), Label()
        out.unless_any(PLAYER_HERE, PORTABLE, bare).call(self.tail(Tail.REPORT)).jump(end)
        return out.place(bare).call(self.tail(Tail.CARRY_OUT)).place(end).index

    def examine(self) -> int:
        out = self._begin(ONE_NOUN).call_object(operand(0), ObjectText.DESCRIPTION)
        return out.call(self.tail(Tail.CARRY_OUT)).index

    def inventory(self) -> int:
        out, me, empty, end = self.source.text(), self.objects["I"], Label(), Label()
        out.lit("You are carrying").unless_any(me, PORTABLE, empty).lit(": ").list(me, PORTABLE).jump(end)
        out.place(empty).lit(" nothing").place(end).lit(".")
        self.inventory_alone = out.index
        said = self.source.text().section(Section.BODY).lit(self._lead("\n")).call(self.inventory_alone)
        return said.call(self.tail(Tail.CARRY_OUT)).index

    def opened(self) -> int:
        out = self._begin(ONE_NOUN).lit("You open ").name(operand(0), Article.THE)
        empty = Label()
        out.unless_any(operand(0), PORTABLE, empty).lit(", revealing ").list(operand(0), PORTABLE).place(
            empty
        ).lit(".")
        return out.call(self.tail(Tail.REPORT)).index

    # -- score, end, prompt -------------------------------------------------------------------------------------------
    def tail(self, kind: Tail) -> int:
        """The program of everything after a text."""
        if kind not in self._tails:
            self._tails[kind] = self._tail(kind)
        return self._tails[kind]

    def _tail(self, kind: Tail) -> int:
        before, at_end = kind.value
        out = self.source.text()
        quiet, over, told, end = Label(), Label(), Label(), Label()
        out.unless(Pseudo.LOST, CompareOp.CLEAR, 0, over)
        out.unless(Pseudo.SCORE_CHANGE, CompareOp.NOT_EQUAL, 0, quiet)
        _newlines(out, before).section(Section.SCORE)
        self._score_line(out)
        out.unless(Pseudo.WON, CompareOp.SET, 0, told)
        out.lit("\n\n\n").call(self._end()).jump(end)
        out.place(told).lit(self._before_prompt("\n\n")).call(self._prompt()).jump(end)
        out.place(quiet).unless(Pseudo.WON, CompareOp.CLEAR, 0, over)
        _newlines(out, before, self.prompted).call(self._prompt()).jump(end)
        out.place(over)
        _newlines(out, at_end).call(self._end())
        return out.place(end).index

    def _score_line(self, out: TextBuilder) -> None:
        down, number, many, end = Label(), Label(), Label(), Label()
        out.unless(Pseudo.SCORE_CHANGE, CompareOp.GREATER_EQUAL, 0, down).lit(
            "Your score has just gone up by "
        ).jump(number)
        out.place(down).lit("Your score changed by ").place(number).number_words(Pseudo.SCORE_CHANGE)
        out.unless(Pseudo.SCORE_CHANGE_ABS, CompareOp.EQUAL, 1, many).lit(" point.").jump(end)
        out.place(many).lit(" points.").place(end)

    def _lead(self, text: str) -> str:
        """Of a text that begins with a line break: all of it, or without that where there is no prompt."""
        return text if self.prompted else text[1:]

    def _before_prompt(self, newlines: str) -> str:
        return newlines if self.prompted else newlines[1:]

    def _shared(self, name: str, write) -> int:
        if name not in self._prefix:
            out = self.source.text()
            self._prefix[name] = out.index
            write(out)
        return self._prefix[name]

    def _prompt(self) -> int:
        def write(out: TextBuilder) -> None:
            if not self.prompted:
                return
            out.section(Section.STATUS).lit(">" + " " * PROMPT_BLANKS).call_place(ObjectText.TITLE)
            out.number(Pseudo.SCORE).lit("/").number(Pseudo.NEXT_TURN)

        return self._shared("[prompt]", write)

    def _end(self) -> int:
        def write(out: TextBuilder) -> None:
            lost, said = Label(), Label()
            out.section(Section.END)
            out.unless(Pseudo.WON, CompareOp.SET, 0, lost).lit(
                " " * 55 + "*** The End ***\n\nYou scored "
            ).jump(said)
            out.place(lost).lit(" " * 54 + "*** You lost! ***\n\nYou scored ").place(said)
            self._total(out)
            out.lit(QUESTION)
            if not self.prompted:
                return
            out.lit("\n").section(Section.STATUS).lit(">" + " " * QUESTION_BLANKS)
            # Score and turn are not refreshed at the end, the room is.
            out.call_place(ObjectText.TITLE)
            out.number(Pseudo.SCORE_BEFORE).lit("/").number(Pseudo.TURNS)

        return self._shared("[end]", write)

    def _total(self, out: TextBuilder) -> None:
        unbounded = self.game.max_score == float("inf")
        if unbounded:
            out.lit("a total of ").number(Pseudo.SCORE_TOLD)
            many, said = Label(), Label()
            out.unless(Pseudo.SCORE_TOLD, CompareOp.EQUAL, 1, many).lit(" point, in ").jump(said)
            out.place(many).lit(" points, in ").place(said)
        else:
            out.number(Pseudo.SCORE_TOLD).lit(f" out of a possible {int(self.game.max_score)}, in ")
        # A won game counts the turn that won it, a lost one does not.
        won, many, end = Label(), Label(), Label()
        out.unless(Pseudo.WON, CompareOp.CLEAR, 0, won).number(Pseudo.TURNS)
        out.unless(Pseudo.TURNS, CompareOp.NOT_EQUAL, 1, many).lit(" turns.").jump(end)
        out.place(won).number(Pseudo.NEXT_TURN)
        out.unless(Pseudo.NEXT_TURN, CompareOp.NOT_EQUAL, 1, many).lit(" turns.").jump(end)
        out.place(many).lit(" turn.").place(end)

    # -- the game's own -----------------------------------------------------------------------------------------------
    def start(self) -> int:
        out = (
            self.source.text()
            .section(Section.BANNER)
            .lit(self._lead("\n\n\n\n" + BANNER + "\n\n"))
            .section(Section.OBJECTIVE)
        )
        objective = "".join(inform.quotes(chunk) for chunk in inform.chunks(self.game.objective))
        out.lit(objective + "\n\n")
        out.section(Section.BODY).call_place(ObjectText.LOOK).lit(self._before_prompt("\n\n"))
        return out.call(self._prompt()).index

    def frame(self) -> int:
        return self.source.text().section(Section.BODY).call_event().index


def _newlines(out: TextBuilder, counts: tuple[int, int, int], prompted: bool = True) -> TextBuilder:
    tracked, raw, extra = counts if prompted else (n - 1 for n in counts)
    return inform.by_mode(out, "\n" * tracked, "\n" * raw, "\n" * extra)


def _room_parts(desc: str) -> list[str]:
    """The texts that the original's source makes of a room's description, each read by Inform by itself."""
    parts = desc.split("[end if]")
    return [part + "[end if]" for part in parts[:-1]] + parts[-1:]


def _template(text: str) -> list[tuple[str, int | None, Article]]:
    articles = {"": Article.THE, "a": Article.INDEFINITE, "n": Article.NONE, "T": Article.CAPITAL_THE}
    out: list[tuple[str, int | None, Article]] = []
    rest = text
    while "{" in rest:
        literal, rest = rest.split("{", 1)
        slot, rest = rest.split("}", 1)
        k, _, article = slot.partition(":")
        out.append((literal, int(k), articles[article]))
    out.append((rest, None, Article.NONE))
    return out
