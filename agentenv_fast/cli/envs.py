"""`agentenv-fast envs`: the built-in and registered suites."""

from __future__ import annotations

from typing import Annotated

import typer

from agentenv_fast.cli.output import closing, show


def envs(
    as_json: Annotated[bool, typer.Option("--json", help="JSON also on a terminal.")] = False,
) -> None:
    """List the suites that can be named: id, what it is, levels."""
    from agentenv_fast.envs.registry import suites

    show(suites(), title="suites", as_json=as_json)
    closing("agentenv-fast play keyquest-v0")
