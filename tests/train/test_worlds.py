"""Which games are trained on and which are held out, from built-in ids and from files."""

from pathlib import Path

import pytest

pytest.importorskip("yaml")

from agentenv_fast.errors import ConfigError, SuiteError
from agentenv_fast.train import load_config
from agentenv_fast.train.worlds import SuiteWorlds, is_files

GAMES = Path(__file__).resolve().parents[2] / "examples" / "games"


def worlds(suite, *overrides, **options):
    return SuiteWorlds(load_config(None, overrides, suite=suite, **options))


def hashes(suite):
    return {game.hash for game in suite}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Forty compiled games of the built-in family: files whose names say nothing."""
    import agentenv_fast as ae

    folder = tmp_path_factory.mktemp("games")
    suite = ae.suite("keyquest-v0", size=40, level="easy")
    for i in range(len(suite)):
        (folder / f"game-{i:02d}.aegame").write_bytes(suite.bank.bytes(i))
    return str(folder / "*.aegame")


def test_the_splits_of_a_built_in_suite_never_meet():
    made = worlds("keyquest-v0", "suite.size=64", "eval.episodes=32", "eval.test_episodes=16")
    parts = [made.suite(role) for role in ("train", "valid", "test")]
    assert [len(part) for part in parts] == [64, 32, 16]
    assert not hashes(parts[0]) & hashes(parts[1]) and not hashes(parts[1]) & hashes(parts[2])
    assert not hashes(parts[0]) & hashes(parts[2])


def test_files_are_split_by_content_and_some_training_games_validate(files):
    made = worlds(files)
    train, valid, test = (made.suite(role) for role in ("train", "valid", "test"))
    assert len(train) + len(valid) + len(test) == 40 and min(len(valid), len(test)) > 0
    assert (
        not hashes(train) & hashes(valid)
        and not hashes(valid) & hashes(test)
        and not hashes(train) & hashes(test)
    )


def test_all_listed_files_can_be_trained_on_and_others_evaluated(files):
    made = worlds(files, "suite.split=all", eval_suite=[str(GAMES / "simple.json")])
    assert len(made.suite("train")) == 40
    assert len(made.suite("valid")) == len(made.suite("test")) == 1


def test_validation_and_test_can_be_other_files_each(files):
    made = SuiteWorlds(
        load_config(
            {"suite": {"id": files, "split": "all"}, "eval": {"suite": {"test": str(GAMES / "simple.json")}}}
        )
    )
    assert made.suite("valid") is None and made.suite("test").names == ["simple"]
    assert len(made.suite("train")) == 40


def test_a_single_file_is_trained_on_with_nothing_held_out():
    made = worlds([str(GAMES / "simple.json")])
    assert len(made.suite("train")) == 1 and made.suite("valid") is None and made.suite("test") is None


def test_held_out_games_are_read_with_the_training_words(files):
    made = worlds(files)
    env = made.make(made.suite("test"), num_envs=2)
    assert env.codec.hash == made.codec.hash


def test_sections_of_the_text_can_be_kept_from_the_policy():
    game = [str(GAMES / "simple.json")]
    seen = {}
    for name, overrides in (("all", []), ("some", ["env.sections=[body, score, end]"])):
        made = worlds(game, *overrides)
        env = made.make(made.suite("train"), num_envs=1, seed=0)
        seen[name] = env.decode(env.reset()[0])[0]
    assert len(seen["some"]) < len(seen["all"])
    assert seen["some"] != seen["all"] and seen["some"] in seen["all"]


def test_what_is_a_file_and_what_an_id():
    assert is_files("games/*.json") and is_files(["a.json", "b.aegame"]) and not is_files("keyquest-v0")


@pytest.mark.parametrize(
    ("suite", "error"), [("nosuch-v0", SuiteError), (["keyquest-v0", "coinhunt-v0"], ConfigError)]
)
def test_a_suite_that_does_not_exist_is_an_error(suite, error):
    with pytest.raises(error):
        worlds(suite)
