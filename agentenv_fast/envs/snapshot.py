"""Snapshot: rows of state as plain bytes. Copying the bytes is the whole of snapshot, fork and restore."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agentenv_fast.errors import SnapshotError


@dataclass(frozen=True)
class Snapshot:
    """State of M rows.

    Attributes:
      rows: uint8[M, stride], header and world bytes of each row, random stream included.
      suite_hash: of the suite that the rows belong to.
      version: of the row format and compiler.
    """

    rows: np.ndarray
    suite_hash: str
    version: str

    @property
    def nbytes(self) -> int:
        """Bytes of `rows`."""
        return self.rows.nbytes

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index) -> Snapshot:
        """Some of the rows; an int keeps one row, still as [1, stride]."""
        if isinstance(index, (int, np.integer)):
            index = [int(index)]
        return Snapshot(self.rows[index].copy(), self.suite_hash, self.version)

    def save(self, path: str | Path) -> None:
        """Writes one .npz file, atomically."""
        path = Path(path)
        buffer = io.BytesIO()
        np.savez(buffer, rows=self.rows, suite_hash=np.array(self.suite_hash), version=np.array(self.version))
        partial = path.with_name(path.name + ".partial")
        partial.write_bytes(buffer.getvalue())
        partial.replace(path)

    @classmethod
    def load(cls, path: str | Path) -> Snapshot:
        """Raises: SnapshotError if the file is missing or is not a snapshot."""
        try:
            with np.load(Path(path), allow_pickle=False) as data:
                rows, suite_hash, version = data["rows"], str(data["suite_hash"]), str(data["version"])
        except Exception as error:  # zipfile, numpy and OS errors alike: the file is not usable
            raise SnapshotError(f"{path}: not a snapshot: {error}") from error
        if rows.dtype != np.uint8 or rows.ndim != 2:
            raise SnapshotError(f"{path}: rows are {rows.dtype}{rows.shape}, want uint8[M, stride]")
        return cls(rows, suite_hash, version)
