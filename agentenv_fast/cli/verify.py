"""`agentenv-fast verify`: play games beside the original engine and compare every step."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer

from agentenv_fast.cli.output import closing, console, note, show, wants_json
from agentenv_fast.cli.suites import games_of


def verify(
    files: Annotated[
        list[str], typer.Argument(help="Game files (.json, the .z8 beside them; .pddl), folders or globs.")
    ],
    walks: Annotated[int, typer.Option(min=1, help="Random walks per game, beside the walkthrough.")] = 20,
    steps: Annotated[int, typer.Option(min=1, help="Steps of a walk at most.")] = 60,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the random walks; by default a fresh one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON also on a terminal.")] = False,
) -> None:
    """Prove that compiled games equal the original, step by step. Exit 1 at the first difference.

    Needs textworld; for PDDL files fast-downward-textworld."""
    from agentenv_fast.worlds.verify import verify as compare

    games = games_of(files)
    seed = secrets.randbits(31) if seed is None else seed
    rows, differences = [], []
    with console(stderr=True).status("verifying") as status:
        for number, game in enumerate(games, 1):
            path = game[-1]
            status.update(f"verifying {number}/{len(games)}: {path}")
            report = compare(game, walks=walks, seed=seed, steps=steps)
            rows.append(
                {"file": path, "walks": report.walks, "steps": report.steps, "equal": report.ok, "seed": seed}
            )
            if not report.ok:
                differences.append(report)
    show(rows, title="beside the original engine", as_json=wants_json(as_json))
    for report in differences:
        note(str(report))
    if differences:
        note(f"{len(differences)} of {len(games)} games differ from the original")
        raise typer.Exit(1)
    closing(f"agentenv-fast play {' '.join(games[0])}")
