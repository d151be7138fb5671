"""How episodes begin and end: resets, limits, the three autoreset modes, rewards."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from agentenv_fast.envs.check.kit import (
    INFO,
    Kit,
    Skip,
    Step,
    again,
    autoreset_of,
    do,
    expect,
    expect_raises,
    kept,
    pick,
    promise,
    same,
    same_steps,
    state_of,
    taken,
    trace,
    unchanged,
    walk,
)
from agentenv_fast.errors import ConfigError
from agentenv_fast.spec import Autoreset, Status


@promise("reset begins an episode in every row: first, and every counter and flag cleared.")
def reset_is_total(kit: Kit) -> None:
    used, _ = kit.walked(kit.steps)
    fresh = kit.env() if kit.factory else again(used)
    for attempt in range(2):
        got, want = kept(used.reset(seed=kit.seed + 1)), kept(fresh.reset(seed=kit.seed + 1))
        same(got[0], want[0], "obs of a reset after a walk, against a fresh env")
        same(got[1], want[1], "info of a reset after a walk, against a fresh env")
        _check_fresh(got[1], slice(None), "after reset")
        same_steps(trace(used, got[0], 10), trace(fresh, want[0], 10), "the walk after it")
        if attempt == 0:
            trace(used, used.observe()[0], 3, salt=5)  # and reset in the middle of an episode


def _check_fresh(info: dict, rows: Any, what: str) -> None:
    for key in ("score", "moves", "elapsed_step", "status"):
        expect((info[key][rows] == 0).all(), f"{what}: {key} {info[key][rows]}, want 0")
    for key in ("won", "lost"):
        expect(not info[key][rows].any(), f"{what}: {key} is set")
    for key in ("first", "valid"):
        expect(info[key][rows].all(), f"{what}: {key} {info[key][rows]}, want True")


@promise("A masked reset returns all N rows, unmasked ones byte for byte as they were.")
def masked_reset(kit: Kit) -> None:
    env, _ = kit.walked(5)
    n = env.num_envs
    if n < 2:
        raise Skip("needs two rows: give check_env a factory")
    before, hashes = kept(env.observe()), env.row_hash() if hasattr(env, "row_hash") else None
    twin = again(env)
    mask = np.zeros(n, bool)
    mask[0] = True
    began = time.perf_counter()
    after, info = kept(env.reset(options={"reset_mask": mask}))
    expect(time.perf_counter() - began < 10, "a masked reset took more than 10 s")
    same(taken(after, ~mask), taken(before[0], ~mask), "obs of unmasked rows")
    same(taken(info, ~mask), taken(before[1], ~mask), "info of unmasked rows")
    if hashes is not None:
        same(env.row_hash()[~mask], hashes[~mask], "row hash of unmasked rows")
        expect((env.row_hash()[mask] != hashes[mask]).any(), "the masked row is as it was")
    _check_fresh(info, mask, "masked row")
    same(info["episode"][0], np.int32(before[1]["episode"][0] + 1), "episode of the masked row")
    action = pick(env, after, 1)
    a, b = do(env, action), do(twin, action)
    for name in Step._fields[1:]:
        same(
            taken(getattr(a, name), ~mask),
            taken(getattr(b, name), ~mask),
            f"the next step of unmasked rows: {name}",
        )
    state = state_of(env)
    for what, bad in (
        ("int32", mask.astype(np.int32)), ("of the wrong length", np.ones(n + 1, bool)),
        ("with two axes", np.ones((n, 1), bool)), ("all False", np.zeros(n, bool)),
    ):  # fmt: skip
        expect_raises(
            ConfigError,
            lambda bad=bad: env.reset(options={"reset_mask": bad}),
            f"reset_mask {what}",
            "reset_mask",
        )
    expect_raises(
        ConfigError, lambda: env.reset(options={"reset_musk": mask}), "an unknown option", "reset_musk"
    )
    unchanged(env, state, "after bad options were refused")


@promise("max_episode_steps truncates exactly at the limit, and the count begins anew with every episode.")
def truncation_at_the_limit(kit: Kit) -> None:
    limit = 5
    for mode in Autoreset:
        env, obs, _ = kit.started(max_episode_steps=limit, autoreset=mode.value)
        same(env.spec.max_episode_steps, limit, "spec.max_episode_steps")
        trace(env, obs, 3)
        obs, _ = env.reset(seed=kit.seed)
        counted = np.zeros(
            env.num_envs, np.int32
        )  # by us: a count that is never cleared would agree with itself
        for t, step in enumerate(trace(env, obs, 4 * limit)):
            live = step.info["valid"]
            counted[live] += 1
            where = f"{mode.value}, step {t}"
            same(step.info["elapsed_step"][live], counted[live], f"{where}: elapsed_step")
            want = (counted[live] == limit) & ~step.terminated[live]
            same(step.truncated[live], want, f"{where}: truncated after {counted[live]} steps")
            counted[step.done] = 0


@promise("Any reset clears what an ended episode left, also right after it ended.")
def reset_right_after_the_end(kit: Kit) -> None:
    for mode in Autoreset:
        env, obs, _ = kit.started(max_episode_steps=3, autoreset=mode.value)
        steps = trace(env, obs, 3)
        expect(steps[-1].done.any(), f"{mode.value}: nothing ended at the limit of 3")
        for masked in (False, True):
            rows = steps[-1].done if masked else np.ones(env.num_envs, bool)
            obs, info = kept(env.reset(options={"reset_mask": rows} if masked else None))
            _check_fresh(info, rows, f"{mode.value}: reset after the end")
            step = do(env, pick(env, obs, 9))
            expect(step.info["valid"][rows].all(), f"{mode.value}: the step after a manual reset is a dummy")
            expect(
                (step.info["elapsed_step"][rows] == 1).all(),
                f"{mode.value}: the step after a reset is not the first",
            )
            steps = trace(env, step.obs, 2)
            if not steps[-1].done.any():
                break


@promise(
    "info is about the transition just made, so about the episode that ended in it although obs may begin the next."
)
def info_is_about_the_transition(kit: Kit) -> None:
    env, obs, info = kit.started(max_episode_steps=6)
    previous, total = info, np.zeros(env.num_envs, np.float64)
    for t, step in enumerate(walk(env, obs, kit.steps)):
        live = step.info["valid"]
        same(
            step.info["elapsed_step"][live],
            step_numbers(previous, step, live, env),
            f"step {t}: elapsed_step",
        )
        total = np.where(live, total + step.reward, 0.0)
        if tuple(env.spec.reward_names) == ("score",):
            ended = step.done & live
            expect(
                np.allclose(total[ended], step.info["score"][ended]),
                f"step {t}: rewards of an episode sum to {total[ended]}, its score is {step.info['score'][ended]}",
            )
        total[step.done] = 0.0
        previous = {**kept(step.info), "done": step.done}


def previous_open(previous: dict, env: Any) -> np.ndarray:
    return ~previous.get("done", np.zeros(env.num_envs, bool))


def step_numbers(previous: dict, step: Step, live: np.ndarray, env: Any) -> np.ndarray:
    """1 after an episode's beginning, else one more than before."""
    start = previous["first"] | ~previous_open(previous, env)
    return np.where(start, 1, previous["elapsed_step"] + 1).astype(np.int32)[live]


