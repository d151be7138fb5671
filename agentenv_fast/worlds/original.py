"""The original TextWorld engine as an oracle: what it shows and offers, step by step. Needs the package textworld."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentenv_fast.errors import DependencyError, WorldError

MODES = ("tracked", "raw", "extra")


@dataclass
class Shown:
    """What the original shows after a command (None: after reset)."""

    command: str | None
    text: dict[str, str]  # by text mode
    score: int
    won: bool
    lost: bool
    moves: int
    admissible: list[str]


@dataclass
class Transcript:
    path: Path  # of the .json
    kind: str  # "walkthrough", "random", "refused", "given"
    steps: list[Shown] = field(default_factory=list)

    @property
    def commands(self) -> list[str]:
        return [s.command for s in self.steps if s.command is not None]


class Original:
    """One game in the original engine, in the three text modes at once.

    tracked: textworld.start with admissible commands requested; extra: without tracking (textworld always asks the
    story for score and moves, which adds a line break); raw: the story file under Jericho alone.
    """

    def __init__(self, path: Path, modes: Sequence[str] = MODES) -> None:
        textworld, jericho = _engines()
        story = path.with_suffix(".z8")
        if not story.is_file():
            raise WorldError(
                f"{path}: no {story.name} beside it; the original engine plays the .z8 that tw-make wrote"
            )
        self.path = path
        self._tracked = textworld.start(
            str(story), textworld.EnvInfos(admissible_commands=True, score=True, moves=True)
        )
        self._extra = textworld.start(str(story), textworld.EnvInfos()) if "extra" in modes else None
        self._raw = jericho.FrotzEnv(str(story), 1234) if "raw" in modes else None

    def reset(self) -> Shown:
        state = self._tracked.reset()
        extra = self._extra.reset().feedback if self._extra is not None else None
        raw = self._raw.reset()[0] if self._raw is not None else None
        return self._shown(None, state, raw, extra)

    def step(self, command: str) -> Shown:
        state, _, _ = self._tracked.step(command)
        extra = self._extra.step(command)[0].feedback if self._extra is not None else None
        raw = self._raw.step(command.strip())[0] if self._raw is not None else None
        return self._shown(command, state, raw, extra)

    def _shown(self, command: str | None, state: Any, raw: str | None, extra: str | None) -> Shown:
        text = {"tracked": state.feedback, "raw": raw, "extra": extra}
        return Shown(
            command=command,
            text={mode: t for mode, t in text.items() if t is not None},
            score=int(state.score),
            won=bool(state.won),
            lost=bool(state.lost),
            moves=int(state.moves),
            admissible=list(state.admissible_commands),
        )

    def close(self) -> None:
        for env in (self._tracked, self._extra, self._raw):
            if env is not None:
                env.close()


def record(
    original: Original, choose: Callable[[Shown, int], str | None], *, kind: str, limit: int
) -> Transcript:
    """Plays until the end, `limit` steps, or `choose` returns None."""
    shown = original.reset()
    out = Transcript(original.path, kind, [shown])
    for i in range(limit):
        if shown.won or shown.lost:
            break
        command = choose(shown, i)
        if command is None:
            break
        shown = original.step(command)
        out.steps.append(shown)
    return out


def follow(commands: Sequence[str]) -> Callable[[Shown, int], str | None]:
    return lambda _, i: commands[i] if i < len(commands) else None


def wander(
    rng: random.Random, other: Callable[[random.Random, Shown], str] | None = None, share: float = 0.2
) -> Callable[[Shown, int], str | None]:
    """Random admissible commands; a share of them replaced by what `other` makes."""

    def choose(shown: Shown, _: int) -> str | None:
        if other is not None and rng.random() < share:
            return other(rng, shown)
        return rng.choice(shown.admissible) if shown.admissible else None

    return choose


def _engines() -> tuple[Any, Any]:
    try:
        import jericho
        import textworld
    except ImportError as error:
        raise DependencyError(
            "verify compares with the original engine: pip install 'agentenv-fast[textworld]' (Python 3.12 or older)"
        ) from error
    warnings.filterwarnings("ignore", module="jericho")
    warnings.filterwarnings("ignore", module="textworld")
    return textworld, jericho
