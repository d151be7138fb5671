"""What promises are written with: makes envs, walks through them, compares what they return."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from agentenv_fast.errors import ConfigError
from agentenv_fast.spec import Autoreset

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
    "", " ", "\t\n", "x" * 10_000, "look\0look", "\N{GRINNING FACE}", "open door then go north", "\ud800", "%s%n{0}",
]  # fmt: skip


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
        self.plain = self._plain_options()

    def _plain_options(self) -> dict[str, Any]:
        """What walks are made with where a check does not say otherwise: rows apart, data for bad actions, copies."""
        if self.factory is None:
            return {}
        have = getattr(self.factory().spec, "options", {})
        wanted = {"strict": False, "copy": True, "group_size": 1}
        return {name: value for name, value in wanted.items() if have.get(name, value) != value}

    def make(self, **overrides: Any) -> Any:
        """An env with these keywords of ae.make; Skip if there is no way to one."""
        if self.factory is None:
            return self._copy_of_given(overrides)
        overrides = {**self.plain, **overrides}
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
        assert self.given is not None  # either it or a factory
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
            raise Broken(f"{what}{list(at)}: {got[at].tolist()}, want {want[at].tolist()}")
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
    """These rows of every array (and of every list that `infos` adds)."""
    if isinstance(tree, dict):
        return {key: taken(value, rows) for key, value in tree.items() if key != "seed"}
    if isinstance(tree, list):
        return [tree[i] for i in np.arange(len(tree))[rows]]
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
    x: Any = np.uint32(0x9E3779B9)
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


def again(env: Any) -> Any:
    """A second env in the same state."""
    try:
        return pickle.loads(pickle.dumps(env))
    except Exception as error:
        raise Skip(f"the env does not pickle, so it cannot be copied: {error}") from error


def texts_of(obs: dict) -> list[str]:
    rows = zip(obs["text"], obs["text_size"], strict=True)
    return [row[:size].tobytes().decode("utf-8", "replace") for row, size in rows]
