"""What users of comparable projects reported as broken, as inputs to this one. Each test begins with the symptom."""

import gc
import itertools
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import agentenv_fast as ae
from agentenv_fast.errors import EnvBusyError
from agentenv_fast.evaluation import evaluate
from tests.probe_envs import two_rooms_compiled

ROOT = Path(__file__).resolve().parents[1]
HOSTILE = [
    "open door then go north", "", " ", "x" * 10_000, "a\0b", "\N{GRINNING FACE}\N{ZERO WIDTH JOINER}", "GO  North",
    "\ud800", "%s%s%n", "look\n\nlook", "\x1b[2J", "take", "take take take", "'; drop table games; --",
]  # fmt: skip


@pytest.fixture(scope="module")
def toy():
    return two_rooms_compiled.suite()


@pytest.fixture(scope="module")
def quest():
    return ae.suite("keyquest-v0", size=32, level="easy")


def draw(rng, obs):
    return (rng.random(len(obs["admissible_count"])) * obs["admissible_count"]).astype(np.int32)


def kept(tree):
    return {k: kept(v) for k, v in tree.items()} if isinstance(tree, dict) else np.array(tree, copy=True)


def same(a, b):
    if isinstance(b, dict):
        assert a.keys() == b.keys()
        for key in b:
            same(a[key], b[key])
    else:
        np.testing.assert_array_equal(a, b)


# -- resets -----------------------------------------------------------------------------------------------------------
@pytest.mark.timeout(20)
@pytest.mark.parametrize(("n", "ones"), [(4, [0]), (4, [0, 1, 2, 3]), (4096, [1234])])
def test_a_masked_reset_returns_at_once_and_leaves_the_other_rows(toy, n, ones):
    """Symptom: resetting one of four rows blocks for ever, because a full batch is waited for."""
    env = ae.make(toy, n, seed=0)
    obs, _ = env.reset()
    env.step(draw(np.random.default_rng(0), obs))
    before, mask = env.row_hash(), np.isin(np.arange(n), ones)
    began = time.perf_counter()
    obs, info = env.reset(options={"reset_mask": mask})
    assert time.perf_counter() - began < 2
    np.testing.assert_array_equal((env.row_hash() == before).all(1), ~mask)
    assert len(obs["tokens"]) == n and info["elapsed_step"][mask].tolist() == [0] * len(ones)


def test_a_reset_leaves_nothing_of_the_episode_before(quest):
    """Symptom: after reset() the episode before is still partly running."""
    used, fresh = ae.make(quest, 16), ae.make(quest, 16)
    obs, _ = used.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(37):
        obs, *_ = used.step(draw(rng, obs))
    used.reset(seed=2)
    fresh.reset(seed=2)
    np.testing.assert_array_equal(used.row_hash(), fresh.row_hash())


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_the_step_limit_counts_from_any_reset(toy, autoreset):
    """Symptom: the counter survives a reset, so the next episode is cut early; or a done flag survives it."""
    env = ae.make(toy[[0]], 1, max_episode_steps=5, autoreset=autoreset)
    env.reset(seed=0)
    for _ in range(3):
        env.step(["look"])
    env.reset()
    assert [bool(env.step(["look"])[3][0]) for _ in range(5)] == [False] * 4 + [True]
    env.reset()  # right after the end
    assert [bool(env.step(["look"])[3][0]) for _ in range(5)] == [False] * 4 + [True]


def test_how_many_actions_each_mode_plays_is_known(toy):
    """Symptom: next-step autoreset silently throws an action away."""
    played = {}
    for mode in ("same_step", "next_step", "disabled"):
        env = ae.make(toy[[0]], 1, max_episode_steps=4, autoreset=mode)
        env.reset(seed=0)
        played[mode] = [bool(env.step(["look"])[4]["valid"][0]) for _ in range(10)]
    assert played == {
        "same_step": [True] * 10,
        "next_step": [True] * 4 + [False] + [True] * 4 + [False],
        "disabled": [True] * 4 + [False] * 6,
    }


