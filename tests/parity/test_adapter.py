"""Agents written for TextWorld see the same through adapters/textworld.py, and infos say what EnvInfos says."""

import random

import pytest

import agentenv_fast as ae
from agentenv_fast.adapters import textworld as ours
from agentenv_fast.errors import ConfigError
from tests.parity import games

textworld = pytest.importorskip("textworld")
textworld_gym = pytest.importorskip("textworld.gym")


pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]
OF_THE_GAME = ["win_facts", "fail_facts", "max_score", "objective", "entities", "typed_entities", "verbs"]
OF_THE_GAME += ["command_templates", "possible_admissible_commands", "possible_commands"]
OF_THE_ROW = ["description", "inventory", "facts", "admissible_commands"]


@pytest.fixture(scope="module")
def seed():
    return games.base_seed()


@pytest.fixture(scope="module")
def files(seed):
    print(f"parity seed: {seed}")
    return games.make(5, seed)


def test_a_registered_batch_plays_like_textworlds(files, seed):
    infos = textworld.EnvInfos(
        admissible_commands=True,
        won=True,
        lost=True,
        max_score=True,
        moves=True,
        score=True,
        extras=["walkthrough"],
    )
    stories = [str(f.with_suffix(".z8")) for f in files]
    options = {"batch_size": 3, "max_episode_steps": 12}
    theirs = textworld_gym.make(textworld_gym.register_games(stories, infos, asynchronous=False, **options))
    mine = ours.make(ours.register_games(stories, infos, **options))
    rng = random.Random(seed)
    for _ in range(3):
        want, want_infos = theirs.reset()
        got, got_infos = mine.reset()
        assert got == list(want) and got_infos == want_infos
        for _ in range(14):
            commands = [rng.choice(c) for c in want_infos["admissible_commands"]]
            *want_rest, want_infos = theirs.step(commands)
            *got_rest, got_infos = mine.step(commands)
            assert got_rest == [list(part) for part in want_rest]
            assert got_infos == want_infos
    theirs.close()
    mine.close()


def test_one_game_at_a_time_gives_scalars(files):
    env = ours.make(ours.register_games([files[0]], ["admissible_commands"], name="single"))
    observation, infos = env.reset()
    assert isinstance(observation, str) and "look" in infos["admissible_commands"]
    observation, score, done, infos = env.step("look")
    assert (
        isinstance(observation, str)
        and (score, done) == (0, False)
        and "look" in infos["admissible_commands"]
    )


@pytest.mark.parametrize("names", [(), ("admissible_commands", "moves"), ("description", "inventory")])
def test_start_shows_the_same_states(files, seed, names):
    infos = textworld.EnvInfos(**dict.fromkeys(names, True))
    for file in files:
        theirs, mine = textworld.start(str(file.with_suffix(".z8")), infos), ours.start(file, infos)
        want, got = theirs.reset(), mine.reset()
        rng = random.Random(seed)
        for step in range(25):
            for key in ("feedback", "score", "won", "lost", "moves", *names):
                assert got[key] == want.get(key), (file, step, key)
            assert got.feedback == got["feedback"] and got.never_heard_of is None
            choices = want.admissible_commands or [
                "look",
                "inventory",
                "go north",
                "go south",
                "go east",
                "go west",
            ]
            command = rng.choice(choices)
            (want, *want_rest), (got, *got_rest) = theirs.step(command), mine.step(command)
            assert got_rest == want_rest
            if got_rest[1]:
                break
        theirs.close()


def test_infos_say_what_envinfos_says(files, seed):
    for file in files:
        wanted = textworld.EnvInfos(**dict.fromkeys([*OF_THE_GAME, *OF_THE_ROW], True))
        theirs = textworld.start(str(file.with_suffix(".z8")), wanted)
        want = theirs.reset()
        env = ae.make(ae.load(file), infos=[*OF_THE_GAME, *OF_THE_ROW], autoreset="disabled")
        _, info = env.reset()
        rng = random.Random(seed)
        for _ in range(30):
            for name in [*OF_THE_GAME, *OF_THE_ROW]:
                assert _plain(info[name][0]) == _plain(want[name]), (file, name)
            command = rng.choice(want.admissible_commands)
            want, _, done = theirs.step(command)
            _, _, _, _, info = env.step([command])
            if done:
                break
        theirs.close()


def test_a_copy_goes_its_own_way(files):
    env = ours.start(files[0], ["admissible_commands"])
    first = env.reset()
    other = env.copy()
    command = first.admissible_commands[0]
    assert other.step(command)[0].feedback == env.step(command)[0].feedback
    other.step("look")
    assert env.step("inventory")[0].feedback.lstrip().startswith("You are carrying")


@pytest.mark.parametrize("name", ["policy_commands", "intermediate_reward", "game", "colour"])
def test_infos_that_are_not_offered_are_refused_with_the_way_out(files, name):
    with pytest.raises(ConfigError, match=name):
        ours.start(files[0], [name])


def _plain(value):
    """Facts of either side → tuples; other values as they are. The order of facts means nothing."""
    if isinstance(value, (list, tuple)) and any(hasattr(v, "arguments") for v in value):
        return sorted((v.name, tuple((a.name, a.type) for a in v.arguments)) for v in value)
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value