@promise("first says that this obs begins an episode; valid is False only for rows that were not stepped.")
def first_and_valid(kit: Kit) -> None:
    for mode in Autoreset:
        env, obs, _ = kit.started(max_episode_steps=4, autoreset=mode.value)
        over = np.zeros(env.num_envs, bool)
        for t, step in enumerate(walk(env, obs, 14)):
            where = f"{mode.value}, step {t}"
            same(step.info["valid"], ~over, f"{where}: valid")
            want_first = {"same_step": step.done, "next_step": over, "disabled": np.zeros_like(over)}[
                mode.value
            ]
            same(step.info["first"], want_first, f"{where}: first")
            over = {"same_step": np.zeros_like(over), "next_step": step.done, "disabled": over | step.done}[
                mode.value
            ]


@promise(
    "same_step: final_obs has the keys, shapes and dtypes of obs, filled where an episode ended, zero elsewhere."
)
def same_step_final_obs(kit: Kit) -> None:
    env, obs, _ = kit.started(max_episode_steps=4, autoreset="same_step")
    twin, _, _ = kit.started(max_episode_steps=4, autoreset="disabled")
    compared = np.ones(env.num_envs, bool)  # rows in their first episode: those that the twin has too
    for t, step in enumerate(walk(env, obs, 12)):
        final = step.info.get("final_obs")
        expect(final is not None, f"step {t}: info has no final_obs")
        assert final is not None
        same(
            {k: (a.dtype, a.shape) for k, a in final.items()},
            {k: (a.dtype, a.shape) for k, a in step.obs.items()},
            "final_obs",
        )
        for key, array in final.items():
            expect(
                not array[~step.done].any(),
                f"step {t}: final_obs[{key!r}] is not zero where no episode ended",
            )
        other = do(twin, step.action)
        ended = step.done & compared
        same(
            taken(final, ended),
            taken(other.obs, ended),
            f"step {t}: final_obs against the same row with autoreset disabled",
        )
        for key in ("reward", "terminated", "truncated"):
            same(
                getattr(step, key)[compared],
                getattr(other, key)[compared],
                f"step {t}: {key} against autoreset disabled",
            )
        for key in INFO.keys() - {"first", "overflow"}:  # these are also about the obs that begins the next
            same(
                step.info[key][compared],
                other.info[key][compared],
                f"step {t}: info[{key!r}] against autoreset disabled",
            )
        compared &= ~step.done
    expect(not compared.all(), "no episode ended at a limit of 4")


