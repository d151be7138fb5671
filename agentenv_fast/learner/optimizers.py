"""Any optax optimizer by name, behind true global-norm clipping, with a learning rate that the caller sets each
update.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import jax
import jax.numpy as jnp
import optax

from agentenv_fast.errors import ConfigError

DEFAULTS: dict[str, dict[str, Any]] = {"adamw": {"weight_decay": 1e-2, "eps": 1e-5}, "adam": {"eps": 1e-5}}


def make_optimizer(
    name: str = "adamw", *, max_grad_norm: float | None = 0.5, **kwargs
) -> optax.GradientTransformation:
    """Clip by the norm of the whole gradient, then `optax.<name>(learning_rate, **kwargs)`.

    Weight decay, where the optimizer has a `mask`, applies to matrices only. The learning rate is 0 until
    `with_learning_rate` sets it, so that its schedule can follow env steps, which an optimizer cannot count.
    Args:
      name: of a function of optax (or `contrib.muon`-like) that takes `learning_rate`.
      max_grad_norm: of all gradients together; None: no clipping.
    Raises: ConfigError for an unknown name or keyword.
    """
    factory = _find(name)
    accepted = inspect.signature(factory).parameters
    kwargs = {**DEFAULTS.get(name, {}), **kwargs}
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in accepted.values())
    unknown = [] if open_ended else sorted(set(kwargs) - set(accepted))
    if unknown or "learning_rate" in kwargs:
        wrong = unknown[0] if unknown else "learning_rate"
        takes = ", ".join(k for k in accepted if k != "learning_rate")
        raise ConfigError(
            f"optimizer.kwargs.{wrong}: optax.{name} takes {takes}; the rate is set by ppo.learning_rate"
        )
    if "mask" in accepted and "weight_decay" in accepted:
        kwargs.setdefault("mask", lambda params: jax.tree.map(lambda x: x.ndim > 1, params))

    def build(learning_rate) -> optax.GradientTransformation:
        try:
            return factory(learning_rate, **kwargs)
        except TypeError as error:
            raise ConfigError(f"optimizer.kwargs: optax.{name} refuses {kwargs}: {error}") from error

    clip = optax.identity() if max_grad_norm is None else optax.clip_by_global_norm(max_grad_norm)
    return optax.chain(clip, optax.inject_hyperparams(build)(learning_rate=0.0))


def with_learning_rate(opt_state, learning_rate):
    """The optimizer state of `make_optimizer` with another learning rate (a float or float32[])."""
    clip, injected = opt_state
    rate = jnp.asarray(learning_rate, injected.hyperparams["learning_rate"].dtype)
    return clip, injected._replace(hyperparams={**injected.hyperparams, "learning_rate": rate})


def schedule(kind: str, peak: float, progress: float, *, warmup: float = 0.0, final: float = 0.0) -> float:
    """The learning rate at `progress` in [0, 1] of a run: constant, linear or cosine from `peak` to `final * peak`.

    Args:
      warmup: share of the run in which the rate rises linearly from 0.
    Raises: ConfigError for another kind.
    """
    if kind not in SCHEDULES:
        raise ConfigError(f"ppo.schedule: got {kind!r}, want one of {', '.join(SCHEDULES)}")
    if progress < warmup:
        return peak * progress / warmup
    along = min(1.0, (progress - warmup) / max(1.0 - warmup, 1e-9))
    return peak * (final + (1.0 - final) * SCHEDULES[kind](along))


def _half_cosine(along: float) -> float:
    return 0.5 * (1.0 + math.cos(math.pi * along))


SCHEDULES = {"constant": lambda along: 1.0, "linear": lambda along: 1.0 - along, "cosine": _half_cosine}


def _find(name: str) -> Any:
    place: Any = optax
    for part in name.split("."):
        place = getattr(place, part, None)
        if place is None:
            raise ConfigError(
                f"optimizer.name: optax has no {name!r}; adamw, adam, lion, sgd, contrib.muon, ... are known"
            )
    if not callable(place) or "learning_rate" not in inspect.signature(place).parameters:
        raise ConfigError(
            f"optimizer.name: optax.{name} does not take a learning_rate, so it is not an optimizer"
        )
    return place
