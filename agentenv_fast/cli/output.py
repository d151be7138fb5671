"""What a verb prints: a table on a terminal, one JSON value when piped, and the next command on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


def console(stderr: bool = False) -> Console:
    """A console that honours NO_COLOR and the width of the terminal. Made anew, so that tests can redirect."""
    return Console(
        stderr=stderr, highlight=False, soft_wrap=not (sys.stderr if stderr else sys.stdout).isatty()
    )


def wants_json(flag: bool) -> bool:
    return flag or not sys.stdout.isatty()


def show(rows: Sequence[Mapping[str, Any]], *, title: str = "", as_json: bool = False) -> None:
    """A list of records: a table whose columns are the keys of the first one, or a JSON list."""
    if wants_json(as_json):
        print(to_json(list(rows)))
        return
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for key, value in rows[0].items() if rows else ():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        table.add_column(Text(key.replace("_", " ")), justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(readable(value)) for value in row.values()))
    console().print(table)


def show_record(record: Mapping[str, Any], *, title: str = "", as_json: bool = False) -> None:
    """One record: a two-column table, or a JSON object."""
    if wants_json(as_json):
        print(to_json(record))
        return
    table = Table(title=title or None, title_justify="left", box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for key, value in record.items():
        table.add_row(Text(key.replace("_", " ")), Text(readable(value)))
    console().print(table)


def note(text: str) -> None:
    """A line for the person at the terminal; never on stdout, which may be a pipe."""
    console(stderr=True).print(Text(text))


def closing(next_command: str, *, artefacts: str | None = None) -> None:
    """How every verb ends: where its artefacts are and the command to try next."""
    if artefacts:
        note(f"written: {artefacts}")
    note(f"next: {next_command}")


def readable(value: Any) -> str:
    """A value for a table cell: thousands separated, floats to three significant digits, None as a dash."""
    if value is None:
        return "–"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}"
    if isinstance(value, (float, np.floating)):
        return f"{float(value):,.0f}" if abs(value) >= 1000 else f"{float(value):.3g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {readable(inner)}" for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(readable(inner) for inner in value)
    return str(value)


def to_json(value: Any) -> str:
    """One line of strict JSON: NumPy scalars as numbers, NaN and infinities as null."""
    return json.dumps(_plain(value), allow_nan=False, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        return _plain(value.item())
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
