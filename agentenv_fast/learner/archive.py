"""Pytrees of arrays on disk: written whole or not at all, read back checked. No pickle.

A folder holds `arrays.npz` (leaves by path), `meta.json` (format, checksums, what the writer adds) and the writer's
own files.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import jax
import numpy as np

from agentenv_fast.errors import CheckpointError

FORMAT = 1


class Ragged:
    """A leaf of `like` of which only the dtype is known."""

    def __init__(self, dtype):
        self.dtype = np.dtype(dtype)


def save(folder: Path, tree: Any, meta: dict, extra: Callable[[Path], None] = lambda folder: None) -> None:
    """Writes a folder that appears under its name only when it is complete and on the disk.

    Args:
      tree: pytree of arrays.
      meta: JSON-able; comes back from `load_meta`.
      extra: writes further files into the folder given to it.
    """
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    np.savez(unfinished / "arrays.npz", allow_pickle=False, **_leaves(tree))
    extra(unfinished)
    digests = {path.name: _digest(path) for path in sorted(unfinished.iterdir())}
    text = json.dumps({"format": FORMAT, "sha256": digests, **meta}, indent=1)
    (unfinished / "meta.json").write_text(text)
    for path in [*unfinished.iterdir(), unfinished]:
        _sync(path)
    replaced = folder.with_name(f".{folder.name}.{os.getpid()}.replaced.tmp")
    shutil.rmtree(replaced, ignore_errors=True)
    if folder.exists():  # moved first: a kill must never leave half of it under its name
        os.replace(folder, replaced)
    os.replace(unfinished, folder)
    _sync(folder.parent)
    shutil.rmtree(replaced, ignore_errors=True)


def load_meta(folder: Path) -> dict:
    """The `meta` of `save`, after every file's checksum was compared. Raises: CheckpointError."""
    try:
        meta = json.loads((folder / "meta.json").read_text())
    except (OSError, ValueError) as error:
        raise CheckpointError(
            f"{folder}: no readable meta.json ({error}): not a checkpoint, or a damaged one"
        ) from error
    if meta.get("format") != FORMAT:
        raise CheckpointError(f"{folder}: format {meta.get('format')}, this version reads {FORMAT}")
    for name, digest in meta["sha256"].items():
        if not (folder / name).is_file():
            raise CheckpointError(
                f"{folder}: {name} is missing; delete this checkpoint to use the one before"
            )
        if _digest(folder / name) != digest:
            raise CheckpointError(
                f"{folder}: {name} is damaged; delete this checkpoint to use the one before"
            )
    return meta


def load(folder: Path, like: Any, *, part: str = "") -> Any:
    """The tree of `save`, in the structure of `like` (arrays, or anything with shape and dtype, or Ragged).

    Args:
      part: read only the subtree at this key of the saved dict; `like` is then that subtree.
    Raises: CheckpointError naming the first leaf that is missing or has another shape or dtype.
    """
    paths, structure = jax.tree_util.tree_flatten_with_path(like)
    try:
        with np.load(folder / "arrays.npz", allow_pickle=False) as data:
            leaves = [_take(data, part + _name(path), want, folder) for path, want in paths]
    except (OSError, BadZipFile, ValueError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{folder}: arrays.npz cannot be read: {error}") from error
    return jax.tree_util.tree_unflatten(structure, leaves)


def _take(data, name: str, want, folder: Path) -> np.ndarray:
    if name not in data:
        raise CheckpointError(f"{folder}: no array {name}: written with another policy or optimizer?")
    got, kind = data[name], np.dtype(want.dtype)
    shape = got.shape if isinstance(want, Ragged) else tuple(want.shape)
    if got.dtype != kind or got.shape != shape:
        raise CheckpointError(f"{folder}: {name}: {got.dtype}{list(got.shape)}, want {kind}{list(shape)}")
    return got


def _leaves(tree: Any) -> dict[str, np.ndarray]:
    return {_name(path): np.asarray(leaf) for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]}


def _name(path) -> str:
    return jax.tree_util.keystr(path)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
