"""check_env: the contract of a vector env as a test, for any object with the interface of spec.VectorEnv.

Each promise is one function under the sentence that it holds an env to. What an env cannot do (it has no snapshot(), its
factory does not take num_threads) is skipped and says so; what it does wrong is an error that quotes the sentence.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import os
import pickle
import select
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agentenv_fast.errors import ActionError, AgentEnvError, ConfigError, ConformanceError, SnapshotError
from agentenv_fast.spec import Autoreset, Status

OBS = {  # key → dtype, the width's name in spec ("" for one number a row)
    "tokens": (np.int32, "max_tokens"),
    "token_count": (np.int32, ""),
    "text": (np.uint8, "max_text"),
    "text_size": (np.int32, ""),
    "admissible": (np.int32, "max_admissible"),
    "admissible_count": (np.int32, ""),
}
PAIRS = (("tokens", "token_count"), ("text", "text_size"), ("admissible", "admissible_count"))
INFO = {  # key → dtype, second axis
    "score": (np.float32, None),
    "won": (np.bool_, None),
    "lost": (np.bool_, None),
    "moves": (np.int32, None),
    "game": (np.int32, None),
    "episode": (np.int32, None),
    "elapsed_step": (np.int32, None),
    "status": (np.uint8, None),
    "overflow": (np.uint8, None),
    "first": (np.bool_, None),
    "valid": (np.bool_, None),
    "world_hash": (np.uint32, 2),
    "reward_terms": (np.float32, "R"),
}
HOSTILE = [
    "", " ", "\t\n", "x" * 10_000, "look\0look", "\N{GRINNING FACE}", "open door then go north", "\ud800", "%s%n{0}", "-1",
]  # fmt: skip


@dataclass(frozen=True)
class Check:
    """One promise, and how it went."""

    name: str
    promise: str
    outcome: str  # "passed", "skipped" or "failed"
    detail: str = ""  # why skipped, or what was found


@dataclass(frozen=True)
class Report:
    """Every promise that was looked at."""

    checks: tuple[Check, ...]

    def of(self, outcome: str) -> list[Check]:
        return [check for check in self.checks if check.outcome == outcome]

    def __str__(self) -> str:
        counts = ", ".join(
            f"{len(self.of(outcome))} {outcome}" for outcome in ("passed", "skipped", "failed")
        )
        lines = [f"  {c.outcome} {c.name}: {c.detail}" for c in self.checks if c.outcome != "passed"]
        return "\n".join([f"check_env: {counts}", *lines])


def check_env(target: Any, *, steps: int = 40, wide: int = 256, seed: int = 7, raises: bool = True) -> Report:
    """Holds an env to the contract.

    Args:
      target: a factory that takes keywords of ae.make (`check_env(lambda **k: ae.make(suite, **k))`), or an env. With a
        factory more can be checked: other numbers of rows, threads, autoreset modes. An env of ae.make is its own
        factory. An env is reset and stepped; use one that nobody needs.
      steps: length of the walks.
      wide: number of rows where threads are to be kept busy.
      seed: of everything.
      raises: False returns the report also when promises are broken.
    Returns: Report.
    Raises: ConformanceError that quotes each broken promise and what was found.
    """
    kit = Kit(target, steps, wide, seed)
    report = Report(tuple(_run(kit, name, promise, check) for name, promise, check in PROMISES))
    failed = report.of("failed")
    if failed and raises:
        lines = "\n".join(f"- {c.promise}\n    {c.name}: {c.detail}" for c in failed)
        raise ConformanceError(f"{len(failed)} of {len(report.checks)} promises are broken:\n{lines}")
    return report


# -- the machinery ----------------------------------------------------------------------------------------------------
class Broken(Exception):
    """A promise is not kept."""


class Skip(Exception):
    """A promise cannot be looked at here."""


PROMISES: list[tuple[str, str, Callable[[Kit], None]]] = []


def promise(sentence: str) -> Callable:
    def add(check: Callable[[Kit], None]) -> Callable[[Kit], None]:
        PROMISES.append((check.__name__, sentence, check))
        return check

    return add


def _run(kit: Kit, name: str, sentence: str, check: Callable[[Kit], None]) -> Check:
    try:
        check(kit)
    except Skip as skip:
        return Check(name, sentence, "skipped", str(skip))
    except Broken as broken:
        return Check(name, sentence, "failed", str(broken))
    except Exception as error:
        place = _place(error)
        return Check(name, sentence, "failed", f"{type(error).__name__} at {place}: {error}")
    return Check(name, sentence, "passed")


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    line = "?"
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == __file__:
            line = f"check.py:{trace.tb_lineno}"
        trace = trace.tb_next
    return line


class Step(NamedTuple):
    """A copy of everything that a step returned, and the action."""

    action: Any
    obs: dict
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    info: dict

    @property
    def done(self) -> np.ndarray:
        return self.terminated | self.truncated


class Kit:
    """Makes envs and walks through them."""

    def __init__(self, target: Any, steps: int, wide: int, seed: int) -> None:
        self.steps, self.wide, self.seed = steps, wide, seed
        self.given = None if _is_factory(target) else target
        self.factory = target if self.given is None else _factory_of(self.given)

    def make(self, **overrides: Any) -> Any:
        """An env with these keywords of ae.make; Skip if there is no way to one."""
        if self.factory is None:
            return self._copy_of_given(overrides)
        missing = _not_taken(self.factory, overrides)
        if missing:
            raise Skip(f"the factory does not take {', '.join(missing)}")
        try:
            return self.factory(**overrides)
        except ConfigError as error:
            if overrides:
                raise Skip(f"refused: {error}") from error
            raise

    def _copy_of_given(self, overrides: dict[str, Any]) -> Any:
        options = getattr(self.given.spec, "options", {})
        for name, value in overrides.items():
            have = self.given.num_envs if name == "num_envs" else options.get(name, "?")
            if have != value:
                raise Skip(f"needs another {name}: give check_env a factory")
        try:
            return pickle.loads(pickle.dumps(self.given))
        except Exception as error:
            raise Skip(f"needs a second env: give check_env a factory ({error})") from error

    def env(self, **overrides: Any) -> Any:
        """A fresh env of a few rows (or as many as it must have)."""
        if self.factory is not None and not _not_taken(self.factory, {"num_envs": 0}):
            overrides.setdefault("num_envs", 6)
        if not overrides and self.factory is None:
            return self.given
        return self.make(**overrides)

    def twins(self, **overrides: Any) -> tuple[Any, Any]:
        if self.factory is None and not overrides:
            return self.given, self.make()
        return self.env(**overrides), self.env(**overrides)

    def started(self, **overrides: Any) -> tuple[Any, dict, dict]:
        env = self.env(**overrides)
        return env, *env.reset(seed=self.seed)

    def walked(self, steps: int | None = None, **overrides: Any) -> tuple[Any, dict]:
        """An env in the middle of things, and its last obs."""
        env, obs, _ = self.started(**overrides)
        for step in walk(env, obs, self.steps // 2 if steps is None else steps):
            obs = step.obs
        return env, obs


def _is_factory(target: Any) -> bool:
    return isinstance(target, type) or (callable(target) and not hasattr(target, "reset"))


def _factory_of(env: Any) -> Callable[..., Any] | None:
    """An env of ae.make can be made again with other keywords."""
    from agentenv_fast.envs.vec_env import VecEnv, make

    if not isinstance(env, VecEnv):
        return None
    return lambda **overrides: make(env.suite, **{**env._options, **overrides})


def _not_taken(factory: Callable[..., Any], overrides: dict[str, Any]) -> list[str]:
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return []
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return []
    return [name for name in overrides if name not in parameters]


def need(env: Any, *methods: str) -> None:
    for method in methods:
        if not hasattr(env, method):
            raise Skip(f"the env has no {method}()")


def expect(truth: Any, found: str) -> None:
    if not truth:
        raise Broken(found)


def expect_raises(kind: type[BaseException], call: Callable[[], Any], what: str, *words: str) -> None:
    """The call must raise `kind` with each of `words` in its message."""
    try:
        call()
    except kind as error:
        for word in words:
            expect(word in str(error), f"{what}: the message {str(error)!r} does not say {word!r}")
    except Exception as error:
        raise Broken(f"{what}: raised {type(error).__name__} ({error}), want {kind.__name__}") from error
    else:
        raise Broken(f"{what}: nothing raised, want {kind.__name__}")


def same(got: Any, want: Any, what: str) -> None:
    """Equal trees of arrays: keys, dtypes, shapes and every value."""
    if isinstance(want, dict):
        expect(isinstance(got, dict), f"{what}: {type(got).__name__}, want a dict")
        expect(got.keys() == want.keys(), f"{what}: keys {sorted(got)}, want {sorted(want)}")
        for key in want:
            same(got[key], want[key], f"{what}[{key!r}]")
    elif isinstance(want, np.ndarray):
        expect(isinstance(got, np.ndarray), f"{what}: {type(got).__name__}, want an array")
        expect(got.dtype == want.dtype, f"{what}: dtype {got.dtype}, want {want.dtype}")
        expect(got.shape == want.shape, f"{what}: shape {got.shape}, want {want.shape}")
        if not np.array_equal(got, want):
            at = tuple(int(i) for i in np.argwhere(got != want)[0])
            raise Broken(f"{what}{list(at)}: {got[at]!r}, want {want[at]!r}")
    elif isinstance(want, tuple) and isinstance(got, tuple) and len(got) == len(want):
        for i, (a, b) in enumerate(zip(got, want, strict=True)):
            same(a, b, f"{what}, part {i}")
    else:
        expect(got == want, f"{what}: {got!r}, want {want!r}")


def same_steps(got: list[Step], want: list[Step], what: str, rows: Any = slice(None)) -> None:
    """Two walks, the rows `rows` of the second one."""
    expect(len(got) == len(want), f"{what}: {len(got)} steps, want {len(want)}")
    for t, (a, b) in enumerate(zip(got, want, strict=True)):
        for name in Step._fields[1:]:
            same(getattr(a, name), taken(getattr(b, name), rows), f"{what}: step {t}: {name}")


def taken(tree: Any, rows: Any) -> Any:
    """These rows of every array."""
    if isinstance(tree, dict):
        return {key: taken(value, rows) for key, value in tree.items() if key != "seed"}
    return tree[rows] if isinstance(tree, np.ndarray) else tree


def kept(tree: Any) -> Any:
    return copy.deepcopy(tree)


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, f"{path}[{key!r}]")
    else:
        yield path, tree


def option(env: Any, name: str, default: Any) -> Any:
    value = getattr(env.spec, "options", {}).get(name, default)
    return value.value if isinstance(value, Autoreset) else value


def autoreset_of(env: Any) -> str:
    return Autoreset(env.spec.autoreset).value


def counts_of(env: Any, obs: dict) -> np.ndarray:
    """How many commands each row admits."""
    if "admissible_count" in obs and (obs["admissible_count"] >= 0).all():
        return obs["admissible_count"]
    need(env, "get_available_actions")
    return np.array([len(commands) for commands in env.get_available_actions()], np.int32)


def mixed(*numbers: Any) -> np.ndarray:
    """Arbitrary but fixed uint32 from integers and integer arrays."""
    x = np.uint32(0x9E3779B9)
    with np.errstate(over="ignore"):
        for number in numbers:
            x = (x ^ np.asarray(number, np.uint32)) * np.uint32(0x85EBCA6B)
            x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE35)
            x = x ^ (x >> np.uint32(16))
    return x


def pick(env: Any, obs: dict, t: int, salt: int = 0, keys: Any = None) -> np.ndarray:
    """An admissible action for each row: a function of t, salt and the row's key (default: its number)."""
    count = counts_of(env, obs)
    keys = np.arange(len(count)) if keys is None else keys
    index = (mixed(t, salt, keys) % np.maximum(count, 1).astype(np.uint32)).astype(np.int32)
    return index if option(env, "actions", "index") == "index" else commands_of(env, obs, index)


