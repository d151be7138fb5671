"""Collects trajectories on the host: native env steps while a jitted policy acts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agentenv_fast.rollout.actor import Actor
from agentenv_fast.rollout.buffer import PAD, Buffer, Widths
from agentenv_fast.rollout.stats import Episode, EpisodeStats
from agentenv_fast.spec import Guard, Recorder, Status, StepBatch, Trajectory, VectorEnv

EXCLUDED = (Status.TIMEOUT, Status.FAULT)  # rows that teach nothing


@dataclass
class Collected:
    """What happened during one trajectory, beside the trajectory."""

    episodes: list[Episode] = field(default_factory=list)
    tokens: int = 0
    invalid_actions: int = 0
    excluded: int = 0  # transitions that are not learnt from
    env_s: float = 0.0
    policy_s: float = 0.0
    copy_s: float = 0.0


class Collector:
    """Steps one env with one policy, `steps` at a time; episodes run on across trajectories.

    Args:
      env: any spec.VectorEnv with obs tokens, token_count, admissible, admissible_count.
      actor: the policy, compiled.
      commands: the env's command table (policy.table).
      steps: T.
      seed: of the env's first reset and of the draws of actions.
      word_dropout: share of the vocabulary that an episode does not show, drawn anew for each: its words read as
        unknown. It keeps a policy from knowing places by heart.
      recorders, guards: see spec.py. A row whose action a guard replaced is not learnt from.
    """

    def __init__(
        self,
        env: VectorEnv,
        actor: Actor,
        commands: Any,
        steps: int,
        seed: int,
        *,
        word_dropout: float = 0.0,
        recorders: Sequence[Recorder] = (),
        guards: Sequence[Guard] = (),
    ):
        self.env, self.actor, self.commands, self.steps = env, actor, commands, steps
        self.recorders, self.guards = recorders, guards
        spec = env.spec
        self.widths = Widths(spec.max_tokens, spec.max_admissible)
        self.buffer = Buffer(steps, env.num_envs, spec.max_tokens, spec.max_admissible)
        self.stats = EpisodeStats(env.num_envs)
        self.key, self.dropout = jax.random.key(seed), _WordDropout(word_dropout, seed, env)
        self.draws = 0
        self.carry = actor.policy.init_carry(env.num_envs)
        self.obs, info = env.reset(seed=seed)
        self._begin(info)

    def _begin(self, info) -> None:
        self.first = np.array(info["first"])
        self.game, self.episode = np.array(info["game"]), np.array(info["episode"])

    def collect(self, params, version: int = 0) -> tuple[Trajectory, Collected]:
        """One trajectory [T, N] with the given parameters. Its arrays are reused by the next call."""
        log = Collected()
        clock = _Clock(log)
        commands = self.actor.encode(params, self.commands)
        start = self.carry
        cut = _CutRows()
        for t in range(self.steps):
            obs = self._now()
            self.buffer.write_obs(t, obs)
            self.buffer.write(
                t, first=self.first, game=self.game, episode=self.episode, policy_version=version
            )
            clock.lap("copy_s")
            action, logp, value, self.carry = self.actor.act(
                params, obs, self.carry, self.first, self.key, self.draws, commands
            )
            self.draws += 1
            action = np.asarray(action)
            self.buffer.write(t, action=action, logp=np.asarray(logp), value=np.asarray(value))
            clock.lap("policy_s")
            self._step(t, action, cut, log, clock)
        self._fill_next_values(params, commands, cut)
        clock.lap("policy_s")
        return self.buffer.trajectory(self.widths, start), log

    def _step(self, t: int, action, cut: _CutRows, log: Collected, clock: _Clock) -> None:
        guarded = self._guard(action)
        step = StepBatch(*self.env.step(guarded))
        clock.lap("env_s")
        info = step.info
        learnt = np.asarray(info["valid"]) & ~np.isin(info["status"], EXCLUDED) & (guarded == action)
        self.buffer.write(
            t, reward=step.reward, terminated=step.terminated, truncated=step.truncated, valid=learnt
        )
        log.tokens += int(step.obs["token_count"].sum())
        log.invalid_actions += int((info["status"] == Status.INVALID_ACTION).sum())
        log.excluded += int((~learnt).sum())
        log.episodes += self.stats.step(step.reward, step.terminated, step.truncated, info)
        cut_rows = np.flatnonzero(step.truncated & ~step.terminated)
        cut.add(t, cut_rows, self._end_obs(step), self.carry, self.widths, self.dropout)
        for recorder in self.recorders:
            recorder.record(step, guarded)
        self.obs = step.obs
        self._begin(info)
        clock.lap("copy_s")

    def _guard(self, action):
        for guard in self.guards:
            action = guard.check(self.obs, action)
        return action

    @staticmethod
    def _end_obs(step: StepBatch):
        """Where an ended row's last observation is: beside obs in same_step, else obs itself."""
        return step.info.get("final_obs", step.obs)

    def _fill_next_values(self, params, commands, cut: _CutRows) -> None:
        """next_value: the next step's value, and V(last observation) where the episode or the trajectory was cut."""
        arrays = self.buffer.arrays
        arrays["next_value"][:-1] = arrays["value"][1:]
        arrays["next_value"][-1] = self.actor.value(params, self._now(), self.carry, commands)
        for steps, rows, obs, carry in cut.chunks(self.env.num_envs, self.widths):
            value = np.asarray(self.actor.value(params, obs, carry, commands))
            arrays["next_value"][steps, rows] = value[: len(rows)]
        arrays["next_value"][arrays["terminated"]] = 0.0

    def _now(self) -> dict[str, np.ndarray]:
        """The current observations as the policy sees them."""
        return self.dropout.hide(self.widths.trim(self.obs), self.episode)

    def state(self) -> dict[str, Any]:
        """Everything but the env's rows, as a pytree of arrays: for checkpoints."""
        return {
            "carry": self.carry,
            "draws": np.array(self.draws),
            "first": self.first,
            "game": self.game,
            "episode": self.episode,
            "widths": self.widths.state(),
            "stats": self.stats.state(),
        }

    def load(self, state) -> None:
        """The inverse of `state`, after the env's rows were restored."""
        self.carry = jax.tree.map(jnp.asarray, state["carry"])
        self.draws = int(state["draws"])
        self.first = np.array(state["first"])
        self.game, self.episode = np.array(state["game"]), np.array(state["episode"])
        self.widths.load(state["widths"])
        self.stats.load(state["stats"])
        self.obs, _ = self.env.observe()


