"""Arguments that are wrong, states that come from elsewhere: refused by name with nothing changed, or taken well."""

import gc
from pathlib import Path

import numpy as np
import pytest

import agentenv_fast as ae
from agentenv_fast.errors import ActionError, ConfigError, SnapshotError
from tests.probe_envs import two_rooms_compiled

GAMES = Path(__file__).resolve().parents[2] / "examples/games"
ONE = np.array([1], np.int32)


@pytest.fixture
def env():
    made = ae.make(two_rooms_compiled.suite(), 6, seed=0)
    made.reset()
    return made


def with_rows(snap, rows):
    return ae.Snapshot(rows, snap.suite_hash, snap.version)


def with_field(snap, offset, value):
    """One header field of every row (csrc/core/row.h) holds another number."""
    rows = snap.rows.copy()
    rows[:, offset : offset + value.nbytes] = np.frombuffer(value.tobytes(), np.uint8)
    return with_rows(snap, rows)


F64 = np.zeros((6, 3))
I32 = np.zeros((6, 3), np.int32)
ZEROS, FOURS = np.zeros(6, np.int32), np.full(6, 4, np.int32)
CALLS = [
    (lambda e, s: e.fork(2**40, ONE), ActionError, "rows: dtype int64, want int32"),
    (lambda e, s: e.fork(None, ONE), ActionError, "source: None, want a row number"),
    (lambda e, s: e.fork("0", ONE), ActionError, "rows: dtype <U1"),
    (lambda e, s: e.fork(0, None), ActionError, "rows: dtype object"),
    (lambda e, s: e.fork(0, [[1]]), ActionError, r"targets: shape \(1, 1\), want \(M,\)"),
    (lambda e, s: e.fork(0, [True]), ActionError, "rows: dtype bool"),
    (lambda e, s: e.observe(rows=[[1]]), ActionError, r"rows: shape \(1, 1\), want \(M,\)"),
    (lambda e, s: e.observe(rows=[6]), ActionError, r"rows\[0\]: row 6 outside \[0, 6\)"),
    (lambda e, s: e.step(ONE, rows="0"), ActionError, "rows: dtype <U1"),
    (lambda e, s: e.step(ONE, rows=[]), ActionError, r"action: shape \(1,\), want \(0,\)"),
    (lambda e, s: e.step(("look",) * 6), ActionError, "action: tuple of 6"),
    (lambda e, s: e.step((F64, ZEROS)), ActionError, "action tokens: dtype float64, want int32"),
    (lambda e, s: e.step((I32, FOURS)), ActionError, r"row 0: length 4 outside \[0, 3\]"),
    (lambda e, s: e.reset(options=[1]), ConfigError, "options: list, want a dict"),
    (lambda e, s: e.reset(seed=[2**64] * 6), ConfigError, "seed: dtype object, want uint64"),
    (lambda e, s: e.set_game_weights("abc"), ConfigError, "weights: 'abc', want 5 numbers"),
    (lambda e, s: e.decode({}), ConfigError, "decode: obs has neither text nor tokens"),
    (lambda e, s: e.restore("x"), SnapshotError, "restore: str, want a Snapshot"),
    (lambda e, s: e.restore(s, rows=[0, 0, 1, 2, 3, 4]), ActionError, "row 0 is named twice"),
    (lambda e, s: e.restore(with_rows(s, s.rows.tolist())), SnapshotError, "rows: list, want an array uint8"),
    (lambda e, s: e.restore(with_rows(s, s.rows.astype(float))), SnapshotError, r"float64\(6, 128\), want uint8"),
    (lambda e, s: e.restore(with_rows(s, s.rows * 0)), SnapshotError, r"rows\[0\]: not the bytes of a row"),
    (lambda e, s: e.restore(with_field(s, 28, np.uint32(99))), SnapshotError, "not the bytes of a row"),  # game
    (lambda e, s: e.restore(with_field(s, 32, np.uint32(2**31))), SnapshotError, "not the bytes of a row"),  # step
    (lambda e, s: e.restore(with_field(s, 40, np.float32("nan"))), SnapshotError, "not the bytes of a row"),  # score
    (lambda e, s: e.restore(with_field(s, 40, np.float32(1e30))), SnapshotError, "not the bytes of a row"),
    (lambda e, s: e.restore(with_field(s, 48, np.uint32(2**31 - 1))), SnapshotError, "not the bytes of a row"),  # turns
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message"), CALLS, ids=[message for _, _, message in CALLS])
def test_a_wrong_argument_is_named_and_changes_nothing(env, call, kind, message):
    before, snap = env.row_hash(), env.snapshot()
    with pytest.raises(kind, match=message):
        call(env, snap)
    np.testing.assert_array_equal(env.row_hash(), before)
    env.step(["look"] * 6)


@pytest.mark.parametrize(
    "name", ["step", "observe", "get_state", "get_available_actions", "snapshot", "row_hash", "fork"]
)
def test_before_the_first_reset_it_says_what_to_do(name):
    env = ae.make(two_rooms_compiled.suite(), 2)
    arguments = {"step": (["look"] * 2,), "fork": (0, ONE)}.get(name, ())
    with pytest.raises(ConfigError, match=r"call reset\(\)"):
        getattr(env, name)(*arguments)
    with pytest.raises(ConfigError, match="the first reset must be of all rows; row 1 is False"):
        env.reset(options={"reset_mask": np.array([True, False])})


def test_what_is_harmless_is_taken(env):
    env.fork(np.array(0), [1])
    assert env.step([], rows=[])[1].shape == (0,)
    assert (env.step(np.ones(12, np.int32)[::-2])[4]["status"] == 0).all()
    assert (env.step(np.frombuffer(b"\1\0\0\0" * 6, np.int32))[4]["status"] == 0).all()
    assert (env.step([np.str_("look")] * 6)[4]["status"] == 0).all()
    assert env.reset(options={"game": [0] * 6, "reset_mask": [True] * 6})[1]["game"].tolist() == [0] * 6
    assert env.reset(seed=np.int64(3))[1]["seed"] == 3
    assert env.reset(seed=[2**64 - 1] * 6)[1]["seed"].dtype == np.uint64


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text", ["x" * 10_000_000, "take " * 2_000_000, "take the " * 1_000_000, "\0" * 10_000_000]
)
def test_ten_megabytes_of_text_are_one_unknown_command(text):
    env = ae.make(GAMES / "cooking.json", 2, seed=0)
    env.reset()
    *_, info = env.step([text, "look"])
    assert info["status"].tolist() == [2, 0]