# -- arrays -----------------------------------------------------------------------------------------------------------
def test_final_obs_and_all_that_was_returned_survive_later_calls(toy):
    """Symptom: the final observation shows the next episode's first one, because buffers are reused."""
    env = ae.make(toy, 7, max_episode_steps=3)
    held = [(*env.reset(seed=0),)]
    rng = np.random.default_rng(0)
    copies = [kept(dict(enumerate(held[0])))]
    for _ in range(50):
        out = env.step(draw(rng, held[-1][0]))
        held.append(out)
        copies.append(kept(dict(enumerate(out))))
    ends = 0
    for out, was in zip(held[1:], copies[1:], strict=True):
        same(dict(enumerate(out)), was)
        final, done = out[4]["final_obs"], out[2] | out[3]
        texts = env.decode(final)
        assert all(
            text.startswith("You wake up.") is False for text, ended in zip(texts, done, strict=True) if ended
        )
        ends += done.sum()
    assert ends > 50


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_rewards_keep_their_shape_over_episode_ends(toy, n, autoreset):
    """Symptom: reward of shape (1,) or (2, 1) where an episode ends."""
    env = ae.make(toy, n, max_episode_steps=2, autoreset=autoreset)
    env.reset(seed=0)
    for _ in range(9):
        _, reward, terminated, truncated, _ = env.step(np.zeros(n, np.int32))
        assert (reward.dtype, reward.shape) == (np.float32, (n,))
        assert (terminated.dtype, terminated.shape, truncated.shape) == (np.bool_, (n,), (n,))


# -- seeds ------------------------------------------------------------------------------------------------------------
def test_two_runs_with_one_seed_are_equal_for_any_number_of_rows_and_threads(quest):
    """Symptom: with many envs only row 0 differs between two runs with one seed."""
    traces = {}
    for n, threads in itertools.product((1, 32, 1024), (1, 2, 7)):
        env = ae.make(quest, n, num_threads=threads, seed=3)
        obs, _ = env.reset()
        rewards = []
        for t in range(30):
            keys = np.arange(n, dtype=np.int64) * 7919 + t * 104729
            obs, reward, *_ = env.step((keys % np.maximum(obs["admissible_count"], 1)).astype(np.int32))
            rewards.append(reward)
        traces[n, threads] = np.array(rewards), env.row_hash()
    whole = traces[1024, 1]
    for (n, _), (rewards, hashes) in traces.items():
        np.testing.assert_array_equal(rewards, whole[0][:, :n])
        np.testing.assert_array_equal(hashes, whole[1][:n])
    assert np.unique(whole[1], axis=0).shape[0] == 1024


def test_a_seed_is_a_task_through_every_adapter_and_no_seed_varies(toy):
    """Symptom: reset(seed=) is accepted and dropped, so the members of a group get different tasks."""
    pytest.importorskip("gymnasium")
    from agentenv_fast.adapters.gymnasium import GymnasiumEnv, GymnasiumVectorEnv

    vec, single, batch = ae.make(toy, 3), GymnasiumEnv(toy), GymnasiumVectorEnv(toy, 3)
    seeds = np.full(3, 1234, np.uint64)
    games = {vec.reset(seed=1234)[1]["game"][0] for _ in range(6)}
    games |= {single.reset(seed=1234)[1]["game"] for _ in range(6)}
    games |= {game for _ in range(6) for game in batch.reset(seed=seeds.tolist())[1]["game"]}
    assert len(games) == 1
    assert len({int(ae.make(toy).reset()[1]["seed"]) for _ in range(6)}) == 6


def test_unseeded_processes_differ_and_seed_0_is_a_seed():
    """Symptom: unseeded runs share a hard-coded seed; `seed or default` drops 0."""
    code = (
        "import sys, agentenv_fast as ae\n"
        "env = ae.make(ae.suite('coinhunt-v0', size=16), 8, seed=eval(sys.argv[1]))\n"
        "print(env.reset()[1]['seed'], env.row_hash().tobytes().hex())\n"
    )

    def run(seed):
        done = subprocess.run(
            [sys.executable, "-c", code, seed], capture_output=True, text=True, cwd=ROOT, check=True
        )
        return done.stdout.split()

    assert run("None")[0] != run("None")[0]
    assert run("0") == run("0") and run("0")[0] == "0"


