"""Reading TextWorld games: texts, logic, typed commands, and files that are not what they seem. No textworld needed."""

import json
import resource
import time
from pathlib import Path

import pytest

import agentenv_fast as ae
from agentenv_fast.errors import WorldError
from agentenv_fast.native import _core
from agentenv_fast.spec import Status
from agentenv_fast.worlds import source, textworld
from agentenv_fast.worlds.textworld import inform, logic
from agentenv_fast.worlds.textworld.rules import pieces

GAMES = Path(__file__).parents[2] / "examples" / "games"
COOKING = GAMES / "cooking.json"


@pytest.fixture
def data():
    return json.loads(COOKING.read_bytes())


def compiled(data):
    return textworld.compile_game(json.dumps(data).encode(), "games/changed.json")


def play(file, commands, **options):
    env = ae.make(ae.load(file), tokens=None, autoreset="disabled", **options)
    env.reset(seed=0)
    shown = []
    for command in commands:
        _, _, _, _, info = env.step([command])
        shown.append((env.get_state()[0], Status(int(info["status"][0]))))
    return shown


# -- the source form --------------------------------------------------------------------------------------------------
def test_instructions_and_pseudo_variables_have_the_numbers_of_the_header():
    assert {op.name: int(op) for op in source.Op} == dict(_core.OPS)
    assert {p.name: int(p) for p in source.Pseudo} == dict(_core.PSEUDO)
    assert (source.operand(0), source.PLAYER_HERE) == (_core.OPERAND0, _core.PLAYER_HERE)


def test_a_jump_backwards_is_refused():
    text = source.SourceBuilder("x", "y").text()
    label = source.Label()
    text.place(label)
    with pytest.raises(ValueError, match="backwards"):
        text.jump(label)


# -- texts ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("don't", "don't"),
        ("'Cooking' ends", '"Cooking" ends'),
        ("the students' room", 'the students" room'),
        ("rock 'n' roll", 'rock "n" roll'),
        ("'", '"'),
        ("'s all over", "'s all over"),  # a text may begin with it: what Inform 7 build 6L38 prints for each of these
        ("'s", "'s"),
        ("'sa all", '"sa all'),
        ("'s.", '"s.'),
        ("'t all", '"t all'),
        ("'S all", '"S all'),
        ("c's 9's a'9 9'9", "c's 9\"s a\"9 9\"9"),  # digits are no letters
        ("é's s'é", "é's s'é"),
    ],
)
def test_apostrophes_at_the_edge_of_a_word_become_quotation_marks(text, shown):
    assert inform.quotes(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", "a b"),
        ("a \n\n b", "a\n\nb"),
        ("a\n\n\n\nb", "a\n\n\n\nb"),
        ("\n\n There", "\n\nThere"),
        ("end\n\n", "end\n\n"),
        ("a\n \nb", "a\n\nb"),
        ("plain", "plain"),
    ],
)
def test_line_breaks_are_read_as_inform_reads_them(text, shown):
    assert inform.line_breaks(text) == shown


def test_the_objective_is_cut_as_textworld_cuts_it():
    assert inform.chunks("x" * 250 + "\ny") == ["x" * 200, "x" * 50, "\n", "y"]


def test_command_templates_fall_into_pieces():
    assert pieces("take {o} from {c}") == [(False, "take "), (True, "o"), (False, " from "), (True, "c")]
    assert pieces("prepare meal") == [(False, "prepare meal")]


@pytest.mark.parametrize(
    "text",
    ["[if open", "[colour]", "[if x_9 is open]", "[if open][if closed]", "[a list of things in the c_99]"],
)
def test_a_substitution_that_is_not_known_is_named(data, text):
    next(info for _, info in data["infos"] if info["type"] == "c")["desc"] = text
    with pytest.raises(WorldError, match=r"games/changed.json: infos \(c_\d+\).desc: "):
        compiled(data)


# -- logic ------------------------------------------------------------------------------------------------------------
def test_the_logic_of_a_family_is_parsed_once(data):
    text = data["KB"]["logic"]
    assert logic.parse(text) is logic.parse(text[:1] + text[1:])


