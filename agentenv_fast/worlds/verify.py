"""Proof that compiled games equal the original step by step: text in three modes, score, end, moves, commands."""

from __future__ import annotations

import json
import random
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from agentenv_fast.spec import Status
from agentenv_fast.worlds import suite as suites
from agentenv_fast.worlds.original import MODES, Original, Shown, Transcript, follow, record, wander

WALK_STEPS = 60
MAX_STEPS = 1 << 20


@dataclass
class Difference:
    """The first place where a game and its original part."""

    path: Path
    what: str
    got: object
    want: object
    commands: list[str]

    def __str__(self) -> str:
        led = "\n".join(f"  > {c}" for c in self.commands) or "  (after reset)"
        return f"{self.path}: {self.what} differs\n  got:  {self.got!r}\n  want: {self.want!r}\nafter\n{led}"


@dataclass
class Report:
    """Of verify(). `str(report)` is the first difference, or one line that says what was compared."""

    seed: int
    games: int = 0
    walks: int = 0
    steps: int = 0
    unanswered: list[str] = field(
        default_factory=list
    )  # typed commands with status unknown_command; they end a walk
    differences: list[Difference] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        if self.differences:
            return f"{self.differences[0]}\n(seed {self.seed}, {len(self.differences)} walks differ)"
        cut = f", {len(self.unanswered)} cut short by commands left unanswered" if self.unanswered else ""
        played = f"{self.games} games, {self.walks} walks{cut}, {self.steps} steps"
        return f"{played}: equal to the original (seed {self.seed})"


def verify(
    paths: str | Path | Iterable[str | Path],
    walks: int = 20,
    seed: int | None = None,
    *,
    steps: int = WALK_STEPS,
) -> Report:
    """Plays games beside the original engine and compares every step, each game alone and all as rows of one batch.

    PDDL games are compared with Fast Downward: applicable operators, facts and goal in every state of random walks and
    along its plan, the walks of a game as rows of one batch.

    Args:
      paths: .json files with their .z8 beside them, .tw-pddl scenes, or .pddl problems (with their domain, as in
        ae.load).
      walks: random walks per game, beside its walkthrough; every second one has 20 % refused commands.
      seed: of the walks; None: a fresh one, which the report names.
      steps: at most, of one walk.
    Raises: WorldError for a game that cannot be compiled, DependencyError without the original's packages.
    """
    given = [paths] if isinstance(paths, (str, Path)) else list(paths)
    files = [file for file in given if Path(file).suffix != suites.PDDL_SUFFIX]
    report = Report(seed=secrets.randbits(31) if seed is None else seed)
    described = [Path(file) for file in given if Path(file).suffix == suites.PDDL_SUFFIX]
    if described:
        _verify_pddl(described, walks, steps, report)
    if not files:
        return report
    pddl = (report.games, report.walks, report.steps)
    transcripts = [t for file in files for t in transcripts_of(Path(file), walks, report.seed, steps)]
    report.games, report.walks = pddl[0] + len(files), pddl[1] + len(transcripts)
    report.steps = pddl[2] + sum(len(t.commands) for t in transcripts)
    for transcript in transcripts:
        report.differences += replay([transcript], report.unanswered)
    if len(transcripts) > 1 and report.ok:
        report.differences += replay(transcripts)
    return report


def _verify_pddl(files: Sequence[Path], walks: int, steps: int, report: Report) -> None:
    from agentenv_fast.worlds.pddl.files import pair
    from agentenv_fast.worlds.pddl.verify import compare

    for game in pair(files):
        records, differences = compare(game, walks, report.seed, steps)
        report.games += 1
        report.walks += len(records)
        report.steps += sum(len(record.operators) for record in records)
        report.differences += [
            Difference(game.problem, what, got, want, before) for what, got, want, before in differences
        ]


def transcripts_of(file: Path, walks: int, seed: int, steps: int) -> Iterator[Transcript]:
    """The original's record of a game: its walkthrough, then random walks."""
    if file.suffix == suites.ALFWORLD_SUFFIX:
        from agentenv_fast.worlds.alfworld.original import transcripts_of as of_scene

        yield from of_scene(file, walks, seed, steps)
        return
    original = Original(file)
    try:
        commands = json.loads(file.read_bytes()).get("metadata", {}).get("walkthrough") or []
        if commands:
            yield record(original, follow(commands), kind="walkthrough", limit=len(commands))
        odd = Refused(file)
        for walk in range(walks):
            rng = random.Random(f"{seed}/{file.name}/{walk}")
            if walk % 2:
                yield record(original, wander(rng, odd), kind="refused", limit=steps)
            else:
                yield record(original, wander(rng), kind="random", limit=steps)
    finally:
        original.close()


