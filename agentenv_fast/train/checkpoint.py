"""Run folders: config.yaml, suite.json, codec.json, metrics.jsonl, checkpoints/<env_step>/, results.json."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from agentenv_fast.errors import CheckpointError
from agentenv_fast.evaluation.runs import checkpoints
from agentenv_fast.learner import archive
from agentenv_fast.train.config import Config, load_config

ROWS = "rows.npz"


class RunFolder:
    """Reads and writes one run folder. Every file appears whole or not at all."""

    def __init__(self, path: str | Path):
        self.path = Path(path)

    @classmethod
    def create(cls, path: str | Path, config: Config) -> RunFolder:
        """A new run. Raises: CheckpointError if there is one already."""
        folder = cls(path)
        if (folder.path / "config.yaml").exists():
            raise CheckpointError(
                f"{path}: holds a run already; continue it with: agentenv-fast train --resume {path}, "
                "or choose another --out"
            )
        folder.path.mkdir(parents=True, exist_ok=True)
        folder.write("config.yaml", config.to_yaml())
        return folder

    @classmethod
    def open(cls, path: str | Path) -> tuple[RunFolder, Config]:
        """An existing run. Raises: CheckpointError if there is none, ConfigError if its settings cannot be read."""
        folder = cls(path)
        if not (folder.path / "config.yaml").is_file():
            raise CheckpointError(
                f"{path}: no config.yaml: not a run folder; start one with: agentenv-fast train --out {path}"
            )
        return folder, load_config(folder.path / "config.yaml")

    @property
    def codec(self) -> Path | None:
        path = self.path / "codec.json"
        return path if path.is_file() else None

    def results(self) -> dict[str, Any] | None:
        """What a finished run found; None: not finished."""
        path = self.path / "results.json"
        if not path.is_file():
            return None
        try:
            return json.loads(path.read_text())
        except ValueError as error:
            raise CheckpointError(
                f"{path}: damaged ({error}); delete it and resume the run: it ends again with the same results"
            ) from error

    def write(self, name: str, text: str) -> None:
        """A text file, atomically."""
        partial = self.path / f".{name}.partial"
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.path / name)

    def save(self, env_step: int, tree: Any, meta: dict[str, Any], env: Any) -> Path:
        """checkpoints/<env_step>/: arrays, the env's rows, and meta."""
        path = self.path / "checkpoints" / str(env_step)
        rows = env.snapshot()
        archive.save(path, tree, {"env_step": env_step, **meta}, lambda folder: rows.save(folder / ROWS))
        return path

    def latest(self) -> tuple[Path, dict[str, Any]] | None:
        """The newest checkpoint, checked. None: there is none yet. Raises: CheckpointError if it is damaged."""
        found = checkpoints(self.path)
        return (found[-1], archive.load_meta(found[-1])) if found else None

    def restore_rows(self, path: Path, env: Any) -> None:
        snapshot = type(env.snapshot())
        env.restore(snapshot.load(path / ROWS))

    def prune(self, keep: int, best: int | None) -> None:
        """Keeps the `keep` newest checkpoints and the best; removes what an interrupted write left behind."""
        for path in checkpoints(self.path)[:-keep]:
            if int(path.name) != best:
                shutil.rmtree(path)
        here = self.path / "checkpoints"
        for path in here.glob(".*.tmp") if here.is_dir() else ():
            shutil.rmtree(path)
