"""ae.xla: the same rows and outputs as the host's env, bit for bit, inside jit and scan; and what is refused."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

import agentenv_fast as ae  # noqa: E402
from agentenv_fast import errors  # noqa: E402
from agentenv_fast.xla import ffi  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
reason = ffi.why_not()
pytestmark = pytest.mark.skipif(reason is not None, reason=f"ae.xla: {reason}")
N, STEPS = 37, 30


@pytest.fixture(scope="module")
def suite():
    return ae.suite("keyquest-v0", size=12)


def same(host, device, where=""):
    """Equal keys, shapes, dtypes and bytes."""
    if isinstance(host, dict):
        assert sorted(host) == sorted(device), where
        for name in host:
            same(host[name], device[name], f"{where}/{name}")
        return
    host, device = np.asarray(host), np.asarray(device)
    assert (host.dtype, host.shape) == (device.dtype, device.shape), where
    np.testing.assert_array_equal(host, device, err_msg=where)


def same_step(host, batch):
    for got, wanted in zip(batch, host, strict=True):
        same(wanted, got)


def both(suite, n=N, seed=5, **options):
    env, f = ae.make(suite, n, **{"text": False, **options}), ae.xla.make(suite, n, **options)
    host, _ = env.reset(seed=seed)
    state, obs = f.reset(seed)
    same(host, obs)
    return env, f, state


def indices(env, rng, obs):
    return rng.integers(-1, np.minimum(np.asarray(obs["admissible_count"]), 1000) + 1).astype(np.int32)


@pytest.mark.parametrize(
    "options",
    [
        {"max_episode_steps": 10},
        {"autoreset": "next_step", "max_episode_steps": 7, "text": True},
        {"autoreset": "disabled", "max_episode_steps": 11, "text_mode": "raw", "text": True},
        {
            "max_episode_steps": 5,
            "group_size": 4,
            "game_order": "sequential",
            "reward": ae.RewardSpec(step=-0.1, win=2.0),
        },
        {"max_episode_steps": 6, "admissible": "bitset", "text": True, "tokens": None},
        {"max_episode_steps": 6, "admissible": None, "max_tokens": 20},
        {"max_episode_steps": 9, "max_admissible": 3, "max_text": 50, "text": True},
    ],
    ids=lambda options: "-".join(options) or "defaults",
)
def test_a_trajectory_is_that_of_the_host_bit_for_bit(suite, options):
    env, f, state = both(suite, **options)
    step, rng = jax.jit(f.step), np.random.default_rng(0)
    obs, ended = env.observe()[0], False
    for _ in range(STEPS):
        has_counts = "admissible_count" in obs
        action = indices(env, rng, obs) if has_counts else rng.integers(-1, 9, N).astype(np.int32)
        host = env.step(action)
        state, batch = step(state, action)
        same_step(host, batch)
        np.testing.assert_array_equal(env.snapshot().rows, state.rows)
        obs = host[0]
        ended |= (host[2] | host[3]).any()
    assert ended


@pytest.mark.parametrize("form", ["command", "tokens"])
def test_commands_and_token_actions_are_taken_as_the_host_takes_them(suite, form):
    options = {"actions": "command"} if form == "command" else {}
    env, f, state = both(suite, max_episode_steps=8, **options)
    step, rng = jax.jit(f.step), np.random.default_rng(1)
    obs, table = env.observe()[0], np.asarray(suite.command_tokens)
    statuses = set()
    for t in range(STEPS):
        slot = rng.integers(0, np.asarray(obs["admissible_count"]))
        command = np.take_along_axis(np.asarray(obs["admissible"]), slot[:, None], axis=1)[:, 0]
        command[:5] = [-1, len(suite.commands), 2**31 - 1, -(2**31), t]
        if form == "command":
            host, (state, batch) = env.step(command), step(state, command)
        else:
            tokens = table[np.clip(command, 0, len(table) - 1)].copy()
            tokens[7] = 1  # a word that no command has
            action = (np.ascontiguousarray(tokens), (tokens != 0).sum(1).astype(np.int32))
            host, (state, batch) = env.step(action), step(state, action)
        same_step(host, batch)
        obs = host[0]
        statuses |= set(host[4]["status"].tolist())
    assert statuses >= ({0, 1} if form == "command" else {0, 2})


def test_a_token_action_longer_than_its_array_marks_its_row(suite):
    f = ae.xla.make(suite, 3)
    state, _ = f.reset(0)
    tokens = np.repeat(np.asarray(suite.command_tokens)[:1], 3, axis=0)
    _, batch = f.step(state, (tokens, np.array([1, -1, 99], np.int32)))
    assert batch.info["status"][1:].tolist() == [1, 1]


def test_a_scan_over_many_rows_on_several_threads_ends_in_the_hosts_rows(suite):
    n, steps = 700, 25
    env, f, state = both(suite, n, max_episode_steps=9, num_threads=2)
    actions = np.random.default_rng(2).integers(-1, 8, (steps, n)).astype(np.int32)
    state, batches = jax.jit(lambda s, a: jax.lax.scan(f.step, s, a), donate_argnums=0)(state, actions)
    for t, action in enumerate(actions):
        host = env.step(action)
        same(host[4], {**jax.tree.map(lambda x, t=t: x[t], batches.info)})
        same(host[0], jax.tree.map(lambda x, t=t: x[t], batches.obs))
    np.testing.assert_array_equal(env.snapshot().rows, state.rows)


def test_a_state_that_is_given_away_is_updated_in_place(suite):
    f = ae.xla.make(suite, 8)
    state, _ = f.reset(0)
    at = state.rows.unsafe_buffer_pointer()
    kept, _ = f.reset(0)
    stepped, _ = jax.jit(f.step, donate_argnums=0)(state, np.zeros(8, np.int32))
    assert stepped.rows.unsafe_buffer_pointer() == at and state.rows.is_deleted()
    before = np.array(kept.rows)
    f.step(kept, np.zeros(8, np.int32))
    np.testing.assert_array_equal(before, kept.rows)  # not given away: left alone


def test_another_suite_of_equal_caps_other_weights_and_seeds_compile_nothing(suite):
    games = ae.suite("keyquest-v0", size=36)
    one, other = (ae.xla.make(games[part], 16, game_order="sample") for part in (slice(0, 12), slice(24, 36)))
    assert one.suite.caps == other.suite.caps and one.suite.hash != other.suite.hash

    @jax.jit
    def play(state, seed, actions):
        state, _ = one.reset(seed, state=state)
        state, batches = jax.lax.scan(one.step, state, actions)
        return state, batches.info["game"], batches.obs["tokens"]

    actions = np.random.default_rng(0).integers(0, 5, (60, 16)).astype(np.int32)
    seeds = np.array([[1, 0], [2, 7]], np.uint32)
    weights = np.eye(12)[3]
    states = [one.blank(16), other.blank(16), other.set_game_weights(other.blank(16), weights)]
    compiled = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda name, seconds, **_: compiled.append(name) if "backend_compile" in name else None
    )
    play(states[0], seeds[0], actions)
    assert compiled  # the count counts
    compiled.clear()
    _, games_played, tokens = play(states[1], seeds[1], actions)
    _, weighted, _ = play(states[2], seeds[1], actions)
    assert compiled == []
    assert (np.asarray(weighted) == 3).all() and len(np.unique(games_played)) > 1
    env = ae.make(other.suite, 16, text=False, game_order="sample")
    env.reset(seed=2 | 7 << 32)
    for t, action in enumerate(actions):
        same(env.step(action)[0]["tokens"], tokens[t])


def test_seeds_masks_and_games_mean_what_they_mean_on_the_host(suite):
    env, f, state = both(suite, max_episode_steps=30)
    rng = np.random.default_rng(3)
    mask, game = rng.random(N) < 0.4, rng.integers(-1, len(suite), N).astype(np.int32)
    for seed, form in ((None, None), (2**63 + 5, None), (rng.integers(0, 2**63, N).astype(np.uint64), None)):
        action = rng.integers(0, 4, N).astype(np.int32)
        env.step(action)
        state, _ = f.step(state, action)
        host, _ = env.reset(seed=seed, options={"reset_mask": mask, "game": game})
        state, obs = f.reset(seed, state=state, mask=mask, game=game)
        same(host, obs)
        np.testing.assert_array_equal(env.snapshot().rows, state.rows)
        assert form is None
    env.reset(seed=9)
    traced, _ = jax.jit(lambda seed: f.reset(seed))(9)
    halves, _ = f.reset(np.array([9, 0], np.uint32))
    for found in (traced, halves):
        np.testing.assert_array_equal(env.snapshot().rows, found.rows)


def test_rows_are_those_of_a_snapshot_and_indexing_forks(suite):
    env, f, state = both(suite)
    action = np.ones(N, np.int32)
    env.step(action)
    state, _ = f.step(state, action)
    back = f.restore(env.snapshot())
    same(env.observe()[0], back.obs)
    env.restore(f.snapshot(state))
    ids = np.array([4, 4, 4, 0], np.int32)
    few = ae.make(suite, 4, text=False)
    few.restore(env.snapshot(ids))
    forked, batch = f.step(state[ids], action[:4])
    same_step(few.step(action[:4]), batch)
    assert len(forked) == 4 and len(state[-1]) == 1
    same(env.observe(np.array([N - 1]))[0], state[-1].obs)
    same(env.observe()[1], f.observe(state).info)


# -- what is refused --------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def four(suite):
    f = ae.xla.make(suite, 4)
    return f, f.reset(0)[0]


@pytest.mark.parametrize(
    ("action", "says"),
    [
        (np.zeros(3, np.int32), r"action: int32\[3\], want int32\[4\]"),
        (np.zeros(4, np.int64), r"action: int64\[4\], want int32\[4\]"),
        (np.zeros(4, np.float32), r"float32\[4\]"),
        ([0, 0, 0, 0], "typed commands are strings"),
        (3, "action: int, want an array"),
        ((np.zeros((4, 2), np.int32),), "tuple of 1"),
        ((np.zeros((3, 2), np.int32), np.zeros(4, np.int32)), "action tokens: int32"),
    ],
)
def test_a_wrong_action_is_refused_by_name(four, action, says):
    f, state = four
    with pytest.raises(errors.ActionError, match=says):
        f.step(state, action)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"seed": -1}, "seed: -1"),
        ({"seed": 1.5}, "seed: float, want an int"),
        ({"seed": np.zeros(3, np.uint32)}, r"seed: uint32\[3\]"),
        ({"seed": None}, "seed=None needs the state"),
        ({"seed": 0, "mask": np.ones(4, bool)}, "mask needs the state"),
        ({"seed": 0, "game": np.zeros(4, np.int64)}, r"game: int64\[4\], want int32\[4\]"),
        ({"seed": 0, "game": np.array([0, 12, 0, 0], np.int32)}, r"game\[1\]: 12 outside \[-1, 12\)"),
    ],
)
def test_a_wrong_reset_is_refused_by_name(four, arguments, says):
    with pytest.raises(errors.ConfigError, match=says):
        four[0].reset(**arguments)


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        ({"copy": True}, "copy: not a keyword here"),
        ({"seed": 1}, "seed: not a keyword here: it is reset's first argument"),
        ({"device": "cpu"}, "device: not a keyword here"),
        ({"strict": True}, "strict: a compiled program cannot raise"),
        ({"infos": ["facts"]}, "infos: lists of Python objects"),
        ({"colour": 1}, "colour: not known; it takes"),
        ({"autoreset": "never"}, "autoreset: 'never'"),
        ({"num_threads": -1}, "num_threads: -1"),
    ],
)
def test_a_keyword_is_honoured_or_refused(suite, keywords, says):
    with pytest.raises(errors.ConfigError, match=says):
        ae.xla.make(suite, 4, **keywords)


def test_a_state_of_another_suite_is_refused(four):
    f, state = four
    other = ae.xla.make(ae.suite("coinhunt-v0", size=4), 4)
    with pytest.raises(errors.ConfigError, match=r"state\.\S+: .* want .*: a state of another suite"):
        f.step(other.reset(0)[0], np.zeros(4, np.int32))
    with pytest.raises(errors.ConfigError, match=r"final_obs.*nothing"):
        f.step(dataclasses.replace(state, final_obs={}), np.zeros(4, np.int32))
    with pytest.raises(errors.ConfigError, match="state: tuple, want the State"):
        f.step((state,), np.zeros(4, np.int32))


def run_fails(function, says):
    with pytest.raises((ValueError, jax.errors.JaxRuntimeError), match=says):
        jax.block_until_ready(function())


def test_what_only_a_running_program_can_see_stops_it_with_a_reason(four, suite):
    f, state = four
    stop = np.zeros(4, np.int32)
    twin = ae.xla.make(ae.suite("keyquest-v0", size=24)[12:], 4)
    mixed = dataclasses.replace(state, suite=twin.operand)
    run_fails(lambda: f.step(mixed, stop), "row 0 is of another suite")
    run_fails(
        lambda: f.step(dataclasses.replace(state, suite=state.suite + 2), stop),
        "names no suite of this process",
    )
    run_fails(lambda: f.step(f.blank(4), stop), "not the bytes of a row; begin with reset")
    broken = dataclasses.replace(state, rows=state.rows.at[2, 28:32].set(255))
    run_fails(lambda: f.step(broken, stop), "row 2 is not the bytes of a row")
    run_fails(
        lambda: jax.jit(lambda g: f.reset(0, game=g))(np.array([0, 0, 99, 0], np.int32)), r"game\[2\]: 99"
    )
    snapshot = f.snapshot(state)
    snapshot.rows[1, 60] = 77
    with pytest.raises(errors.SnapshotError, match="damaged"):
        f.restore(snapshot)
    with pytest.raises(errors.SnapshotError, match="snapshot of suite"):
        twin.restore(f.snapshot(state))
    jax.block_until_ready(f.step(state, stop))  # and goes on working


# -- versions ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("version", "ours", "theirs", "says"),
    [
        ("0.10.2", (0, 3), (0, 3), None),
        ("0.12.0.1", (0, 3), (0, 5), None),
        ("0.10.2", (0, 5), (0, 3), "built with XLA FFI 0.5, jax 0.10.2 has 0.3"),
        ("0.9.1", (0, 3), (0, 3), "jax 0.9.1 is outside of 0.10 to 0.12"),
        ("0.13.0", (0, 3), (0, 6), "jax 0.13.0 is outside of 0.10 to 0.12"),
        ("1.0", (0, 3), (1, 0), "outside of 0.10 to 0.12"),
        ("0.11.0", (0, 3), None, "cannot be read"),
    ],
)
def test_a_version_that_does_not_fit_is_told_before_anything_is_registered(version, ours, theirs, says):
    found = ffi._misfit(version, ours, theirs)
    assert found is None if says is None else says in found


def test_without_the_handlers_make_says_how_to_get_them(suite, monkeypatch):
    monkeypatch.setattr(ffi, "_registered", False)
    monkeypatch.setattr(ffi, "_core", type("Core", (), {"xla_targets": staticmethod(dict)}))
    with pytest.raises(
        errors.DependencyError, match=r"ae\.xla: this core was built without XLA: .*make native"
    ):
        ae.xla.make(suite, 2)


# -- devices ----------------------------------------------------------------------------------------------------------
def test_rows_over_1_2_and_8_devices_step_as_the_whole():
    script = ROOT / "tests" / "xla" / "eight_devices.py"
    done = subprocess.run(
        [sys.executable, str(script)], cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == ["1", "2", "8", "own", "refused"], done.stdout


def test_arrays_of_a_jitted_reset_and_step_have_the_same_pytree(four):
    f, state = four
    _, obs = f.reset(0)
    after, batch = f.step(state, jnp.zeros(4, jnp.int32))
    kinds = [
        jax.tree.map(lambda x: (x.shape, x.dtype), tree) for tree in (obs, batch.obs, batch.info["final_obs"])
    ]
    assert kinds[0] == kinds[1] == kinds[2]
    assert jax.tree.structure(after) == jax.tree.structure(state)