class _Clock:
    """Adds the time since the last lap to one field of a Collected."""

    def __init__(self, log: Collected):
        self.log, self.last = log, time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        setattr(self.log, name, getattr(self.log, name) + now - self.last)
        self.last = now


class _WordDropout:
    """Hides some words of the vocabulary for the length of an episode; which ones depends on seed, row and episode."""

    UNKNOWN = 1

    def __init__(self, share: float, seed: int, env: VectorEnv):
        self.share, self.seed = share, seed
        self.hidden = np.zeros((env.num_envs, env.spec.vocab_size if share else 0), bool)
        self.drawn = np.full(env.num_envs, -1, np.int64)  # the episode that a row's draw is for

    def hide(self, obs, episode) -> dict[str, np.ndarray]:
        """obs of all rows with their hidden words as UNKNOWN; a row in another episode than before draws anew."""
        if not self.share:
            return obs
        for row in np.flatnonzero(self.drawn != episode):
            self._draw(int(row), int(episode[row]))
        return {**obs, "tokens": self.hide_rows(obs["tokens"], np.arange(len(episode)))}

    def hide_rows(self, tokens, rows):
        """int32[M, L] of `rows`, with their hidden words as UNKNOWN."""
        if not self.share:
            return tokens
        return np.where(self.hidden[rows[:, None], tokens] & (tokens > 0), self.UNKNOWN, tokens)

    def _draw(self, row: int, episode: int) -> None:
        stream = np.random.Generator(np.random.Philox(key=[self.seed, (row << 32) | (episode & 0xFFFFFFFF)]))
        self.hidden[row] = stream.random(self.hidden.shape[1]) < self.share
        self.drawn[row] = episode


class _CutRows:
    """Last observations of truncated episodes, and the carries that go with them, until their values are asked for."""

    def __init__(self):
        self.steps: list[int] = []
        self.rows: list[int] = []
        self.obs: list[dict[str, np.ndarray]] = []
        self.carries: list[Any] = []

    def add(self, t: int, rows, obs, carry, widths: Widths, dropout: _WordDropout) -> None:
        if len(rows) == 0:
            return
        self.steps += [t] * len(rows)
        self.rows += rows.tolist()
        names = ("token_count", "admissible_count", "tokens", "admissible")
        view = widths.trim({name: np.asarray(obs[name])[rows] for name in names})
        view["tokens"] = dropout.hide_rows(view["tokens"], rows)
        self.obs.append(view)
        self.carries.append(jax.tree.map(lambda x: np.asarray(x)[rows], carry))

    def chunks(self, size: int, widths: Widths):
        """Yields (steps, rows, obs, carry), obs and carry filled up to `size` rows: one shape is compiled."""
        if not self.rows:
            return
        wide = {"tokens": widths.tokens.value, "admissible": widths.slots.value}
        obs = {
            name: np.concatenate([_widen(part[name], wide.get(name), PAD.get(name, 0)) for part in self.obs])
            for name in self.obs[0]
        }
        carry = jax.tree.map(lambda *parts: np.concatenate(parts), *self.carries)
        for begin in range(0, len(self.rows), size):
            part = slice(begin, begin + size)
            fill = lambda x, part=part: _fill_rows(x[part], size)  # noqa: E731
            yield self.steps[part], self.rows[part], jax.tree.map(fill, obs), jax.tree.map(fill, carry)


def _widen(array, width: int | None, pad: int):
    if width is None or array.shape[1] == width:
        return array
    return np.pad(array, ((0, 0), (0, width - array.shape[1])), constant_values=pad)


def _fill_rows(array, size: int):
    return np.pad(array, [(0, size - len(array)), *[(0, 0)] * (array.ndim - 1)])