def test_aliases_are_replaced_and_kept_conditions_are_not_deleted(data):
    rules = logic.parse(data["KB"]["logic"]).rules
    assert [str(p) for p in rules["go/south"].preconditions][1] == "north_of(r: r, r': r)"
    assert [p.name for p in rules["take"].deletes] == ["at"]
    assert [p.name for p in rules["take"].adds] == ["in"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("$at(P, r) & at(o, r) -> in(o, I)", "at(P, r) & at(o, r) -> in(o, I)", "rule take: differs"),
        (
            "look :: at(P, r) -> at(P, r);",
            "look :: at(P, r) -> at(P, r); fly :: at(P, r) -> at(P, r);",
            "rule fly",
        ),
        ('"eat {f}"', '"devour {f}"', "rule eat: differs"),
        ("food is usually edible.", "food is never edible.", "type f: its inform7 texts"),
        ("type r {", "type r : q {", "type r: its parent q is not declared"),
        ("type s : t", "type s : s", "own ancestor"),
        ("rules {", "rules }", r"line \d+, column \d+: not TextWorld logic"),
    ],
)
def test_third_party_logic_is_refused_by_name(data, old, new, said):
    text = data["KB"]["logic"]
    assert old in text
    data["KB"]["logic"] = text.replace(old, new, 1)
    if "fly" in said:
        data["KB"]["logic"] = data["KB"]["logic"].replace(
            'look :: "look" :: "looking";', 'look :: "look" :: "looking"; fly :: "fly" :: "flying";'
        )
    with pytest.raises(WorldError, match=said):
        compiled(data)


# -- bad files --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[1, 2]", "a JSON a list, want an object"),
        (b'{"a": 1}', 'no "KB" section: is this a TextWorld game'),
        (b'{"KB": 1, "world": [], "infos": [], "quests": []}', "KB.logic: missing"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"version": ' + b"9" * 10_000 + b"}", "not JSON|version|KB"),
        (b'{"KB": {"logic": ""}, "world": [], "infos": [], "quests": [], "version": 2}', "version: 2"),
    ],
)
def test_what_is_not_a_textworld_game_is_told_apart(content, said):
    with pytest.raises(WorldError, match=f"games/x.json: .*({said})"):
        textworld.compile_game(content, "games/x.json")


def test_every_truncation_is_an_error_that_names_the_file():
    content = COOKING.read_bytes()
    for size in range(0, len(content) - 1, len(content) // 60):
        with pytest.raises(WorldError, match=r"games/cut\.json"):
            textworld.compile_game(content[:size], "games/cut.json")


def _break(path, value):
    def change(data):
        *way, last = path
        at = data
        for key in way:
            at = at[key]
        at[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_break(["world"], {}), "world: an object, want a list"),
        (_break(["world", 3], 7), r"world\[3\]: want {name, arguments}"),
        (_break(["world", 3, "name"], "flies"), r"world\[3\]: predicate 'flies'"),
        (_break(["world", 3, "arguments", 0], "r_0"), r"world\[3\].arguments\[0\]"),
        (_break(["world", 3, "arguments", 0, "type"], "dragon"), "type 'dragon' is not declared"),
        (_break(["infos", 2], ["r_0"]), r"infos\[2\]: want \[id"),
        (_break(["infos", 2, 1, "desc"], 5), r"infos\[2\] \(.*\).desc: a number, want a text"),
        (_break(["quests", 0], None), r"quests\[0\]: nothing, want an object"),
        (_break(["quests", 1, "reward"], 1.5), r"quests\[1\].reward: 1.5"),
        (_break(["quests", 1, "reward"], 10**30), r"quests\[1\].reward"),
        (_break(["quests", 1, "optional"], "yes"), r"quests\[1\].optional"),
        (_break(["quests", 0, "fail_events"], []), r"quests\[0\]: neither win_events nor fail_events"),
        (_break(["quests", 1, "win_events", 0, "condition"], None), r"quests\[1\].win_events\[0\].condition"),
        (_break(["metadata"], []), "metadata"),
        (_break(["objective"], 3), "objective.objective: a number"),
    ],
)
def test_a_damaged_field_is_named(data, change, said):
    change(data)
    if said == "metadata":
        data["metadata"] = [1]
    with pytest.raises(WorldError, match=said):
        compiled(data)


