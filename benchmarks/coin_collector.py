"""Learning on TextWorld's coin_collector: makes the games, trains each run, keeps their metrics and a table.

    python benchmarks/coin_collector.py                      # level 10, seeds 0 1 2, and the control
    python benchmarks/coin_collector.py --level 110 --seeds 0 --word-dropout 0.5

The policy reads room descriptions and feedback alone: not the objective, which prints the way, nor the status line.
The control (`policy.last_command=false`) does not know what it did, and a room's text does not say where one came from.
Needs the extras `train` and `textworld`. The last line is the table as JSON.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from pathlib import Path

# Env steps. Level 10 tests the last parameters of a fixed budget, level 110 the best on validation games of its own.
STEPS = {10: 400_000, 110: 500_000}
CHOOSE = {10: "last", 110: "best"}
MAX_EPISODE_STEPS = {10: 50, 110: 100}
DISCOUNT = {10: 0.95, 110: 0.97}


def make_games(
    folder: Path, level: int, train: int = 50, valid: int = 50, test: int = 100
) -> dict[str, float]:
    """Writes train-*, valid-* and test-*.json unless they are there; → seconds that each kind took."""
    import textworld
    from textworld.challenges.tw_coin_collector import coin_collector

    folder.mkdir(parents=True, exist_ok=True)
    took = {}
    for split, count, base in (
        ("train", train, 1_000_000),
        ("valid", valid, 3_000_000),
        ("test", test, 2_000_000),
    ):
        began = time.perf_counter()
        for i in range(count):
            path = folder / f"{split}-{i:03d}.json"
            if not path.exists():
                options = textworld.GameOptions()
                options.seeds = base + 1000 * level + i
                game = coin_collector.make({"level": level}, options)
                game.save(str(path.with_suffix(".part")))
                path.with_suffix(".part").rename(path)
        took[split] = time.perf_counter() - began
    return took


def settings(games: Path, level: int, seed: int, control: bool, dropout: float) -> list[str]:
    """The preset `coin_collector`, pointed at the games."""
    found = {
        "suite.id": [f"{games}/train-*.json"],
        "suite.split": "all",
        "eval.suite": {split: f"{games}/{split}-*.json" for split in ("valid", "test")},
        "train.seed": seed,
        "train.total_steps": STEPS[level],
        "env.max_episode_steps": MAX_EPISODE_STEPS[level],
        "policy.last_command": not control,
        "train.word_dropout": dropout,
        "ppo.discount": DISCOUNT[level],
        "eval.choose": CHOOSE[level],
    }
    return [f"{name}={json.dumps(value)}" for name, value in found.items()]


def run(games: Path, level: int, seed: int, control: bool, dropout: float, out: Path, keep: Path) -> dict:
    """Trains one run; copies its metrics, settings and results to `keep`; → its line of the table."""
    from agentenv_fast.train import load_config, train

    config = load_config("coin_collector", settings(games, level, seed, control, dropout))
    kind = "control" if control else "dropout" if dropout else "seed"
    name = f"coin-{level}-{kind}-{seed}"
    shutil.rmtree(out / name, ignore_errors=True)
    result = train(config, out=out / name)
    (keep / name).mkdir(parents=True, exist_ok=True)
    for file in ("metrics.jsonl", "config.yaml", "results.json"):
        shutil.copy(result.folder / file, keep / name / file)
    wanted = ("greedy_success", "greedy_low", "greedy_high", "sampled_success", "sampled_low", "sampled_high")
    line = {"run": name, "level": level, "seed": seed, "control": control, "word_dropout": dropout}
    line |= {
        key: result.results[key] for key in (*wanted, "episodes", "random_success", "env_step", "train_s")
    }
    print(json.dumps(line), flush=True)
    return line


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--level", type=int, default=10, choices=sorted(STEPS))
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument(
        "--control", type=int, nargs="*", default=None, help="seeds of the control; default 0 at level 10"
    )
    parser.add_argument("--word-dropout", type=float, default=0.0, help="see train.word_dropout")
    parser.add_argument("--games", type=Path, default=Path("runs/coin-games"))
    parser.add_argument("--out", type=Path, default=Path("runs"))
    parser.add_argument("--keep", type=Path, default=Path("docs/runs"))
    parser.add_argument("--only-games", action="store_true")
    arguments = parser.parse_args()
    games = arguments.games / f"level-{arguments.level}"
    took = make_games(games, arguments.level)
    print(json.dumps({"games_s": took}), flush=True)
    if arguments.only_games:
        return
    control = arguments.control if arguments.control is not None else [0] if arguments.level == 10 else []
    dropout = arguments.word_dropout
    plan = [(seed, False, dropout) for seed in arguments.seeds] + [(seed, True, dropout) for seed in control]
    table = [run(games, arguments.level, *each, arguments.out, arguments.keep) for each in plan]
    print(json.dumps({"coin_collector": table, "games_s": took}))


if __name__ == "__main__":
    main()
