"""The original of an ALFWorld scene: textworld's PddlEnv under alfworld's names. Imported by `verify` and tests alone.

Needs the packages textworld with fast-downward-textworld, and alfworld (`pip install --no-deps alfworld==0.4.2` is
enough; neither torch nor AI2-THOR is used), on Python 3.12 or older.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentenv_fast.errors import DependencyError, WorldError
from agentenv_fast.worlds.original import MODES, Shown, Transcript, follow, record, wander


class OriginalScene:
    """One scene in the original engine. It has one text, whatever the text mode."""

    def __init__(self, path: Path) -> None:
        textworld, environment, demangler = _engines()
        self.path = path
        infos = textworld.EnvInfos(admissible_commands=True, won=True, moves=True, score=True, facts=True)
        self._env: Any = demangler(environment(infos))
        with _quiet():
            try:
                self._env.load(str(path))
            except (KeyError, AssertionError, SystemExit) as error:
                raise WorldError(
                    f"{path}: the original cannot play it: {type(error).__name__}: {error}"
                ) from None

    def reset(self) -> Shown:
        with _quiet():
            return self._shown(None, self._env.reset())

    def step(self, command: str) -> Shown:
        with _quiet():
            return self._shown(command, self._env.step(command)[0])

    def _shown(self, command: str | None, state: Any) -> Shown:
        self.state = state
        return Shown(
            command=command,
            text=dict.fromkeys(MODES, state.feedback),
            score=int(state["won"]),
            won=bool(state["won"]),
            lost=bool(state["lost"]),
            moves=int(state["moves"]),
            admissible=list(state["admissible_commands"]),
        )

    def close(self) -> None:
        self._env.close()


class Refused:
    """Commands that are not admissible: made from admissible ones, as language models misspell them."""

    PLAIN = (
        "",
        "LOOK",
        "dance",
        "go",
        "take all",
        "wait",
        "go to",
        "open everything",
        "helpme",
        "put it in it",
    )

    def __call__(self, rng: random.Random, shown: Shown) -> str:
        kind = rng.random()
        if kind < 0.3 or not shown.admissible:
            return rng.choice(self.PLAIN)
        command = rng.choice(shown.admissible)
        if kind < 0.5:
            return f"  {command} "
        if kind < 0.6:
            return command.upper()
        if kind < 0.8:
            return command[:-1] + str(rng.randint(0, 9))
        words = command.split()
        rng.shuffle(words)
        return " ".join(words)


def transcripts_of(file: Path, walks: int, seed: int, steps: int) -> Iterator[Transcript]:
    """The original's record of a scene: its walkthrough, then random walks, every second one with refused commands."""
    original = OriginalScene(file)
    try:
        commands = json.loads(file.read_bytes()).get("walkthrough") or []
        if commands:
            yield record(original, follow(commands), kind="walkthrough", limit=len(commands))  # type: ignore[arg-type]
        for walk in range(walks):
            rng = random.Random(f"{seed}/{file}/{walk}")
            kind = "refused" if walk % 2 else "random"
            choose = wander(rng, Refused()) if walk % 2 else wander(rng)
            yield record(original, choose, kind=kind, limit=steps)  # type: ignore[arg-type]
    finally:
        original.close()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Fast Downward's translator prints, and replaces sys.argv."""
    argv = sys.argv
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        sys.argv = argv


def _engines() -> tuple[Any, Any, Any]:
    try:
        import fast_downward  # noqa: F401
        import textworld
        from textworld.envs.pddl import PddlEnv

        with _quiet():
            from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
    except ImportError as error:
        raise DependencyError(
            f"verify compares ALFWorld scenes with the original engine, and {error.name or error} is missing: pip "
            "install 'agentenv-fast[textworld]' fast-downward-textworld tqdm termcolor, then pip install --no-deps "
            "alfworld==0.4.2 (Python 3.12 or older)"
        ) from error
    warnings.filterwarnings("ignore", module="textworld")
    return textworld, PddlEnv, AlfredDemangler