@promise(
    "next_step: the step that ends an episode shows its end; the next one resets, ignores its action, rewards 0."
)
def next_step_dummy(kit: Kit) -> None:
    env, obs, _ = kit.started(max_episode_steps=4, autoreset="next_step")
    twin, _, _ = kit.started(max_episode_steps=4, autoreset="next_step")
    over = np.zeros(env.num_envs, bool)
    episode = np.zeros(env.num_envs, np.int32)
    for t in range(14):
        action = pick(env, obs, t)
        step = do(env, action)
        ignored = np.where(over, 2**31 - 1, action).astype(np.int32)
        same_steps([do(twin, ignored)], [step], f"step {t}: the action of a row that is only reset matters")
        expect("final_obs" not in step.info, f"step {t}: next_step has final_obs")
        expect(
            (step.reward[over] == 0).all(),
            f"step {t}: reward {step.reward[over]} of rows that were only reset",
        )
        expect(not step.done[over].any(), f"step {t}: a row that was only reset is done")
        _check_fresh(
            {**step.info, "valid": ~step.info["valid"]}, over, f"step {t}: rows that were only reset"
        )
        episode = episode + over
        same(step.info["episode"], episode, f"step {t}: episode")
        over, obs = step.done, step.obs
    expect(episode.any(), "no episode ended at a limit of 4")


@promise("disabled: a finished row stays as it is: reward 0, flags kept.")
def disabled_rows_stay(kit: Kit) -> None:
    env, obs, _ = kit.started(max_episode_steps=4, autoreset="disabled")
    over, last = np.zeros(env.num_envs, bool), None
    hashes = env.row_hash() if hasattr(env, "row_hash") else None
    for t, step in enumerate(walk(env, obs, 10)):
        expect("final_obs" not in step.info, f"step {t}: disabled has final_obs")
        if last is not None and over.any():
            expect((step.reward[over] == 0).all(), f"step {t}: reward {step.reward[over]} of finished rows")
            for name in ("terminated", "truncated"):
                same(
                    getattr(step, name)[over], getattr(last, name)[over], f"step {t}: {name} of finished rows"
                )
            same(taken(step.obs, over), taken(last.obs, over), f"step {t}: obs of finished rows")
            for key in INFO.keys() - {"valid", "reward_terms"}:
                same(step.info[key][over], last.info[key][over], f"step {t}: info[{key!r}] of finished rows")
            if hashes is not None:
                same(env.row_hash()[over], hashes[over], f"step {t}: row hash of finished rows")
        over, last = over | step.done, step
        hashes = env.row_hash() if hasattr(env, "row_hash") else None
    expect(over.all(), "not every row ended at a limit of 4")


@promise(
    "won, lost, score, terminated, truncated and status are separate facts; an end that is won or lost is terminated."
)
def facts_agree(kit: Kit) -> None:
    env, obs, _ = kit.started()
    for t, step in enumerate(walk(env, obs, 2 * kit.steps)):
        won, lost = step.info["won"], step.info["lost"]
        expect(not (won & lost).any(), f"step {t}: won and lost at once")
        expect(
            not ((won | lost) & ~step.terminated & step.info["valid"]).any(),
            f"step {t}: won or lost, and not terminated",
        )
        expect(not (step.terminated & step.truncated).any(), f"step {t}: terminated and truncated at once")
        expect((step.info["status"] <= max(Status)).all(), f"step {t}: status {step.info['status']}")
        expect(
            (step.info["status"] == 0).all(), f"step {t}: status {step.info['status']} for listed commands"
        )
        expect((step.info["overflow"] <= 7).all(), f"step {t}: overflow {step.info['overflow']}")


@promise(
    "reward is the change of score since the last step unless a RewardSpec says otherwise; its terms sum to it."
)
def reward_is_the_change_of_score(kit: Kit) -> None:
    env, obs, info = kit.started()
    before = info["score"].copy()
    low, high = env.spec.reward_range
    for t, step in enumerate(walk(env, obs, 2 * kit.steps)):
        live = step.info["valid"]
        same(
            step.info["reward_terms"].sum(1).astype(np.float32), step.reward, f"step {t}: sum of reward_terms"
        )
        expect(
            ((step.reward >= low) & (step.reward <= high)).all(),
            f"step {t}: reward {step.reward} outside {low, high}",
        )
        if tuple(env.spec.reward_names) == ("score",):
            want = np.where(live, step.info["score"] - before, 0).astype(np.float32)
            same(step.reward, want, f"step {t}: reward against the change of score")
        ended = step.done if autoreset_of(env) != "disabled" else np.zeros_like(step.done)
        before = np.where(ended | step.info["first"], 0, step.info["score"]).astype(np.float32)