def test_arrays_outlive_their_env():
    env = ae.make(two_rooms_compiled.suite(), 1000, seed=0)
    obs, _ = env.reset()
    was = {key: array.copy() for key, array in obs.items()}
    del env
    gc.collect()
    rubbish = [np.full(10_000, 7) for _ in range(100)]
    for key, array in obs.items():
        np.testing.assert_array_equal(array, was[key])
    assert len(rubbish) == 100


def test_jax_arrays_are_taken_without_a_copy_and_with_the_same_checks(env):
    jnp = pytest.importorskip("jax.numpy")
    assert (env.step(jnp.ones(6, jnp.int32))[4]["status"] == 0).all()
    assert env.step(jnp.ones(1, jnp.int32), rows=jnp.zeros(1, jnp.int32))[1].shape == (1,)
    assert env.reset(seed=jnp.int32(3), options={"reset_mask": jnp.ones(6, bool)})[1]["seed"] == 3
    with pytest.raises(ActionError, match="dtype float32, want int32"):
        env.step(jnp.ones(6, jnp.float32))
    assert jnp.from_dlpack(env.observe()[0]["tokens"]).shape == (6, 64)


@pytest.mark.parametrize("mode", ["same_step", "next_step"])
def test_a_finished_row_from_another_mode_begins_anew(mode):
    suite = two_rooms_compiled.suite()[[0]]
    ended = ae.make(suite, 2, autoreset="disabled", max_episode_steps=2, seed=0)
    env = ae.make(suite, 2, autoreset=mode, max_episode_steps=2, seed=0)
    for one in (ended, env):
        one.reset()
        one.step(["look"] * 2)
        one.step(["look"] * 2)
    env.restore(ended.snapshot())
    assert ended.step(["look"] * 2)[3].all()
    found = []
    for _ in range(3):
        _, _, terminated, truncated, info = env.step(["look"] * 2)
        assert not terminated.any()
        if mode == "same_step":
            assert (info["final_obs"]["text_size"] > 0).tolist() == truncated.tolist()
        found.append((info["valid"][0], int(info["elapsed_step"][0]), truncated[0]))
    assert found == [(False, 0, False), (True, 1, False), (True, 2, True)]


def test_lists_in_infos_are_about_the_episode_that_ended():
    """same_step: obs begins the next episode, info is about the transition, its lists as well."""
    names = ["admissible_commands", "facts", "last_command"]
    same, apart = (
        ae.make(two_rooms_compiled.suite(), 5, seed=1, autoreset=mode, max_episode_steps=3, infos=names)
        for mode in ("same_step", "disabled")
    )
    obs, _ = same.reset()
    apart.reset()
    for t in range(3):
        action = (np.arange(5, dtype=np.int32) + t) % obs["admissible_count"]
        running = ~apart.observe()[1]["won"]
        obs, _, terminated, truncated, info = same.step(action)
        *_, want = apart.step(action)
        for name in names:
            for row in np.flatnonzero(running & (want["elapsed_step"] == t + 1)):
                assert info[name][row] == want[name][row], (t, name, row)
    assert (terminated | truncated).any()
    assert info["last_command"][0] == want["last_command"][0]


def test_damaged_rows_are_refused_or_step_on_without_a_crash(env):
    rng = np.random.default_rng(0)
    snap = env.snapshot()
    refused = 0
    for _ in range(3000):
        rows = snap.rows.copy()
        for _ in range(rng.integers(1, 5)):
            rows[rng.integers(6), rng.integers(rows.shape[1])] = rng.integers(256)
        try:
            env.restore(with_rows(snap, rows))
        except SnapshotError:
            refused += 1
            continue
        env.observe()
        for t in range(3):
            env.step(np.full(6, t, np.int32))
        env.get_state()
    assert 0 < refused < 3000
    env.restore(snap)
    np.testing.assert_array_equal(env.snapshot().rows, snap.rows)
