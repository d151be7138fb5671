"""What ALFWorld calls an object: "cabinet 3" for cabinet_bar__minus_01_dot_20_bar_..."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def shown_names(ids: Iterable[str]) -> dict[str, str]:
    """id → name, for all ids that occur in a fact of the problem, as alfworld's demangler numbers them.

    The first part of an id is its class ("basin" is added if it occurs anywhere in the id); in the order of the ids the
    numbers of a class count down to 1. An id of one part keeps its text and gets a blank behind it.
    """
    ordered = sorted(ids)
    classes = {}
    for id in ordered:
        if "_bar_" in id:
            classes[id] = id.split("_bar_", 1)[0] + ("basin" if "basin" in id else "")
    left = Counter(classes.values())
    out = {}
    for id in ordered:
        name = classes.get(id)
        if name is None:
            out[id] = _plain(id) + " "
        else:
            out[id] = f"{_plain(name)} {left[name]}"
            left[name] -= 1
    return out


def _plain(text: str) -> str:
    for mangled, plain in (("_minus_", "-"), ("_plus_", "+"), ("_dot_", "."), ("_comma_", ",")):
        text = text.replace(mangled, plain)
    return text
