"""Which suites can be made by id: built in, of installed packages, and registered by a program."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agentenv_fast.errors import ConfigError, SuiteError

ENTRY_POINTS = "agentenv_fast.suites"
STANDARD = {"split": "train", "size": 512, "seed": 0, "level": "medium"}  # what every factory is offered
_ID = re.compile(r"[A-Za-z0-9_.-]+-v\d+")


@dataclass(frozen=True)
class Entry:
    """One id that can be made."""

    id: str
    factory: Callable[..., Any] | str  # or "module:attribute", imported when it is first called
    card: dict[str, Any] = field(default_factory=dict)
    origin: str = "registered"  # "built in", "registered", or the package whose entry point it is


LEVELS = ["easy", "medium", "hard", "long"]
_BUILT_IN = {
    entry.id: entry
    for entry in (
        Entry(
            "keyquest-v0",
            "agentenv_fast.worlds.tasks:keyquest",
            {"summary": "Rooms, doors, keys, containers: find, carry and place things", "levels": LEVELS},
            "built in",
        ),
        Entry(
            "coinhunt-v0",
            "agentenv_fast.worlds.tasks:coinhunt",
            {"summary": "Corridors with dead ends and a coin out of sight: needs memory", "levels": LEVELS},
            "built in",
        ),
    )
}
_registered: dict[str, Entry] = {}
_listeners: list[Callable[[str], None]] = []


def register(id: str, factory: Callable[..., Any] | str, *, card: dict[str, Any]) -> None:
    """Makes `id` known to ae.suite, ae.make and the command line, in this process.

    A package does the same for everybody who installs it with an entry point in the group `agentenv_fast.suites`
    whose name is the id and whose object is the factory (its attribute `card` is the card).

    Args:
      id: a name that ends in a version, "house-v0"; the version rises when any trajectory changes.
      factory: (split, size, seed, level, **params) → Suite; what its signature lacks is not passed. Or a string
        "module:function".
      card: what a person should know: {"summary": str, "levels": [...], ...}; plain data.
    Raises: SuiteError for a malformed id, an id that is taken, or a factory that cannot be called.
    """
    if not isinstance(id, str) or not _ID.fullmatch(id):
        raise SuiteError(f"register: id {id!r}, want a name that ends in a version, such as 'house-v0'")
    if not callable(factory) and not (isinstance(factory, str) and ":" in factory):
        raise SuiteError(f"register: factory of {id!r} is {factory!r}, want a function that returns a Suite")
    if not isinstance(card, dict):
        raise SuiteError(
            f"register: card of {id!r} is a {type(card).__name__}, want a dict: {{'summary': '...'}}"
        )
    taken = _BUILT_IN.get(id) or _registered.get(id)
    if taken is not None and not _same(taken.factory, factory):
        raise SuiteError(
            f"register: {id!r} is taken ({taken.origin}); choose another id or raise its version"
        )
    _registered[id] = Entry(id, factory, dict(card))
    for listener in _listeners:
        listener(id)


def on_register(listener: Callable[[str], None]) -> None:
    """Calls listener(id) for every suite registered from now on; an adapter passes them on to its own registry."""
    _listeners.append(listener)


def make_suite(id: str, **arguments: Any) -> Any:
    """The suite that an id or "module:id" names.

    Args:
      arguments: split, size, seed, level and the factory's own parameters.
    Raises: SuiteError for an unknown id or module, ConfigError for a parameter that the factory does not take.
    """
    entry = find(id)
    factory = _resolve(entry)
    made = factory(**_accepted(entry.id, factory, arguments))
    from agentenv_fast.worlds.suite import Suite

    if not isinstance(made, Suite):
        raise SuiteError(
            f"suite {entry.id!r}: its factory returned a {type(made).__name__}, want a Suite (see ae.load)"
        )
    return made


def find(id: str) -> Entry:
    """The entry of an id; "module:id" imports the module first.

    Raises: SuiteError naming what is known.
    """
    module, _, name = id.rpartition(":")
    if module:
        _import(module, id)
    for known in (_registered, _BUILT_IN):
        if name in known:
            return known[name]
    installed = _installed()
    if name in installed:
        return installed[name]
    known_ids = ", ".join(sorted({*_registered, *_BUILT_IN, *installed})) or "none"
    where = (
        f"{module} was imported and does not register it" if module else "a suite of a script is 'module:id'"
    )
    raise SuiteError(f"suite {name!r} is not known ({where}); known: {known_ids}")


def suites() -> list[dict[str, Any]]:
    """Every id that can be made, as plain data: id, summary, levels, origin, and the rest of its card."""
    entries = {**_installed(), **_registered, **_BUILT_IN}
    return [
        {"id": entry.id, "summary": "", "levels": [], **entry.card, "origin": entry.origin}
        for entry in sorted(entries.values(), key=lambda entry: entry.id)
    ]


# -- where entries come from ------------------------------------------------------------------------------------------
def _installed() -> dict[str, Entry]:
    """Entry points; nothing is imported until one of them is made."""
    found = {}
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        package = point.dist.name if point.dist is not None else point.value
        found[point.name] = Entry(point.name, point.value, {"summary": f"of the package {package}"}, package)
    return found


def _resolve(entry: Entry) -> Callable[..., Any]:
    if not isinstance(entry.factory, str):
        return entry.factory
    module, _, name = entry.factory.partition(":")
    found: Any = _import(module, entry.id)
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise SuiteError(
            f"suite {entry.id!r}: {entry.factory} ({entry.origin}) is not a function that returns a Suite"
        )
    return found


def _import(module: str, id: str) -> Any:
    """A module, also of the current folder: a command is not run from where the user's script lies."""
    here = os.getcwd()
    added = here not in sys.path
    if added:
        sys.path.append(here)
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise SuiteError(f"suite {id!r}: module {module!r} cannot be imported: {error}") from error
    finally:
        if added:
            sys.path.remove(here)


def _accepted(id: str, factory: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments that a factory takes. A standard one at its default may be left out; nothing else is dropped."""
    parameters = inspect.signature(factory).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return arguments
    passed = {name: value for name, value in arguments.items() if name in parameters}
    for name in arguments.keys() - passed.keys():
        if name not in STANDARD or arguments[name] != STANDARD[name]:
            takes = ", ".join(parameters) or "nothing"
            raise ConfigError(f"suite {id!r}: {name}={arguments[name]!r} is not known; it takes {takes}")
    return passed


def _same(one: Any, other: Any) -> bool:
    """A module that is imported or run twice registers the same function again."""

    def name(factory: Any) -> Any:
        return getattr(factory, "__module__", None), getattr(factory, "__qualname__", factory)

    return one is other or name(one) == name(other)
