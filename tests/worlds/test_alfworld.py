"""The ALFWorld front end without the original engine: grammar, names, texts, refusals. Reads the data of `alfworld`."""

import json
import random

import numpy as np
import pytest

pytest.importorskip("alfworld")

import agentenv_fast as ae
from agentenv_fast.errors import WorldError
from agentenv_fast.spec import Status
from agentenv_fast.worlds.alfworld import compile_game, grammar, shown_names
from tests import alfworld_scenes


def play(scene_or_file, commands, tmp_path=None):
    file = scene_or_file.write(tmp_path) if tmp_path is not None else scene_or_file
    out = []
    with ae.make(ae.load(str(file)), num_envs=1, seed=0, autoreset="disabled") as env:
        env.reset()
        out.append((env.get_state()[0], env.get_available_actions()[0], False, 0))
        for command in commands:
            _, _, terminated, _, info = env.step([command])
            out.append(
                (
                    env.get_state()[0],
                    env.get_available_actions()[0],
                    bool(terminated[0]),
                    int(info["status"][0]),
                )
            )
    return out


@pytest.mark.parametrize("dialect", ["2.1.1", "2.1.3"])
@pytest.mark.parametrize("task", alfworld_scenes.TASK_TYPES)
def test_the_walk_of_a_scene_wins(task, dialect, tmp_path):
    scene = alfworld_scenes.make(task, 7, 12, 18, dialect)
    steps = play(scene, scene.walk, tmp_path)
    assert [won for _, _, won, _ in steps] == [False] * len(scene.walk) + [True]
    for (_, admissible, _, _), command in zip(steps, scene.walk, strict=False):
        assert command in admissible and admissible == sorted(set(admissible))


def test_the_start_names_the_room_and_the_task(tmp_path):
    scene = alfworld_scenes.make("pick_heat_then_place_in_recep", 3, 10, 14)
    (text, admissible, _, _), (there, *_), (again, *_) = play(
        scene, ["go to microwave 1", "go to microwave 1"], tmp_path
    )
    assert text.startswith(
        "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly"
    )
    assert text.endswith(f"Your task is to: {ae.load(str(scene.write(tmp_path))).extra(0)['objective'][17:]}")
    assert "help" in admissible and there.startswith("You arrive at microwave 1. ")
    assert again == "Nothing happens."  # the receptacle where one stands


def test_typed_commands_are_taken_literally(tmp_path):
    scene = alfworld_scenes.make("pick_and_place_simple", 1, 10, 14)
    target = next(c for c in play(scene, [], tmp_path)[0][1] if c.startswith("go to"))
    steps = play(scene, ["", "LOOK", "look  around", target.upper(), f" \u00a0{target}\t"], tmp_path)
    assert [s[0] for s in steps[1:5]] == ["Nothing happens."] * 4
    assert {s[3] for s in steps[1:5]} == {int(Status.INVALID_ACTION)}
    assert steps[5][0].startswith("You arrive at") and steps[5][3] == int(Status.OK)


def test_numbers_count_down_in_the_order_of_the_ids():
    names = shown_names(
        ["cabinet_bar_b", "cabinet_bar_a", "sink_bar_x", "sink_bar_x_bar_sinkbasin", "agent1"]
    )
    assert names == {
        "cabinet_bar_a": "cabinet 2",
        "cabinet_bar_b": "cabinet 1",
        "sink_bar_x": "sink 1",
        "sink_bar_x_bar_sinkbasin": "sinkbasin 1",
        "agent1": "agent1 ",
    }


def test_names_equal_those_of_the_generator_of_scenes():
    rng = random.Random(5)
    ids = [
        f"{rng.choice(['cup', 'sink', 'loc'])}_bar_{rng.randint(0, 99)}{rng.choice(['', '_bar_sinkbasin'])}"
        for _ in range(60)
    ]
    assert shown_names(set(ids)) == alfworld_scenes.shown_names(sorted(set(ids)))


def test_rows_are_small_and_a_kitchen_takes_one_action_per_receptacle(tmp_path):
    suite = ae.load(str(alfworld_scenes.kitchen().write(tmp_path)))
    with ae.make(suite, num_envs=1, seed=0) as env:
        env.reset()
        assert sum(c.startswith("go to") for c in env.get_available_actions()[0]) == 31
        assert env.spec.caps.stride <= 512


def test_games_of_one_folder_are_named_by_it(tmp_path):
    for i in range(3):
        alfworld_scenes.make("pick_and_place_simple", i, 9, 12).write(tmp_path)
    suite = ae.load(str(tmp_path / "**" / "game.tw-pddl"))
    assert len(suite) == 3 and all(name.startswith("pick_and_place_simple-") for name in suite.names)


# -- refusals
def scene_file(tmp_path, **changes):
    data = {**alfworld_scenes.make("pick_and_place_simple", 2, 9, 12).data, **changes}
    file = tmp_path / "changed.tw-pddl"
    file.write_text(json.dumps({k: v for k, v in data.items() if v is not None}))
    return file


def refusal(file):
    with pytest.raises(WorldError) as caught:
        compile_game(file.read_bytes(), file)
    assert str(caught.value).startswith(f"{file}:"), caught.value
    return str(caught.value)


