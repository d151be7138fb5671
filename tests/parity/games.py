"""Games of every family from textworld's own generator, with fresh seeds; kept per (family, flags, seed)."""

from __future__ import annotations

import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Flags of tw-make; {a-b} is drawn from the seed.
FAMILIES = (
    "tw-simple --rewards dense --goal detailed",
    "custom --world-size {3-9} --nb-objects {8-28} --quest-length {1-5} --theme house",
    "tw-coin_collector --level {5-30}",
    "tw-cooking --recipe {1-3} --take {1-3} --go 6 --open --cook --cut",
    "tw-treasure_hunter --level {1-28}",
    "tw-cooking --recipe {2-5} --take {1-2} --go 9 --open --cook --cut --drop",
    "custom --world-size {2-6} --nb-objects {5-15} --quest-max-length 3 --quest-max-breadth 3 --theme basic",
    "tw-simple --rewards balanced --goal none --test",
    "tw-cooking --recipe {1-5} --take 1 --go 1 --cook",
    "custom --world-size {10-20} --nb-objects {30-50} --quest-length {4-8} --theme house --include-adj",
    "tw-coin_collector --level {100-150}",
    "tw-cooking --recipe {1-2} --take 1 --go 12 --cut --split train",
    "custom --world-size 5 --nb-objects 20 --nb-parallel-quests 2 --entity-numbering --blend-descriptions",
    "tw-simple --rewards sparse --goal brief",
)


def how_many(usual: int) -> int:
    """Games to make: AE_PARITY_GAMES, else `usual`."""
    return int(os.environ.get("AE_PARITY_GAMES") or usual)


def base_seed() -> int:
    """AE_PARITY_SEED, else a fresh one. The tests print it."""
    given = os.environ.get("AE_PARITY_SEED")
    return int(given) if given else secrets.randbits(24)


def make(count: int, seed: int) -> list[Path]:
    """`count` games, the families in turn → their .json files, the .z8 beside them."""
    return [one(FAMILIES[i % len(FAMILIES)], seed + i) for i in range(count)]


def one(flags: str, seed: int, tries: int = 5) -> Path:
    """One game; where tw-make itself fails for a seed (it does for some flags), the next seed is taken."""
    arguments = drawn(flags, random.Random(f"{flags}/{seed}"))
    name = "-".join(a.strip("-") for a in arguments) + f"-{seed}"
    folder = Path(tempfile.gettempdir()) / f"agentenv-fast-parity-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    game = folder / f"{name}.json"
    if game.is_file() and game.with_suffix(".z8").is_file():
        return game
    error = _generate(arguments, seed, game)
    if error is None:
        return game
    if tries == 1:
        raise RuntimeError(error)
    return one(flags, seed + 100_000, tries - 1)


def drawn(flags: str, rng: random.Random) -> list[str]:
    """The flags with {a-b} replaced; --take never above --recipe."""
    out: list[str] = []
    for word in flags.split():
        if word.startswith("{"):
            low, high = map(int, word[1:-1].split("-"))
            if out[-1] == "--take":
                high = min(high, int(out[out.index("--recipe") + 1]))
            word = str(rng.randint(min(low, high), high))
        out.append(word)
    return out


def _generate(arguments: list[str], seed: int, game: Path) -> str | None:
    """Into a folder of its own, then moved: two test processes may make the same game. → what went wrong, or None."""
    with tempfile.TemporaryDirectory(prefix="agentenv-fast-") as scratch:
        story = Path(scratch) / "game.z8"
        maker = Path(sys.executable).with_name("tw-make")
        command = [
            sys.executable,
            str(maker),
            *arguments,
            "--seed",
            str(seed),
            "--output",
            str(story),
            "-f",
            "--silent",
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=90, check=False, cwd=scratch
            )
        except subprocess.TimeoutExpired:
            return f"tw-make {' '.join(arguments)} --seed {seed}: took more than 90 s"
        if done.returncode or not story.is_file():
            return f"tw-make {' '.join(arguments)} --seed {seed}: {done.stderr[-400:]}"
        shutil.move(story, game.with_suffix(".z8"))
        shutil.move(story.with_suffix(".json"), game)
    return None
