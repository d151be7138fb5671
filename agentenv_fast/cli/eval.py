"""`agentenv-fast eval`: play each listed game exactly once and report success with its interval."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from agentenv_fast.cli.output import closing, note, show, show_record, to_json, wants_json
from agentenv_fast.cli.suites import HELP, is_path, open_suite
from agentenv_fast.cli.train import need_train
from agentenv_fast.errors import ConfigError

POLICIES = ("greedy", "sampled", "random", "oracle")
_GAME_ROWS = 20  # of the table on a terminal; the JSON has all


def evaluate(
    run: Annotated[Path, typer.Argument(help="A run folder, as train leaves it.")],
    suite: Annotated[list[str] | None, typer.Option(help=f"Other games than the run's. {HELP}")] = None,
    split: Annotated[
        str | None, typer.Option(help="Which games; by default test, or all of --suite files.")
    ] = None,
    episodes: Annotated[
        int | None, typer.Option(min=1, help="Games to play, each once; default: 200, or all files.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option(help=f"{', '.join(POLICIES)}; default: as the run was tested.")
    ] = None,
    checkpoint: Annotated[str, typer.Option(help="best, latest or an env step.")] = "best",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws of sampled and random.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Also write the whole report to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON also on a terminal.")] = False,
) -> None:
    """Success, return and steps against the oracle's, by game, each with its 95 % interval."""
    if policy not in (None, *POLICIES):
        raise ConfigError(f"--policy {policy}: want one of {', '.join(POLICIES)}")
    need_train()
    report = _report(run, suite, split, episodes, policy, checkpoint, seed)
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(to_json(report) + "\n")
    if wants_json(as_json):
        print(to_json(report))
    else:
        _print(report)
    closing(f"agentenv-fast play --policy {run}", artefacts=str(out) if out else None)


def _report(
    folder: Path,
    names: list[str] | None,
    split: str | None,
    episodes: int | None,
    policy: str | None,
    checkpoint: str,
    seed: int,
) -> dict[str, Any]:
    from agentenv_fast import evaluation
    from agentenv_fast.train.config import Config

    run = evaluation.load_run(folder, checkpoint=checkpoint)
    config = Config.model_validate(run.config)
    games = (
        _other_games(config, names, split, episodes) if names else _own_games(folder, config, split, episodes)
    )
    policy = policy or config.eval.mode
    agent: Any = {"random": evaluation.RandomAgent, "oracle": evaluation.OracleAgent}.get(
        policy, lambda: None
    )()
    agent = agent or run.agent(greedy=policy == "greedy")
    began = time.perf_counter()
    report = evaluation.evaluate(
        agent,
        games,
        episodes=min(episodes, len(games)) if episodes else None,
        num_envs=config.eval.num_envs,
        seed=seed,
        split=split or ("all" if names else config.eval.test_split),
        make=run.make,
        max_episode_steps=config.env.max_episode_steps,
    )
    about = {"run": str(folder), "checkpoint": run.env_step, "suite": games.id, "suite_hash": games.hash}
    return {**about, **report, "eval_s": time.perf_counter() - began}


def _other_games(config: Any, names: list[str], split: str | None, episodes: int | None) -> Any:
    """The games of --suite: all files, or 200 of an id's test split."""
    if is_path(names):
        return open_suite(names, split=split, size=episodes)
    level, seed = config.suite.level, config.suite.seed
    return open_suite(names, split=split or "test", size=episodes or 200, level=level, seed=seed)


def _own_games(folder: Path, config: Any, split: str | None, episodes: int | None) -> Any:
    """The games that the run was tested on; with --split or more --episodes, others of its suite."""
    from agentenv_fast.train.worlds import SuiteWorlds
    from agentenv_fast.train.worlds import open_suite as open_split

    if split is None and (episodes or 0) <= config.eval.test_episodes:
        games = SuiteWorlds(config, folder / "codec.json").suite("test")
    else:
        size = episodes or config.eval.test_episodes
        games = open_split(config.suite, split or config.eval.test_split, max(1, size))
    if games is None:
        raise ConfigError(
            f"{folder}: no test games; name some: agentenv-fast eval {folder} --suite 'games/*.json'"
        )
    return games


def _print(report: dict[str, Any]) -> None:
    summary = {key: value for key, value in report.items() if key != "by_game"}
    show_record(summary, title=f"{report['policy']} on {report['suite']}, {report['split']}")
    games = sorted(report["by_game"], key=lambda game: (game["won"], -game["steps"]))
    show(games[:_GAME_ROWS], title="by game, the failed and the slow first")
    if len(games) > _GAME_ROWS:
        note(f"{len(games) - _GAME_ROWS} more games; --json has all")