class Refused:
    """Makes commands that the original mostly refuses, in words of one game.

    Left out is what the parser of typed commands calls unknown (docs/worlds_textworld.md): names that share a word
    with another thing are used only while the thing is in sight, and never if another's name holds all their words.
    """

    ONE = ("take", "open", "close", "drop", "eat", "examine", "drink")
    TWO = (("put", "on"), ("insert", "into"), ("lock", "with"), ("unlock", "with"), ("take", "from"))
    COOKING = (("slice", "with"), ("dice", "with"), ("chop", "with"), ("cook", "with"))
    PLAIN = (
        "wait",
        "z",
        "",
        "xyzzy",
        "dance",
        "take all",
        "jump",
        "go",
        "prepare meal",
        "x me",
        "  LOOK ",
        "i",
        "l",
    )

    def __init__(self, file: Path) -> None:
        extra = suites.load(file).extra(0)
        names = [name.lower() for name, _ in extra["typed_entities"]]
        others = [n.lower() for n, kind in extra["names"].values() if kind == "r"]
        words = {n: {w[:9] for w in n.split()} for n in [*names, *others]}
        self.known = [n for n in names if not any(o != n and words[n] <= words[o] for o in words)]
        self.unique = {n for n in self.known if not any(o != n and words[n] & words[o] for o in words)}
        self.cooking = any(t.startswith("cook ") for t in extra["command_templates"])

    def __call__(self, rng: random.Random, shown: Shown) -> str:
        kind = rng.random()
        if kind < 0.15:
            plain = [c for c in self.PLAIN if self.cooking or c != "prepare meal"]
            return rng.choice(plain)
        if kind < 0.3:
            return "go " + rng.choice(("north", "south", "east", "west"))
        if kind < 0.65:
            return f"{rng.choice(self.ONE)} {self.name(rng, shown)}"
        verb, preposition = rng.choice(self.TWO + (self.COOKING if self.cooking else ()))
        return f"{verb} {self.name(rng, shown)} {preposition} {self.name(rng, shown)}"

    def name(self, rng: random.Random, shown: Shown) -> str:
        there = " / ".join(shown.admissible).lower() + " "
        seen = [n for n in self.known if any(f" {n}{end}" in there for end in (" ", " /"))]
        usable = [n for n in self.known if n in self.unique] + seen * 3
        return rng.choice(usable or ["xyzzy"])


# -- replay -----------------------------------------------------------------------------------------------------------
def replay(transcripts: Sequence[Transcript], unanswered: list[str] | None = None) -> list[Difference]:
    """Steps our engine through transcripts, one row each, in every text mode; → the first difference of each.

    A command that was not listed and that our engine leaves unanswered ends its walk; it is added to `unanswered`.
    """
    from agentenv_fast.envs.vec_env import make

    files = list(dict.fromkeys(t.path for t in transcripts))
    suite = suites.load(files)
    games = np.array([files.index(t.path) for t in transcripts], np.int32)
    found: dict[int, Difference] = {}
    unknown: list[str] = []
    for mode in MODES:
        env = make(
            suite,
            num_envs=len(transcripts),
            seed=0,
            text_mode=mode,
            tokens=None,
            autoreset="disabled",
            max_episode_steps=MAX_STEPS,
            num_threads=1,
        )
        with env:
            unknown = _replay_mode(env, transcripts, games, mode, found)
    if unanswered is not None:
        unanswered += unknown
    return [found[i] for i in sorted(found)]


def _replay_mode(
    env, transcripts: Sequence[Transcript], games: np.ndarray, mode: str, found: dict[int, Difference]
) -> list[str]:
    unanswered: dict[int, str] = {}
    env.reset(options={"game": games})
    rows = [i for i in range(len(transcripts)) if i not in found]
    for step in range(max(len(t.steps) for t in transcripts)):
        rows = [
            i for i in rows if step < len(transcripts[i].steps) and i not in found and i not in unanswered
        ]
        if not rows:
            break
        info, terminated = None, np.zeros(len(rows), bool)
        if step:
            commands = [transcripts[i].steps[step].command or "" for i in rows]
            _, _, terminated, _, info = env.step(commands, rows=np.array(rows, np.int32))
        texts = env.get_state(np.array(rows, np.int32))
        lists = env.get_available_actions(np.array(rows, np.int32))
        for k, i in enumerate(rows):
            want = transcripts[i].steps[step]
            unknown = info is not None and info["status"][k] == Status.UNKNOWN_COMMAND
            if unknown and want.command not in transcripts[i].steps[step - 1].admissible:
                unanswered[i] = want.command or ""
                continue
            difference = _compare(mode, want, texts[k], lists[k], info, terminated, k)
            if difference is not None:
                done = [s.command for s in transcripts[i].steps[1 : step + 1]]
                found[i] = Difference(transcripts[i].path, *difference, [c for c in done if c is not None])
    return list(unanswered.values())


def _compare(mode: str, want: Shown, text: str, admissible: list[str], info, terminated, k: int):
    if text != want.text[mode]:
        return f"text ({mode})", text, want.text[mode]
    if admissible != want.admissible:
        return "admissible commands", admissible, want.admissible
    if info is None:
        return None
    for name, got, wanted in (
        ("score", int(info["score"][k]), want.score),
        ("won", bool(info["won"][k]), want.won),
        ("lost", bool(info["lost"][k]), want.lost),
        ("done", bool(terminated[k]), want.won or want.lost),
        ("moves", int(info["moves"][k]), want.moves),
    ):
        if got != wanted:
            return name, got, wanted
    return None
