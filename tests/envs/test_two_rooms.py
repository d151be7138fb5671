"""The two-room toy, compiled, against the same toy in plain Python: every array of every step."""

import pickle

import numpy as np
import pytest

import agentenv_fast as ae
from agentenv_fast.envs.check.kit import kept, pick, same
from tests.probe_envs import two_rooms as toy
from tests.probe_envs import two_rooms_compiled
from tests.probe_envs.two_rooms import TwoRooms, Words, choose_game, permuted, philox

STEPS, ROWS = 60, 9
WIDTHS = {"max_admissible": 8, "max_text": 192, "max_tokens": 64}  # the toy's


def both(**options):
    fast = ae.make(two_rooms_compiled.suite(), ROWS, **options, **WIDTHS)
    slow = TwoRooms(ROWS, **options)
    return fast, slow


def alike(fast, slow, hashes):
    """Equal, but for world_hash, which is another function of the same facts: they must map one to one."""
    for a, b in zip(fast, slow, strict=True):
        if isinstance(a, dict) and "world_hash" in a:
            a, b = dict(a), dict(b)
            worlds = zip(a["game"], a.pop("world_hash").tolist(), b.pop("world_hash").tolist(), strict=True)
            for game, x, y in worlds:
                assert hashes.setdefault(("fast", game, *x), y) == y
                assert hashes.setdefault(("slow", game, *y), x) == x
        same(a, b, "compiled against Python")


@pytest.mark.parametrize("order", ["shuffle", "sequential", "sample"])
@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_the_compiled_toy_steps_as_the_python_one(autoreset, order):
    fast, slow = both(autoreset=autoreset, game_order=order, max_episode_steps=11, group_size=2)
    hashes = {}
    for seed in (3, None, np.arange(ROWS, dtype=np.uint64) * np.uint64(2**60)):
        fast_out, slow_out = fast.reset(seed=seed), slow.reset(seed=seed)
        alike(fast_out, slow_out, hashes)
        for t in range(STEPS):
            action = pick(slow, slow_out[0], t, salt=len(hashes))
            if t % 7 == 3:
                action[t % ROWS] = 99
            fast_out, slow_out = fast.step(action), kept(slow.step(action))
            alike(fast_out, slow_out, hashes)
            assert fast.get_state() == slow.get_state()
            assert fast.get_available_actions() == slow.get_available_actions()
    assert len(hashes) > 40


@pytest.mark.parametrize(
    "options",
    [{"admissible": "bitset"}, {"actions": "command"}, {"text": False}, {"tokens": None}, {"copy": False}],
    ids=str,
)
def test_the_compiled_toy_steps_as_the_python_one_with(options):
    fast, slow = both(seed=5, **options)
    fast_out, slow_out = fast.reset(), slow.reset()
    for t in range(STEPS):
        alike(fast_out, kept(slow_out), {})
        action = pick(slow, slow_out[0], t)
        fast_out, slow_out = fast.step(action), slow.step(action)


def test_typed_commands_masked_resets_chosen_games_forks_and_weights_agree():
    fast, slow = both(seed=5, game_order="sample")
    hashes = {}
    for env in (fast, slow):
        env.set_game_weights([0, 1, 0, 2, 1])
    alike(fast.reset(), slow.reset(), hashes)
    texts = ["take key", "GO  Down", "go up", "", "look", "xyzzy", "open chest", " look ", "go down"]
    mask = np.arange(ROWS) % 2 == 1
    games = np.array([-1, 0, 1, 2, 3, 4, -1, -1, 0], np.int32)
    rows = np.array([7, 2], np.int32)
    for _ in range(4):
        alike(fast.step(texts), slow.step(texts), hashes)
        alike(fast.step(texts[:2], rows), slow.step(texts[:2], rows), hashes)
        alike(
            fast.reset(options={"reset_mask": mask, "game": games}),
            slow.reset(options={"reset_mask": mask, "game": games}),
            hashes,
        )
        for source, targets, rng in (
            (0, [3, 4], "share"),
            ([1, 2], [2, 1], "share"),
            (5, [6, 7, 8], "split"),
        ):
            source = source if isinstance(source, int) else np.array(source, np.int32)
            fast.fork(source, np.array(targets, np.int32), rng=rng)
            slow.fork(source, np.array(targets, np.int32), rng=rng)
        alike(fast.observe(), slow.observe(), hashes)


