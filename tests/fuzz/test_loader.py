"""The loader on damaged games: ae.load() returns a game that plays, or raises a WorldError that names the file, in
bounded time and memory. AE_FUZZ_SECONDS sets how long (`make fuzz`)."""

import contextlib
import json
import os
import random
import resource
import time
from pathlib import Path

import numpy as np
import pytest

import agentenv_fast as ae
from agentenv_fast.errors import WorldError

GAMES = sorted((Path(__file__).parents[2] / "examples" / "games").glob("*.json"))
SECONDS = float(os.environ.get("AE_FUZZ_SECONDS", "8"))
LONGEST = 30.0  # seconds for one damaged game, on a busy machine

STRANGE = [
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**70), 1.5, float("inf"), float("nan")),
    *("", " ", "P", "I", "r_0", "\x00", "é" * 40, "\ud800", "x" * 5000),
    *("[if open]", "[end if]", "[a list of things in the chest]", "]"),
    *([], {}, [[]], [None], {"name": "at", "arguments": []}),
]


def spots(value, path=()):
    """Every (path) inside a JSON value."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from spots(value[key], (*path, key))
    elif isinstance(value, list):
        for i in range(len(value)):
            yield from spots(value[i], (*path, i))


def parent_of(value, path):
    for key in path[:-1]:
        value = value[key]
    return value


def damage_tree(game, rng):
    """One change of the JSON tree: a strange value, a deletion, a copy from elsewhere, a swap, a repetition."""
    paths = list(spots(game))[1:]
    path = rng.choice(paths)
    parent, key = parent_of(game, path), path[-1]
    kind = rng.randrange(6)
    if kind == 0:
        parent[key] = rng.choice(STRANGE)
    elif kind == 1:
        del parent[key]
    elif kind == 2:
        other = rng.choice(paths)
        parent[key] = json.loads(json.dumps(parent_of(game, other)[other[-1]]))
    elif kind == 3 and isinstance(parent, list):
        rng.shuffle(parent)
    elif kind == 4 and isinstance(parent, list):
        parent.extend(json.loads(json.dumps(parent[key : key + 1])) * rng.choice([1, 3, 200]))
    elif isinstance(parent[key], str):
        parent[key] = damage_text(parent[key], rng)


def damage_text(text, rng):
    """A piece of text is cut, doubled, moved, or takes in a piece of syntax."""
    if not text:
        return rng.choice(["a", "[", "{"])
    a, b = sorted((rng.randrange(len(text)), rng.randrange(len(text))))
    b = min(b, a + 60)
    piece = rng.choice(
        [
            "[if closed]",
            "[otherwise]",
            "[end if]",
            "[",
            "]",
            "{",
            "}",
            "::",
            " -> ",
            " & ",
            "$",
            ";",
            "=",
            "/*",
            '"""',
            "P",
            "{o}",
        ]
    )
    return rng.choice(
        [
            text[:a] + text[b:],
            text[:b] + text[a:],
            text[:a] + piece + text[a:],
            text[:a] + text[b:] + text[a:b],
        ]
    )


def damage_logic(game, rng):
    """The same for the rules inside the file."""
    game["KB"]["logic"] = damage_text(game["KB"]["logic"], rng)


def damage_bytes(content, rng):
    """The file itself is cut or some of its bytes change."""
    data = bytearray(content)
    for _ in range(rng.choice([0, 1, 1, 4])):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data[: rng.randrange(len(data))] if rng.random() < 0.3 else data)


def damaged(seed):
    rng = random.Random(seed)
    content = rng.choice(GAMES).read_bytes()
    if rng.random() < 0.15:
        return damage_bytes(content, rng)
    game = json.loads(content)
    for _ in range(rng.choice([1, 1, 2, 5])):
        with contextlib.suppress(
            KeyError, TypeError, IndexError, ValueError
        ):  # what it needs has been removed
            (damage_logic if rng.random() < 0.25 else damage_tree)(game, rng)
    return json.dumps(game).encode("utf-8", "surrogatepass")


