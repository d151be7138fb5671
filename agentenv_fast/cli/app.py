"""The verbs, a line each, in the order in which a newcomer meets them."""

from __future__ import annotations

import typer

from agentenv_fast.cli import bench, compile, doctor, envs, eval, play, plot, train, verify

app = typer.Typer(
    help="Text worlds at native speed, and a learner that keeps up with them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: agentenv-fast play keyquest-v0",
)
app.command("envs")(envs.envs)
app.command("compile")(compile.compile_games)
app.command("verify")(verify.verify)
app.command("play")(play.play)
app.command("train")(train.train)
app.command("eval")(eval.evaluate)
app.command("plot")(plot.plot)
app.command("bench")(bench.bench)
app.command("doctor")(doctor.doctor)
