"""The contract, held to every suite that has an id, to TextWorld games from files and to the toy, in every mode."""

import functools
import inspect
from pathlib import Path

import numpy as np
import pytest

import agentenv_fast as ae
from agentenv_fast.errors import ConfigError
from tests.probe_envs import two_rooms_compiled

GAMES = Path(__file__).resolve().parents[1] / "examples/games"
SUITES = {
    "two rooms": two_rooms_compiled.suite,
    "textworld": lambda: ae.load(GAMES / "*.json"),
    **{
        f"{entry['id']} {level}": lambda id=entry["id"], level=level: ae.suite(id, size=24, level=level)
        for entry in ae.suites()
        if entry["origin"] == "built in"
        for level in entry["levels"]
    },
}
IN_EVERY_MODE = [name for name in SUITES if " " not in name or name.endswith(("rooms", "easy"))]
OPTIONS = [
    {"admissible": "bitset"}, {"admissible": None}, {"actions": "command"}, {"text": False}, {"tokens": None},
    {"copy": False}, {"strict": True}, {"group_size": 3}, {"game_order": "sequential"}, {"game_order": "sample"},
    {"text_mode": "raw"}, {"text_mode": "extra"}, {"max_episode_steps": 2}, {"num_threads": 3},
    {"max_admissible": 3}, {"max_text": 40}, {"max_tokens": 7}, {"infos": ["objective", "admissible_commands"]},
    {"reward": ae.RewardSpec(score=0.5, win=2, loss=-2, step=-0.01, invalid=-0.1)},
]  # fmt: skip


@pytest.fixture(scope="module")
def suites():
    return functools.cache(lambda name: SUITES[name]())


def factory(suite, **options):
    return lambda num_envs=6, **overrides: ae.make(suite, num_envs, **{**options, **overrides})


def skipped(report):
    """Names; without fork(2), which is skipped where another test of this process has loaded JAX."""
    return {check.name for check in report.of("skipped")} - {"fork_of_the_process"}


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_keeps_the_contract(suites, name):
    assert skipped(ae.check_env(factory(suites(name)))) == set()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["next_step", "disabled"])
@pytest.mark.parametrize("name", IN_EVERY_MODE)
def test_it_is_kept_in_the_other_autoreset_modes(suites, name, mode):
    assert skipped(ae.check_env(factory(suites(name), autoreset=mode))) == set()


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_is_kept_with_every_option(suites, options):
    report = ae.check_env(factory(suites("textworld"), **options))
    allowed = {
        "text": {"text_is_the_state", "tokens_are_the_text"},
        "tokens": {"token_commands", "tokens_are_the_text"},
        "game_order": {"seeds_matter"},
        "group_size": {"seeds_do_not_depend_on_n"},
    }
    assert skipped(report) <= allowed.get(next(iter(options)), set())


def test_an_env_of_ae_make_is_its_own_factory(suites):
    report = ae.check_env(ae.make(suites("two rooms"), num_envs=4, seed=1))
    assert skipped(report) == set()


def test_widths_that_cut_say_so_in_overflow(suites):
    suite = suites("textworld")
    full = ae.make(suite, 8, seed=0)
    for option, part, bit in (
        ("max_text", "text", 1),
        ("max_tokens", "tokens", 2),
        ("max_admissible", "admissible", 4),
    ):
        narrow = ae.make(suite, 8, seed=0, **{option: 2})
        got, info = narrow.reset()
        want, _ = full.reset(seed=0)
        assert got[part].shape == (8, 2)
        np.testing.assert_array_equal(got[part], want[part][:, :2])
        count = {"text": "text_size", "tokens": "token_count", "admissible": "admissible_count"}[part]
        np.testing.assert_array_equal(info["overflow"], np.where(want[count] > 2, bit, 0))
        assert got[count].max() <= 2


BAD_KEYWORDS = {
    "num_envs": [0, -1, 1.5, "4", True, None, 2**40],
    "seed": [-1, 2**64, 1.5, "7"],
    "num_threads": [-1, 1.5, "2", None, 2**40],
    "max_episode_steps": [0, -1, 2.5, "9", True, 2**40],
    "autoreset": ["SAME_STEP", None, 1, "always"],
    "text": [1, "yes", None],
    "text_mode": ["feedback", None],
    "tokens": ["letters", 3, True, "/no/such/tokenizer.json"],
    "infos": [["colour"], [3], 7],
    "reward": ["score", 1.0, {}],
    "admissible": ["mask", True, 0],
    "actions": ["text", None, 0],
    "game_order": ["random", None],
    "group_size": [0, -1, 1.5, 5, True],
    "strict": [1, "no", None],
    "copy": [0, "no", None],
    "device": ["cuda", "cuda:0", None, 0],
    "max_admissible": [0, -1, 1.5, True],
    "max_text": [0, -1, "64", True],
    "max_tokens": [0, -1, 2.5, True],
}


@pytest.mark.parametrize(
    ("keyword", "value"), [(k, v) for k, values in BAD_KEYWORDS.items() for v in values], ids=str
)
def test_a_keyword_is_honoured_or_refused_by_name(suites, keyword, value):
    suite = suites("two rooms")
    with pytest.raises(
        ae.errors.AgentEnvError, match=keyword if not str(value).startswith("/") else "tokenizer"
    ):
        ae.make(suite, **{"num_envs": 4, keyword: value})


def test_a_keyword_that_does_not_exist_is_refused(suites):
    with pytest.raises(TypeError, match="colour"):
        ae.make(suites("two rooms"), colour="red")


def test_every_keyword_of_make_has_been_tried():
    assert set(inspect.signature(ae.make).parameters) - {"suite"} == BAD_KEYWORDS.keys()


def test_what_cannot_fit_is_refused_with_the_largest_array_and_the_way_out(suites):
    with pytest.raises(
        ConfigError, match=r"num_envs=2000000000 needs .* GiB.*largest array is \w+ .*shrink it with"
    ):
        ae.make(suites("textworld"), num_envs=2 * 10**9)
