"""How Inform 7 reads and prints the texts of a game: quotation marks, line breaks, [substitutions]."""

from __future__ import annotations

from agentenv_fast.errors import WorldError
from agentenv_fast.worlds.source import CompareOp, Label, Pseudo, TextBuilder

VOWELS = "aeiouAEIOU"


def quotes(text: str) -> str:
    """An apostrophe that is not between two letters becomes a double quotation mark.

    Inform makes one exception: a text, or what follows a substitution, may begin with a lone `'s`.
    """
    if "'" not in text:
        return text
    out = list(text)
    for i, char in enumerate(out):
        if char == "'" and not (_between_letters(text, i) or _possessive_start(text, i)):
            out[i] = '"'
    return "".join(out)


def _between_letters(text: str, i: int) -> bool:
    return 0 < i < len(text) - 1 and text[i - 1].isalpha() and text[i + 1].isalpha()


def _possessive_start(text: str, i: int) -> bool:
    return (
        (i == 0 or text[i - 1] == "]")
        and text[i + 1 : i + 2] == "s"
        and text[i + 2 : i + 3] in ("", " ", "[")
    )


def line_breaks(text: str) -> str:
    """Line breaks inside a quoted text: one is a blank, two and more stay; blanks around them vanish."""
    if "\n" not in text:
        return text
    parts = text.split("\n")
    last = len(parts) - 1
    stripped = [
        p.strip(" \t") if 0 < i < last else (p.rstrip(" \t") if i == 0 else p.lstrip(" \t"))
        for i, p in enumerate(parts)
    ]
    out, breaks = [stripped[0]], 0
    for part in stripped[1:]:
        breaks += 1
        if part:
            out += [" " if breaks == 1 else "\n" * breaks, part]
            breaks = 0
    if breaks:
        out.append(" " if breaks == 1 else "\n" * breaks)
    return "".join(out)


def article(name: str) -> str:
    return "an " if name[:1] in VOWELS else "a "


def chunks(text: str, size: int = 200) -> list[str]:
    """textworld cuts the objective into texts of this size, each of which Inform reads by itself."""
    out = []
    for line in text.split("\n"):
        out += [line[i : i + size] for i in range(0, len(line), size)] or [""]
        out.append("\n")
    return out[:-1]


class Scope:
    """What substitutions may name: objects, their states and contents."""

    def __init__(self, objects: dict[str, int], fact) -> None:
        self.objects = objects
        self.fact = fact  # (predicate name, object) → atom

    def object(self, name: str, where: str) -> int:
        found = self.objects.get(name)
        if found is None:
            raise WorldError(f"{where}: [{name}]: no such entity")
        return found


def compile_text(
    out: TextBuilder, text: str, scope: Scope, where: str, noun: int | None = None, print_noun=None
) -> None:
    """Appends the program of a text with substitutions to `out`.

    Args:
      noun: the object that [noun], [if open], ... mean.
      print_noun: called with `out` to print its name.
    Raises: WorldError for a substitution that is not known.
    """
    branch: tuple[Label, Label] | None = None  # where the next alternative begins, where all end
    at = 0
    while at < len(text):
        start = text.find("[", at)
        if start < 0:
            out.lit(text[at:])
            break
        out.lit(text[at:start])
        end = text.find("]", start)
        if end < 0:
            raise WorldError(f"{where}: a [ that is never closed: {text[start : start + 40]!r}")
        word = text[start + 1 : end].strip()
        at = end + 1
        if word == "noun" and print_noun is not None:
            print_noun(out)
        elif word.startswith(("if ", "If ")):
            if branch is not None:
                raise WorldError(f"{where}: [{word}]: an [if] inside an [if]")
            branch = (Label(), Label())
            _condition(out, word[3:], branch[0], scope, where, noun)
        elif word.startswith("else if ") and branch is not None:
            out.jump(branch[1]).place(branch[0])
            branch = (Label(), branch[1])
            _condition(out, word[8:], branch[0], scope, where, noun)
        elif word in ("otherwise", "else") and branch is not None:
            out.jump(branch[1]).place(branch[0])
            branch = (Label(), branch[1])
        elif word in ("end if", "endif") and branch is not None:
            out.place(branch[0]).place(branch[1])
            branch = None
        else:
            _list(out, word, scope, where)
    if branch is not None:
        out.place(branch[0]).place(branch[1])


LISTS = {  # substitution → (before one thing, before several, names without articles)
    "a list of things": ("", "", False),
    "list of things": ("", "", True),
    "is-are a list of things": ("is ", "are ", False),
}


def _list(out: TextBuilder, word: str, scope: Scope, where: str) -> None:
    what, _, place = word.partition(" in the ") if " in the " in word else word.partition(" on the ")
    if what not in LISTS or not place:
        raise WorldError(f"{where}: [{word}]: this substitution is not known")
    one, many, bare = LISTS[what]
    container, single, empty, listed, end = scope.object(place, where), Label(), Label(), Label(), Label()
    out.unless_any(container, 1, empty)
    if one != many:
        out.unless_any(container, 1, single, beside=1).lit(many).jump(listed).place(single).lit(one)
    out.place(listed).list(container, bare=bare).jump(end).place(empty).lit(one + "nothing").place(end)


def _condition(out: TextBuilder, words: str, no: Label, scope: Scope, where: str, noun: int | None) -> None:
    """Goes on where the condition holds, else jumps to `no`."""
    for part in words.split(" and "):
        _term(out, part.strip(), no, scope, where, noun)


def _term(out: TextBuilder, term: str, no: Label, scope: Scope, where: str, noun: int | None) -> None:
    for start, wanted in (("there is something ", True), ("there is nothing ", False)):
        if term.startswith(start):
            return _holds(out, scope.object(_after_place(term[len(start) :], where), where), wanted, no)
    if term.endswith(" contains nothing"):
        return _holds(out, scope.object(term[:-17].removeprefix("the "), where), False, no)
    subject, state = term.rsplit(" is ", 1) if " is " in term else (None, term)
    obj = scope.object(subject, where) if subject is not None else noun
    if obj is None or state not in ("open", "closed", "locked"):
        raise WorldError(f"{where}: [if {term}]: this condition is not known")
    if state == "closed":  # Inform: whatever is not open, locked or not
        predicate, args = scope.fact("open", obj)
        out.unless_fact((predicate, args, True), no)
    else:
        out.unless_fact(scope.fact(state, obj), no)
    return None


def _after_place(words: str, where: str) -> str:
    for start in ("in the ", "on the "):
        if words.startswith(start):
            return words[len(start) :]
    raise WorldError(f"{where}: [if there is something {words}]: this condition is not known")


def _holds(out: TextBuilder, container: int, wanted: bool, no: Label) -> None:
    if wanted:
        out.unless_any(container, 1, no)
        return
    empty = Label()
    out.unless_any(container, 1, empty).jump(no).place(empty)


def by_mode(out: TextBuilder, tracked: str, raw: str, extra: str) -> TextBuilder:
    """Prints one of three literals, by the text mode."""
    if tracked == raw == extra:
        return out.lit(tracked)
    other, end, last = Label(), Label(), Label()
    out.unless(Pseudo.TEXT_MODE, CompareOp.EQUAL, 0, other).lit(tracked).jump(end).place(other)
    if raw == extra:
        return out.lit(raw).place(end)
    out.unless(Pseudo.TEXT_MODE, CompareOp.EQUAL, 1, last).lit(raw).jump(end).place(last)
    return out.lit(extra).place(end)