# -- actions ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", ["simple", "cooking", "custom", "coin-11"])
def test_hostile_texts_mark_their_row_and_touch_no_other(path):
    """Symptom: a command that holds two actions raises, and takes the whole batch with it."""
    n = len(HOSTILE) + 2
    suite = ae.load(ROOT / f"examples/games/{path}.json")
    env, calm = (
        ae.make(suite, n, seed=0, autoreset="disabled"),
        ae.make(suite, n, seed=0, autoreset="disabled"),
    )
    env.reset()
    calm.reset()
    for _ in range(3):
        *_, info = env.step([*HOSTILE, "look", "inventory"])
        calm.step(["look"] * (n - 1) + ["inventory"])
        assert set(info["status"][-2:].tolist()) == {0} and set(info["status"].tolist()) <= {0, 1, 2}
        same(env.row_hash()[-2:], calm.row_hash()[-2:])
        for text in env.get_state():
            assert isinstance(text, str) and text
    assert info["status"][0] != 0


@pytest.mark.parametrize("name", ["quest", "files"])
def test_every_command_offered_is_accepted_and_no_other_changes_anything(name, quest):
    """Symptom: a command on the list answers "Nothing happens", sometimes only the first time."""
    suite = quest if name == "quest" else ae.load(str(ROOT / "examples/games/*.json"))
    n, rng = 64, np.random.default_rng(0)
    env = ae.make(suite, n, seed=0, actions="command", autoreset="disabled", tokens=None)
    obs, _ = env.reset()
    states = 0
    for _ in range(12):
        snap, (obs, before) = env.snapshot(), env.observe()
        running = env.step(np.full(n, -1, np.int32))[4]["valid"]
        env.restore(snap)
        for slot in range(int(obs["admissible_count"].max())):
            has = running & (slot < obs["admissible_count"])
            *_, info = env.step(obs["admissible"][:, slot].copy())
            assert (info["status"][has] == 0).all(), "a listed command was refused"
            states += has.sum()
            env.restore(snap)
        for _ in range(8):
            command = rng.integers(0, env.spec.num_commands, n).astype(np.int32)
            listed = (obs["admissible"] == command[:, None]).any(1)
            *_, info = env.step(command)
            other = running & ~listed
            assert (info["status"][other] == 1).all()
            same(info["world_hash"][other], before["world_hash"][other])
            env.restore(snap)
        index = draw(rng, obs)
        env.step(np.take_along_axis(obs["admissible"], index[:, None], 1)[:, 0].copy())
    assert states > 2000


# -- success ----------------------------------------------------------------------------------------------------------
class Scripted:
    """Types the same commands over and over."""

    def __init__(self, name, commands):
        self.name, self.commands = name, commands

    def start(self, env, seed):
        self.env = env

    def act(self, obs, first, game, step):
        wanted = [self.commands[int(s) % len(self.commands)] for s in step]
        lists = self.env.get_available_actions()
        return np.array(
            [c.index(w) if w in c else c.index("look") for c, w in zip(lists, wanted, strict=True)], np.int32
        )


def test_success_is_won_and_nothing_else(toy):
    """Symptom: success = done and score > 0, so a policy that only collects points "wins" all."""
    games = toy[[1]]  # the vial is here, the key is below, the chest is here
    reports = {
        agent.name: evaluate(agent, games, num_envs=1)
        for agent in (
            Scripted("winner", ["go down", "take key", "go up", "open chest"]),
            Scripted("collector", ["go down", "take key", "look"]),
            Scripted("drinker", ["go down", "take key", "go up", "drink vial"]),
        )
    }
    assert {name: report["success"] for name, report in reports.items()} == {
        "winner": 1,
        "collector": 0,
        "drinker": 0,
    }
    returns = {name: report["by_game"][0]["return"] for name, report in reports.items()}
    assert returns == {"winner": 3, "collector": 1, "drinker": 1}


