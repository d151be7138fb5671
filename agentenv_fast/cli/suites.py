"""SUITE on the command line: a built-in or registered id, `module:id`, a file, a folder or a glob."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

import agentenv_fast as ae
from agentenv_fast.errors import SuiteError, WorldError

HELP = "A built-in id (agentenv-fast envs lists them), module:id, or game files: a path, a folder or a glob."


def is_path(names: str | list[str]) -> bool:
    """True if SUITE names files rather than an id: it exists, holds a separator or a glob, or ends as games do."""
    if isinstance(names, list):
        return all(is_path(name) for name in names)
    text = names
    return (
        os.path.exists(text)
        or text.endswith((".json", ".tw-pddl", ".pddl", ".aegame"))
        or glob.has_magic(text)
        or (os.sep in text and ":" not in text)
    )


def files_of(paths: list[str] | str) -> list[str]:
    """The game files behind paths, folders and globs, in the order given, sorted within a folder or glob.

    Raises: WorldError if one of them leads to no file.
    """
    found: list[str] = []
    for text in [paths] if isinstance(paths, str) else paths:
        if os.path.isdir(text):
            here = sorted(str(path) for path in Path(text).iterdir() if path.suffix in (".json", ".pddl"))
            here = here or sorted(str(path) for path in Path(text).rglob("*.tw-pddl"))  # ALFWorld nests them
            problem = (
                f"{text}: no .json file in this folder, nor a .pddl file, and no .tw-pddl file below it; tw-make "
                "writes games as .json"
            )
        elif glob.has_magic(text):
            here = sorted(glob.glob(text, recursive=True))
            problem = f"{text}: the pattern matches no file"
        else:
            here = [text] if os.path.exists(text) else []
            problem = f"{text}: no such file; want a game file, a folder of them or a glob"
        if not here:
            raise WorldError(problem)
        found += here
    return found


def games_of(paths: list[str]) -> list[list[str]]:
    """The games behind paths, folders and globs, each as ae.load takes it: a file, or a PDDL problem behind its domain.

    Raises: WorldError if one of them leads to no file, or a domain to no problem.
    """
    from agentenv_fast.worlds.pddl.files import pair

    files = files_of(paths)
    described = [Path(file) for file in files if file.endswith(".pddl")]
    games = {game.problem: game for game in pair(described)} if described else {}
    out = []
    for file in files:
        if Path(file) in games:
            out.append([str(games[Path(file)].domain), file])
        elif not file.endswith(".pddl"):
            out.append([file])
    return out


def label(names: list[str]) -> str:
    """SUITE for a person: the id, or the name of the first file without its folder, and how many more there are."""
    first = os.path.basename(names[0].rstrip(os.sep)) if is_path(names[0]) else names[0]
    return first if len(names) == 1 else f"{first} and {len(names) - 1} more"


def open_suite(names: list[str], *, split: str | None = None, size: int | None = None, **params: Any) -> Any:
    """The suite that SUITE names.

    Args:
      names: one id, or files, folders and globs (a shell expands globs itself).
      split: "train", "valid", "test"; None for every game of files, the train split of an id.
      size: games of a generated suite; the first `size` games of files.
      params: seed, level and the parameters of a family; None ones are left out. Files take none but seed.
    Raises: SuiteError, WorldError.
    """
    params = {key: value for key, value in params.items() if value is not None}
    if not is_path(names):
        if len(names) > 1:
            raise SuiteError(f"{' '.join(names)}: want one id, or files only")
        sized = {} if size is None else {"size": size}
        return ae.suite(names[0], split=split or "train", **sized, **params)
    params.pop("seed", None)
    if params:
        raise SuiteError(
            f"{label(names)}: {', '.join(params)} can be set for built-in suites only, not for files"
        )
    suite = ae.load(files_of(names))
    if split:
        suite = suite.split(split)
    return suite if size is None or size >= len(suite) else suite[:size]
