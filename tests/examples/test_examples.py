"""The examples run, are short, and do what they say."""

import importlib.util
from pathlib import Path

import pytest

import agentenv_fast as ae
from agentenv_fast.envs import registry

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def load(name: str):
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    monkeypatch.chdir(EXAMPLES.parent)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_has_less_than_sixty_lines_and_a_test(path):
    assert len(path.read_text().splitlines()) < 60
    assert f'"{path.stem}"' in Path(__file__).read_text()


def test_a_random_agent_wins_some_games_and_not_all(capsys):
    assert 0.05 < load("random_agent").main(num_envs=256, steps=120) < 0.95
    assert "won by chance" in capsys.readouterr().out


def test_a_scan_plays_whole_episodes(capsys):
    pytest.importorskip("jax")
    if ae.xla.why_not():
        pytest.skip(ae.xla.why_not())
    assert 0.01 < load("scan_random").main(num_envs=256, steps=120) < 0.95
    assert "won by chance" in capsys.readouterr().out


def test_search_finds_a_plan_as_short_as_the_walkthrough():
    game = "examples/games/coin-11.json"
    suite = ae.load(game)
    plan = load("search_with_forks").solve(game)
    assert len(plan) <= len(suite.game(0).walkthrough)
    env = ae.make(suite, 1, autoreset="disabled")
    env.reset()
    for command in plan:
        _, _, terminated, _, info = env.step([command])
    assert terminated[0] and info["won"][0]


def test_exploring_alone_wins_a_share_of_the_games():
    assert 0.1 < load("count_novelty").main(games=16, budget=300) <= 1.0


def test_the_gymnasium_loop_counts_episodes(capsys):
    pytest.importorskip("gymnasium")
    assert load("gymnasium_loop").main(num_envs=16, steps=120) > 0
    assert "episodes, mean return" in capsys.readouterr().out


def test_typed_commands_are_answered_or_marked(capsys):
    status = load("typed_commands").main()
    assert [number.name for number in status] == ["OK", "OK", "OK", "UNKNOWN_COMMAND"]
    assert "1 of 4 commands were not known" in capsys.readouterr().out


def test_a_suite_of_ones_own_has_an_id_and_keeps_the_contract(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    suite = load("my_suite").rooms(prefix="coin")
    assert suite.names == ae.suite("rooms-v0", prefix="coin").names == ["coin-11", "coin-12", "coin-13"]
    assert ae.make("rooms-v0", 2).num_envs == 2 and len(ae.suite("rooms-v0", size=2)) == 2
    assert not ae.check_env(lambda **k: ae.make(suite, **k)).of("failed")


@pytest.mark.slow
def test_training_from_python_leaves_a_run(tmp_path):
    pytest.importorskip("jax")
    results = load("train_and_evaluate").main(tmp_path / "run", total_steps=4096)
    assert results["oracle_success"] == 1.0 and (tmp_path / "run" / "results.json").is_file()


def test_every_sample_game_is_small_and_loads():
    games = sorted((EXAMPLES / "games").glob("*.json"))
    assert len(games) == 7 and all(game.stat().st_size <= 100_000 for game in games)
    assert len(ae.load(games)) == 7


def test_a_pddl_domain_is_searched_and_won(capsys):
    plan = load("pddl_planning").main()
    assert len(plan) == 11 and plan[0] == "go to the kitchen"
    assert "The guests raise their cups." in capsys.readouterr().out
