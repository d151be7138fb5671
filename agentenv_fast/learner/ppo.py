"""Proximal policy optimisation (Schulman et al. 2017, arXiv:1707.06347) for recurrent policies, in the order of the
paper.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from agentenv_fast.errors import ConfigError
from agentenv_fast.learner import losses
from agentenv_fast.learner.mesh import (
    check_rows,
    gathered,
    make_mesh,
    parameter_sharding,
    replicated,
    trajectory_sharding,
)
from agentenv_fast.learner.optimizers import with_learning_rate
from agentenv_fast.learner.returns import gae, without_invalid
from agentenv_fast.learner.state import TrainState
from agentenv_fast.spec import Trajectory


@dataclasses.dataclass(frozen=True)
class PPOConfig:
    """The paper's letters: discount γ, lam λ, clip ε, value_coef c1, entropy_coef c2, epochs K."""

    discount: float = 0.97
    lam: float = 0.95
    clip: float = 0.2
    value_clip: float | None = 0.2
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    epochs: int = 3
    minibatches: int = 4  # of whole sequences: N is split, T never
    target_kl: float | None = 0.03  # stop an update before the step that would start from further away
    normalise_advantage: bool = True


class Batch(NamedTuple):
    """A trajectory and what is held fixed while it is learnt from."""

    trajectory: Trajectory
    advantage: Any  # float32[T, N]
    target: Any  # float32[T, N]


