"""The built-in families: solvable, reproducible, split by content, one vocabulary, hard for a random policy."""

import numpy as np
import pytest

import agentenv_fast as ae
from agentenv_fast.errors import ConfigError, SuiteError
from agentenv_fast.native import _core
from agentenv_fast.worlds.tasks import LEVELS, SPLITS

FAMILIES = [(family, level) for family, levels in LEVELS.items() for level in levels]


def oracle_wins(suite):
    """→ (won bool[G], length int[G]) of each game's own walkthrough, every game once."""
    walks = [game.walkthrough for game in suite]
    env = ae.make(
        suite,
        num_envs=len(suite),
        game_order="sequential",
        autoreset="disabled",
        tokens=None,
        text=False,
        strict=True,
    )
    _, info = env.reset(seed=0)
    assert (info["game"] == np.arange(len(suite))).all()
    alive = np.arange(len(suite), dtype=np.int32)
    for step in range(max(map(len, walks))):
        alive = np.array([g for g in alive if step < len(walks[g])], dtype=np.int32)
        env.step(
            [walks[g][step] for g in alive], rows=alive
        )  # strict: a command that is not admissible raises
    _, info = env.observe()
    return info["won"], np.array([len(w) for w in walks])


@pytest.mark.parametrize(("family", "level"), FAMILIES)
def test_the_oracle_wins_every_game(family, level):
    won, length = oracle_wins(ae.suite(family, size=60, seed=11, level=level))
    assert won.all() and (length >= 2).all()
    if level == "long":
        assert (length >= 30).all()


@pytest.mark.long
@pytest.mark.parametrize(("family", "level"), FAMILIES)
def test_the_oracle_wins_ten_thousand_games(family, level):
    for seed in range(10):
        won, length = oracle_wins(ae.suite(family, size=1000, seed=1000 + seed, level=level))
        assert won.all() and (length >= 2).all()


@pytest.mark.parametrize(("family", "level"), FAMILIES)
def test_a_smaller_suite_is_a_prefix_and_a_seed_gives_the_same_bytes_on_any_number_of_threads(family, level):
    small, large = ae.suite(family, size=20, level=level), ae.suite(family, size=50, level=level)
    assert small.names == large.names[:20]
    assert [small.bank.hash(i) for i in range(20)] == [large.bank.hash(i) for i in range(20)]
    one, two = (_core.generate(family, LEVELS[family][level], "train", 20, 0, threads) for threads in (1, 2))
    assert one == two == [small.bank.bytes(i) for i in range(20)]
    assert ae.suite(family, size=20, level=level, seed=1).hash != small.hash


@pytest.mark.parametrize("family", LEVELS)
def test_splits_never_share_a_layout(family):
    layouts = {}
    for split in SPLITS:
        suite = ae.suite(family, split=split, size=80, level="medium")
        # the texts and commands of a game without its name: what a policy could recognise
        layouts[split] = {
            tuple(suite.program(i).fluents + suite.program(i).static_facts) + tuple(g.walkthrough)
            for i, g in enumerate(suite)
        }
    assert not layouts["train"] & layouts["test"] and not layouts["train"] & layouts["valid"]


@pytest.mark.parametrize(("family", "level"), FAMILIES)
def test_one_vocabulary_serves_every_split_and_seed(family, level):
    suites = [
        ae.suite(family, split=split, size=30, seed=seed, level=level) for split in SPLITS for seed in (0, 77)
    ]
    assert len({s.codec.hash for s in suites}) == 1
    for suite in suites:
        assert (suite.command_tokens != 1).all()
        env = ae.make(suite, num_envs=30, game_order="sequential")
        obs, _ = env.reset(seed=0)
        rng = np.random.default_rng(0)
        for _ in range(30):
            assert (obs["tokens"] != 1).all()
            ids = [suite.codec.encode(text) for text in env.get_state()]
            assert all(
                (row[:n] == want).all() and n == len(want)
                for row, n, want in zip(obs["tokens"], obs["token_count"], ids, strict=True)
            )
            obs, *_ = env.step((rng.random(30) * obs["admissible_count"]).astype(np.int32))


