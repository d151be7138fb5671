"""How speed is measured, for `agentenv-fast bench` and for benchmarks/: warm-up, five runs, median and spread.

Every figure is of whole calls as a user makes them, Python included. Actions are drawn inside the timed loop from each
row's own admissible list, except for "logic", where there is no list: there the actions of a recorded walk are played.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import agentenv_fast as ae
from agentenv_fast.errors import AgentEnvError, DependencyError

# What a step produces, from nothing to everything; keywords of ae.make.
LAYERS: dict[str, dict[str, Any]] = {
    "logic": {"text": False, "tokens": None, "admissible": None},
    "admissible": {"text": False, "tokens": None},
    "text": {"tokens": None},
    "tokens": {},
}
RUNS = 5
SIZES = (1, 32, 1024, 8192, 65536)
_RECORDED_BYTES = 64 << 20


@dataclass(frozen=True)
class Figure:
    """Five runs of one thing."""

    median: float
    low: float
    high: float

    @property
    def spread(self) -> float:
        """(highest − lowest) / median."""
        return (self.high - self.low) / self.median if self.median else 0.0


def repeat(run: Callable[[], float], runs: int = RUNS) -> Figure:
    """One warm-up, then `runs` values of `run()`, a rate."""
    run()
    values = [run() for _ in range(runs)]
    return Figure(statistics.median(values), min(values), max(values))


class RandomWalk:
    """Steps an env with a random admissible action in every row; the draw is part of the loop.

    Args:
      env: from ae.make with its admissible list.
    """

    def __init__(self, env: Any, seed: int = 0):
        self.env, self.n = env, env.num_envs
        self._rng = np.random.default_rng(seed)
        self._uniform = np.empty(self.n, np.float32)
        self._action = np.empty(self.n, np.int32)
        self.obs, _ = env.reset()

    def draw(self) -> np.ndarray:
        """int32[N], uniform over each row's list."""
        count = self.obs["admissible_count"]
        self._rng.random(out=self._uniform, dtype=np.float32)
        np.multiply(self._uniform, count, out=self._action, casting="unsafe")
        return self._action

    def step(self) -> None:
        self.obs = self.env.step(self.draw())[0]

    def rate(self, seconds: float) -> float:
        """Env steps per second over about `seconds`."""
        steps, began = 0, time.perf_counter()
        while True:
            self.step()
            steps += 1
            took = time.perf_counter() - began
            if took >= seconds:
                return steps * self.n / took


