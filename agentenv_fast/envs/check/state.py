"""State is a value: arrays that survive, snapshots, forks, hashes, pickles, threads, processes."""

from __future__ import annotations

import os
import pickle
import select
import sys
import tempfile
import threading
from typing import Any

import numpy as np

from agentenv_fast.envs.check.kit import (
    Kit,
    Skip,
    Step,
    again,
    do,
    expect,
    expect_raises,
    invalid,
    kept,
    need,
    pick,
    promise,
    replay,
    same,
    same_steps,
    state_of,
    taken,
    trace,
    unchanged,
    walk,
)
from agentenv_fast.errors import AgentEnvError, ConfigError, SnapshotError


@promise("copy=True: every returned array survives later calls.")
def returned_arrays_survive(kit: Kit) -> None:
    env = kit.env(max_episode_steps=4, copy=True) if kit.factory else kit.env()
    held: list[tuple[Any, Any]] = []

    def hold(out: Any) -> Any:
        held.append((out, kept(out)))
        return out

    obs, _ = hold(env.reset(seed=kit.seed))
    for t in range(max(kit.steps, 50)):
        obs = hold(env.step(pick(env, obs, t)))[0]
        if t % 10 == 3:
            hold(env.observe())
            hold(env.step(pick(env, obs, t)[:1].copy(), rows=np.zeros(1, np.int32)))
            obs = hold(env.observe())[0]
    hold(env.reset(seed=kit.seed + 1))
    for call, (out, was) in enumerate(held):
        for part, (now, then) in enumerate(zip(out, was, strict=True)):
            same(now, then, f"output {part} of call {call}, looked at {len(held) - call} calls later")


@promise("copy=True: a view of a returned array keeps it alive.")
def views_survive(kit: Kit) -> None:
    env = kit.env(copy=True) if kit.factory else kit.env()
    obs, _ = env.reset(seed=kit.seed)
    views: list[tuple[Any, Any]] = []
    for t in range(12):
        obs, reward, _, _, info = env.step(pick(env, obs, t))
        for array in (
            obs[min(obs)][:1],
            np.from_dlpack(reward),
            info["score"].view(np.uint32),
            memoryview(info["game"]),
        ):
            views.append((array, np.array(array, copy=True)))
    for i, (view, was) in enumerate(views):
        same(np.asarray(view), was, f"view {i}")


@promise("copy=False gives views that the next step overwrites; what they show is the same.")
def views_show_the_same(kit: Kit) -> None:
    copies, obs, _ = kit.started(copy=True, max_episode_steps=5)
    views, _, _ = kit.started(copy=False, max_episode_steps=5)
    walked = trace(copies, obs, 20)
    same_steps(replay(views, [step.action for step in walked]), walked, "copy=False against copy=True")


@promise("snapshot, restore: the same future, and observe shows what the source showed.")
def snapshot_and_restore(kit: Kit) -> None:
    env, obs = kit.walked()
    need(env, "snapshot", "restore")
    snap = env.snapshot()
    held = snap.rows.copy()
    shown = kept(env.observe())
    future = trace(env, obs, 20, salt=3)
    same(snap.rows, held, "the snapshot's bytes after 20 more steps")
    env.restore(snap)
    same(env.observe(), shown, "observe after restore")
    same_steps(replay(env, [s.action for s in future]), future, "the future after restore")
    fresh = kit.env() if kit.factory else again(env)
    fresh.restore(snap)
    same(fresh.observe()[0], shown[0], "observe of a fresh env after restore")
    same_steps(replay(fresh, [s.action for s in future]), future, "the future of a fresh env after restore")
    same_steps(replay_from(env, snap, future, 1), future[:1], "restored twice")


def replay_from(env: Any, snap: Any, future: list[Step], steps: int) -> list[Step]:
    env.restore(snap)
    return replay(env, [s.action for s in future[:steps]])


@promise("Snapshot: rows uint8[M, stride], suite_hash, version, nbytes, indexable, picklable, save and load.")
def snapshot_is_a_value(kit: Kit) -> None:
    env, _ = kit.walked()
    need(env, "snapshot", "restore")
    n, snap = env.num_envs, env.snapshot()
    expect(
        snap.rows.dtype == np.uint8 and snap.rows.ndim == 2,
        f"rows {snap.rows.dtype}{snap.rows.shape}, want uint8[M, stride]",
    )
    same(len(snap.rows), n, "rows of a snapshot")
    same(snap.nbytes, snap.rows.nbytes, "nbytes")
    rows = np.array([n - 1, 0], np.int32) if n > 1 else np.array([0], np.int32)
    same(env.snapshot(rows=rows).rows, snap.rows[rows], f"snapshot(rows={rows})")
    same(snap[0].rows, snap.rows[:1], "snapshot[0]")
    same(snap[rows].rows, snap.rows[rows], f"snapshot[{rows}]")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state.npz")
        snap.save(path)
        loaded = type(snap).load(path)
    for what, other in (("pickled", pickle.loads(pickle.dumps(snap))), ("saved and loaded", loaded)):
        same(other.rows, snap.rows, f"{what}: rows")
        same(
            (other.suite_hash, other.version),
            (snap.suite_hash, snap.version),
            f"{what}: suite_hash and version",
        )
        env.restore(other)