def block(**rules):
    return 'grammar :: """' + json.dumps({k: [{"rhs": v}] for k, v in rules.items()}) + '""";'


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"grammar": None}, "no 'grammar'"),
        ({"pddl_domain": 3}, "pddl_domain is int"),
        ({"pddl_problem": "(define (problem p"}, "never closed"),
        ({"pddl_problem": ""}, "pddl_problem:1:1"),
        ({"grammar": "action look { template :: "}, "grammar:1:"),
        ({"grammar": 'action look { template :: "look"; }'}, "no feedback"),
        ({"grammar": 'grammar :: """{\n "a": [}""";'}, "grammar:2:"),
        ({"grammar": 'grammar :: """[1]""";'}, "list, want an object"),
        ({"grammar": 'grammar :: """{"a": [{"rhs": 1}]}""";'}, "a rule of 'a'"),
        (
            {"grammar": 'grammar :: """{"a": [{"rhs": "x", "condition": "p(("}]}""";'},
            "want predicate(variable",
        ),
        ({"grammar": 'grammar :: """' + "[" * 50000 + '""";'}, "nested too deeply"),
        ({"grammar": "x" * (1 << 20 | 1)}, "at most"),
    ],
)
def test_damaged_files_are_refused_with_their_place(tmp_path, changes, words):
    assert words in refusal(scene_file(tmp_path, **changes))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("#look.feedback#", "does it ever end"),
        ("a#look.feedback##look.feedback#", "does it ever end"),
        ("#nowhere#", "no rule for #nowhere#"),
        ("{nobody.name}", "nothing is bound to nobody"),
        ("{a.__class__}", "want texts, x, x.name"),
        ("{open('x')}", "want texts, x, x.name"),
        ("{(lambda: 1)()}", "want texts, x, x.name"),
    ],
)
def test_rules_that_cannot_be_written_are_refused(tmp_path, rule, words):
    text = alfworld_scenes.grammar("2.1.3") + block(**{"look.feedback": rule})
    assert words in refusal(scene_file(tmp_path, grammar=text))


def test_a_goal_that_can_never_hold_is_refused(tmp_path):
    problem = alfworld_scenes.make("pick_and_place_simple", 2, 9, 12).data["pddl_problem"]
    goal = problem[problem.index("(:goal") :]
    assert "can never hold" in refusal(
        scene_file(
            tmp_path, pddl_problem=problem.replace(goal, "(:goal (exists (?o - object) (isSliced ?o))))")
        )
    )


def test_truncated_files_never_do_anything_but_raise(tmp_path):
    whole = scene_file(tmp_path).read_bytes()
    for cut in np.linspace(1, len(whole) - 1, 25).astype(int):
        with pytest.raises(WorldError):
            compile_game(whole[:cut], "cut.tw-pddl")


def test_random_bytes_in_the_grammar_raise_or_parse():
    """What the grammar's reader does with damaged text: a Grammar or a WorldError, in bounded time."""
    rng = random.Random(11)
    text = alfworld_scenes.grammar("2.1.3")
    for _ in range(60):
        at, kind = rng.randrange(len(text)), rng.random()
        junk = "".join(rng.choice('{}[]#|"\\;:()&\n a0') for _ in range(rng.randint(1, 12)))
        damaged = text[:at] + junk + text[at + (rng.randint(0, 40) if kind < 0.5 else 0) :]
        try:
            assert grammar.parse(damaged, "fuzz").rules is not None
        except WorldError as error:
            assert str(error).startswith("fuzz:")


def test_symbols_are_read_as_textworld_reads_them():
    textgen = pytest.importorskip("textworld.envs.pddl.textgen")
    reader = grammar._Reader("")
    rng = random.Random(3)
    bits = [
        "a ",
        "#x#",
        "{o.name}",
        "[{o.name | p(o:object)}]",
        "{#s(o)# | p(o:object)}",
        "\n",
        "  ",
        "\t",
        "// c",
    ]
    bits += ['"q"', ";", "{", "}", "[", "]", "#", "|", ".", " b\n"]

    def ours(part):
        match part:
            case grammar.Literal(text):
                return "text", text
            case grammar.Symbol(name):
                return "symbol", name
            case grammar.Eval(text=text):
                return "eval", text
            case grammar.Choice(expression, _):
                return ours(expression)
            case grammar.Listed(choice):
                return "list", ours(choice)

    def theirs(symbol):
        kind = type(symbol).__name__
        if kind == "ConditionalSymbol":
            return theirs(symbol.expression)
        if kind == "ListSymbol":
            return "list", theirs(symbol.symbol)
        name = {"TerminalSymbol": "text", "NonterminalSymbol": "symbol", "EvalSymbol": "eval"}[kind]
        return name, symbol.symbol.strip() if kind == "EvalSymbol" else symbol.symbol

    compared = 0
    for _ in range(400):
        text = "".join(rng.choice(bits) for _ in range(rng.randint(1, 7)))
        try:
            want = [theirs(s) for s in textgen._parse_and_convert(text, rule_name="symbols")]
        except Exception:
            continue  # textworld cannot read it at all
        try:
            got = [ours(p) for p in reader.parts(text, "here", 1)]
        except WorldError:
            continue  # an expression or a condition that textworld would find out about later
        compared += 1
        assert [g for g in got if g != ("text", "")] == [w for w in want if w != ("text", "")], repr(text)
    assert compared > 200