def test_returns_and_lengths_are_exact_in_every_mode(toy):
    """Symptom: statistics are short by one, or the dummy step of a reset counts as one."""
    for mode in ("same_step", "next_step", "disabled"):
        env = ae.make(toy[[0]], 4, max_episode_steps=3, autoreset=mode)
        _, info = env.reset(seed=0)
        returns, lengths, found = np.zeros(4), np.zeros(4, int), []
        for _ in range(200):
            first = info["first"]
            _, reward, terminated, truncated, info = env.step(["take key" if f else "look" for f in first])
            returns += reward * info["valid"]
            lengths += info["valid"]
            done = (terminated | truncated) & info["valid"]
            found += [(r, n) for r, n in zip(returns[done], lengths[done], strict=True)]
            returns[done] = lengths[done] = 0
            if mode == "disabled" and done.any():
                _, info = env.reset(options={"reset_mask": done})
        assert (
            set(found) == {(1.0, 3)}
            and len(found) == 4 * {"same_step": 66, "next_step": 50, "disabled": 66}[mode]
        )


@pytest.mark.parametrize("cut", ["terminated", "truncated"])
def test_nothing_of_an_ended_episode_is_carried_over(toy, cut):
    """Symptom: score and return go on over a truncation."""
    env = ae.make(toy[[3]], 1, max_episode_steps=2)
    env.reset(seed=0)
    env.step(["take key"])
    _, reward, terminated, truncated, info = env.step(["open chest" if cut == "terminated" else "look"])
    assert (bool(terminated[0]), bool(truncated[0])) == (cut == "terminated", cut == "truncated")
    assert info["score"][0] == (3 if cut == "terminated" else 1)
    _, info = env.observe()
    assert (info["score"][0], info["moves"][0], info["elapsed_step"][0]) == (0, 0, 0)
    _, reward, _, _, info = env.step(["take key"])
    assert (reward[0], info["score"][0]) == (1, 1)


@pytest.mark.parametrize("id", ["keyquest-v0", "coinhunt-v0"])
@pytest.mark.parametrize("level", ["easy", "medium", "hard", "long"])
def test_the_oracle_wins_every_generated_game_in_two_steps_or_more(id, level):
    """Symptom: a shipped expert plan fails; some seeds cannot be won, or are over in one step."""
    suite = ae.suite(id, size=48, level=level, seed=1)
    env = ae.make(suite, len(suite), game_order="sequential", autoreset="disabled", seed=0, tokens=None)
    env.reset()
    plans = [game.walkthrough for game in suite]
    assert min(map(len, plans)) >= (30 if level == "long" else 2)
    for t in range(max(map(len, plans))):
        running = [t < len(plan) for plan in plans]
        texts = [plan[t] if run else "look" for plan, run in zip(plans, running, strict=True)]
        *_, info = env.step(texts)
        assert (info["status"][running] == 0).all()
    assert info["won"].all() and not info["lost"].any()


# -- sizes, memory, processes -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 255, 256, 257, 4097])
@pytest.mark.parametrize("threads", [1, 7, 5000])
def test_any_number_of_rows_with_any_number_of_threads(toy, n, threads):
    """Symptom: a crash above 255 rows; more threads than rows."""
    env = ae.make(toy, n, num_threads=threads, seed=0, max_episode_steps=3)
    obs, _ = env.reset()
    for t in range(5):
        obs, reward, *_ = env.step(
            (np.arange(n) + t).astype(np.int32) % np.maximum(obs["admissible_count"], 1)
        )
    one = ae.make(toy, n, num_threads=1, seed=0, max_episode_steps=3)
    want, _ = one.reset()
    for t in range(5):
        want, *_ = one.step((np.arange(n) + t).astype(np.int32) % np.maximum(want["admissible_count"], 1))
    same(obs, want)
    assert reward.shape == (n,)


