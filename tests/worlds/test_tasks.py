"""The built-in families: solvable, reproducible, split by content, one vocabulary, hard for a random policy."""

import hashlib
import json

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


STEPS = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}


def exits_of(program):
    """→ {room id: {direction: room id}}; north_of(a, b): a is north of b."""
    exits = {}
    for fact in program.static_facts:
        relation, _, arguments = fact.rstrip(")").partition("(")
        if relation.removesuffix("_of") in STEPS:
            there, here = arguments.split(", ")
            exits.setdefault(here, {})[relation.removesuffix("_of")] = there
    return exits


def places_on_map(exits, start):
    """→ {room id: (x, y) as seen from the start}."""
    places, todo = {start: (0, 0)}, [start]
    while todo:
        here = todo.pop()
        for direction, there in exits[here].items():
            if there not in places:
                places[there] = tuple(a + b for a, b in zip(places[here], STEPS[direction], strict=True))
                todo.append(there)
    return places


def end_of_walk(walkthrough):
    steps = [STEPS[command[3:]] for command in walkthrough if command.startswith("go ")]
    return sum(x for x, _ in steps), sum(y for _, y in steps)


def contents(suite):
    """→ one value per game, equal where a player could not tell two games apart: ids and numbering are left out."""
    env = ae.make(suite, num_envs=len(suite), game_order="sequential", infos=("facts",), tokens=None)
    _, info = env.reset(seed=0)
    out = []
    for i, facts in enumerate(info["facts"]):
        game, exits = suite.game(i), exits_of(suite.program(i))
        places = places_on_map(exits, "r_0") if exits else {}
        ways = frozenset((places[room], way) for room, ways in exits.items() for way in ways)
        told = frozenset(str(fact) for fact in facts)
        out.append((told, ways, end_of_walk(game.walkthrough), game.objective))
    return out


@pytest.mark.parametrize(
    ("family", "size", "params"),
    [
        ("keyquest-v0", 200, {"level": "easy"}),
        ("keyquest-v0", 100, {"level": "long"}),
        ("coinhunt-v0", 200, {"level": "medium"}),
        (
            "coinhunt-v0",
            200,
            {"level": "easy", "rooms": 6},
        ),  # so small that a maze is drawn often, in any order
    ],
)
def test_no_game_comes_twice_and_splits_share_none(family, size, params):
    seen = [contents(ae.suite(family, split=split, size=size, **params)) for split in SPLITS]
    assert len(set().union(*seen)) == 3 * size


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


GOLDEN = {  # of what the first 20 training games are and say; a change means a new version of the id
    ("keyquest-v0", "easy"): "2981511e354d6627",
    ("keyquest-v0", "medium"): "0d5ffd90ae875524",
    ("keyquest-v0", "hard"): "56e848205df25570",
    ("keyquest-v0", "long"): "9690b05f8b0b7496",
    ("coinhunt-v0", "easy"): "ce618dcee5af01f6",
    ("coinhunt-v0", "medium"): "930ac59f3d03228e",
    ("coinhunt-v0", "hard"): "c682be42c9384ee3",
    ("coinhunt-v0", "long"): "72d6c30fc1e3565e",
}


@pytest.mark.parametrize(("family", "level"), GOLDEN)
def test_golden_games(family, level):
    suite = ae.suite(family, size=20, level=level)
    env = ae.make(suite, num_envs=20, game_order="sequential", tokens=None)
    env.reset(seed=0)
    told = [
        [g.name, g.objective, g.walkthrough, text] for g, text in zip(suite, env.get_state(), strict=True)
    ]
    assert hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16] == GOLDEN[family, level]
