"""Same seed, same bytes: for any number of envs, threads, processes; and state is a value."""

import hashlib
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import agentenv_fast as ae
from agentenv_fast.native import _core


@pytest.fixture(scope="module")
def suite():
    return ae.suite("keyquest-v0", size=24, level="easy")


def play(env, steps, rows=8, seed=5):
    """→ a hash of everything that the first `rows` rows show along a walk that depends on each row alone."""
    digest = hashlib.sha256()
    obs, info = env.reset(seed=seed)
    for _ in range(steps):
        for key in sorted(obs):
            digest.update(np.ascontiguousarray(obs[key][:rows]).tobytes())
        digest.update(env.row_hash()[:rows].tobytes())
        action = (info["world_hash"][:, 0] % np.maximum(obs["admissible_count"], 1)).astype(np.int32)
        obs, reward, terminated, truncated, info = env.step(action)
        for array in (reward, terminated, truncated, info["score"], info["won"], info["game"]):
            digest.update(np.ascontiguousarray(array[:rows]).tobytes())
        digest.update(np.ascontiguousarray(info["final_obs"]["text"][:rows]).tobytes())
    return digest.hexdigest()


def test_the_trace_of_a_row_depends_on_neither_num_envs_nor_threads(suite):
    traces = {
        (n, threads): play(ae.make(suite, num_envs=n, num_threads=threads), 60)
        for n in (8, 32, 257, 1024)
        for threads in (1, 2, 7)
    }
    assert len(set(traces.values())) == 1, traces


def test_two_processes_give_the_same_trace(suite):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "import agentenv_fast as ae; from tests.envs.test_determinism import play;"
        "print(play(ae.make(ae.suite('keyquest-v0', size=24, level='easy'), num_envs=8), 20))"
    )
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    runs = {
        subprocess.run(
            [sys.executable, "-c", code, root], capture_output=True, text=True, check=True, cwd=root
        ).stdout
        for _ in range(2)
    }
    assert runs == {play(ae.make(suite, num_envs=8), 20) + "\n"}


def test_seed_0_is_a_seed_and_no_seed_is_fresh_entropy_that_is_reported(suite):
    assert play(ae.make(suite, num_envs=8), 10, seed=0) == play(ae.make(suite, num_envs=8), 10, seed=0)
    assert play(ae.make(suite, num_envs=8), 10, seed=0) != play(ae.make(suite, num_envs=8), 10, seed=1)
    one, other = ae.make(suite, num_envs=8), ae.make(suite, num_envs=8)
    seeds = [env.reset()[1]["seed"] for env in (one, other)]
    assert seeds[0] != seeds[1]
    again = ae.make(suite, num_envs=8)
    again.reset(seed=seeds[0])
    assert (again.row_hash() == one.row_hash()).all()


def test_equal_row_seeds_give_equal_bytes_in_any_row_of_any_batch(suite):
    wide, narrow = ae.make(suite, num_envs=6), ae.make(suite, num_envs=1)
    wide.reset(seed=np.array([3, 9, 3, 7, 9, 3], dtype=np.uint64))
    narrow.reset(seed=np.array([9], dtype=np.uint64))
    rows = wide.snapshot().rows
    assert (rows[0] == rows[2]).all() and (rows[0] == rows[5]).all() and (rows[1] == rows[4]).all()
    assert (rows[1] == narrow.snapshot().rows[0]).all()


def test_rows_of_a_group_play_the_same_games(suite):
    env = ae.make(suite, num_envs=12, group_size=4)
    for _ in range(30):
        _, info = env.reset(seed=None) if env._native.started else env.reset(seed=1)
        games = info["game"].reshape(3, 4)
        assert (games == games[:, :1]).all()


def test_shuffle_walks_each_task_through_every_game_before_any_comes_again(suite):
    env = ae.make(suite, num_envs=3)
    seen = [env.reset(seed=4)[1]["game"].copy()]
    seen += [env.reset()[1]["game"].copy() for _ in range(2 * len(suite) - 1)]
    for row in np.array(seen).T:
        assert sorted(row[: len(suite)]) == list(range(len(suite))) == sorted(row[len(suite) :])


