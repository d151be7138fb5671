"""What reset, step and observe return: keys, dtypes, shapes, padding, text, tokens."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from agentenv_fast.envs.check.kit import (
    INFO,
    OBS,
    PAIRS,
    Kit,
    Skip,
    Step,
    do,
    expect,
    leaves,
    need,
    option,
    pick,
    promise,
    replay,
    same,
    taken,
    texts_of,
    trace,
    walk,
)
from agentenv_fast.envs.text import SECTIONS
from agentenv_fast.spec import Autoreset, Overflow


@promise("num_envs, spec, reset, step and observe: the interface of spec.VectorEnv.")
def interface(kit: Kit) -> None:
    env = kit.env()
    for name in ("num_envs", "spec", "reset", "step", "observe"):
        expect(hasattr(env, name), f"the env has no {name}")
    expect(
        isinstance(env.num_envs, int) and env.num_envs >= 1, f"num_envs: {env.num_envs!r}, want an int from 1"
    )
    expect(env.spec.num_envs == env.num_envs, f"spec.num_envs: {env.spec.num_envs}, want {env.num_envs}")
    Autoreset(env.spec.autoreset)
    expect(
        env.spec.max_episode_steps >= 1,
        f"spec.max_episode_steps: {env.spec.max_episode_steps}, want an int from 1",
    )


@promise(
    "obs: tokens int32[N,L], token_count, text uint8[N,B], text_size, admissible int32[N,K], admissible_count."
)
def obs_keys_dtypes_and_shapes(kit: Kit) -> None:
    env, obs, _ = kit.started()
    _check_obs(env, obs, env.num_envs, "reset: obs")
    step = do(env, pick(env, obs, 0))
    _check_obs(env, step.obs, env.num_envs, "step: obs")
    _check_obs(env, env.observe()[0], env.num_envs, "observe: obs")


def _check_obs(env: Any, obs: dict, n: int, what: str) -> None:
    expect(isinstance(obs, dict) and obs, f"{what}: {type(obs).__name__}, want a dict of arrays")
    expect(obs.keys() <= OBS.keys(), f"{what}: keys {sorted(obs.keys() - OBS.keys())} are not known")
    for part, count in PAIRS:
        expect((part in obs) == (count in obs), f"{what}: {part} and {count} come together")
        wanted = option(env, part, part in obs)
        there = "is there" if part in obs else "is missing"
        expect((part in obs) == bool(wanted), f"{what}: {part} {there}, made with {wanted!r}")
    for key, array in obs.items():
        dtype, width = OBS[key]
        if key == "admissible" and option(env, "admissible", "ids") == "bitset":
            dtype, width = np.uint32, ""
            same(array.shape, (n, -(-env.spec.num_commands // 32)), f"{what}[{key!r}].shape")
        elif width:
            same(array.shape, (n, getattr(env.spec, width)), f"{what}[{key!r}].shape")
        else:
            same(array.shape, (n,), f"{what}[{key!r}].shape")
        expect(array.dtype == dtype, f"{what}[{key!r}]: dtype {array.dtype}, want {np.dtype(dtype)}")


@promise(
    "info: score, won, lost, moves, game, episode, elapsed_step, status, overflow, first, valid, world_hash, "
    "reward_terms."
)
def info_keys_dtypes_and_shapes(kit: Kit) -> None:
    env, obs, info = kit.started()
    step = do(env, pick(env, obs, 0))
    for what, found in (("reset", info), ("step", step.info), ("observe", env.observe()[1])):
        for key, (dtype, second) in INFO.items():
            expect(key in found, f"{what}: info has no {key!r}")
            array = found[key]
            columns = len(env.spec.reward_names) if second == "R" else second
            same(
                array.shape,
                (env.num_envs,) if columns is None else (env.num_envs, columns),
                f"{what}: info[{key!r}].shape",
            )
            expect(
                array.dtype == dtype, f"{what}: info[{key!r}]: dtype {array.dtype}, want {np.dtype(dtype)}"
            )
        unknown = found.keys() - INFO.keys() - {"final_obs", "seed"} - set(option(env, "infos", ()))
        expect(not unknown, f"{what}: info has {sorted(unknown)}, which the contract does not name")
    expect("seed" in info, "reset: info has no 'seed'")


@promise("reward float32[N], terminated and truncated bool[N], the same shape at every step.")
def reward_and_flags(kit: Kit) -> None:
    env, obs, _ = kit.started()
    for t, step in enumerate(walk(env, obs, kit.steps)):
        for name, dtype in (("reward", np.float32), ("terminated", np.bool_), ("truncated", np.bool_)):
            array = getattr(step, name)
            expect(isinstance(array, np.ndarray), f"step {t}: {name}: {type(array).__name__}, want an array")
            expect(array.dtype == dtype, f"step {t}: {name}: dtype {array.dtype}, want {np.dtype(dtype)}")
            same(array.shape, (env.num_envs,), f"step {t}: {name}.shape")
        expect(np.isfinite(step.reward).all(), f"step {t}: reward {step.reward} is not finite")


@promise("The same pytree, shapes and dtypes from reset, step and observe.")
def same_pytree(kit: Kit) -> None:
    env, obs, info = kit.started()
    shape = lambda tree: {path: (a.dtype, a.shape) for path, a in leaves(tree) if isinstance(a, np.ndarray)}  # noqa: E731
    steps = trace(env, obs, min(4, kit.steps))
    seen, seen_info = env.observe()
    for what, tree in (("step", steps[-1].obs), ("observe", seen)):
        same(shape(tree), shape(obs), f"obs of {what} against reset")
    info = {key: value for key, value in info.items() if key != "seed"}
    for what, tree in (("step", steps[-1].info), ("observe", seen_info)):
        same(
            shape({k: v for k, v in tree.items() if k != "seed"}),
            shape(info),
            f"info of {what} against reset",
        )


@promise("No 64-bit array leaves a step.")
def no_wide_arrays(kit: Kit) -> None:
    env, obs, _ = kit.started()
    for step in walk(env, obs, 3):
        for path, array in leaves({name: getattr(step, name) for name in Step._fields[1:]}):
            narrow = not isinstance(array, np.ndarray) or array.dtype.itemsize < 8 or array.dtype == object
            expect(narrow, f"{path}: dtype {getattr(array, 'dtype', '')}")


@promise("Padding is always 0 (-1 in admissible); the engine clears what the previous observation left.")
def padding(kit: Kit) -> None:
    env, obs, _ = kit.started()
    _check_padding(env, obs, "reset")
    for t, step in enumerate(walk(env, obs, kit.steps)):
        _check_padding(env, step.obs, f"step {t}")
        if "final_obs" in step.info:
            _check_padding(env, taken(step.info["final_obs"], step.done), f"step {t}: final_obs")
    _check_padding(env, env.observe()[0], "observe")


def _check_padding(env: Any, obs: dict, what: str) -> None:
    for part, count in PAIRS:
        if part not in obs or (part == "admissible" and obs[part].dtype == np.uint32):
            continue
        array, size = obs[part], obs[count]
        past = np.arange(array.shape[1])[None, :] >= size[:, None]
        pad = -1 if part == "admissible" else 0
        expect((array[past] == pad).all(), f"{what}: {part} past {count} is not all {pad}")
        expect(not (array[~past] == pad).any(), f"{what}: {part} before {count} holds {pad}, which only pads")
        expect((size <= array.shape[1]).all(), f"{what}: {count} {size} exceeds the width {array.shape[1]}")


@promise(
    "admissible: suite command ids in the original's order; admissible_count says how many (-1: cannot be listed)."
)
def admissible_lists(kit: Kit) -> None:
    env, obs, _ = (
        kit.started(admissible="ids") if option(kit.env(), "admissible", "ids") != "ids" else kit.started()
    )
    if "admissible" not in obs:
        raise Skip("obs has no admissible")
    seen = obs
    for t, step in enumerate([None, *walk(env, obs, kit.steps)]):
        seen = obs if step is None else step.obs
        for row, (ids, count) in enumerate(zip(seen["admissible"], seen["admissible_count"], strict=True)):
            listed = ids[: max(count, 0)]
            where = f"step {t}, row {row}"
            expect(count >= -1, f"{where}: admissible_count {count}")
            expect(len(set(listed.tolist())) == len(listed), f"{where}: a command is listed twice: {listed}")
            expect(
                ((listed >= 0) & (listed < env.spec.num_commands)).all(),
                f"{where}: {listed} outside [0, {env.spec.num_commands})",
            )
    if hasattr(env, "get_available_actions") and hasattr(env, "suite"):
        names = [[env.suite.commands[i] for i in ids if i >= 0] for ids in seen["admissible"]]
        full = (seen["admissible_count"] < seen["admissible"].shape[1]).tolist()
        for row, (got, want) in enumerate(zip(names, env.get_available_actions(), strict=True)):
            same(
                got,
                want if full[row] else want[: len(got)],
                f"row {row}: get_available_actions",
            )


@promise('"bitset" gives uint32[N,ceil(C/32)]: the same commands as "ids".')
def bitset_is_the_list(kit: Kit) -> None:
    ids, obs, _ = kit.started(admissible="ids")
    bits, packed, _ = kit.started(admissible="bitset")
    for t in range(min(kit.steps, 20)):
        action = pick(ids, obs, t)
        step, packed = do(ids, action), do(bits, action).obs
        obs, words = step.obs, packed["admissible"]
        same(words.shape, (bits.num_envs, -(-bits.spec.num_commands // 32)), "bitset shape")
        for row in np.flatnonzero(step.info["overflow"] & Overflow.ADMISSIBLE == 0):
            got = [
                32 * w + b for w, word in enumerate(words[row].tolist()) for b in range(32) if word >> b & 1
            ]
            want = sorted(obs["admissible"][row, : obs["admissible_count"][row]].tolist())
            same(got, want, f"step {t}, row {row}: bitset")
            same(packed["admissible_count"][row], obs["admissible_count"][row], f"step {t}, row {row}: count")


@promise("text=False, tokens=None, admissible=None leave their keys out, and change nothing else.")
def keys_left_out(kit: Kit) -> None:
    full, obs, _ = kit.started()
    actions = [step.action for step in walk(full, obs, 10)]
    want = trace_of(kit, actions)
    for overrides, gone in (
        ({"text": False}, ("text", "text_size")),
        ({"tokens": None}, ("tokens", "token_count")),
        ({"admissible": None}, ("admissible", "admissible_count")),
    ):
        got = trace_of(kit, actions, **overrides)
        for t, (a, b) in enumerate(zip(got, want, strict=True)):
            same(a.obs, {k: v for k, v in b.obs.items() if k not in gone}, f"{overrides}: step {t}: obs")
            same(a.reward, b.reward, f"{overrides}: step {t}: reward")


def trace_of(kit: Kit, actions: list[Any], **overrides: Any) -> list[Step]:
    env, _, _ = kit.started(**overrides)
    return replay(env, actions)


@promise("All arrays speak DLPack.")
def dlpack(kit: Kit) -> None:
    env, obs, _ = kit.started()
    step = do(env, pick(env, obs, 0))
    out = env.observe()
    for path, array in leaves(
        {"obs": out[0], "info": out[1], "reward": step.reward, "terminated": step.terminated}
    ):
        if isinstance(array, np.ndarray) and array.dtype != object and "seed" not in path:
            back = np.from_dlpack(array)
            expect(np.shares_memory(back, array) or array.size == 0, f"{path}: DLPack copies")
            same(np.asarray(back), array, f"{path}: back from DLPack")


@promise('get_state() is the observation text, equal to the decoded obs["text"], also with text=False.')
def text_is_the_state(kit: Kit) -> None:
    env, obs, info = kit.started()
    need(env, "get_state")
    if "text" not in obs:
        raise Skip("obs has no text")
    for t, step in enumerate(itertools.chain([None], walk(env, obs, kit.steps // 2))):
        seen, info = (obs, info) if step is None else (step.obs, step.info)
        texts, states = texts_of(seen), env.get_state()
        for row, (text, state) in enumerate(zip(texts, states, strict=True)):
            cut = info["overflow"][row] & Overflow.TEXT
            same(text, state[: len(text)] if cut else state, f"step {t}, row {row}: text")
        if hasattr(env, "decode"):
            same(env.decode(seen), texts, f"step {t}: decode(obs)")
    quiet = kit.env(text=False)
    quiet.reset(seed=kit.seed)
    loud = kit.env()
    loud.reset(seed=kit.seed)
    same(quiet.get_state(), loud.get_state(), "get_state with text=False")


@promise("tokens are the codec's ids of the text; id 0 pads, 1 is unknown.")
def tokens_are_the_text(kit: Kit) -> None:
    env, obs, info = kit.started()
    codec = getattr(env, "codec", None)
    if codec is None or "tokens" not in obs or "text" not in obs:
        raise Skip("no codec, or obs has no tokens or no text")
    if set(getattr(codec, "sections", SECTIONS)) != set(SECTIONS):
        raise Skip("the codec leaves sections out")
    for t, step in enumerate([None, *walk(env, obs, kit.steps // 2)]):
        seen, info = (obs, info) if step is None else (step.obs, step.info)
        for row, text in enumerate(texts_of(seen)):
            if info["overflow"][row]:
                continue
            ids = seen["tokens"][row, : seen["token_count"][row]]
            same(ids, np.asarray(codec.encode(text), np.int32), f"step {t}, row {row}: tokens")
        expect(
            (seen["tokens"] < env.spec.vocab_size).all(),
            f"step {t}: a token >= vocab_size {env.spec.vocab_size}",
        )
