"""`agentenv-fast compile`: compile games into the cache, and say what came out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from agentenv_fast.cli.output import closing, console, note, show, wants_json
from agentenv_fast.cli.suites import games_of
from agentenv_fast.errors import WorldError


def compile_games(
    files: Annotated[list[str], typer.Argument(help="Game files, folders or globs.")],
    out: Annotated[
        Path | None, typer.Option(help="Also write each compiled game to this folder, as .aegame.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON also on a terminal.")] = False,
) -> None:
    """Compile game files into the cache: commands, bytes of state and time of each. Exit 2 if one fails."""
    import agentenv_fast as ae

    games = games_of(files)
    rows, failed = [], []
    with console(stderr=True).status("compiling") as status:
        for number, game in enumerate(games, 1):
            path = game[-1]
            status.update(f"compiling {number}/{len(games)}: {path}")
            began = time.perf_counter()
            try:
                suite = ae.load(game)
            except WorldError as error:
                failed.append(str(error))
                continue
            if out:
                out.mkdir(parents=True, exist_ok=True)
                (out / f"{Path(path).stem}.aegame").write_bytes(suite.bank.bytes(0))
            rows.append(
                {
                    "file": path,
                    "commands": len(suite.commands),
                    "admissible_max": suite.caps.K,
                    "text_max": suite.caps.B,
                    "row_bytes": suite.caps.stride,
                    "max_episode_steps": suite.spec.max_episode_steps,
                    "compile_ms": round((time.perf_counter() - began) * 1e3, 1),
                    "hash": str(suite.hash)[:16],
                }
            )
    if rows or wants_json(as_json):
        show(rows, title=f"{len(rows)} of {len(games)} games compiled", as_json=as_json)
    for message in failed:
        note(f"error: {message}")
    if rows:
        closing(f"agentenv-fast play {rows[0]['file']}", artefacts=str(out) if out else None)
    if failed:
        raise typer.Exit(2)
