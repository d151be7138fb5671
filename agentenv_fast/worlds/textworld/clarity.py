"""Where a name is part of another: Inform's parser says which thing it takes ("(the key)"), and so do our texts.

Every object answers to each word of its name. If all words of a command's noun also belong to another thing in
sight, the parser picks the one whose whole name was given and announces it: "(the key)", or, if the first of two
nouns needed a choice, "(the key into the box)".
"""

from __future__ import annotations

from collections import defaultdict

from agentenv_fast.worlds.source import PLAYER_HERE, Article, Label, ObjectText, TextBuilder, operand
from agentenv_fast.worlds.textworld.game import Entity, GameFile

SILENT_WORDS = frozenset(
    {"the", "of"}
)  # of names with several words these do not name the thing by themselves

IN_SIGHT = (
    ObjectText.LOOK
)  # "(the key" if something else in sight answers to the name; things use these slots for it
IN_OPERAND_1 = ObjectText.TITLE  # the same among the children of operand 1


class Clarity:
    """Programs of the things whose name is part of another's."""

    def __init__(self, game: GameFile, objects: dict[str, int], fact) -> None:
        self.game, self.objects, self.fact = game, objects, fact
        self.rivals = _rivals(game)
        self._holders = _holders(game)
        self._doorways: dict[str, list[str]] = defaultdict(list)
        for fact in game.facts:
            if fact.name == "link":
                self._doorways[fact.args[1]].append(fact.args[0])

    def fields(self, entity: Entity, source, shown_the: str) -> dict[str, int]:
        """The text fields `look` and `title` of a thing with rivals."""
        rivals = self.rivals.get(entity.id)
        if not rivals:
            return {}
        fields = {"look": self._in_sight(source.text(), rivals, shown_the)}
        portable = [r for r in rivals if self.game.logic.is_a(self.game.entities[r].type, "o")]
        if portable and self.game.logic.is_a(entity.type, "o"):
            fields["title"] = self._in_operand(source.text(), portable, shown_the)
        return fields

    def _in_operand(self, out: TextBuilder, rivals: list[str], shown_the: str) -> int:
        found = Label()
        for rival in rivals:
            no = Label()
            out.unless_holds(operand(1), self.objects[rival], no).jump(found).place(no)
        end = Label()
        return out.jump(end).place(found).lit(f"({shown_the}").place(end).index

    def _in_sight(self, out: TextBuilder, rivals: list[str], shown_the: str) -> int:
        found, end = Label(), Label()
        for rival in rivals:
            if self.game.logic.is_a(self.game.entities[rival].type, "o"):
                self._portable(out, rival, found)
            elif rival in self._doorways:
                for room in self._doorways[rival]:
                    here = self.fact("at", self.objects["P"], self.objects[room])
                    self._jump_if(out, found, lambda no, h=here: out.unless_fact(h, no))
            else:
                self._jump_if(
                    out, found, lambda no, r=rival: out.unless_holds(PLAYER_HERE, self.objects[r], no)
                )
        return out.jump(end).place(found).lit(f"({shown_the}").place(end).index

    def _portable(self, out: TextBuilder, rival: str, found: Label) -> None:
        """Carried, on the floor, on a supporter or in an open container of this room."""
        thing = self.objects[rival]
        for container in (PLAYER_HERE, self.objects["I"]):
            self._jump_if(out, found, lambda no, c=container: out.unless_holds(c, thing, no))
        for holder, predicate, is_container in self._holders:
            me, no = self.objects[holder], Label()
            out.unless_fact(self.fact(predicate, thing, me), no).unless_holds(PLAYER_HERE, me, no)
            if is_container:
                out.unless_fact(self.fact("open", me), no)
            out.jump(found).place(no)

    @staticmethod
    def _jump_if(out: TextBuilder, found: Label, test) -> None:
        no = Label()
        test(no)
        out.jump(found).place(no)


def announce(out: TextBuilder, prepositions: str | None, *, inside: bool = False) -> None:
    """Prints "(the key)\\n" if the parser had to choose.

    Args:
      prepositions: between the nouns of a command with two; None: it has one.
      inside: the first noun is looked for in the second ("take key from box").
    """
    first = IN_OPERAND_1 if inside else IN_SIGHT
    one, end = Label(), Label()
    if prepositions is None:
        out.unless_prints(operand(0), first, end).lit(")\n").place(end)
        return
    out.unless_prints(operand(0), first, one).lit(f" {prepositions} ").name(operand(1), Article.THE).lit(
        ")\n"
    ).jump(end)
    out.place(one).unless_prints(operand(1), IN_SIGHT, end).lit(")\n").place(end)


def words_of(entity: Entity) -> frozenset[str]:
    """Every word that Inform takes for the thing."""
    words = entity.name.lower().split()
    known = set(words) if len(words) == 1 else {w for w in words if w not in SILENT_WORDS}
    for synonym in entity.synonyms:
        known |= set(synonym.lower().split())
    return frozenset(known)


def _rivals(game: GameFile) -> dict[str, list[str]]:
    things = [e for e in game.entities.values() if e.name and e.type != "r"]
    by_word: dict[str, set[str]] = defaultdict(set)
    for thing in things:
        for word in words_of(thing):
            by_word[word].add(thing.id)
    out = {}
    for thing in things:
        sets = [by_word[w] for w in thing.name.lower().split() if w not in SILENT_WORDS]
        shared = set.intersection(*sets) - {thing.id} if sets else set()
        if shared:
            out[thing.id] = sorted(shared)
    return out


def _holders(game: GameFile) -> list[tuple[str, str, bool]]:
    logic, out = game.logic, []
    for entity in game.entities.values():
        if logic.is_a(entity.type, "s"):
            out.append((entity.id, "on", False))
        elif logic.is_a(entity.type, "c"):
            out.append((entity.id, "in", True))
    return out