@promise(
    "Restoring into another suite or version raises SnapshotError that names both; wrong shapes and damage raise too."
)
def bad_snapshots_raise(kit: Kit) -> None:
    env, _ = kit.walked()
    need(env, "snapshot", "restore")
    snap, before = env.snapshot(), state_of(env)
    make = type(snap)
    other = "0" * len(snap.suite_hash)
    expect_raises(
        SnapshotError,
        lambda: env.restore(make(snap.rows, other, snap.version)),
        "another suite",
        other[:8],
        snap.suite_hash[:8],
    )
    expect_raises(
        SnapshotError,
        lambda: env.restore(make(snap.rows, snap.suite_hash, "9.9")),
        "another version",
        "9.9",
        snap.version,
    )
    for what, rows in (
        ("a row too many", np.concatenate([snap.rows, snap.rows[:1]])),
        ("narrow rows", snap.rows[:, :-1].copy()),
    ):
        expect_raises(
            SnapshotError, lambda rows=rows: env.restore(make(rows, snap.suite_hash, snap.version)), what
        )
    unchanged(env, before, "after bad snapshots were refused")


@promise("restore(snap, rows): only those rows; a row's text and future go where its bytes go.")
def rows_move(kit: Kit) -> None:
    env, _ = kit.walked()
    need(env, "snapshot", "restore", "row_hash")
    n = env.num_envs
    if n < 3:
        raise Skip("needs three rows: give check_env a factory")
    shown, hashes = kept(env.observe()[0]), env.row_hash()
    env.restore(env.snapshot(rows=np.array([0], np.int32)), rows=np.array([n - 1], np.int32))
    order = np.arange(n)
    order[-1] = 0
    same(env.row_hash(), hashes[order], "row hash after row 0 was put into the last row")
    same(env.observe()[0], taken(shown, order), "obs after row 0 was put into the last row")


@promise(
    "fork(rng=\"share\"): the target's bytes are the source's; all sources are read before anything is written."
)
def fork_shares(kit: Kit) -> None:
    env, _ = kit.walked(4)
    need(env, "fork", "row_hash")
    n = env.num_envs
    if n < 3:
        raise Skip("needs three rows: give check_env a factory")
    hashes, shown = env.row_hash(), kept(env.observe()[0])
    env.fork(np.array([0, n - 1], np.int32), np.array([n - 1, 0], np.int32))
    order = np.arange(n)
    order[[0, n - 1]] = [n - 1, 0]
    same(env.row_hash(), hashes[order], "row hash after rows 0 and N-1 were exchanged")
    same(env.observe()[0], taken(shown, order), "obs after rows 0 and N-1 were exchanged")
    env.fork(1, np.setdiff1d(np.arange(n), [1]).astype(np.int32))
    same(
        env.row_hash(),
        np.repeat(env.row_hash()[1:2], n, 0),
        "row hash after row 1 was forked onto all others",
    )
    for t, step in enumerate(walk(env, env.observe()[0], 12, keys=np.zeros(n, int))):
        for name in Step._fields[1:]:
            value = getattr(step, name)
            same(value, taken(value, [0] * n), f"step {t} after a fork: {name} of all rows against row 0")


@promise(
    'fork(rng="split"): the same present, another stream, a different one for every target and every fork.'
)
def fork_splits(kit: Kit) -> None:
    env, _ = kit.walked(4)
    need(env, "fork", "row_hash", "snapshot")
    n = env.num_envs
    if n < 3:
        raise Skip("needs three rows: give check_env a factory")
    snap, targets = env.snapshot(), np.array([1, 2], np.int32)
    found = []
    for _ in range(2):
        env.restore(snap)
        env.fork(0, targets, rng="split")
        shown = kept(env.observe()[0])
        same(taken(shown, targets), taken(shown, [0, 0]), "obs of the targets against the source")
        first = env.row_hash()
        env.fork(0, targets, rng="split")
        hashes = {tuple(h) for h in (*first[:3].tolist(), *env.row_hash()[1:3].tolist())}
        expect(len(hashes) == 5, "two targets, or two forks, share a stream (equal row hashes)")
        found.append(env.row_hash())
    same(found[1], found[0], "row hashes of a split fork, twice from one snapshot")
    before = state_of(env)
    expect_raises(
        ConfigError, lambda: env.fork(0, targets, rng="both"), "rng='both'", "both", "share", "split"
    )
    for what, source, bad in (
        ("a source out of range", n, [0]), ("a negative source", -1, [0]), ("a target out of range", 0, [n]),
        ("a target twice", 0, [1, 1]), ("two sources for one target", np.array([0, 1], np.int32), [2]),
    ):  # fmt: skip
        expect_raises(AgentEnvError, lambda s=source, b=bad: env.fork(s, np.array(b, np.int32)), what)
    unchanged(env, before, "after bad forks were refused")