def test_a_random_policy_seldom_solves_the_easy_level():
    suite = ae.suite("keyquest-v0", split="test", size=400, level="easy")
    env = ae.make(suite, num_envs=400, game_order="sequential", autoreset="disabled", tokens=None, text=False)
    obs, _ = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(suite.spec.max_episode_steps):
        obs, _, _, _, info = env.step((rng.random(400) * obs["admissible_count"]).astype(np.int32))
    assert info["won"].mean() <= 0.2


def test_rewards_sum_to_the_maximal_score_and_cannot_be_farmed():
    suite = ae.suite("keyquest-v0", size=60, level="medium")
    env = ae.make(
        suite, num_envs=60, game_order="sequential", autoreset="disabled", max_episode_steps=2000, tokens=None
    )
    obs, _ = env.reset(seed=0)
    rng = np.random.default_rng(0)
    total = np.zeros(60)
    for _ in range(2000):
        obs, reward, _, _, info = env.step((rng.random(60) * obs["admissible_count"]).astype(np.int32))
        total += reward
    best = np.array([game.max_score for game in suite])
    assert (total == info["score"]).all() and (total <= best).all()


def test_the_coin_is_never_in_sight_at_the_start():
    env = ae.make(ae.suite("coinhunt-v0", size=200, level="easy"), num_envs=200, game_order="sequential")
    env.reset(seed=0)
    assert not any("you see a coin" in text for text in env.get_state())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"level": "trivial"}, ConfigError, "level 'trivial', want one of easy, medium, hard, long"),
        ({"rooms": 0}, ConfigError, r"rooms: 0 outside \[1, 24\]"),
        ({"rooms": 2, "doors": 3}, ConfigError, r"doors: 3 outside \[0, 1\]"),
        ({"locked_doors": 9}, ConfigError, r"locked_doors: 9 outside \[0, 2\]"),
        ({"rooms": 2.5}, ConfigError, "rooms: 2.5, want an int"),
        ({"colour": 3}, ConfigError, "'colour' is not known"),
        (
            {"min_oracle": 150, "max_episode_steps": 500},
            ConfigError,
            "no layout in 2000 has an oracle of 150",
        ),
        ({"split": "dev"}, SuiteError, "split 'dev', want one of train, valid, test"),
        ({"size": 0}, ConfigError, "size=0, want an int from 1"),
        ({"seed": -1}, ConfigError, "seed=-1, want an int from 0"),
    ],
)
def test_bad_parameters_are_refused_by_name(arguments, error, message):
    with pytest.raises(error, match=message):
        ae.suite("keyquest-v0", **{"size": 2, **arguments})


def test_a_family_that_runs_out_of_games_says_how_many_there_are():
    with pytest.raises(ConfigError, match=r"only .* different games in split train"):
        ae.suite("coinhunt-v0", size=5000, level="easy", rooms=4, min_oracle=2)


GOLDEN = {  # the first training game's walk; a change means a new version of the id
    ("keyquest-v0", "easy"): [
        "go west",
        "take steel key",
        "go east",
        "unlock steel crate with steel key",
        "open steel crate",
        "take blue spoon from steel crate",
        "open ivory gate",
        "go north",
        "put blue spoon on copper shelf",
    ],
    ("keyquest-v0", "medium"): [
        "go south",
        "take copper key from bronze desk",
        "go north",
        "go west",
        "unlock copper gate with copper key",
        "open copper gate",
        "go south",
        "take purple hat",
        "go north",
        "go east",
        "go south",
        "take steel key from bronze desk",
        "go north",
        "go west",
        "go south",
        "unlock steel box with steel key",
        "open steel box",
        "insert purple hat into steel box",
    ],
    ("coinhunt-v0", "easy"): ["go west", "go south", "take coin"],
    ("coinhunt-v0", "medium"): ["go south", "go south", "go west", "go north", "go west", "take coin"],
}


@pytest.mark.parametrize(("family", "level"), GOLDEN)
def test_golden_games(family, level):
    walk = ae.suite(family, size=1, level=level).game(0).walkthrough
    assert walk == GOLDEN[family, level]