def resident_bytes():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def grows(action, times, warm=3):
    for _ in range(max(warm, times // 10)):
        action()
    before = resident_bytes()
    for _ in range(times):
        action()
    return resident_bytes() - before


LIMIT = 5 << 20  # bytes; a leak of one row or one buffer a call would be far above


@pytest.mark.slow
def test_memory_is_flat_over_a_million_resets(toy):
    """Symptom: memory grows with each reset."""
    env = ae.make(toy, 1024, seed=0)
    env.reset()
    assert grows(env.reset, 900) < LIMIT  # with the warm-up about a million rows


@pytest.mark.slow
def test_memory_is_flat_over_making_and_closing(toy):
    """Symptom: memory grows with each env that is made and closed."""

    def cycle():
        with ae.make(toy, 8, seed=0) as env:
            env.reset()
            env.step(["look"] * 8)

    assert grows(cycle, 2000) < LIMIT


@pytest.mark.slow
def test_memory_is_flat_over_forks_and_snapshots(toy):
    env = ae.make(toy, 64, seed=0)
    env.reset()
    targets = np.arange(1, 64, dtype=np.int32)

    def cycle():
        env.fork(0, targets, rng="split")
        env.restore(env.snapshot())

    assert grows(cycle, 1600) < LIMIT  # about 1e5 forks


def test_memory_is_flat_where_one_core_is_asked_for_more_threads():
    """Jobs for threads that do not exist must not pile up."""
    code = (
        "import sys\n"
        "sys.path.insert(0, '.')\n"
        "import agentenv_fast as ae, numpy as np\n"
        "from tests.test_pitfalls import grows, LIMIT\n"
        "from tests.probe_envs import two_rooms_compiled\n"
        "env = ae.make(two_rooms_compiled.suite(), 256, num_threads=8, tokens=None, text=False)\n"
        "env.reset(seed=0)\n"
        "action = np.ones(256, np.int32)\n"
        "print(grows(lambda: env.step(action), 20000, warm=100) < LIMIT)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False,
        env={**os.environ, "AE_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs sched_setaffinity")
@pytest.mark.timeout(60)
def test_it_starts_where_one_core_is_granted():
    """Symptom: it hangs at the start in a container with a CPU limit."""
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "import agentenv_fast as ae\n"
        "env = ae.make(ae.suite('coinhunt-v0', size=4), 256, seed=0); env.reset(); env.step(['look'] * 256)\n"
        "print('stepped')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=30, check=False
    )
    assert done.stdout.strip() == "stepped", done.stderr


@pytest.mark.timeout(60)
def test_one_env_from_two_threads_at_once_raises_and_is_not_harmed(quest):
    """Two threads in one env would tear its rows: the second one is told so."""
    env = ae.make(quest, 4096, num_threads=1, seed=0)
    env.reset()
    action, refused, other = np.zeros(4096, np.int32), [], []
    stop = threading.Event()

    def intrude():
        while not stop.is_set():
            try:
                env.observe()
            except EnvBusyError as error:
                refused.append(str(error))
            except Exception as error:
                other.append(error)
            time.sleep(0.0005)

    thread = threading.Thread(target=intrude)
    thread.start()
    steps, deadline = 0, time.monotonic() + 30
    while time.monotonic() < deadline and not (refused and steps):
        try:
            env.step(action)
            steps += 1
        except EnvBusyError as error:
            refused.append(str(error))
    stop.set()
    thread.join()
    assert refused and steps and not other and "used from another thread" in refused[0]
    again = ae.make(quest, 4096, seed=0)
    again.reset()
    for _ in range(steps):
        again.step(action)
    np.testing.assert_array_equal(env.row_hash(), again.row_hash())


def test_an_index_beyond_a_list_that_was_cut_short_is_invalid(toy):
    for strict in (False, True):
        env = ae.make(toy[[0]], 1, max_admissible=2, strict=strict)
        obs, info = env.reset(seed=0)
        assert obs["admissible_count"][0] == 2 and info["overflow"][0] == 4
        if strict:
            with pytest.raises(ae.errors.ActionError, match=r"row 0: action 2 outside \[0, 2\)"):
                env.step(np.array([2], np.int32))
        else:
            assert env.step(np.array([2], np.int32))[4]["status"][0] == 1


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_strict_does_not_look_at_actions_that_are_ignored(toy, mode):
    env = ae.make(toy[[0]], 1, max_episode_steps=1, autoreset=mode, strict=True)
    env.reset(seed=0)
    env.step(np.array([0], np.int32))
    *_, info = env.step(np.array([99], np.int32))
    assert not info["valid"][0]
    env.reset()
    with pytest.raises(ae.errors.ActionError, match="the command is not known here"):
        env.step((np.array([[1, 1]], np.int32), np.array([2], np.int32)))
