"""`agentenv-fast play`: one game by hand, with undo, and with a trained policy's opinion beside each command."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.text import Text

import agentenv_fast as ae
from agentenv_fast.cli.output import closing, console
from agentenv_fast.cli.suites import HELP, is_path, label, open_suite
from agentenv_fast.errors import SuiteError
from agentenv_fast.spec import Status

_PROMPT = re.compile(r"\n>\s{64,}")
_KEYS = "a number or a command; 'undo', 'restart', 'help' or 'quit'"


def play(
    suite: Annotated[list[str] | None, typer.Argument(help=HELP, show_default="keyquest-v0")] = None,
    game: Annotated[int, typer.Option(min=0, help="Which game of the suite.")] = 0,
    split: Annotated[str | None, typer.Option(help="Split to take the game from.")] = None,
    level: Annotated[str | None, typer.Option(help="Of a built-in suite: easy, medium, hard, long.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the suite and of the env.")] = 0,
    policy: Annotated[
        Path | None,
        typer.Option(help="A run folder: shows its probabilities and value; SUITE: its test games."),
    ] = None,
) -> None:
    """Play one game: type a command as in the original, or the number of an admissible one."""
    if policy and not suite:
        suite, split, level = _tested_on(policy, split, level)
    names = suite or ["keyquest-v0"]
    opened = open_suite(names, split=split, size=game + 1, seed=seed, level=level)
    if game >= len(opened):
        raise SuiteError(f"--game {game}: {label(names)} has games 0 to {len(opened) - 1} here")
    session = Session(opened[[game]], seed=seed, adviser=Adviser(policy, opened[[game]]) if policy else None)
    screen = Screen()
    screen.scene(session)
    for line in _lines(screen):
        if line in ("quit", "exit", "q"):
            break
        reply = session.answer(line)
        screen.scene(session) if reply is None else screen.say(reply)
    closing(f"agentenv-fast train {names[0]}" if not policy else f"agentenv-fast eval {policy}")


class Session:
    """A game in progress: one row, and a snapshot of it before each move.

    Args:
      suite: one game.
      adviser: what judges the commands; None: nobody.
    """

    def __init__(self, suite: Any, *, seed: int = 0, adviser: Adviser | None = None):
        self.env = ae.make(
            suite, 1, seed=seed, autoreset="disabled", tokens=adviser.codec if adviser else None
        )
        self.adviser = adviser
        self._past: list[tuple[Any, ...]] = []
        self._take(*self.env.reset(), reward=0.0, terminated=False, truncated=False)

    @property
    def text(self) -> str:
        """The observation, without the prompt and the status line that TextWorld prints behind it."""
        return _PROMPT.split(self.env.get_state()[0])[0].strip("\n")

    @property
    def commands(self) -> list[str]:
        return list(self.env.get_available_actions()[0])

    @property
    def over(self) -> bool:
        return self.terminated or self.truncated

    def opinions(self) -> list[float] | None:
        """The policy's probability of each command, in their order."""
        return self.adviser.probabilities if self.adviser else None

    def answer(self, line: str) -> str | None:
        """Carry out what was typed. Returns: what to say, None if the scene has changed."""
        line = line.strip()
        if line in ("help", "?"):
            return _KEYS
        if line == "undo":
            return self.undo()
        if line == "restart":
            self._remember()
            self._take(*self.env.reset(), reward=0.0, terminated=False, truncated=False)
            return None
        if self.over:
            return "The game is over; 'undo' takes the last move back, 'restart' begins again, 'quit' leaves."
        if not line:
            return _KEYS
        if line.isdigit():
            if not 1 <= int(line) <= len(self.commands):
                return f"there are commands 1 to {len(self.commands)}"
            line = self.commands[int(line) - 1]
        self.move(line)
        return None

    def move(self, command: str) -> None:
        """Step the row with a command as typed."""
        self._remember()
        offered = self.commands
        obs, reward, terminated, truncated, info = self.env.step([command])
        if self.adviser:
            self.adviser.took(offered.index(command) if command in offered else None)
        self._take(
            obs, info, reward=float(reward[0]), terminated=bool(terminated[0]), truncated=bool(truncated[0])
        )

    def undo(self) -> str | None:
        """Back to before the last move; the row's bytes are restored, the score and the dice included."""
        if not self._past:
            return "nothing to undo"
        snapshot, memory, facts = self._past.pop()
        self.env.restore(snapshot)
        obs, info = self.env.observe()
        if self.adviser:
            self.adviser.memory = memory
        self._take(obs, info, **facts)
        return None

    def _remember(self) -> None:
        facts = {"reward": self.reward, "terminated": self.terminated, "truncated": self.truncated}
        self._past.append((self.env.snapshot(), self.adviser.memory if self.adviser else None, facts))

    def _take(self, obs: Any, info: Any, *, reward: float, terminated: bool, truncated: bool) -> None:
        self.reward, self.terminated, self.truncated = reward, terminated, truncated
        self.score, self.moves = float(info["score"][0]), int(info["moves"][0])
        self.won, self.lost = bool(info["won"][0]), bool(info["lost"][0])
        self.status = Status(int(info["status"][0]))
        if self.adviser:
            self.adviser.sees(obs, bool(info["first"][0]))