class ReplayedWalk:
    """Steps an env without an admissible list along actions recorded in an equal one."""

    def __init__(self, env: Any, recorder: Any, seed: int = 0):
        self.env, self.n, self._seed = env, env.num_envs, seed
        recorder.reset(seed=seed)
        walk = RandomWalk(recorder, seed)
        walk.obs, _ = recorder.reset(seed=seed)
        steps = max(8, min(512, _RECORDED_BYTES // (4 * self.n)))
        self._actions = []
        for _ in range(steps):
            self._actions.append(walk.draw().copy())
            walk.obs = recorder.step(self._actions[-1])[0]

    def rate(self, seconds: float) -> float:
        """Env steps per second over about `seconds`; resets are not timed."""
        steps, took = 0, 0.0
        while took < seconds:
            self.env.reset(seed=self._seed)
            began = time.perf_counter()
            for action in self._actions:
                self.env.step(action)
            took += time.perf_counter() - began
            steps += len(self._actions)
        return steps * self.n / took


def env_steps(
    suite: Any,
    num_envs: int,
    layer: str,
    *,
    threads: int = 1,
    copy: bool = False,
    seconds: float = 0.3,
    runs: int = RUNS,
) -> dict[str, Any]:
    """Env steps/s and tokens/s of one configuration.

    Args:
      suite: from ae.load or ae.suite.
      layer: a key of LAYERS.
      threads: 0 is all cores granted.
      copy: the keyword of ae.make; False is the tuned setting.
    Returns: a record with medians, spread and bytes; `refused` instead where the env does not fit into memory.
    """
    record: dict[str, Any] = {"layer": layer, "num_envs": num_envs, "threads": threads, "copy": copy}
    options = {"seed": 0, "num_threads": threads, "copy": copy}
    try:
        env = ae.make(suite, num_envs, **options, **LAYERS[layer])
        if layer == "logic":
            walk: Any = ReplayedWalk(env, ae.make(suite, num_envs, **options, **LAYERS["admissible"]))
        else:
            walk = RandomWalk(env)
    except AgentEnvError as error:
        return record | {"refused": str(error)}
    figure = repeat(lambda: walk.rate(seconds), runs)
    record |= {
        "steps_per_second": figure.median,
        "low": figure.low,
        "high": figure.high,
        "spread": figure.spread,
        "us_per_step": 1e6 / figure.median,
        "env_bytes": env.nbytes // num_envs,
    }
    if layer == "tokens":
        tokens = float(np.mean(walk.obs["token_count"]))
        record |= {"tokens_per_step": tokens, "tokens_per_second": tokens * figure.median}
    if layer in ("text", "tokens"):
        record["text_bytes_per_step"] = float(np.mean(walk.obs["text_size"]))
    if layer != "logic":
        record["admissible_per_step"] = float(np.mean(walk.obs["admissible_count"]))
    return record


def resets(
    suite: Any, num_envs: int = 1024, *, threads: int = 1, seconds: float = 0.3, runs: int = RUNS
) -> dict[str, Any]:
    """Resets per second, everything on: each call resets all rows and writes their first observations."""
    env = ae.make(suite, num_envs, seed=0, num_threads=threads, copy=False)

    def rate() -> float:
        count, began = 0, time.perf_counter()
        while (took := time.perf_counter() - began) < seconds or not count:
            env.reset()
            count += 1
        return count * num_envs / took

    return _rated("resets_per_second", repeat(rate, runs), num_envs, threads)


def forks(suite: Any, num_envs: int = 8192, *, seconds: float = 0.3, runs: int = RUNS) -> dict[str, Any]:
    """Forks per second in bulk: row 0 onto every other row, one call."""
    env = ae.make(suite, num_envs, seed=0, text=False, tokens=None, copy=False)
    env.reset()
    targets = np.arange(1, num_envs, dtype=np.int32)

    def rate() -> float:
        count, began = 0, time.perf_counter()
        while (took := time.perf_counter() - began) < seconds or not count:
            env.fork(0, targets)
            count += 1
        return count * len(targets) / took

    figure = repeat(rate, runs)
    return _rated("forks_per_second", figure, num_envs, 1) | {"us_per_fork": 1e6 / figure.median}


def ceiling(
    num_envs: int = 1024, row_bytes: int = 4096, *, seconds: float = 0.2, runs: int = RUNS
) -> dict[str, Any]:
    """What one core of this machine can write: rows of `row_bytes` copied per second by memcpy."""
    source = np.ones((num_envs, row_bytes), np.uint8)
    target = np.zeros_like(source)

    def rate() -> float:
        count, began = 0, time.perf_counter()
        while (took := time.perf_counter() - began) < seconds or not count:
            np.copyto(target, source)
            count += 1
        return count * num_envs / took

    figure = repeat(rate, runs)
    return _rated("rows_per_second", figure, num_envs, 1) | {
        "row_bytes": row_bytes,
        "bytes_per_second": figure.median * row_bytes,
    }


def written_bytes(record: dict[str, Any], suite: Any) -> float:
    """Bytes that one step of a measured configuration must at least write: the row, what it shows, reward and flags."""
    shown = record.get("text_bytes_per_step", 0.0) + 4 * record.get("tokens_per_step", 0.0)
    return suite.caps.stride + shown + 4 * record.get("admissible_per_step", 0.0) + 64


def compile_times(paths: list[str]) -> dict[str, Any]:
    """Milliseconds to compile each file anew, the first one with its rules; the disk cache is passed by.

    Returns: median, lowest and highest of the games after the first.
    """
    from agentenv_fast.worlds.suite import compile_file

    times = []
    for path in paths:
        began = time.perf_counter()
        compile_file(path, cache=False)
        times.append((time.perf_counter() - began) * 1e3)
    later = times[1:] or times
    return {
        "games": len(paths),
        "first_ms": times[0],
        "median_ms": statistics.median(later),
        "low_ms": min(later),
        "high_ms": max(later),
    }


def generated_per_second(suite_id: str, size: int = 512, runs: int = RUNS) -> dict[str, Any]:
    """Games per second that a built-in family generates and compiles, each run with a seed of its own."""
    seeds = iter(range(1_000_000, 1_000_000 + runs + 1))

    def rate() -> float:
        began = time.perf_counter()
        ae.suite(suite_id, size=size, seed=next(seeds))
        return size / (time.perf_counter() - began)

    return _rated("games_per_second", repeat(rate, runs), size, 1)


def textworld_steps(
    story: str, *, seconds: float = 2.0, runs: int = RUNS, limit: int = 100
) -> dict[str, Any]:
    """Steps per second of the original engine on a .z8, admissible commands requested, a random one at each step.

    Raises: DependencyError without the extra `textworld`.
    """
    try:
        import textworld
    except ImportError:
        raise DependencyError(
            "--vs textworld needs textworld: pip install 'agentenv-fast[textworld]'"
        ) from None
    env = textworld.start(
        story, textworld.EnvInfos(admissible_commands=True, score=True, won=True, lost=True)
    )
    rng = np.random.default_rng(0)

    def rate() -> float:
        state: Any = env.reset()
        moves, steps, took = 0, 0, 0.0
        while took < seconds:
            command = state.admissible_commands[rng.integers(len(state.admissible_commands))]
            began = time.perf_counter()
            state, _, done = env.step(command)
            took += time.perf_counter() - began
            steps, moves = steps + 1, moves + 1
            if done or moves >= limit:
                state, moves = env.reset(), 0  # not timed, to its favour
        return steps / took

    figure = repeat(rate, runs)
    env.close()
    return _rated("steps_per_second", figure, 1, 1) | {"engine": f"textworld {textworld.__version__}"}


def _rated(name: str, figure: Figure, num_envs: int, threads: int) -> dict[str, Any]:
    return {
        "num_envs": num_envs,
        "threads": threads,
        name: figure.median,
        "low": figure.low,
        "high": figure.high,
        "spread": figure.spread,
    }