def commands_of(env: Any, obs: dict, index: np.ndarray) -> np.ndarray:
    """Indices into the rows' lists → suite command ids."""
    if option(env, "admissible", "ids") == "ids" and "admissible" in obs:
        return np.ascontiguousarray(np.take_along_axis(obs["admissible"], index[:, None], 1)[:, 0])
    need(env, "get_available_actions", "suite")
    ids = {command: i for i, command in enumerate(env.suite.commands)}
    lists = env.get_available_actions()
    return np.array([ids[lists[i][j]] for i, j in enumerate(index)], np.int32)


def invalid(env: Any, n: int) -> np.ndarray:
    """Actions that no row admits."""
    return np.full(n, 2**31 - 1, np.int32)


def do(env: Any, action: Any, rows: Any = None) -> Step:
    out = env.step(action) if rows is None else env.step(action, rows=rows)
    return Step(kept(action), *(kept(part) for part in out))


def walk(env: Any, obs: dict, steps: int, salt: int = 0, keys: Any = None) -> Iterator[Step]:
    for t in range(steps):
        step = do(env, pick(env, obs, t, salt, keys))
        obs = step.obs
        yield step


def replay(env: Any, actions: list[Any]) -> list[Step]:
    return [do(env, action) for action in actions]


def trace(env: Any, obs: dict, steps: int, salt: int = 0, keys: Any = None) -> list[Step]:
    return list(walk(env, obs, steps, salt, keys))