class PPO:
    """Updates a TrainState from trajectories.

    Args:
      policy: spec.Policy; with `prepare`, that runs once per update and outside the gradient.
      optimizer: from `learner.optimizers.make_optimizer`.
      mesh: from `learner.mesh.make_mesh`; None: the first device alone.
    """

    def __init__(self, policy, config: PPOConfig, optimizer, mesh=None):
        self.policy, self.config, self.optimizer = policy, config, optimizer
        self.mesh = make_mesh(devices=jax.devices()[:1]) if mesh is None else mesh
        self._prepare = jax.jit(self._prepare_batch)
        self._learn = jax.jit(self._learn_batch, donate_argnums=0)

    def init(self, params) -> TrainState:
        """A fresh TrainState, parameters and optimizer state laid out over the mesh."""
        return self.place(TrainState.create(params, self.optimizer))

    def place(self, state: TrainState) -> TrainState:
        """The same values, laid out over the mesh (after a checkpoint was read)."""
        return jax.device_put(state, parameter_sharding(self.mesh, state))

    def update(self, state: TrainState, trajectory: Trajectory, key, learning_rate, commands=None):
        """One update: several epochs of minibatch steps on one trajectory.

        Args:
          state: donated; do not use it afterwards.
          trajectory: [T, N, ...] with N divisible by minibatches.
          key: for the order of sequences.
          learning_rate: float, for all steps of this update.
          commands: the policy's command table; None: the one it is bound to.
        Returns: (state, metrics), metrics a dict of float32[] arrays, means over the steps taken.
        Raises: ConfigError if N does not split.
        """
        rows = trajectory.reward.shape[1]
        if rows % self.config.minibatches:
            raise ConfigError(
                f"ppo.minibatches: {self.config.minibatches} does not divide the {rows} rows (train.num_envs)"
            )
        check_rows(self.mesh, rows // self.config.minibatches, "ppo.minibatches")
        if hasattr(self.policy, "compact"):
            trajectory, commands = self.policy.compact(trajectory, commands)
        trajectory = jax.device_put(trajectory, trajectory_sharding(self.mesh, trajectory))
        batch = self._prepare(trajectory, commands)
        return self._learn(state, batch, key, jnp.float32(learning_rate), commands)

    def _prepare_batch(self, trajectory: Trajectory, commands) -> Batch:
        t, c = trajectory, self.config
        reward, next_value, truncated = without_invalid(t.reward, t.value, t.next_value, t.truncated, t.valid)
        advantage, target = gae(
            reward, t.value, next_value, t.terminated, truncated, discount=c.discount, lam=c.lam
        )
        if c.normalise_advantage:
            advantage = losses.normalise(advantage, t.valid)
        if hasattr(self.policy, "prepare"):
            trajectory = self.policy.prepare(trajectory, commands=commands)
        return Batch(trajectory, advantage, target)

    def _learn_batch(self, state: TrainState, batch: Batch, key, learning_rate, commands):
        state = state._replace(opt_state=with_learning_rate(state.opt_state, learning_rate))
        order = self._sequence_order(key, batch.advantage.shape[1])
        start = (state.params, state.opt_state, jnp.bool_(False))
        step = partial(self._step_unless_stopped, batch, commands)
        (params, opt_state, stopped), logs = jax.lax.scan(step, start, order)
        metrics = self._summarise(logs, batch, stopped)
        state = self._hold_layout(TrainState(params, opt_state, state.updates + 1))
        return state, jax.lax.with_sharding_constraint(metrics, replicated(self.mesh))

    def _sequence_order(self, key, rows: int):
        """int32[epochs * minibatches, rows per minibatch]: a new order of sequences in each epoch."""
        keys = jax.random.split(key, self.config.epochs)
        order = jax.vmap(lambda k: jax.random.permutation(k, rows))(keys)
        return order.reshape(self.config.epochs * self.config.minibatches, -1)

    def _step_unless_stopped(self, batch: Batch, commands, carry, rows):
        params, opt_state, stopped = carry
        minibatch = self._take_rows(batch, rows)

        def go(_):
            gradient, logs = jax.grad(self._loss, has_aux=True)(params, minibatch, commands)
            far = jnp.bool_(False) if self.config.target_kl is None else logs["kl"] > self.config.target_kl
            updates, moved = self.optimizer.update(gradient, opt_state, params)
            stepped = (jax.tree.map(lambda p, u: p + u, params, updates), moved)
            norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(gradient)))
            kept = jax.tree.map(lambda new, old: jnp.where(far, old, new), stepped, (params, opt_state))
            return (*kept, far), {
                **logs,
                "grad_norm": norm,
                "taken": jnp.where(far, 0.0, 1.0),
                "seen": jnp.float32(1.0),
            }

        def stay(_):
            zeros = {name: jnp.float32(0.0) for name in (*LOGS, "grad_norm", "taken", "seen")}
            return (params, opt_state, jnp.bool_(True)), zeros

        return jax.lax.cond(stopped, stay, go, None)

    def _take_rows(self, batch: Batch, rows) -> Batch:
        def take(axis):
            return lambda x: jnp.take(x, rows, axis=axis)

        t = batch.trajectory
        carry = jax.tree.map(take(0), t.carry)
        part = jax.tree.map(take(1), t._replace(carry=()))._replace(carry=carry)
        part = jax.lax.with_sharding_constraint(part, trajectory_sharding(self.mesh, part))
        return Batch(part, take(1)(batch.advantage), take(1)(batch.target))

    def _loss(self, params, batch: Batch, commands):
        """L = L_clip + c1 L_value - c2 S (eq. 9), to be minimised."""
        t, c = batch.trajectory, self.config
        params = gathered(self.mesh, params)
        logp, value, entropy = self.policy.evaluate(params, t, commands=commands)
        policy_loss, clip_fraction = losses.clipped_policy_loss(
            logp, t.logp, batch.advantage, t.valid, clip=c.clip
        )
        value_loss = losses.clipped_value_loss(value, t.value, batch.target, t.valid, clip=c.value_clip)
        spread = losses.masked_mean(entropy, t.valid)
        loss = policy_loss + c.value_coef * value_loss - c.entropy_coef * spread
        kl = losses.approx_kl(logp, t.logp, t.valid)
        values = (loss, policy_loss, value_loss, spread, kl, clip_fraction)
        return loss, dict(zip(LOGS, values, strict=True))

    def _summarise(self, logs, batch: Batch, stopped):
        seen = jnp.maximum(logs["seen"].sum(), 1.0)
        metrics = {name: logs[name].sum() / seen for name in (*LOGS, "grad_norm")}
        t = batch.trajectory
        metrics["explained_variance"] = losses.explained_variance(t.value, batch.target, t.valid)
        metrics["gradient_steps"] = logs["taken"].sum()
        metrics["kl_stop"] = stopped.astype(jnp.float32)
        return metrics

    def _hold_layout(self, state: TrainState) -> TrainState:
        return jax.lax.with_sharding_constraint(state, parameter_sharding(self.mesh, state))


LOGS = ("loss", "policy_loss", "value_loss", "entropy", "kl", "clip_fraction")
