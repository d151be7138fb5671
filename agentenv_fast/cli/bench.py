"""`agentenv-fast bench`: what this machine reaches, each figure with its spread; one JSON line last."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from agentenv_fast.cli import machine, measure
from agentenv_fast.cli.output import closing, console, note, show, to_json
from agentenv_fast.cli.suites import HELP, files_of, is_path, label, open_suite
from agentenv_fast.errors import ConfigError, WorldError


def bench(
    suite: Annotated[list[str] | None, typer.Argument(help=HELP, show_default="keyquest-v0")] = None,
    vs: Annotated[
        str | None, typer.Option(help="Also the original engine: textworld (needs .z8 files).")
    ] = None,
    sizes: Annotated[str, typer.Option(help="Numbers of envs.")] = ",".join(map(str, measure.SIZES)),
    layers: Annotated[str, typer.Option(help="What a step produces.")] = ",".join(measure.LAYERS),
    seconds: Annotated[float, typer.Option(help="Length of a run.")] = 0.3,
    runs: Annotated[int, typer.Option(help="Runs of each figure; the median is reported.")] = measure.RUNS,
    games: Annotated[int, typer.Option(help="Games of a built-in suite.")] = 256,
    out: Annotated[Path | None, typer.Option(help="Also write the JSON to this file.")] = None,
) -> None:
    """Env steps/s, tokens/s, resets/s, forks/s and compile time; tuned (copy=False) beside the defaults."""
    if vs not in (None, "textworld"):
        raise ConfigError(f"--vs {vs}: want textworld, the only other engine that plays these files")
    wanted = _listed("--layers", layers, measure.LAYERS)
    numbers = [_positive("--sizes", text) for text in sizes.split(",")]
    names = suite or ["keyquest-v0"]
    opened = open_suite(names, size=None if is_path(names) else games)
    about = {
        "benchmark": "env_steps",
        "suite": label(names),
        "games": len(opened),
        "caps": opened.caps._asdict(),
        "machine": machine.describe(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    note(f"{label(names)}: {len(opened)} games; {about['machine']['cpu']}, {about['machine']['cores']} cores")
    if about["machine"]["load_1min"] > 0.5:
        note(
            f"warning: the machine is busy (load {about['machine']['load_1min']}): figures will be low and spread"
        )
    steps = _measured(_configurations(numbers, wanted), opened, seconds, runs)
    others = _others(names, opened, seconds, runs)
    if vs:
        others["textworld"] = measure.textworld_steps(_story(names), runs=runs)
        others["textworld"]["times"] = _best_single(steps) / others["textworld"]["steps_per_second"]
    _print(steps, others)
    line = to_json({**about, "steps": steps, **others})
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(line + "\n")
    closing("agentenv-fast doctor", artefacts=str(out) if out else None)
    print(line)


def _configurations(sizes: list[int], layers: list[str]) -> Iterator[dict[str, Any]]:
    """Every layer and size, on one core and on all of them, tuned and with the defaults."""
    threads = [1] if machine.cores_granted() == 1 else [1, machine.cores_granted()]
    for layer in layers:
        for num_envs in sizes:
            for count in threads if num_envs > 1 else [1]:
                for copy in (False, True):
                    yield {"layer": layer, "num_envs": num_envs, "threads": count, "copy": copy}


def _measured(
    configurations: Iterator[dict[str, Any]], suite: Any, seconds: float, runs: int
) -> list[dict[str, Any]]:
    records = []
    with console(stderr=True).status("measuring") as status:
        for options in configurations:
            status.update("measuring " + " ".join(f"{key}={value}" for key, value in options.items()))
            records.append(measure.env_steps(suite, seconds=seconds, runs=runs, **options))
    limit = measure.ceiling(seconds=seconds, runs=runs)["bytes_per_second"]
    for record in records:
        if "steps_per_second" in record:
            reachable = limit * record["threads"] / measure.written_bytes(record, suite)
            record["of_ceiling"] = record["steps_per_second"] / reachable
    return records


def _others(names: list[str], opened: Any, seconds: float, runs: int) -> dict[str, Any]:
    found = {
        "row_bytes": opened.caps.stride,
        "resets": measure.resets(opened, seconds=seconds, runs=runs),
        "forks": measure.forks(opened, seconds=seconds, runs=runs),
        "ceiling": measure.ceiling(seconds=seconds, runs=runs),
    }
    if is_path(names):
        found["compile"] = measure.compile_times(
            [file for file in files_of(names) if file.endswith(".json")][:32]
        )
    else:
        found["generate"] = measure.generated_per_second(names[0], runs=runs)
    return found


def _print(steps: list[dict[str, Any]], others: dict[str, Any]) -> None:
    """The tables, on a terminal only: piped, the JSON line says it all."""
    if not os.isatty(1):
        return
    keys = (
        "layer",
        "num_envs",
        "threads",
        "copy",
        "steps_per_second",
        "spread",
        "tokens_per_second",
        "of_ceiling",
    )
    show(
        [
            {
                key: record.get(key, record.get("refused") if key == "steps_per_second" else None)
                for key in keys
            }
            for record in steps
        ]
    )
    show([{"what": name, "figures": value} for name, value in others.items()])


def _best_single(steps: list[dict[str, Any]]) -> float:
    """Of the fullest layer that was measured, on one core: what the original does at each step, and tokens."""
    measured = [record for record in steps if record["threads"] == 1 and "steps_per_second" in record]
    order = list(measure.LAYERS)
    fullest = max((order.index(record["layer"]) for record in measured), default=0)
    return max((r["steps_per_second"] for r in measured if r["layer"] == order[fullest]), default=0.0)


def _story(names: list[str]) -> str:
    """The .z8 beside the first game file."""
    if not is_path(names):
        raise ConfigError(
            f"--vs textworld: {names[0]} has no .z8; name files of tw-make, .json and .z8 side by side"
        )
    story = Path(files_of(names)[0]).with_suffix(".z8")
    if not story.exists():
        raise WorldError(
            f"{story}: no such file; --vs textworld plays the .z8 beside the .json (tw-make writes both)"
        )
    return str(story)


def _listed(option: str, text: str, known: dict[str, Any]) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            raise ConfigError(f"{option} {name}: want some of {', '.join(known)}")
    return names


def _positive(option: str, text: str) -> int:
    if not text.strip().isdigit() or int(text) == 0:
        raise ConfigError(f"{option} {text}: want numbers of envs from 1 on, separated by commas")
    return int(text)
