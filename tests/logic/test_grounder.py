"""The grounder against textworld's own logic, state by state, on games that tw-make wrote."""

import random
from pathlib import Path

import numpy as np
import pytest

import agentenv_fast as ae
from agentenv_fast.errors import WorldError
from agentenv_fast.native import _core

GAMES = sorted((Path(__file__).parents[2] / "examples" / "games").glob("*.json"))


@pytest.mark.parametrize("path", GAMES, ids=lambda p: p.stem)
def test_compiled_game_admits_what_textworld_offers_in_every_state_of_a_walk(path):
    textworld_game = pytest.importorskip("textworld.generator.game")
    inform7 = pytest.importorskip("textworld.generator.inform7")
    from tests.reference.lifted import bare_source

    game = textworld_game.Game.load(str(path))
    suite = ae.Suite([_core.compile_source(bare_source(game, path.stem))], name=path.stem)
    env = ae.make(suite, tokens=None, max_episode_steps=10**6, autoreset="disabled")
    env.reset(seed=0)
    progress, names = textworld_game.GameProgression(game, track_quests=False), inform7.Inform7Game(game)
    rng = random.Random(path.stem)
    for _ in range(40):
        actions = progress.valid_actions
        commands = names.gen_commands_from_actions(actions)
        wanted = sorted(set(commands))
        assert env.get_available_actions()[0] == wanted
        index = rng.randrange(len(wanted))
        meant = [a for a, c in zip(actions, commands, strict=True) if c == wanted[index]]
        progress.update(max(meant, key=lambda a: len(a.preconditions)))
        env.step(np.array([index], dtype=np.int32))


TOY = {
    "name": "toy",
    "types": [("thing", [])],
    "objects": [{"id": "a", "type": 0, "name": "a"}],
    "predicates": [("p", False)],
    "rules": [
        {
            "name": "r",
            "parameters": [(0, -1)],
            "adds": [(0, [0])],
            "command": ["do ", 0],
            "outcomes": [{"text": 0}],
        }
    ],
    "literals": ["x"],
    "programs": [([(1, 0)], [])],
    "texts": {"frame": 0, "start": 0, "invalid": 0},
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"types": [("t", [0])]}, "its own ancestor"),
        ({"objects": [{"id": "a", "type": 7}]}, r"object a: type 7 outside \[0, 1\)"),
        ({"objects": [{"id": "a", "typ": 0}]}, r"objects\[0\]: a key that is not known"),
        ({"rules": [{"name": "r", "adds": [(0, [0])]}]}, "rule r: adds: parameter 0"),
        ({"rules": [{"name": "r", "adds": [(3, [])]}]}, "rule r: adds: predicate 3"),
        ({"programs": [([(99, 0)], [])]}, r"programs\[0\]\[0\]\[0\]: op 99 is not known"),
        ({"programs": [([(1, 5)], [])]}, "literal 5 outside"),
        ({"programs": [([(5, 0, 0, 0)], [])]}, "a jump that does not go forward"),
        ({"programs": [([(11, 0)], [])]}, "a text that calls itself"),
        ({"texts": {"frame": 4}}, "texts 4 outside"),
        ({"place_predicate": 0, "player": 0, "predicates": [("p", False)]}, "takes 2 arguments"),
        ({"name": 3}, "name: int, want a str"),
        ({"init": [(0, ["a"])]}, r"init\[0\]\[1\]\[0\]: str, want an int"),
    ],
)
def test_a_wrong_source_is_refused_with_the_place(change, message):
    with pytest.raises(WorldError, match=message):
        _core.compile_source({**TOY, **change})


def test_the_toy_itself_compiles():
    assert _core.Program(_core.compile_source(TOY)).commands == ["do a"]
