"""The verbs on real games: what they print, what they leave, how they end."""

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import agentenv_fast as ae
from agentenv_fast import cli
from agentenv_fast.cli import measure, play, suites
from agentenv_fast.errors import ConfigError, SuiteError, WorldError

GAMES = Path(__file__).resolve().parents[2] / "examples" / "games"
COIN = str(GAMES / "coin-11.json")


def leave(*argv: str) -> int:
    with pytest.raises(SystemExit) as done:
        cli.main(list(argv))
    return int(done.value.code or 0)


# -- SUITE ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("keyquest-v0", False),
        ("my.module:house-v0", False),
        (COIN, True),
        ("nowhere/*.json", True),
        ("gone.json", True),
    ],
)
def test_a_suite_is_an_id_or_files(name, path):
    assert suites.is_path(name) is path


def test_folders_and_globs_and_lists_of_files_are_suites(tmp_path):
    whole = suites.open_suite([str(GAMES)])
    assert len(whole) == len(list(GAMES.glob("*.json"))) == 7
    assert len(suites.open_suite([str(GAMES / "coin-*.json")], size=2)) == 2
    with pytest.raises(WorldError, match=r"no \.json file in this folder"):
        suites.open_suite([str(tmp_path)])
    with pytest.raises(SuiteError, match="level can be set for built-in suites only"):
        suites.open_suite([COIN], level="easy")
    with pytest.raises(SuiteError, match="want one id, or files only"):
        suites.open_suite(["keyquest-v0", COIN])


# -- play -----------------------------------------------------------------------------------------------------------
def walkthrough() -> list[str]:
    return ae.load(COIN).game(0).walkthrough


def test_a_game_is_played_by_number_and_by_text_and_undone_to_the_byte():
    session = play.Session(ae.load(COIN), seed=0)
    start, text, commands = session.env.row_hash(), session.text, session.commands
    walk = walkthrough()
    assert session.answer(str(commands.index(walk[0]) + 1)) is None
    for command in walk[1:]:
        assert session.answer(command) is None
    assert session.won and session.over and session.reward == 1
    assert "over" in session.answer("look")
    for _ in walk:
        assert session.answer("undo") is None
    assert session.env.row_hash().tolist() == start.tolist() and session.text == text and not session.over
    assert session.answer("undo") == "nothing to undo"


def test_play_answers_bad_lines_without_a_step():
    session = play.Session(ae.load(COIN), seed=0)
    before = session.env.row_hash()
    assert (
        "1 to" in session.answer("999")
        and "number" in session.answer("")
        and "undo" in session.answer("help")
    )
    assert session.env.row_hash().tolist() == before.tolist()


def test_an_unknown_command_is_said_to_be_one():
    session = play.Session(ae.load(COIN), seed=0)
    session.answer("sing a song")
    assert session.status.name in ("UNKNOWN_COMMAND", "OK") and not session.over


def test_play_reads_commands_from_a_pipe(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(walkthrough()) + "\nquit\n"))
    assert leave("play", COIN) == 0
    seen = capsys.readouterr()
    assert "won" in seen.out and "1  " in seen.out
    assert "next: agentenv-fast train" in seen.err


def test_a_game_that_is_not_there_is_named(capsys):
    assert leave("play", COIN, "--game", "3") == 2
    assert "has games 0 to 0" in capsys.readouterr().err