@promise("row_hash: uint32[M,2] of all bytes of the row.")
def row_hashes(kit: Kit) -> None:
    env, _, _ = kit.started()
    need(env, "row_hash")
    n, hashes = env.num_envs, env.row_hash()
    expect(
        hashes.dtype == np.uint32 and hashes.shape == (n, 2),
        f"row_hash: {hashes.dtype}{hashes.shape}, want uint32({n}, 2)",
    )
    expect(len(np.unique(hashes, axis=0)) == n, "rows with different streams have equal hashes")
    same(env.row_hash(np.array([n - 1], np.int32)), hashes[-1:], "row_hash(rows)")
    do(env, invalid(env, n))
    expect((env.row_hash() != hashes).any(1).all(), "a step leaves the hash of a row as it was")


@promise("world_hash: facts and counters, not step, score or stream.")
def world_hashes(kit: Kit) -> None:
    env, obs, _ = kit.started()
    need(env, "get_available_actions")
    meaning: dict[Any, Any] = {}
    for t, step in enumerate(walk(env, obs, 2 * kit.steps)):
        lists = env.get_available_actions()
        for row in range(env.num_envs):
            if step.done[row] or not step.info["valid"][row]:
                continue
            key = (int(step.info["game"][row]), *step.info["world_hash"][row].tolist())
            first = meaning.setdefault(key, sorted(lists[row]))
            same(
                sorted(lists[row]),
                first,
                f"step {t}, row {row}: commands of two states with equal world_hash",
            )
    expect(len(meaning) > 1, "world_hash never changes")
    _, once = kept(env.reset(seed=kit.seed))
    _, again = kept(env.reset(seed=kit.seed + 1, options={"game": once["game"]}))
    same(again["world_hash"], once["world_hash"], "world_hash of the same start under another seed")


@promise("Envs pickle, in the middle of an episode too.")
def pickling(kit: Kit) -> None:
    env, obs = kit.walked()
    other = pickle.loads(pickle.dumps(env))
    same(other.observe()[0], obs, "observe of the unpickled env")
    walked = trace(env, obs, 12, salt=2)
    same_steps(replay(other, [s.action for s in walked]), walked, "the future of the unpickled env")
    same(kept(other.reset()), kept(env.reset()), "the next reset of the unpickled env")
    pickle.loads(pickle.dumps(env.spec))
    if hasattr(env, "set_game_weights") and kit.factory:
        weighed = kit.env(game_order="sample")
        weighed.set_game_weights(np.arange(weighed.spec.num_games) == 0)
        games = pickle.loads(pickle.dumps(weighed)).reset(seed=kit.seed)[1]["game"]
        expect((games == 0).all(), f"the unpickled env forgets its game weights: it plays games {games}")


@promise("Different envs may be stepped from different threads.")
def envs_in_threads(kit: Kit) -> None:
    envs = [kit.make(num_envs=kit.wide), kit.make(num_envs=kit.wide)]
    found: dict[int, Any] = {}

    def play(i: int) -> None:
        try:
            obs, _ = envs[i].reset(seed=kit.seed)
            found[i] = trace(envs[i], obs, 12)
        except Exception as error:
            found[i] = error

    threads = [threading.Thread(target=play, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for i in range(2):
        expect(i in found, "a thread that steps its own env does not end")
        expect(not isinstance(found[i], Exception), f"a thread that steps its own env: {found[i]!r}")
    same_steps(found[1], found[0], "two envs in two threads")


def _jax_is_running() -> bool:
    """Whether JAX has started its threads; importing it starts none."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bridge is not None and getattr(bridge, "backends_are_initialized", lambda: True)()


@promise("After fork(2) a child steps on, with a thread pool of its own.")
def fork_of_the_process(kit: Kit) -> None:
    if not hasattr(os, "fork"):
        raise Skip("this system has no fork(2)")
    if _jax_is_running():
        raise Skip("JAX is running, and its threads do not survive a fork(2)")
    env, obs, _ = kit.started(num_envs=kit.wide)
    step = do(env, pick(env, obs, 0))  # the pool is running
    twin = again(env)
    actions = pick(env, step.obs, 1)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, do(env, actions).reward.tobytes()[:512].ljust(512, b"\0"))
        finally:
            os._exit(0)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], 30)
    got = os.read(reader, 512) if ready else b""
    os.close(reader)
    if not ready:
        os.kill(child, 9)
    os.waitpid(child, 0)
    expect(got, "the child did not finish a step")
    expect(
        got == do(twin, actions).reward.tobytes()[:512].ljust(512, b"\0"),
        "the child's rewards differ from the parent's",
    )
    do(env, actions)
