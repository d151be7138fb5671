"""`agentenv-fast train`: train an agent on a suite; Ctrl-C saves, --resume goes on."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated, Any

import typer

from agentenv_fast.cli import machine
from agentenv_fast.cli.output import closing, note, show_record, to_json, wants_json
from agentenv_fast.cli.panel import make_display
from agentenv_fast.cli.suites import HELP, files_of, is_path, label
from agentenv_fast.errors import ConfigError, DependencyError

# What the table of a finished run shows; results.json has the rest.
_SHOWN = (
    *("split", "episodes", "success", "success_low", "success_high", "greedy_success", "sampled_success"),
    *("random_success", "oracle_success", "return_mean", "steps_mean", "oracle_steps_mean"),
    *("env_step", "best_env_step", "valid_success", "stopped", "train_s"),
)


def train(
    suite: Annotated[list[str] | None, typer.Argument(help=HELP, show_default="keyquest-v0")] = None,
    eval_suite: Annotated[str | None, typer.Option("--eval", help="Other games to test on.")] = None,
    config: Annotated[
        str | None, typer.Option(help="A YAML file or the name of a preset, e.g. demo.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="One setting, section.name=value.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder; by default runs/SUITE-TIME.")] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with this run, from its last checkpoint.")
    ] = None,
) -> None:
    """Train on SUITE, validate along the way, test on held-out games, and leave a run folder."""
    need_train()
    if resume and (suite or eval_suite or config or settings or out):
        raise ConfigError(
            "--resume: a run goes on with its own settings and folder; leave out SUITE and the other options"
        )
    from agentenv_fast.train import train as run_training

    loaded = None if resume else _config(suite, eval_suite, config, settings)
    title = f"training on {label(suite)}" if suite else f"resuming {resume}" if resume else "training"
    display = make_display(title)
    try:
        result = run_training(loaded, out=out, resume=resume, display=display)
    finally:
        display.close()
    _report(result)
    if result.status == "interrupted":
        raise typer.Exit(130)


def _config(
    suite: list[str] | None, eval_suite: str | None, config: str | None, settings: list[str] | None
) -> Any:
    from agentenv_fast.train import load_config

    return load_config(
        config,
        settings or (),
        suite=_id_or_files(suite) if suite else None,
        eval_suite=_id_or_files([eval_suite]) if eval_suite else None,
    )


def _id_or_files(names: list[str]) -> str | list[str]:
    """What `suite.id` takes: an id as it is, or the list of files."""
    if is_path(names):
        return files_of(names)
    if len(names) > 1:
        raise ConfigError(f"SUITE: {' '.join(names)}: want one id, or files only")
    return names[0]


def _report(result: Any) -> None:
    """The results as a table and, last on stdout, as one line of JSON."""
    summary = {"run": str(result.folder), "status": result.status, "env_step": result.env_step}
    summary |= {key: value for key, value in result.results.items() if key != "by_game"}
    if not wants_json(False):
        show_record(
            {key: summary[key] for key in _SHOWN if summary.get(key) is not None}, title=str(result.folder)
        )
    note(result.message)
    if result.status == "finished":
        closing(f"agentenv-fast eval {result.folder}", artefacts=f"{result.folder} (plot draws its curves)")
    print(to_json(summary))


def need_train() -> None:
    """Raises: DependencyError without the extra `train`. Warns if JAX leaves a visible GPU unused."""
    if importlib.util.find_spec("jax") is None or importlib.util.find_spec("flax") is None:
        raise DependencyError("training needs jax and flax: pip install 'agentenv-fast[train]'")
    warning = machine.jax_warning()
    if warning:
        note(f"warning: {warning}")