def test_weights_decide_which_games_are_sampled(suite):
    env = ae.make(suite, num_envs=64, game_order="sample")
    weights = np.zeros(len(suite))
    weights[[3, 5]] = [1, 3]
    env.set_game_weights(weights)
    games = np.concatenate([env.reset(seed=s)[1]["game"].copy() for s in range(40)])
    assert set(games) == {3, 5}
    assert 0.70 < (games == 5).mean() < 0.80  # 2,560 draws of p = 0.75: sigma is 0.009


def test_fork_share_copies_bytes_and_split_gives_streams_of_their_own(suite):
    env = ae.make(suite, num_envs=6)
    env.reset(seed=2)
    env.fork(0, np.array([1, 2], dtype=np.int32))
    rows = env.snapshot().rows
    assert (rows[0] == rows[1]).all() and (rows[0] == rows[2]).all()
    env.fork(0, np.array([3, 4, 5], dtype=np.int32), rng="split")
    rows = env.snapshot().rows
    streams = rows[:, 16:20].copy().view(np.uint32)[:, 0]
    assert len({*streams[[0, 3, 4, 5]]}) == 4
    worlds = rows[:, 64:]
    assert (worlds[3] == worlds[0]).all() and (worlds[5] == worlds[0]).all()
    swapped = env.snapshot().rows[[1, 3]]
    env.fork(np.array([1, 3], dtype=np.int32), np.array([3, 1], dtype=np.int32))
    assert (env.snapshot().rows[[3, 1]] == swapped).all()  # all sources are read before anything is written


def test_an_env_that_travels_goes_on_where_it_was(suite):
    env = ae.make(suite, num_envs=5, autoreset="next_step")
    env.reset(seed=3)
    for _ in range(7):
        env.step(np.zeros(5, dtype=np.int32))
    twin = pickle.loads(pickle.dumps(env))
    for _ in range(50):
        one, other = env.step(np.zeros(5, dtype=np.int32)), twin.step(np.zeros(5, dtype=np.int32))
        assert all((one[0][k] == other[0][k]).all() for k in one[0])
    assert (env.row_hash() == twin.row_hash()).all()


def _child(env, queue):
    env.reset(seed=1)
    for _ in range(5):
        env.step(np.zeros(env.num_envs, dtype=np.int32))
    queue.put(env.row_hash().tolist())


def test_a_forked_child_steps_on_threads_of_its_own(suite):
    env = ae.make(suite, num_envs=256, num_threads=2)
    env.reset(seed=1)
    env.step(np.zeros(256, dtype=np.int32))  # the parent's pool exists now
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(env, queue))
    child.start()
    got = queue.get(timeout=60)
    child.join(timeout=60)
    assert child.exitcode == 0
    env.reset(seed=1)
    for _ in range(5):
        env.step(np.zeros(256, dtype=np.int32))
    assert got == env.row_hash().tolist()


def test_damaged_rows_are_refused_and_nothing_is_restored(suite):
    env = ae.make(suite, num_envs=4)
    env.reset(seed=1)
    before = env.row_hash().tolist()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        snap = env.snapshot()
        snap.rows[rng.integers(4), rng.integers(snap.rows.shape[1])] = rng.integers(256)
        twin = ae.make(suite, num_envs=4)
        try:
            twin.restore(snap)
        except ae.errors.SnapshotError:
            refused += 1
            continue
        for _ in range(3):  # accepted: then it must be safe to play
            twin.step(np.zeros(4, dtype=np.int32))
    assert refused > 10
    assert env.row_hash().tolist() == before


def test_philox_draws_are_the_published_ones():
    assert [hex(x) for x in _core.philox(0, 0, 0, 0, 0)] == [
        "0x6627e8d5",
        "0xe169c58d",
        "0xbc57ac4c",
        "0x9b00dbd8",
    ]
