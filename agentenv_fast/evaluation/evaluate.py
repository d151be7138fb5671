"""Plays each listed game exactly once, whatever the number of rows, and says how it went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agentenv_fast.errors import ConfigError
from agentenv_fast.evaluation.agents import Agent, walkthrough
from agentenv_fast.rollout.stats import mean, wilson

OBS_KEYS = ("tokens", "token_count", "admissible", "admissible_count")


def evaluate(
    agent: Agent,
    suite: Any,
    *,
    episodes: int | None = None,
    games: Sequence[int] | None = None,
    num_envs: int = 128,
    seed: int = 0,
    max_episode_steps: int | None = None,
    split: str | None = None,
    make: Callable[..., Any] | None = None,
    **make_options: Any,
) -> dict:
    """Each listed game once; a row whose game ends takes the next one, and is left alone when there is none.

    Args:
      agent: see agents.py; `load_run(folder)` gives one.
      suite: a suite; its first `episodes` games are played (None: all; more than there are: each several times).
      games: int ids to play instead, in this order.
      num_envs: rows at most; the results of a greedy or by-game seeded agent do not depend on it.
      split: a name for the report.
      make, make_options: as ae.make and its keywords.
    Returns: success (share of episodes won), success_low, success_high (Wilson, 95 %), episodes, split, return_mean,
      return_low, return_high, steps_mean, steps_low, steps_high (normal, 95 %), oracle_steps_mean (None if unknown),
      won, lost, truncated, env_steps (executed; the sum of all lengths), by_game: list of dict.
    Raises: ConfigError if there is nothing to play.
    """
    listed = _listed(suite, episodes, games)
    env = (make or _make)(suite, num_envs=min(num_envs, len(listed)), seed=seed, autoreset="disabled",
                          max_episode_steps=max_episode_steps, **make_options)  # fmt: skip
    agent.start(env, seed)
    played = _play(agent, env, listed)
    return {"policy": agent.name, "split": split, **_report(played, suite)}


def _listed(suite, episodes: int | None, games: Sequence[int] | None) -> np.ndarray:
    if games is None:
        total = len(suite) if episodes is None else episodes
        games = [] if len(suite) == 0 else [i % len(suite) for i in range(total)]
    if len(games) == 0:
        raise ConfigError(f"evaluate: nothing to play: {len(suite)} games in the suite, episodes {episodes}")
    return np.asarray(games, np.int32)


def _make(suite, **options):
    import agentenv_fast as ae

    return ae.make(suite, **options)


class _Rows:
    """The games that the rows of an env are playing."""

    def __init__(self, env, listed: np.ndarray):
        n = env.num_envs
        self.env, self.listed, self.next = env, listed, n
        self.slot = np.arange(n)  # position in `listed`
        self.active = np.ones(n, bool)
        self.step, self.ret = np.zeros(n, np.int32), np.zeros(n, np.float64)
        obs, _ = env.reset(options={"game": self.game})
        self.obs = {name: np.array(obs[name]) for name in OBS_KEYS}
        self.first = np.ones(n, bool)

    @property
    def game(self) -> np.ndarray:
        return self.listed[self.slot].astype(np.int32)

    def advance(self, rows, obs, reward) -> None:
        for name, array in self.obs.items():
            array[rows] = obs[name]
        self.step[rows] += 1
        self.ret[rows] += reward
        self.first[:] = False

    def refill(self, rows) -> None:
        """Gives each of `rows` the next listed game, or retires it."""
        fresh = rows[: max(0, len(self.listed) - self.next)]
        self.active[rows[len(fresh) :]] = False
        if len(fresh) == 0:
            return
        self.slot[fresh] = np.arange(self.next, self.next + len(fresh))
        self.next += len(fresh)
        self.step[fresh], self.ret[fresh], self.first[fresh] = 0, 0.0, True
        mask = np.zeros(self.env.num_envs, bool)
        mask[fresh] = True
        obs, _ = self.env.reset(options={"reset_mask": mask, "game": self.game})
        for name, array in self.obs.items():
            array[fresh] = obs[name][fresh]


def _play(agent: Agent, env, listed: np.ndarray) -> list[dict]:
    rows, played = _Rows(env, listed), [{} for _ in listed]
    while rows.active.any():
        action = np.asarray(agent.act(rows.obs, rows.first, rows.game, rows.step))
        stepped = np.flatnonzero(rows.active).astype(np.int32)
        obs, reward, terminated, truncated, info = env.step(action[stepped], rows=stepped)
        rows.advance(stepped, obs, reward)
        ended = np.flatnonzero(terminated | truncated)
        for i in ended:
            row = stepped[i]
            played[rows.slot[row]] = {
                "game": int(rows.game[row]),
                "won": bool(info["won"][i]),
                "lost": bool(info["lost"][i]),
                "truncated": bool(truncated[i] and not terminated[i]),
                "return": float(rows.ret[row]),
                "steps": int(rows.step[row]),
            }
        rows.refill(stepped[ended])
    return played


def _report(played: list[dict], suite) -> dict:
    names = getattr(suite, "names", None)
    for episode in played:
        walk = walkthrough(suite, episode["game"])
        episode["oracle_steps"] = len(walk) if walk else None
        if names is not None:
            episode["name"] = names[episode["game"]]
    won = sum(e["won"] for e in played)
    low, high = wilson(won, len(played))
    report = {"success": won / len(played), "success_low": low, "success_high": high, "episodes": len(played)}
    for name, key in (("return", "return"), ("steps", "steps")):
        report |= _with_interval(name, [e[key] for e in played])
    known = [e["oracle_steps"] for e in played if e["oracle_steps"] is not None]
    report["oracle_steps_mean"] = mean(known)
    report |= {key: sum(e[key] for e in played) for key in ("won", "lost", "truncated")}
    return {**report, "env_steps": sum(e["steps"] for e in played), "by_game": played}


def _with_interval(name: str, values: list) -> dict:
    """Mean and its normal 95 % interval, None for a single value."""
    centre, half = float(np.mean(values)), None
    if len(values) > 1:
        half = 1.959964 * float(np.std(values, ddof=1)) / len(values) ** 0.5
    bounds = (None, None) if half is None else (centre - half, centre + half)
    return {f"{name}_mean": centre, f"{name}_low": bounds[0], f"{name}_high": bounds[1]}