def try_game(content, folder, seed):
    """→ "plays" or the message of the refusal. Whatever else is raised is a bug."""
    file = folder / f"game{seed}.json"
    file.write_bytes(content)
    began = time.perf_counter()
    try:
        suite = ae.load(file)
    except WorldError as error:
        assert str(file) in str(error), f"seed {seed}: the file is not named: {error}"
        return str(error)
    finally:
        file.unlink()
        assert time.perf_counter() - began < LONGEST, f"seed {seed}"
    env = ae.make(
        suite,
        num_envs=2,
        seed=seed,
        max_text=min(suite.caps.B, 1 << 16),
        max_tokens=min(suite.caps.L, 1 << 14),
    )
    env.reset()
    rng = np.random.default_rng(seed)
    for _ in range(5):
        env.step(rng.integers(0, 3, size=2, dtype=np.int32))
    env.step(["look", "take all from\x00 nowhere"])
    return "plays"


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("AE_CACHE", "0")


@pytest.mark.slow
def test_damaged_games_are_refused_by_name_or_play(tmp_path):
    first = (
        0 if SECONDS <= 60 else random.SystemRandom().randrange(2**40)
    )  # longer runs look elsewhere every time
    outcomes = set()
    began, seed = time.monotonic(), first
    while time.monotonic() - began < SECONDS:
        outcomes.add(try_game(damaged(seed), tmp_path, seed) == "plays")
        seed += 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{seed - first} damaged games from seed {first}, peak {peak} MiB")
    assert outcomes == {True, False}, "the damage is so light, or so heavy, that every game ends alike"


def nested(depth):
    return b"[" * depth + b"]" * depth


def base():
    return json.loads(GAMES[0].read_bytes())


def aliases(width, depth):
    """Each name stands for many of the next."""
    names = [f"a{i}(r) = {' & '.join([f'a{i + 1}(r)'] * width)};" for i in range(depth)]
    rule = 'rules { zz :: a0(r) -> a0(r); } inform7 { commands { zz :: "zz" :: "zz"; } }'
    return f"\ntype zz : r {{ predicates {{ {' '.join(names)} a{depth}(r); }} {rule} }}"


def with_logic(change):
    game = base()
    game["KB"]["logic"] = change(game["KB"]["logic"])
    return json.dumps(game).encode()


HOSTILE = {
    "empty": lambda: b"",
    "not JSON": lambda: b"\x89PNG\r\n",
    "not UTF-8": lambda: b'{"world": "\xff"}',
    "nested too deeply": lambda: nested(200_000),
    "a number too long": lambda: b'{"world": ' + b"9" * 10_000 + b"}",
    "another JSON": lambda: b'{"name": "package", "version": 1}',
    "a list": lambda: b"[1, 2, 3]",
    "no facts": lambda: json.dumps({**base(), "world": []}).encode(),
    "quest of a fact that is not there": lambda: (
        json.dumps(base()).replace('"win_events": [', '"win_events": [{"condition": 5},', 1).encode()
    ),
    "a megabyte of brackets in the logic": lambda: with_logic(
        lambda text: "type x { rules { " + "(" * 1_000_000
    ),
    "logic that never ends": lambda: with_logic(lambda text: text + "type zz : " * 50_000),
    "types in a circle": lambda: with_logic(
        lambda text: text + "\ntype zza : zzb { predicates { } }\ntype zzb : zza { predicates { } }"
    ),
    "aliases that multiply": lambda: with_logic(lambda text: text + aliases(20, 8)),
    "a hundred thousand facts": lambda: json.dumps({**base(), "world": base()["world"] * 20_000}).encode(),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_are_refused_with_their_name(tmp_path, make):
    assert try_game(make(), tmp_path, 0) != "plays"


def test_a_file_of_200_megabytes_is_refused_unread(tmp_path):
    file = tmp_path / "huge.json"
    with file.open("wb") as stream:
        stream.truncate(200 << 20)
    began = time.perf_counter()
    with pytest.raises(WorldError, match=r"huge\.json: 209715200 bytes, at most"):
        ae.load(file)
    assert time.perf_counter() - began < 5
