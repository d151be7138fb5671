"""What a run says about itself: a JSON line per event, TensorBoard files, and a display that someone else draws."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, Protocol

# Fields that depend on the machine and the moment; all others are equal, bit for bit, when a run is repeated or
# resumed.
TIMING = (
    "elapsed_s", "steps_per_s", "tokens_per_s", "env_share", "policy_share", "learn_share", "copy_share", "eval_s",
    "memory_mb", "eta_s", "train_s",
)  # fmt: skip


class Display(Protocol):
    """Shows progress; `train` calls it with each metrics line as it is written."""

    def update(self, metrics: dict[str, Any]) -> None: ...

    def close(self) -> None: ...


class NoDisplay:
    """Shows nothing."""

    def update(self, metrics: dict[str, Any]) -> None:
        pass

    def close(self) -> None:
        pass


class MetricsLog:
    """metrics.jsonl of a run, and the same numbers for TensorBoard.

    Args:
      offset: bytes of metrics.jsonl that belong to the state resumed from; what follows is cut off.
      env_step: of that state.
    """

    def __init__(
        self, folder: Path, display: Display, *, offset: int = 0, env_step: int = 0, tensorboard: bool = True
    ):
        self.path, self.display = folder / "metrics.jsonl", display
        self._file = self.path.open("ab")
        self._file.truncate(offset)
        self._file.seek(offset)
        self._events = _events(folder / "tensorboard", env_step) if tensorboard else None

    def write(self, kind: str, env_step: int, values: dict[str, Any]) -> None:
        """One line; numbers that are not finite become null."""
        line = {"kind": kind, "env_step": env_step, **{name: plain(value) for name, value in values.items()}}
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()
        if self._events is not None:
            for name, value in line.items():
                if isinstance(value, (int, float)) and name != "env_step":
                    self._events.add_scalar(f"{kind}/{name}", value, env_step)
        self.display.update(line)

    def sync(self) -> int:
        """Brings everything to the disk; → bytes of metrics.jsonl."""
        self._file.flush()
        os.fsync(self._file.fileno())
        if self._events is not None:
            self._events.flush()
        return self._file.tell()

    def close(self) -> None:
        self.sync()
        self._file.close()
        if self._events is not None:
            self._events.close()
        self.display.close()


def plain(value: Any) -> Any:
    """A JSON value: arrays of one number become numbers, NaN and infinity None."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def memory_mb() -> float | None:
    """Resident memory of this process in MB, None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def read_metrics(folder: str | Path) -> list[dict[str, Any]]:
    """The lines of a run's metrics.jsonl; a last line that was cut off while written is left out."""
    lines = (Path(folder) / "metrics.jsonl").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines[:-1] if line.strip()]


def _events(folder: Path, env_step: int):
    from tensorboardX import SummaryWriter

    return SummaryWriter(str(folder), purge_step=env_step or None)