class Adviser:
    """A trained policy that reads along. `memory` is its carry before the observation, so undo can give it back.

    Args:
      run: a run folder.
      suite: the game to be played; its commands are read with the run's own codec.
    """

    def __init__(self, run: Path, suite: Any):
        from agentenv_fast.evaluation import load_policy

        self._policy = load_policy(run)
        self.codec = self._policy.run.codec
        self.memory = self._policy.start(suite)
        self._after = self.memory
        self.probabilities: list[float] = []
        self.value = 0.0

    def sees(self, obs: dict[str, np.ndarray], first: bool) -> None:
        """Read an observation; sets `probabilities` and `value`."""
        probabilities, value, self._after = self._policy.scores(obs, self.memory, np.array([first]))
        self.probabilities = [float(p) for p in probabilities[0, : int(obs["admissible_count"][0])]]
        self.value, self._obs = float(value[0]), obs

    def took(self, index: int | None) -> None:
        """The command with this index was issued; None: one that the list does not hold."""
        self.memory = self._after if index is None else self._policy.issued(self._obs, self._after, [index])


class Screen:
    """Shows a session; nothing here changes it."""

    def __init__(self) -> None:
        self._console = console()

    def scene(self, session: Session) -> None:
        self._console.print(Text(session.text))
        self._console.print(self._status(session))
        if session.over:
            return
        opinions = session.opinions()
        for number, command in enumerate(session.commands, 1):
            line = Text(f"{number:4}  ", style="dim").append(command, style="default")
            if opinions:
                line = Text(f"{opinions[number - 1]:6.1%} ", style=_shade(opinions[number - 1])) + line
            self._console.print(line)

    def say(self, text: str) -> None:
        self._console.print(Text(text))

    def _status(self, session: Session) -> Text:
        facts = [f"score {session.score:g}", f"moves {session.moves}"]
        if session.reward:
            facts.append(f"reward {session.reward:+g}")
        if session.adviser:
            facts.append(f"value {session.adviser.value:.2f}")
        if session.status is not Status.OK:
            facts.append(session.status.name.lower())
        end = "won" if session.won else "lost" if session.lost else "cut off" if session.truncated else ""
        return Text("  ".join([*facts, *([end] if end else [])]), style="bold")


def _shade(probability: float) -> str:
    return "bold green" if probability >= 0.5 else "green" if probability >= 0.1 else "dim"


def _tested_on(run: Path, split: str | None, level: str | None) -> tuple[list[str], str | None, str | None]:
    """SUITE, split and level of games that a run's policy has not trained on."""
    from agentenv_fast.evaluation import load_run

    settings = load_run(run).config
    chosen = settings["eval"]["suite"] or settings["suite"]["id"]
    names = [chosen] if isinstance(chosen, str) else list(chosen)
    if is_path(names):
        return names, split, None
    return names, split or settings["eval"]["test_split"], level or settings["suite"]["level"]


def _lines(screen: Screen) -> Any:
    """What is typed, line by line, to the end of input."""
    prompt: Callable[[], str] = (lambda: input("> ")) if sys.stdin.isatty() else sys.stdin.readline
    while True:
        try:
            line = prompt()
        except EOFError:
            return
        if not sys.stdin.isatty():
            if not line:
                return
            screen.say(f"> {line.strip()}")
        yield line.strip()