def state_of(env: Any) -> Any:
    """What tells whether anything has been stepped."""
    if hasattr(env, "row_hash"):
        return env.row_hash().copy()
    return kept(env.observe())


def unchanged(env: Any, before: Any, what: str) -> None:
    after = state_of(env)
    if isinstance(before, np.ndarray):
        same(after, before, f"{what}: row hash")
    else:
        same(after[0], before[0], f"{what}: obs")
        same(taken(after[1], slice(None)), taken(before[1], slice(None)), f"{what}: info")


# -- what comes out ---------------------------------------------------------------------------------------------------
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
        wanted = option(env, {"admissible": "admissible"}.get(part, part), True)
        expect(
            (part in obs) == bool(wanted),
            f"{what}: {part} {'is there' if part in obs else 'is missing'}, made with {wanted!r}",
        )
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
    "info: score, won, lost, moves, game, episode, elapsed_step, status, overflow, first, valid, world_hash, reward_terms."
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
                got if full[row] else got,
                want if full[row] else want[: len(got)],
                f"row {row}: get_available_actions",
            )


@promise('"bitset" gives uint32[N,ceil(C/32)]: the same commands as "ids".')
def bitset_is_the_list(kit: Kit) -> None:
    ids, obs, _ = kit.started(admissible="ids")
    bits, packed, _ = kit.started(admissible="bitset")
    for t in range(min(kit.steps, 20)):
        action = pick(ids, obs, t)
        obs, packed = do(ids, action).obs, do(bits, action).obs
        words = packed["admissible"]
        same(words.shape, (bits.num_envs, -(-bits.spec.num_commands // 32)), "bitset shape")
        for row in range(ids.num_envs):
            got = [
                32 * w + b for w, word in enumerate(words[row].tolist()) for b in range(32) if word >> b & 1
            ]
            want = sorted(obs["admissible"][row, : obs["admissible_count"][row]].tolist())
            same(got, want, f"step {t}, row {row}: bitset")
        same(packed["admissible_count"], obs["admissible_count"], f"step {t}: admissible_count")


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


# -- text -------------------------------------------------------------------------------------------------------------
@promise('get_state() is the observation text, equal to the decoded obs["text"], also with text=False.')
def text_is_the_state(kit: Kit) -> None:
    env, obs, _ = kit.started()
    need(env, "get_state")
    if "text" not in obs:
        raise Skip("obs has no text")
    for t, step in enumerate(itertools.chain([None], walk(env, obs, kit.steps // 2))):
        seen, info = (obs, None) if step is None else (step.obs, step.info)
        texts, states = texts_of(seen), env.get_state()
        for row, (text, state) in enumerate(zip(texts, states, strict=True)):
            cut = info is not None and info["overflow"][row] & 1
            same(text, state[: len(text)] if cut else state, f"step {t}, row {row}: text")
        if hasattr(env, "decode"):
            same(env.decode(seen), texts, f"step {t}: decode(obs)")
    quiet = kit.env(text=False)
    quiet.reset(seed=kit.seed)
    loud = kit.env()
    loud.reset(seed=kit.seed)
    same(quiet.get_state(), loud.get_state(), "get_state with text=False")


def texts_of(obs: dict) -> list[str]:
    rows = zip(obs["text"], obs["text_size"], strict=True)
    return [row[:size].tobytes().decode("utf-8", "replace") for row, size in rows]


@promise("tokens are the codec's ids of the text; id 0 pads, 1 is unknown.")
def tokens_are_the_text(kit: Kit) -> None:
    env, obs, _ = kit.started()
    codec = getattr(env, "codec", None)
    if codec is None or "tokens" not in obs or "text" not in obs:
        raise Skip("no codec, or obs has no tokens or no text")
    if set(getattr(codec, "sections", ())) not in (set(), set(SECTIONS_OF(codec))):
        raise Skip("the codec leaves sections out")
    for t, step in enumerate([None, *walk(env, obs, kit.steps // 2)]):
        seen = obs if step is None else step.obs
        for row, text in enumerate(texts_of(seen)):
            if step is not None and step.info["overflow"][row]:
                continue
            ids = seen["tokens"][row, : seen["token_count"][row]]
            same(ids, np.asarray(codec.encode(text), np.int32), f"step {t}, row {row}: tokens")
        expect(
            (seen["tokens"] < env.spec.vocab_size).all(),
            f"step {t}: a token >= vocab_size {env.spec.vocab_size}",
        )


def SECTIONS_OF(codec: Any) -> tuple[str, ...]:
    from agentenv_fast.envs.text import SECTIONS

    return SECTIONS


# -- actions ----------------------------------------------------------------------------------------------------------
@promise(
    "An action outside the row's list marks it invalid_action: one step passes, the world does not change, fixed reply."
)
def invalid_actions_are_data(kit: Kit) -> None:
    env, obs = kit.walked(8, autoreset="disabled") if kit.factory else kit.walked(8)
    before, seen = env.observe()
    before, seen = kept(before), kept(seen)
    running = ~(seen_done(env, before))
    texts = []
    for value in (-1, -(2**31), 2**31 - 1, None):
        twin, actions = _again(env), invalid(env, env.num_envs)
        if value is not None:
            actions[:] = value
        elif option(env, "actions", "index") == "index" and option(env, "admissible", "ids") is not None:
            actions = counts_of(env, before).astype(np.int32)  # the first one past the end
        step = do(twin, actions)
        reset = step.done if autoreset_of(twin) == "same_step" else np.zeros(env.num_envs, bool)
        for row in np.flatnonzero(running):
            where = f"row {row}, action {actions[row]}"
            expect(
                step.info["status"][row] == Status.INVALID_ACTION,
                f"{where}: status {step.info['status'][row]}, want 1",
            )
            same(
                step.info["elapsed_step"][row] - seen["elapsed_step"][row],
                np.int32(1),
                f"{where}: steps passed",
            )
            for key in ("world_hash", "score", "won", "lost", "game", "episode"):
                same(step.info[key][row].tolist(), seen[key][row].tolist(), f"{where}: {key}")
            expect(not step.terminated[row], f"{where}: terminated")
            _check_invalid_reward(twin, step, row, where)
            if not reset[row]:
                for key in ("admissible", "admissible_count"):
                    if key in before:
                        same(step.obs[key][row], before[key][row], f"{where}: obs[{key!r}]")
        if hasattr(twin, "get_state"):
            texts.append(
                [text for row, text in enumerate(twin.get_state()) if running[row] and not reset[row]]
            )
    expect(all(t == texts[0] for t in texts), f"the reply to an invalid action is not fixed: {texts}")


def _check_invalid_reward(env: Any, step: Step, row: int, where: str) -> None:
    if tuple(env.spec.reward_names) == ("score",):
        expect(step.reward[row] == 0, f"{where}: reward {step.reward[row]}, want 0")


def seen_done(env: Any, obs: dict) -> np.ndarray:
    """Rows whose episode is over (disabled, next_step): they refuse every action, so they are found by trying."""
    probe = _again(env)
    step = do(probe, invalid(env, env.num_envs))
    return ~step.info["valid"]


def _again(env: Any) -> Any:
    """A second env in the same state."""
    try:
        return pickle.loads(pickle.dumps(env))
    except Exception as error:
        raise Skip(f"the env does not pickle, so it cannot be copied: {error}") from error


@promise("Every command that is listed is accepted; no other command changes the world.")
def admissible_is_sound_and_complete(kit: Kit) -> None:
    env, obs = kit.walked(6, actions="command")
    need(env, "snapshot", "restore", "suite")
    running = ~seen_done(env, obs)
    snap = env.snapshot()
    before = kept(env.observe()[1])
    listed = [set(commands) for commands in env.get_available_actions()]
    stride = max(1, env.spec.num_commands // 200)
    for command in range(0, env.spec.num_commands, stride):
        step = do(env, np.full(env.num_envs, command, np.int32))
        name = env.suite.commands[command]
        for row in np.flatnonzero(running):
            ok = name in listed[row]
            want = Status.OK if ok else Status.INVALID_ACTION
            expect(
                step.info["status"][row] == want,
                f"row {row}: {name!r}: status {step.info['status'][row]}, want {int(want)}",
            )
            if not ok:
                same(
                    step.info["world_hash"][row],
                    before["world_hash"][row],
                    f"row {row}: {name!r} is not listed, world_hash",
                )
        env.restore(snap)


@promise('actions="command": a suite command id does what the same command does by index.')
def commands_equal_indices(kit: Kit) -> None:
    by_index, obs, _ = kit.started(actions="index", admissible="ids")
    by_command, _, _ = kit.started(actions="command", admissible="ids")
    for t in range(kit.steps):
        index = pick(by_index, obs, t)
        command = np.take_along_axis(obs["admissible"], index[:, None], 1)[:, 0].copy()
        a, b = do(by_index, index), do(by_command, command)
        same_steps([b], [a], f"step {t}")
        obs = a.obs


@promise("Also list[str] as typed: a listed command by its text does what it does by index.")
def typed_commands(kit: Kit) -> None:
    one, two = kit.twins()
    need(one, "get_available_actions")
    obs, _ = one.reset(seed=kit.seed)
    two.reset(seed=kit.seed)
    for t in range(kit.steps // 2):
        lists = one.get_available_actions()
        index = (mixed(t, np.arange(one.num_envs)) % np.maximum([len(c) for c in lists], 1)).astype(np.int32)
        texts = [commands[i] if commands else "" for commands, i in zip(lists, index, strict=True)]
        action = index if option(one, "actions", "index") == "index" else commands_of(one, obs, index)
        a, b = do(one, action), do(two, texts)
        same_steps([b], [a], f"typed {texts}")
        obs = a.obs


@promise(
    "Also (tokens int32[N,A], lengths int32[N]): a listed command by its tokens does what it does by index."
)
def token_commands(kit: Kit) -> None:
    one, two = kit.twins()
    need(one, "get_available_actions")
    obs, _ = one.reset(seed=kit.seed)
    codec = getattr(one, "codec", None)
    if codec is None or "tokens" not in obs:
        raise Skip("no codec, or obs has no tokens")
    two.reset(seed=kit.seed)
    for t in range(min(10, kit.steps)):
        lists = one.get_available_actions()
        index = (mixed(t, np.arange(one.num_envs)) % np.maximum([len(c) for c in lists], 1)).astype(np.int32)
        texts = [commands[i] if commands else "" for commands, i in zip(lists, index, strict=True)]
        ids = [np.asarray(codec.encode(text), np.int32) for text in texts]
        lengths = np.array([len(row) for row in ids], np.int32)
        tokens = np.zeros((len(ids), max(1, lengths.max())), np.int32)
        for line, row in zip(tokens, ids, strict=True):
            line[: len(row)] = row
        a, b = do(one, texts), do(two, (tokens, lengths))
        same_steps([b], [a], f"tokens of {texts}")


@promise("A hostile string harms nothing: its row gets a status, every other row is as it would have been.")
def hostile_strings(kit: Kit) -> None:
    base, obs = kit.walked(4)
    need(base, "get_available_actions")
    n = base.num_envs
    lists = base.get_available_actions()
    calm = [commands[0] if commands else "look" for commands in lists]
    want = do(_again(base), calm)
    others = np.arange(1, n)
    for text in HOSTILE:
        env = _again(base)
        step = do(env, [text, *calm[1:]])
        shown = repr(text[:40])
        expect(step.info["status"][0] in (0, 1, 2), f"{shown}: status {step.info['status'][0]}")
        for name in Step._fields[1:]:
            same(
                taken(getattr(step, name), others),
                taken(getattr(want, name), others),
                f"{shown} in row 0: {name} of the others",
            )
        do(env, pick(env, step.obs, 1))


@promise(
    "dtype, shape and device of actions are checked before anything is stepped, and raise: got and wanted."
)
def bad_actions_raise(kit: Kit) -> None:
    env, obs = kit.walked(4)
    n, before = env.num_envs, state_of(env)
    good = pick(env, obs, 0)
    bad: list[tuple[str, Any, tuple[str, ...]]] = [
        ("int64", good.astype(np.int64), ("int64", "int32")),
        ("float32", good.astype(np.float32), ("float32", "int32")),
        ("float64", good.astype(np.float64), ("float64", "int32")),
        ("uint32", good.astype(np.uint32), ("uint32", "int32")),
        ("bool", good.astype(bool), ("bool", "int32")),
        ("object", good.astype(object), ("object", "int32")),
        ("another byte order", good.astype(">i4"), ("int32",)),
        ("one too many", np.zeros(n + 1, np.int32), (str(n + 1), str(n))),
        ("one too few", np.zeros(n - 1, np.int32), (str(n - 1), str(n))),
        ("two axes", np.zeros((n, 1), np.int32), (str(n), "1")),
        ("no axis", np.array(0, np.int32), ("()",)),
        ("an int", 0, ("int",)),
        ("None", None, ("None",)),
        ("a str", "look", ("str",)),
        ("a dict", {"action": good}, ("dict",)),
        ("a list of ints", [0] * n, ("int",)),
        ("a list with None", [None] * n, ("None",)),
        ("bytes", [b"look"] * n, ("bytes",)),
        ("too many texts", ["look"] * (n + 1), (str(n + 1), str(n))),
        ("a tuple of one", (good,), ()),
    ]
    for what, action, words in bad:
        expect_raises(ActionError, lambda action=action: env.step(action), f"action {what}", *words)
        unchanged(env, before, f"after action {what} was refused")


@promise("strict=True raises for a bad action instead of marking its row, with nothing stepped.")
def strict_raises(kit: Kit) -> None:
    env, obs = kit.walked(4, strict=True)
    before = state_of(env)
    good = pick(env, obs, 0)
    for value in (-1, 2**31 - 1):
        action = good.copy()
        action[-1] = value
        expect_raises(
            ActionError,
            lambda action=action: env.step(action),
            f"action {value}",
            str(value),
            str(env.num_envs - 1),
        )
        unchanged(env, before, f"after action {value} was refused")
    if hasattr(env, "get_available_actions"):
        texts = [c[0] if c else "look" for c in env.get_available_actions()]
        texts[-1] = "\0"
        expect_raises(ActionError, lambda: env.step(texts), "an unknown command", str(env.num_envs - 1))
        unchanged(env, before, "after an unknown command was refused")
    do(env, good)


# -- rows= and observe ------------------------------------------------------------------------------------------------
@promise("With rows int32[M] only those rows are stepped, arrays come back as [M], every other byte stays.")
def some_rows_only(kit: Kit) -> None:
    part, obs = kit.walked(5)
    whole = _again(part)
    n = part.num_envs
    if n < 3:
        raise Skip("needs three rows: give check_env a factory")
    rows = np.array([n - 1, 0], np.int32)
    action = pick(part, obs, 3)
    before = kept(part.observe())
    hashes = part.row_hash() if hasattr(part, "row_hash") else None
    step, want = do(part, action[rows].copy(), rows), do(whole, action)
    for name in Step._fields[1:]:
        same(getattr(step, name), taken(getattr(want, name), rows), f"rows {rows}: {name}")
    rest = np.setdiff1d(np.arange(n), rows)
    after = part.observe()
    same(taken(after[0], rest), taken(before[0], rest), "the other rows: obs")
    if hashes is not None:
        same(part.row_hash()[rest], hashes[rest], "the other rows: row hash")
        same(part.row_hash()[rows], whole.row_hash()[rows], "the rows stepped: row hash")
    seen = part.observe(rows=rows)
    same(seen[0], taken(after[0], rows), f"observe(rows={rows})")
    state = state_of(part)
    zero = np.zeros(2, np.int32)
    for what, bad in (("out of range", [0, n]), ("negative", [0, -1]), ("twice the same", [0, 0])):
        expect_raises(
            ActionError, lambda bad=bad: part.step(zero, rows=np.array(bad, np.int32)), f"rows {what}"
        )
    expect_raises(ActionError, lambda: part.step(zero, rows=np.array([0.0, 1.0])), "rows float64", "float64")
    expect_raises(
        ActionError,
        lambda: part.step(np.zeros(3, np.int32), rows=rows),
        "three actions for two rows",
        "3",
        "2",
    )
    unchanged(part, state, "after bad rows were refused")


@promise("observe: the same outputs again, nothing is stepped.")
def observing_changes_nothing(kit: Kit) -> None:
    env, obs = kit.walked(7)
    before = env.row_hash() if hasattr(env, "row_hash") else None
    for _ in range(3):
        again, info = env.observe()
        same(again, obs, "observe against the last step: obs")
    if before is not None:
        same(env.row_hash(), before, "row hash after observe")
    step = do(env, pick(env, obs, 0))
    again, info = env.observe()
    running = ~step.done & step.info["valid"]
    for key in (
        "score",
        "moves",
        "game",
        "episode",
        "elapsed_step",
        "status",
        "world_hash",
        "first",
        "won",
        "lost",
    ):
        same(info[key][running], step.info[key][running], f"observe against the last step: info[{key!r}]")


# -- episodes ---------------------------------------------------------------------------------------------------------
@promise("reset begins an episode in every row: first, and every counter and flag cleared.")
def reset_is_total(kit: Kit) -> None:
    used, obs = kit.walked(kit.steps)
    fresh = kit.env() if kit.factory else _again(used)
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
    env, obs = kit.walked(5)
    n = env.num_envs
    if n < 2:
        raise Skip("needs two rows: give check_env a factory")
    before, hashes = kept(env.observe()), env.row_hash() if hasattr(env, "row_hash") else None
    twin = _again(env)
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
        for t, step in enumerate(trace(env, obs, 4 * limit)):
            live = step.info["valid"]
            at = step.info["elapsed_step"]
            where = f"{mode.value}, step {t}"
            expect(
                (at[live] >= 1).all() and (at <= limit).all(),
                f"{where}: elapsed_step {at}, want 1 to {limit}",
            )
            cut, ended = step.truncated[live], step.terminated[live]
            same(cut, (at[live] == limit) & ~ended, f"{where}: truncated where elapsed_step is {at[live]}")


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
        begun = previous["first"] | ~previous_open(previous, env)
        del begun
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
        env, obs, info = kit.started(max_episode_steps=4, autoreset=mode.value)
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
        for key in INFO.keys() - {"first"}:
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


# -- reward -----------------------------------------------------------------------------------------------------------
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


# -- randomness -------------------------------------------------------------------------------------------------------
@promise("Same seed, same bytes: for any number of envs.")
def seeds_do_not_depend_on_n(kit: Kit) -> None:
    walks = {}
    for n in (1, 3, 17):
        env, obs, _ = kit.started(num_envs=n, max_episode_steps=7)
        walks[n] = trace(env, obs, 20), env.row_hash() if hasattr(env, "row_hash") else None
    for n in (1, 3):
        same_steps(walks[n][0], walks[17][0], f"{n} rows against 17", slice(0, n))
        if walks[n][1] is not None:
            same(walks[n][1], walks[17][1][:n], f"{n} rows against 17: row hash")


@promise("Same seed, same bytes: for any number of threads.")
def seeds_do_not_depend_on_threads(kit: Kit) -> None:
    walks = []
    for threads in (1, 2, 7):
        env, obs, _ = kit.started(num_envs=kit.wide, num_threads=threads, max_episode_steps=7)
        walks.append(trace(env, obs, 10))
    same_steps(walks[1], walks[0], "2 threads against 1")
    same_steps(walks[2], walks[0], "7 threads against 1")


@promise("Same seed, same bytes: on any run; 0 is a seed like any other.")
def seeds_repeat(kit: Kit) -> None:
    env = kit.env()
    for seed in (kit.seed, 0, 2**64 - 1):
        walks = []
        for _ in range(2):
            obs, info = env.reset(seed=seed)
            same(info["seed"], seed, "info['seed'] of reset")
            expect((info["episode"] == 0).all(), f"seed {seed}: episode {info['episode']}, want 0")
            walks.append([Step(None, *kept((obs, 0, 0, 0, taken(info, slice(None))))), *trace(env, obs, 20)])
        same_steps(walks[1], walks[0], f"seed {seed}, twice")


@promise("Games and starts are drawn from the seed: another seed gives others.")
def seeds_matter(kit: Kit) -> None:
    env = kit.env()
    if env.spec.num_games < 2:
        raise Skip("the suite has one game")
    if option(env, "game_order", "shuffle") == "sequential":
        raise Skip("game_order is sequential")
    seen = {tuple(env.reset(seed=seed)[1]["game"].tolist()) for seed in range(24)}
    expect(len(seen) > 1, f"24 seeds give the same games: {next(iter(seen))}")
    if env.num_envs > 3 and option(env, "group_size", 1) == 1:
        expect(any(len(set(games)) > 1 for games in seen), "all rows play the same game, whatever the seed")


@promise("seed=None: fresh entropy only if no seed was ever given; it is reported, and reproduces the run.")
def unseeded_runs(kit: Kit) -> None:
    if kit.factory is None:
        raise Skip("needs an env that was never seeded: give check_env a factory")
    one, two = kit.env(), kit.env()
    obs, info = kept(one.reset())
    _, other = two.reset()
    expect(
        info["seed"] is not None and other["seed"] is not None,
        "info['seed'] is None: what was used is not reported",
    )
    expect(info["seed"] != other["seed"], f"two unseeded envs share the seed {info['seed']}")
    walked = trace(one, obs, 10)
    obs, _ = two.reset(seed=info["seed"])
    same_steps(trace(two, obs, 10), walked, f"the run repeated from the reported seed {info['seed']}")


@promise("seed=None after a seed: the next episode of each stream, the same on every run.")
def the_next_episode(kit: Kit) -> None:
    env = kit.env()
    found = []
    for _ in range(2):
        env.reset(seed=kit.seed)
        obs, info = kept(env.reset())
        expect((info["episode"] == 1).all(), f"episode {info['episode']} after a second reset, want 1")
        same(info["seed"], kit.seed, "info['seed'] of the second reset")
        found.append((obs, info))
    same(found[1], found[0], "the second episode, twice")


@promise("make's seed is that of the first reset.")
def seed_of_make(kit: Kit) -> None:
    env = kit.env(seed=kit.seed)
    obs, info = kept(env.reset())
    again, _ = kit.env().reset(seed=kit.seed)
    same(info["seed"], kit.seed, "info['seed']")
    same(obs, kept(again), "obs of make(seed=...).reset() against reset(seed=...)")


@promise("seed uint64[N]: equal (seed, game) gives equal bytes in any row and batch.")
def a_seed_for_each_row(kit: Kit) -> None:
    env = kit.env()
    n = env.num_envs
    if n < 3:
        raise Skip("needs three rows: give check_env a factory")
    seeds = np.arange(n, dtype=np.uint64) + np.uint64(2**63)
    seeds[-1] = seeds[0]
    obs, info = kept(env.reset(seed=seeds))
    same(np.asarray(info["seed"]), seeds, "info['seed']")
    ends = trace(env, obs, 12, keys=seeds.astype(np.uint32))
    for step in ends:
        for name in Step._fields[1:]:
            value = getattr(step, name)
            same(taken(value, [n - 1]), taken(value, [0]), f"rows 0 and {n - 1} with equal seeds: {name}")
    if hasattr(env, "row_hash"):
        same(env.row_hash()[n - 1], env.row_hash()[0], "row hash of rows with equal seeds")
    turned = seeds[::-1].copy()
    obs, _ = env.reset(seed=turned)
    back = trace(env, obs, 12, keys=turned.astype(np.uint32))
    same_steps(back, ends, "the same seeds in other rows", np.arange(n)[::-1])


@promise("A seed is an int in [0, 2**64), uint64[N] or None; anything else raises.")
def bad_seeds_raise(kit: Kit) -> None:
    env, _ = kit.walked(3)
    n, before = env.num_envs, state_of(env)
    for bad in (
        -1,
        2**64,
        1.5,
        "7",
        True,
        np.zeros(n + 1, np.uint64),
        np.zeros(n),
        np.full(n, -1),
        [None] * n,
    ):
        expect_raises(ConfigError, lambda bad=bad: env.reset(seed=bad), f"seed {bad!r}", "seed")
    unchanged(env, before, "after bad seeds were refused")


@promise("group_size: the rows of a group get the same task, episode by episode.")
def groups_share_their_task(kit: Kit) -> None:
    env, obs, info = kit.started(num_envs=8, group_size=4, max_episode_steps=3)
    same(option(env, "group_size", 4), 4, "spec.options['group_size']")
    games: dict[tuple[int, int], set[int]] = {}
    infos = [info, *(step.info for step in walk(env, obs, 30))]
    for seen in infos:
        for row in range(8):
            games.setdefault((row // 4, int(seen["episode"][row])), set()).add(int(seen["game"][row]))
    for (group, episode), found in games.items():
        expect(len(found) == 1, f"group {group}, episode {episode}: games {sorted(found)}, want one")
    texts = texts_of(obs) if "text" in obs else None
    if texts is not None:
        expect(
            len(set(texts[:4])) == 1 and len(set(texts[4:])) == 1,
            "rows of a group begin with different texts",
        )
    if env.spec.num_games > 1:
        seen = [tuple(sorted(games[(group, e)]) for e in range(3) if (group, e) in games) for group in (0, 1)]
        other, _, info = kit.started(num_envs=16, group_size=1, max_episode_steps=3)
        expect(seen[0] != seen[1] or len(set(info["game"].tolist())) > 1, "every group plays the same games")


@promise(
    "game_order: sequential is (task + episode) mod G; shuffle walks a permutation of the suite; sample draws."
)
def game_orders(kit: Kit) -> None:
    env = kit.env(game_order="sequential", num_envs=4)
    games = env.spec.num_games
    for episode in range(min(games + 2, 12)):
        info = env.reset(seed=kit.seed)[1] if episode == 0 else env.reset()[1]
        same(
            info["game"],
            ((np.arange(4) + episode) % games).astype(np.int32),
            f"sequential, episode {episode}: game",
        )
    env = kit.env(game_order="shuffle", num_envs=4)
    if games <= 600:
        seen = [
            env.reset(seed=kit.seed)[1]["game"].copy(),
            *(env.reset()[1]["game"].copy() for _ in range(games - 1)),
        ]
        for row in range(4):
            want = list(range(games))
            same(
                sorted(int(g[row]) for g in seen), want, f"shuffle, row {row}: the games of {games} episodes"
            )
    env = kit.env(game_order="sample", num_envs=4)
    need(env, "set_game_weights")
    weights = np.zeros(games)
    weights[games - 1] = 1.0
    env.set_game_weights(weights)
    same(
        env.reset(seed=kit.seed)[1]["game"],
        np.full(4, games - 1, np.int32),
        "sample with all weight on the last game",
    )
    for what, bad in (
        ("all 0", np.zeros(games)),
        ("negative", -weights),
        ("nan", weights * np.nan),
        ("long", np.ones(games + 1)),
    ):
        expect_raises(ConfigError, lambda bad=bad: env.set_game_weights(bad), f"weights {what}", "weights")


@promise('options["game"] says which game each row plays; -1: as game_order says.')
def chosen_games(kit: Kit) -> None:
    env = kit.env()
    n, games = env.num_envs, env.spec.num_games
    free = env.reset(seed=kit.seed)[1]["game"].copy()
    chosen = (np.arange(n) % (games + 1) - 1).astype(np.int32)
    info = env.reset(seed=kit.seed, options={"game": chosen})[1]
    same(info["game"], np.where(chosen < 0, free, chosen).astype(np.int32), "game")
    before = state_of(env)
    for bad in (
        np.full(n, games, np.int32),
        np.full(n, -2, np.int32),
        np.zeros(n + 1, np.int32),
        np.zeros(n, np.float32),
    ):
        expect_raises(
            ConfigError,
            lambda bad=bad: env.reset(options={"game": bad}),
            f"game {bad.dtype}{bad[:1]}",
            "game",
        )
    unchanged(env, before, "after bad games were refused")


# -- arrays -----------------------------------------------------------------------------------------------------------
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


# -- state ------------------------------------------------------------------------------------------------------------
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
    fresh = kit.env() if kit.factory else _again(env)
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
    env, obs = kit.walked()
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
    env, obs = kit.walked(4)
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
    env, obs = kit.walked(4)
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
    env, obs = kit.walked(3)
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
    env, obs, info = kit.started()
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


# -- processes and threads --------------------------------------------------------------------------------------------
@promise("Envs pickle, in the middle of an episode too.")
def pickling(kit: Kit) -> None:
    env, obs = kit.walked()
    other = pickle.loads(pickle.dumps(env))
    same(other.observe()[0], obs, "observe of the unpickled env")
    walked = trace(env, obs, 12, salt=2)
    same_steps(replay(other, [s.action for s in walked]), walked, "the future of the unpickled env")
    same(kept(other.reset()), kept(env.reset()), "the next reset of the unpickled env")
    pickle.loads(pickle.dumps(env.spec))


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


@promise("After fork(2) a child steps on, with a thread pool of its own.")
def fork_of_the_process(kit: Kit) -> None:
    if not hasattr(os, "fork"):
        raise Skip("this system has no fork(2)")
    if "jax" in sys.modules:
        raise Skip("JAX is loaded, and its threads do not survive a fork(2)")
    env, obs, _ = kit.started(num_envs=kit.wide)
    step = do(env, pick(env, obs, 0))  # the pool is running
    twin = _again(env)
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
