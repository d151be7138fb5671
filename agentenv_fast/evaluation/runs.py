"""Policies out of run folders: for evaluation, and for looking over a policy's shoulder while playing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agentenv_fast.errors import CheckpointError


@dataclass
class Run:
    """A run folder, opened for reading.

    Attributes: folder; env_step of the checkpoint; meta (of the checkpoint); config (config.yaml as a dict);
      suite (suite.json as a dict); codec (its Codec, None if the run has none); actor; params.
    """

    folder: Path
    env_step: int
    meta: dict
    config: dict
    suite: dict
    codec: Any
    actor: Any
    params: Any

    def agent(self, *, greedy: bool = True) -> PolicyAgent:
        return PolicyAgent(self.actor, self.params, greedy=greedy)

    def make(self, suite, **options):
        """ae.make with the codec and the settings that the run was trained with."""
        import agentenv_fast as ae

        env = {
            key: value
            for key, value in self.config.get("env", {}).items()
            if key != "sections" and value is not None
        }
        codec = "words" if self.codec is None else self.codec
        options = {key: value for key, value in options.items() if value is not None}
        return ae.make(suite, **{"text": False, "tokens": codec, **env, **options})


def checkpoints(folder: str | Path) -> list[Path]:
    """A run's complete checkpoints, oldest first."""
    here = Path(folder) / "checkpoints"
    found = [path for path in here.iterdir() if path.name.isdigit()] if here.is_dir() else []
    return sorted(found, key=lambda path: int(path.name))


def load_run(folder: str | Path, *, checkpoint: str | int = "best") -> Run:
    """Opens a run folder.

    Args:
      checkpoint: "best" by validation (the latest if nothing was validated), "latest", or an env step.
    Raises: CheckpointError if there is no such run or checkpoint, or it is damaged.
    """
    folder = Path(folder)
    if not (folder / "config.yaml").is_file():
        raise CheckpointError(
            f"{folder}: no config.yaml: not a run folder (agentenv-fast train --out writes one)"
        )
    import yaml

    path = _choose(folder, checkpoint)
    return _open(folder, path, yaml.safe_load((folder / "config.yaml").read_text()))


def load_policy(folder: str | Path, *, checkpoint: str | int = "best") -> PlayPolicy:
    """A run's policy for one row at a time, with `scores` for a human to read."""
    return PlayPolicy(load_run(folder, checkpoint=checkpoint))


class PolicyAgent:
    """A trained policy as an evaluation Agent. Draws depend on seed, game and step alone.

    Attributes: widths, the padded shapes in use; kept between evaluations, so that little is compiled.
    """

    def __init__(self, actor, params, *, greedy: bool = True):
        self.actor, self.params, self.greedy = actor, params, greedy
        self.name = "greedy" if greedy else "sampled"
        self.widths = None

    def load_widths(self, state) -> None:
        """Padded shapes that an earlier process had come to (rollout.buffer.Widths.state)."""
        from agentenv_fast.rollout.buffer import Widths

        tokens, slots = (int(x) for x in state)
        self.widths = Widths(tokens, slots)
        self.widths.load(state)

    def start(self, env, seed: int) -> None:
        import jax

        from agentenv_fast.rollout.actor import command_table
        from agentenv_fast.rollout.buffer import Widths

        if self.widths is None:
            self.widths = Widths(env.spec.max_tokens, env.spec.max_admissible)
        self.widths.raise_caps(env.spec.max_tokens, env.spec.max_admissible)
        self.commands = self.actor.encode(self.params, self.actor.policy.table(command_table(env)))
        self.carry = self.actor.policy.init_carry(env.num_envs)
        self.key = jax.random.key(seed)

    def act(self, obs, first, game, step) -> np.ndarray:
        assert self.widths is not None, "start() comes first"
        action, _, _, self.carry = self.actor.act_by_game(
            self.params,
            self.widths.trim(obs),
            self.carry,
            first,
            self.key,
            game,
            step,
            self.commands,
            greedy=self.greedy,
        )
        return np.asarray(action)


class PlayPolicy:
    """What a policy thinks of each offered command, while someone else chooses.

    carry = start(games); probabilities, value, carry = scores(obs, carry); carry = issued(obs, carry, slot)
    """

    def __init__(self, run: Run):
        self.run, self.policy = run, run.actor.policy

    def start(self, games, num_envs: int = 1):
        """Binds to the commands of `games`, a suite or an env → the carry of `num_envs` rows whose episodes begin."""
        from agentenv_fast.rollout.actor import command_table

        codec, suite = self.run.codec, getattr(games, "suite", games)
        table = command_table(games) if codec is None else codec.command_tokens(suite.commands)
        self.commands = self.run.actor.encode(self.run.params, self.policy.table(table))
        return self.policy.init_carry(num_envs)

    def scores(self, obs, carry, first=None):
        """→ probabilities float32[N, K] (0 where no command), value float32[N], and the carry after reading obs.

        first: bool[N], where obs begins an episode; None: where nothing was issued yet.
        """
        import jax

        first = np.asarray(carry.last) < 0 if first is None else first
        view = {
            name: np.asarray(obs[name])
            for name in ("tokens", "token_count", "admissible", "admissible_count")
        }
        logits, value, carry = self._forward(self.run.params, view, carry, first, self.commands)
        return np.asarray(jax.nn.softmax(logits, axis=-1)), np.asarray(value), carry

    def issued(self, obs, carry, slot):
        """The carry after the commands at `slot` int32[N] were issued."""
        return self.policy.remember(
            carry, {"admissible": np.asarray(obs["admissible"])}, np.asarray(slot, np.int32)
        )

    @property
    def _forward(self):
        if not hasattr(self, "_jitted"):
            import jax

            def forward(params, obs, carry, first, commands):
                return self.policy.forward(params, obs, carry, first, commands=commands)

            self._jitted = jax.jit(forward)
        return self._jitted


def _choose(folder: Path, checkpoint: str | int) -> Path:
    found = checkpoints(folder)
    if not found:
        raise CheckpointError(
            f"{folder}: no checkpoint yet; resume the run: agentenv-fast train --resume {folder}"
        )
    if checkpoint == "latest":
        return found[-1]
    if checkpoint == "best":
        from agentenv_fast.learner import archive

        best = archive.load_meta(found[-1]).get("best_env_step")
        by_step = {int(path.name): path for path in found}
        return by_step.get(best, found[-1]) if isinstance(best, int) else found[-1]
    for path in found:
        if path.name == str(checkpoint):
            return path
    raise CheckpointError(
        f"{folder}: no checkpoint {checkpoint}; there are {', '.join(path.name for path in found)}"
    )


def _open(folder: Path, path: Path, config: dict) -> Run:
    from agentenv_fast.learner import archive
    from agentenv_fast.policy import SmallConfig, SmallPolicy
    from agentenv_fast.rollout.actor import Actor

    meta = archive.load_meta(path)
    policy = SmallPolicy(SmallConfig(**meta["policy"]), np.zeros((1, 1), np.int32))
    params = archive.load(path, policy.abstract_params(), part="['train']")
    suite = folder / "suite.json"
    return Run(
        folder=folder,
        env_step=int(path.name),
        meta=meta,
        config=config,
        suite=json.loads(suite.read_text()) if suite.is_file() else {},
        codec=_codec(folder / "codec.json"),
        actor=Actor(policy),
        params=params,
    )


def _codec(path: Path):
    if not path.is_file():
        return None
    import agentenv_fast as ae

    return ae.Codec.load(path)