def test_draws_are_those_of_the_published_generator():
    from agentenv_fast.native import _core

    assert philox(0, 0, 0, 0, 0) == [
        0x6627E8D5,
        0xE169C58D,
        0xBC57AC4C,
        0x9B00DBD8,
    ]  # Random123's known answer
    for key in (1, 2**64 - 1, 0x0123456789ABCDEF):
        assert philox(key, 9, 8, 7, 2**32 - 1) == list(_core.philox(key, 9, 8, 7, 2**32 - 1))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 16, 17, 100])
def test_shuffle_is_a_permutation_without_storage(size):
    for seed in (0, 7):
        assert sorted(permuted(i, size, seed, 3, 0) for i in range(size)) == list(range(size))


def test_vocabularies_agree():
    fast, slow = both()
    assert fast.codec.vocab_size == slow.codec.vocab_size == len(Words().words) + 2
    for text in ("You take the key.", "What? 12 Chests!"):
        assert fast.codec.encode(text).tolist() == slow.codec.encode(text).tolist()


def test_games_are_chosen_by_task_and_episode():
    row = {"seed": 1, "task": 2, "episode": 9}
    assert choose_game(row, "sequential", None) == 11 % 5


def random_call(rng, slow, snaps):
    """A method and its arguments, as one would call it on either env."""
    n = slow.num_envs
    rows = rng.permutation(n)[: rng.integers(1, n + 1)].astype(np.int32)
    kind = rng.choice(
        [
            "step",
            "step",
            "step",
            "rows",
            "typed",
            "reset",
            "masked",
            "seeds",
            "game",
            "fork",
            "snap",
            "restore",
        ]
    )
    picked = lambda count: rng.integers(-1, 7, count).astype(np.int32)  # noqa: E731
    if kind == "step":
        return "step", (picked(n),), {}
    if kind == "rows":
        return "step", (picked(len(rows)), rows), {}
    if kind == "typed":
        return "step", ([str(rng.choice([*toy.COMMANDS, "", "GO  UP", "dance"])) for _ in rows], rows), {}
    if kind == "reset":
        return "reset", (), {"seed": None if rng.random() < 0.5 else int(rng.integers(2**63))}
    if kind == "masked":
        return "reset", (), {"options": {"reset_mask": np.isin(np.arange(n), rows)}}
    if kind == "seeds":
        return "reset", (), {"seed": rng.integers(3, size=n).astype(np.uint64)}
    if kind == "game":
        return "reset", (), {"options": {"game": rng.integers(-1, 5, n).astype(np.int32)}}
    if kind == "fork":
        sources = rng.integers(0, n, len(rows)).astype(np.int32)
        return (
            "fork",
            (sources if rng.random() < 0.5 else int(sources[0]), rows),
            {"rng": str(rng.choice(["share", "split"]))},
        )
    if kind == "snap" or not snaps:
        return "snapshot", (rows,), {}
    return "restore", (int(rng.integers(len(snaps))),), {}


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
@pytest.mark.parametrize("seed", range(8))
def test_any_sequence_of_calls_gives_the_same_on_both(autoreset, seed):
    rng = np.random.default_rng(seed)
    options = {
        "autoreset": autoreset,
        "seed": seed,
        "group_size": int(rng.integers(1, 4)),
        "max_episode_steps": int(rng.integers(1, 9)),
        "game_order": str(rng.choice(["shuffle", "sequential", "sample"])),
        "actions": str(rng.choice(["index", "command"])),
    }
    fast, slow = both(**options)
    hashes, snaps = {}, []
    alike(fast.reset(), slow.reset(), hashes)
    for _ in range(60):
        name, arguments, keywords = random_call(rng, slow, snaps)
        if name == "snapshot":
            snaps.append((fast.snapshot(*arguments), slow.snapshot(*arguments), arguments[0]))
        elif name == "restore":
            one, other, rows = snaps[arguments[0]]
            fast.restore(one, rows)
            slow.restore(other, rows)
        else:
            got, want = (
                getattr(fast, name)(*arguments, **keywords),
                getattr(slow, name)(*arguments, **keywords),
            )
            if got is not None:
                alike(got, want, hashes)
        if rng.random() < 0.1:
            fast, slow = pickle.loads(pickle.dumps(fast)), pickle.loads(pickle.dumps(slow))
        alike(fast.observe(), slow.observe(), hashes)
        assert fast.get_state() == slow.get_state()
