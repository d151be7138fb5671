"""What a verb prints, and how it leaves."""

import builtins
import io
import json
import sys

import numpy as np
import pytest
from rich.console import Console

from agentenv_fast import cli
from agentenv_fast.cli import output, panel, plot
from agentenv_fast.errors import CheckpointError, ConfigError


def leave(*argv: str) -> int:
    with pytest.raises(SystemExit) as done:
        cli.main(list(argv))
    return int(done.value.code or 0)


def test_records_are_json_when_piped_and_a_table_on_a_terminal(capsys, monkeypatch):
    rows = [{"id": "a-v0", "games": np.int64(3), "success": float("nan")}]
    output.show(rows)
    assert json.loads(capsys.readouterr().out) == [{"id": "a-v0", "games": 3, "success": None}]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output.show(rows, title="suites")
    shown = capsys.readouterr().out
    assert "a-v0" in shown and "suites" in shown and "{" not in shown


def test_square_brackets_in_a_game_are_text_not_markup(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output.show_record({"text": "a [red]door[/red]"})
    assert "[red]door[/red]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1234567, "1,234,567"),
        (0.12345, "0.123"),
        (12345.6, "12,346"),
        (None, "–"),
        (True, "yes"),
        ([1, 2], "1, 2"),
    ],
)
def test_numbers_are_readable(value, shown):
    assert output.readable(value) == shown


def test_bad_input_is_one_line_on_stderr_and_exit_code_2(capsys, tmp_path):
    assert leave("plot", str(tmp_path)) == 2
    seen = capsys.readouterr()
    assert seen.out == ""
    assert seen.err.startswith(f"error: {tmp_path}/metrics.jsonl: no such file") and seen.err.count("\n") == 1


def test_an_unknown_option_is_exit_code_2(capsys):
    assert leave("doctor", "--nonsense") == 2
    assert "--nonsense" in capsys.readouterr().err


def test_without_the_extra_the_command_names_the_pip_line_and_exits_2(capsys, monkeypatch):
    found = cli.importlib.util.find_spec
    monkeypatch.setattr(
        cli.importlib.util, "find_spec", lambda name: None if name == "typer" else found(name)
    )
    monkeypatch.setattr(builtins, "input", lambda *_: pytest.fail("asked something"))
    assert leave("doctor") == 2
    assert "pip install 'agentenv-fast[cli]'" in capsys.readouterr().err


def test_doctor_says_what_is_active_and_what_to_try_next(capsys):
    assert leave("doctor") == 0
    seen = capsys.readouterr()
    report = json.loads(seen.out)
    assert report["native core"].startswith("active")
    assert {"cpu", "simd", "threads", "cgroup limit", "jax", "cuda"} <= report.keys()
    assert "next: agentenv-fast bench" in seen.err


def write_metrics(folder, lines, tail=""):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + tail)
    return folder


LINES = [
    {"kind": "train", "env_step": 100, "success": 0.1, "return": 0.2},
    {"kind": "eval", "env_step": 200, "success": 0.5, "success_low": 0.4, "success_high": 0.6, "return": 0.7},
    {
        "kind": "final",
        "env_step": 300,
        "success": 0.9,
        "success_low": 0.8,
        "success_high": 0.95,
        "return": 1.0,
    },
]


def test_plot_draws_every_run_and_says_where(capsys, tmp_path):
    runs = [str(write_metrics(tmp_path / name, LINES)) for name in ("a", "b")]
    assert leave("plot", *runs, "--out", str(tmp_path / "out" / "c.png")) == 0
    picture = (tmp_path / "out" / "c.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 10_000
    assert capsys.readouterr().out.strip() == str(tmp_path / "out" / "c.png")


def test_a_cut_last_line_is_left_out_and_a_damaged_one_is_named(tmp_path):
    assert plot.read_metrics(write_metrics(tmp_path / "cut", LINES, tail='{"kind": "tr')) == LINES
    folder = write_metrics(tmp_path / "damaged", [])
    (folder / "metrics.jsonl").write_text('{"a": 1}\n{"b":\n{"c": 3}\n')
    with pytest.raises(CheckpointError, match=r"metrics\.jsonl: line 2 is not JSON"):
        plot.read_metrics(folder)


def test_plot_names_the_metrics_that_exist(tmp_path):
    with pytest.raises(
        ConfigError, match=r"--metric speed: not in .*metrics\.jsonl; there are: env_step, kind, return"
    ):
        plot.plot([write_metrics(tmp_path, LINES)], None, ["speed"])


METRICS = {
    "kind": "train", "env_step": 4096, "total_steps": 8192, "steps_per_s": 12345.6, "success": 0.25,
    "return": None, "policy_loss": -0.01, "env_share": 0.2,
}  # fmt: skip


def test_the_panel_shows_progress_losses_and_held_out_success():
    out = io.StringIO()
    shown = panel.Panel("keyquest-v0", console=Console(file=out, width=110, force_terminal=False))
    shown.update(METRICS)
    shown.update(
        {
            "kind": "eval",
            "env_step": 4096,
            "split": "valid",
            "success": 0.5,
            "success_low": 0.4,
            "success_high": 0.6,
        }
    )
    shown.close()
    text = out.getvalue()
    for wanted in (
        "4,096 / 8,192 env steps",
        "12,346",
        "policy loss",
        "-0.01",
        "0.500 [0.400, 0.600]",
        "valid",
    ):
        assert wanted in text


def test_plain_lines_are_thinned_but_never_lose_an_evaluation(capsys):
    lines = panel.Lines("keyquest-v0", every_s=60)
    for step in range(5):
        lines.update({**METRICS, "env_step": step})
    lines.update({"kind": "final", "env_step": 9, "success": None})
    printed = capsys.readouterr().err.splitlines()
    assert printed[1].startswith("train  step 0/8,192  success 0.250") and "steps_per_s 12,346" in printed[1]
    assert printed[2:] == ["final  step 9  success –"]
