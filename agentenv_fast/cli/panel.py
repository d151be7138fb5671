"""The progress of a training run: a rich panel on a terminal, one line per iteration when piped."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any, Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel as Frame
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from agentenv_fast.cli.output import readable


class Display(Protocol):
    """What the training loop tells its progress to."""

    def update(self, metrics: Mapping[str, Any]) -> None:
        """Take one line of metrics.jsonl (and `total_steps`, if known)."""
        ...

    def close(self) -> None: ...


# What the panel shows: column, label, key of the metrics line.
_CELLS = (
    ("speed", "env steps/s", "steps_per_s"),
    ("speed", "tokens/s", "tokens_per_s"),
    ("speed", "memory MB", "memory_mb"),
    ("speed", "env %", "env_share"),
    ("speed", "policy %", "policy_share"),
    ("speed", "learn %", "learn_share"),
    ("speed", "copy %", "copy_share"),
    ("play", "success", "success"),
    ("play", "return", "return"),
    ("play", "episode steps", "episode_length"),
    ("play", "episodes", "episodes"),
    ("play", "invalid actions", "invalid_action_rate"),
    ("learn", "policy loss", "policy_loss"),
    ("learn", "value loss", "value_loss"),
    ("learn", "entropy", "entropy"),
    ("learn", "KL", "kl"),
    ("learn", "clip fraction", "clip_fraction"),
    ("learn", "explained variance", "explained_variance"),
    ("learn", "learning rate", "learning_rate"),
)


def make_display(title: str, total_steps: int | None = None) -> Display:
    """The panel on a terminal, plain lines elsewhere. Both write to stderr; stdout stays for results."""
    if sys.stderr.isatty():
        return Panel(title, total_steps)
    return Lines(title, total_steps)


class Lines:
    """One plain line per iteration, at most one a second; every evaluation and the last line are always shown."""

    def __init__(self, title: str, total_steps: int | None = None, every_s: float = 5.0):
        self._total, self._every_s, self._shown = total_steps, every_s, 0.0
        print(f"train: {title}", file=sys.stderr, flush=True)

    def update(self, metrics: Mapping[str, Any]) -> None:
        now = time.monotonic()
        if metrics.get("kind") == "train" and now - self._shown < self._every_s:
            return
        self._shown = now
        print(plain_line(metrics, self._total), file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


def plain_line(metrics: Mapping[str, Any], total_steps: int | None = None) -> str:
    """`train step 4,096/100,000 success 0.25 return 0.61 ...`, of what the line has."""
    step = readable(metrics.get("env_step"))
    total = metrics.get("total_steps", total_steps)
    parts = [str(metrics.get("kind", "train")), f"step {step}" + (f"/{readable(total)}" if total else "")]
    if "split" in metrics:
        parts.append(str(metrics["split"]))
    parts.append(f"success {_interval(metrics)}")
    wanted = ("return", "steps_per_s", "entropy", "kl", "explained_variance")
    parts += [f"{key} {readable(metrics[key])}" for key in wanted if metrics.get(key) is not None]
    return "  ".join(parts)


class Panel:
    """A live panel: progress, speed and where the time goes, success in training and on held-out games, losses."""

    def __init__(self, title: str, total_steps: int | None = None, console: Console | None = None):
        self._title, self._total = title, total_steps
        self._train: dict[str, Any] = {}
        self._evals: list[dict[str, Any]] = []
        self._began, self._first_step = time.monotonic(), None
        self._live = Live(
            self, console=console or Console(stderr=True), refresh_per_second=4, transient=False
        )
        self._live.start()

    def update(self, metrics: Mapping[str, Any]) -> None:
        if metrics.get("kind", "train") == "train":
            self._train.update(metrics)
            if self._first_step is None:
                self._first_step = int(metrics.get("env_step") or 0)
        else:
            self._evals = [*self._evals[-3:], dict(metrics)]

    def close(self) -> None:
        self._live.stop()

    def __rich__(self) -> Frame:
        return Frame(
            Group(self._progress(), self._columns(), *map(self._eval_line, self._evals)),
            title=Text(self._title),
            title_align="left",
            border_style="dim",
        )

    def _progress(self) -> Table:
        if not self._train:
            waiting = Table.grid(padding=(0, 1))
            waiting.add_row(
                Text(f"making games and compiling, {_clock(time.monotonic() - self._began)} gone")
            )
            return waiting
        step, total = int(self._train.get("env_step") or 0), self._train.get("total_steps") or self._total
        cells: list[RenderableType] = [
            Text(f"{step:,}" + (f" / {int(total):,}" if total else "") + " env steps")
        ]
        if total:
            cells.insert(0, ProgressBar(total=int(total), completed=step, width=30))
        cells.append(Text(f"{_clock(time.monotonic() - self._began)} gone"))
        eta = self._eta_s(step, total)
        if eta is not None:
            cells.append(Text(f"{_clock(eta)} to go"))
        line = Table.grid(padding=(0, 1))
        line.add_row(*cells)
        return line

    def _eta_s(self, step: int, total: Any) -> float | None:
        if self._train.get("eta_s") is not None:
            return float(self._train["eta_s"])
        done = step - (self._first_step or 0)
        if not total or done <= 0:
            return None
        return (int(total) - step) * (time.monotonic() - self._began) / done

    def _columns(self) -> Table:
        outer = Table.grid(padding=(0, 4))
        columns = []
        for column in ("speed", "play", "learn"):
            inner = Table.grid(padding=(0, 1))
            inner.add_column(style="dim")
            inner.add_column(justify="right")
            for place, label, key in _CELLS:
                if place == column and self._train.get(key) is not None:
                    inner.add_row(label, self._cell(key))
            columns.append(inner)
        outer.add_row(*columns)
        return outer

    def _cell(self, key: str) -> str:
        if key == "success":
            return _interval(self._train)
        value = self._train[key]
        return f"{100 * value:.0f}" if key.endswith("_share") else readable(value)

    def _eval_line(self, metrics: Mapping[str, Any]) -> Text:
        return Text(plain_line(metrics), style="bold" if metrics.get("kind") == "final" else "")


def _interval(metrics: Mapping[str, Any]) -> str:
    """`0.93 [0.90, 0.95]`, or without the interval where the line has none."""
    success = metrics.get("success")
    if success is None:
        return "–"
    low, high = metrics.get("success_low"), metrics.get("success_high")
    return f"{success:.3f}" + (f" [{low:.3f}, {high:.3f}]" if low is not None and high is not None else "")


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
