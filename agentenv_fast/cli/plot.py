"""`agentenv-fast plot`: curves of one run or several, from their own metrics.jsonl."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from agentenv_fast.cli.output import closing
from agentenv_fast.errors import CheckpointError, ConfigError

_FEW = 32  # episodes: a mean over fewer is not drawn
_LEGEND = "  (thin: training; dots: held out, 95 %)"


def plot(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; each is a line in every panel.")],
    out: Annotated[
        Path | None, typer.Option(help="The picture; by default curves.png in the first run.")
    ] = None,
    metric: Annotated[list[str] | None, typer.Option(help="Panels to draw, e.g. --metric success.")] = None,
) -> None:
    """Draw success and return against env steps: training thin, held-out evaluation thick with its 95 % band."""
    names = metric or ["success", "return"]
    curves = {run.name or str(run): read_metrics(run) for run in runs}
    known = sorted({key for lines in curves.values() for line in lines for key in line})
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigError(
            f"--metric {unknown[0]}: not in {runs[0]}/metrics.jsonl; there are: {', '.join(known)}"
        )
    out = out or runs[0] / "curves.png"
    draw(curves, names, out)
    print(out)
    closing(f"agentenv-fast eval {runs[0]}", artefacts=str(out))


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """The lines of a run's metrics.jsonl.

    Raises: CheckpointError if there are none, or one is not JSON (a cut last line is left out).
    """
    path = run / "metrics.jsonl"
    if not path.is_file():
        raise CheckpointError(
            f"{path}: no such file; want a run folder, as agentenv-fast train --out makes it"
        )
    lines = path.read_text().splitlines()
    records = []
    for number, line in enumerate(lines, 1):
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            if number < len(lines):
                raise CheckpointError(f"{path}: line {number} is not JSON; it was changed by hand?") from None
    if not records:
        raise CheckpointError(f"{path}: it is empty; has the run finished its first iteration?")
    return records


def draw(curves: dict[str, list[dict[str, Any]]], names: list[str], out: Path) -> None:
    """One panel per metric; runs are coloured alike in all of them."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(names), figsize=(5.2 * len(names), 3.6), squeeze=False, layout="constrained"
    )
    for axis, name in zip(axes[0], names):
        for number, (run, lines) in enumerate(curves.items()):
            _curve(axis, lines, name, f"C{number % 10}", run)
        axis.set_xlabel("env steps")
        axis.set_title(name.replace("_", " ") + _LEGEND, loc="left", fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", linewidth=0.4, alpha=0.5)
        axis.xaxis.set_major_formatter(_thousands)
        if name == "success":
            axis.set_ylim(-0.02, 1.02)
    handles, labels = axes[0][0].get_legend_handles_labels()
    axes[0][0].legend(handles, labels, frameon=False, fontsize=8, loc="best")
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=150)
    plt.close(figure)


def _curve(axis: Any, lines: list[dict[str, Any]], name: str, color: str, label: str) -> None:
    train = [line for line in lines if line.get("kind") == "train" and line.get(name) is not None]
    train = [line for line in train if line.get("episodes", _FEW) >= _FEW]
    if train:
        steps = [line["env_step"] for line in train]
        axis.plot(steps, _smooth([line[name] for line in train]), color=color, linewidth=0.8, alpha=0.6)
    held_out = [
        line for line in lines if line.get("kind") in ("eval", "final") and _value(line, name) is not None
    ]
    if held_out:
        steps = [line["env_step"] for line in held_out]
        values = [_value(line, name) for line in held_out]
        axis.plot(steps, values, color=color, linewidth=2, marker=".", label=label)
        if all(line.get(f"{name}_low") is not None for line in held_out):
            low, high = ([line[f"{name}_{end}"] for line in held_out] for end in ("low", "high"))
            axis.fill_between(steps, low, high, color=color, alpha=0.15, linewidth=0)
    else:
        axis.plot([], [], color=color, label=label)


def _value(line: dict[str, Any], name: str) -> Any:
    """A held-out figure: reports call the mean over games `return_mean`, training lines `return`."""
    return line.get(name, line.get(f"{name}_mean"))


def _smooth(values: list[float], window: int = 9) -> list[float]:
    """A running mean over the last `window` lines; the thin curve would be noise otherwise."""
    return [sum(values[max(0, i - window + 1) : i + 1]) / min(i + 1, window) for i in range(len(values))]


def _thousands(value: float, _: int) -> str:
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if abs(value) >= 1e3 else f"{value:g}"