def test_duplicate_ids_and_facts_about_nothing_are_named(data):
    data["infos"].append(data["infos"][4])
    with pytest.raises(WorldError, match=r"infos\[\d+\]: id '.*' appears twice"):
        compiled(data)


def test_a_quest_about_a_thing_that_does_not_exist_is_named(data):
    fact = data["quests"][1]["win_events"][0]["condition"]["preconditions"][0]
    fact["arguments"][0]["name"] = "f_99"
    with pytest.raises(
        WorldError, match=r"quests\[1\].win_events\[0\].*'f_99', which is in no fact of world"
    ):
        compiled(data)


def test_hostile_sizes_are_bounded_in_time_and_memory(data, tmp_path):
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    big = tmp_path / "big.json"
    with big.open("wb") as stream:
        stream.truncate(200 << 20)
    with pytest.raises(WorldError, match=r"big\.json: 209715200 bytes, at most"):
        ae.load(big)
    data["world"] = data["world"][:1] * 200_000
    with pytest.raises(WorldError, match="200000 facts, at most"):
        compiled(data)
    assert time.perf_counter() - start < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 600 << 10  # KiB


def test_a_second_game_of_a_family_compiles_in_a_fraction_of_a_second():
    content = (GAMES / "simple.json").read_bytes()
    textworld.compile_game(content, "warm.json")
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        textworld.compile_game(content, "again.json")
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.25, seconds  # about 0.02 on an idle core; benchmarks/ measures it


# -- typed commands ---------------------------------------------------------------------------------------------------
def test_admissible_commands_are_understood_in_any_case_and_spacing():
    shown = play(COOKING, ["look", "  LoOk\t", "\n inVENTORY  ", "i", "l"])
    texts = [text.split("\n>")[0] for text, _ in shown]
    assert texts[0] == texts[1] == texts[4] and texts[2] == texts[3]
    assert {status for _, status in shown} == {Status.OK}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("", "I beg your pardon?"),
        ("   ", "I beg your pardon?"),
        ("xyzzy", "That's not a verb I recognise."),
        ("take moonbeam", "You can't see any such thing."),
        ("take all", "You have to be more specific!"),
        ("wait", "Time passes."),
        ("take stove", "That's fixed in place."),
        ("open stove", "It isn't something you can open."),
        ("eat oven", "That's plainly inedible."),
        ("put stove on oven", "The stove is fixed in place."),
        ("drop stove", "The stove is already here."),
    ],
)
def test_common_refusals_are_in_the_originals_words(command, said):
    [(text, status)] = play(COOKING, [command])
    assert text.startswith(f"\n{said}\n") and status == Status.OK


HOSTILE = [
    "x" * 10_240,
    "take \0 stove",
    "🦆 open oven",
    "open oven then go north",
    "open oven. go north",
    "take " * 900,
]
HOSTILE += [
    '"',
    "oven, open",
    "\x1b[2J",
    "take the",
    "unlock",
    "put on on on",
    "%s%n%n",
    "../../etc/passwd",
    "é" * 300,
]


def test_hostile_commands_harm_neither_their_row_nor_the_others():
    env = ae.make(ae.load(COOKING), num_envs=len(HOSTILE) + 1, tokens=None, autoreset="disabled")
    env.reset(seed=0)
    before = env.snapshot().rows[:, 64:].copy()
    _, reward, terminated, _, info = env.step([*HOSTILE, "look"])
    assert (env.snapshot().rows[:, 64:] == before).all()
    assert not terminated.any() and not reward.any()
    assert all(text for text in env.get_state())
    assert info["status"][-1] == Status.OK
    assert (info["status"][:6] == Status.UNKNOWN_COMMAND).all()
    assert env.unknown_commands >= 6