def in_terminal(*argv: str, **environment: str) -> str:
    """What a person would see: the command run with a terminal of its own."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "agentenv_fast.cli", *argv],
        stdin=follower, stdout=follower, stderr=follower, env={**os.environ, "TERM": "xterm-256color", **environment},
    )  # fmt: skip
    os.close(follower)
    seen = b""
    while True:
        ready, _, _ = select.select([leader], [], [], 60)
        try:
            data = os.read(leader, 65536) if ready else b""
        except OSError:  # the other end has gone
            break
        if not data:
            break
        seen += data
    process.wait(30)
    os.close(leader)
    return seen.decode("utf-8", "replace")


@pytest.mark.slow
def test_tables_and_colours_on_a_terminal_and_no_colours_with_no_color():
    coloured = in_terminal("envs")
    assert "keyquest-v0" in coloured and "{" not in coloured
    plain = in_terminal("envs", NO_COLOR="1")
    assert "keyquest-v0" in plain
    assert not re.findall(r"\x1b\[[0-9;]*3[0-9]m", plain)


# -- the rest -------------------------------------------------------------------------------------------------------
def test_envs_lists_the_built_in_families(capsys):
    assert leave("envs") == 0
    listed = {entry["id"] for entry in json.loads(capsys.readouterr().out)}
    assert {"keyquest-v0", "coinhunt-v0"} <= listed


def test_compile_reports_each_game_and_writes_compiled_files(capsys, tmp_path):
    assert leave("compile", str(GAMES), "--out", str(tmp_path)) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 7 and all(row["row_bytes"] <= 512 and row["commands"] > 3 for row in rows)
    compiled = ae.load(tmp_path / "coin-11.aegame")
    assert compiled.commands == ae.load(COIN).commands


def test_compile_goes_on_after_a_bad_file_and_exits_2(capsys, tmp_path):
    (tmp_path / "bad.json").write_text("{")
    assert leave("compile", str(tmp_path / "bad.json"), COIN) == 2
    seen = capsys.readouterr()
    assert len(json.loads(seen.out)) == 1 and str(tmp_path / "bad.json") in seen.err


def test_bench_ends_with_one_line_of_json(capsys, tmp_path):
    out = tmp_path / "bench.json"
    options = ("--sizes", "1,64", "--seconds", "0.01", "--runs", "2", "--out", str(out))
    assert leave("bench", COIN, *options) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert json.loads(out.read_text()) == result
    layers = {(r["layer"], r["num_envs"], r["copy"]) for r in result["steps"] if "steps_per_second" in r}
    assert layers == {(layer, n, copy) for layer in measure.LAYERS for n in (1, 64) for copy in (True, False)}
    assert all(r["low"] <= r["steps_per_second"] <= r["high"] for r in result["steps"])
    assert result["row_bytes"] <= 512 and result["machine"]["cores"] >= 1
    assert result["resets"]["resets_per_second"] > 0 and result["forks"]["forks_per_second"] > 0


@pytest.mark.parametrize(
    "option", [("--sizes", "0"), ("--sizes", "a"), ("--layers", "smell"), ("--vs", "nethack")]
)
def test_bench_refuses_what_it_cannot_measure(option):
    assert leave("bench", COIN, *option) == 2


def test_vs_textworld_needs_the_original_file(tmp_path):
    copied = tmp_path / "coin.json"
    copied.write_bytes(Path(COIN).read_bytes())
    with pytest.raises(WorldError, match=r"plays the \.z8 beside the \.json"):
        from agentenv_fast.cli import bench

        bench._story([str(copied)])


def test_a_replayed_walk_steps_where_the_recorded_one_did():
    """The figure for "logic" is of the same transitions as the others: every action is admissible."""
    suite = ae.load(COIN)
    bare = ae.make(suite, 8, seed=0, **measure.LAYERS["logic"])
    walk = measure.ReplayedWalk(bare, ae.make(suite, 8, seed=0, **measure.LAYERS["admissible"]), seed=0)
    bare.reset(seed=0)
    for action in walk._actions[:50]:
        assert not bare.step(action)[4]["status"].any()


def test_a_random_walk_draws_admissible_actions_only():
    env = ae.make(str(GAMES / "*.json"), 64, seed=3)
    walk = measure.RandomWalk(env, seed=3)
    for _ in range(100):
        action = walk.draw()
        assert (action >= 0).all() and (action < walk.obs["admissible_count"]).all()
        walk.step()
    assert not np.isnan(walk.rate(0.01))


def test_bad_options_of_train_and_eval_are_one_line(capsys, tmp_path):
    assert leave("train", "--config", str(tmp_path / "no.yaml")) == 2
    assert "no.yaml" in capsys.readouterr().err
    assert leave("train", "--set", "train.total_steps") == 2
    assert leave("train", "--resume", str(tmp_path / "nothing")) == 2
    assert leave("eval", str(tmp_path / "nothing")) == 2
    assert leave("eval", str(tmp_path), "--policy", "clever") == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err and "want one of greedy, sampled, random, oracle" in err
    with pytest.raises(ConfigError, match="leave out SUITE"):
        from agentenv_fast.cli.train import train

        train(["keyquest-v0"], None, None, None, None, tmp_path)
