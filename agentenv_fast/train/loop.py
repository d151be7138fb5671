"""Trains an agent: collect, update, log, validate, save; the composition root of simulation and learning."""

from __future__ import annotations

import json
import signal
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from agentenv_fast.errors import ConfigError
from agentenv_fast.evaluation.agents import OracleAgent, RandomAgent
from agentenv_fast.evaluation.evaluate import evaluate
from agentenv_fast.evaluation.runs import PolicyAgent
from agentenv_fast.learner import archive
from agentenv_fast.learner.mesh import make_mesh
from agentenv_fast.learner.optimizers import make_optimizer, schedule
from agentenv_fast.learner.ppo import PPO, PPOConfig
from agentenv_fast.policy import SmallConfig, SmallPolicy
from agentenv_fast.rollout.actor import Actor, command_table
from agentenv_fast.rollout.collect import Collected, Collector
from agentenv_fast.rollout.stats import mean, wilson
from agentenv_fast.train.checkpoint import RunFolder
from agentenv_fast.train.config import Config
from agentenv_fast.train.metrics import Display, MetricsLog, NoDisplay, memory_mb, plain
from agentenv_fast.train.worlds import SuiteWorlds, Worlds

NOT_PPO = ("learning_rate", "schedule", "warmup", "final", "max_grad_norm")  # settings that go elsewhere


@dataclass
class RunResult:
    """How a call of `train` ended."""

    folder: Path
    status: str  # "finished" | "interrupted"
    env_step: int
    message: str  # what to do next, for people
    results: dict[str, Any] = field(default_factory=dict)  # results.json; empty if interrupted


def train(
    config: Config | None = None,
    *,
    out: str | Path | None = None,
    resume: str | Path | None = None,
    display: Display | None = None,
    worlds: Worlds | None = None,
) -> RunResult:
    """Trains from settings into a new folder, or goes on with a run.

    Args:
      config: settings of a new run; None with `resume`, whose own settings hold.
      out: folder of a new run; None: runs/<suite>-<time>.
      resume: folder of a run; without a checkpoint it starts over, a finished one returns at once.
      display: shows each metrics line; None: nothing.
      worlds: where envs come from; None: ae.suite, ae.load and ae.make.
    Returns: RunResult. After SIGINT or SIGTERM the state is saved first and status is "interrupted".
    Raises: ConfigError, CheckpointError, SuiteError, WorldError; nothing has been trained then.
    """
    folder, config = _folder(config, out, resume)
    done = folder.results()
    if done is not None:
        return RunResult(
            folder.path, "finished", done["env_step"], f"{folder.path} has finished already", done
        )
    session = Session(config, folder, display or NoDisplay(), worlds)
    with _Signals() as signals:
        session.run(signals)
    return session.result()


class Session:
    """One process's share of a run."""

    def __init__(self, config: Config, folder: RunFolder, display: Display, worlds: Worlds | None):
        self.config, self.folder = config, folder
        self.worlds = SuiteWorlds(config, folder.codec) if worlds is None else worlds
        self._describe_worlds()
        seed = config.train.seed
        self.env = self.worlds.make(self.worlds.suite("train"), num_envs=config.train.num_envs, seed=seed)
        self.policy = make_policy(config, self.env)
        self.actor = Actor(self.policy)
        self.ppo = make_ppo(config, self.policy)
        self.state = self.ppo.init(self.policy.init(seed))
        self.collector = Collector(
            self.env,
            self.actor,
            self.policy.commands,
            config.train.rollout_steps,
            seed,
            word_dropout=config.train.word_dropout,
        )
        self.agent = PolicyAgent(self.actor, self.state.params, greedy=config.eval.mode == "greedy")
        self.update_key = jax.random.key(seed + 1)
        self.env_step = 0
        self.best: float | None = None  # success in validation
        self.best_env_step: int | None = None
        self.validations_since_best = 0
        self.saved_at: int | None = None  # env step of the newest checkpoint of this process
        self.train_s = 0.0  # of all processes so far
        self.stopped: str | None = None  # why, before total_steps
        self.last: dict[str, Any] = {}  # the latest train line
        offset = self._resume()
        self.log = MetricsLog(
            folder.path, display, offset=offset, env_step=self.env_step, tensorboard=config.train.tensorboard
        )
        self.results: dict[str, Any] = {}

    # -- the run ------------------------------------------------------------------------------------------------------
    def run(self, signals: _Signals) -> None:
        """Until the end, or until a signal asks to stop; either way the state is saved."""
        try:
            while not self._finished():
                if signals.received:
                    self._save()
                    return
                self._iterate()
            self._finish()
        finally:
            self.log.close()

    def _finished(self) -> bool:
        return self.stopped is not None or self.env_step >= self.config.train.total_steps

    def _iterate(self) -> None:
        """Collect, update, log; then validate and save when it is time."""
        began = time.perf_counter()
        before = self.env_step
        params = self.state.params
        trajectory, collected = self.collector.collect(params, int(self.state.updates))
        learning = time.perf_counter()
        metrics = self._update(trajectory)
        ended = time.perf_counter()
        self.env_step += trajectory.reward.size
        self.train_s += ended - began
        self._log_iteration(metrics, collected, ended - began, ended - learning)
        if _crossed(before, self.env_step, self.config.eval.every):
            self._validate()
        if _crossed(before, self.env_step, self.config.train.checkpoint_every) or self._finished():
            self._save()

    def _update(self, trajectory) -> dict[str, Any]:
        ppo, updates = self.config.ppo, int(self.state.updates)
        progress = self.env_step / self.config.train.total_steps
        rate = schedule(ppo.schedule, ppo.learning_rate, progress, warmup=ppo.warmup, final=ppo.final)
        key = jax.random.fold_in(self.update_key, updates)
        self.state, metrics = self.ppo.update(self.state, trajectory, key, rate, self.policy.commands)
        return {**jax.device_get(metrics), "learning_rate": rate}

    def _log_iteration(self, metrics, collected: Collected, whole_s: float, learn_s: float) -> None:
        config, steps = self.config.train, self.config.train.num_envs * self.config.train.rollout_steps
        recent = self.collector.stats.recent
        low, high = wilson(sum(e.won for e in recent), len(recent))
        speed = steps / whole_s
        self.last = {
            "success": mean(e.won for e in recent),
            "success_low": low,
            "success_high": high,
            "return": mean(e.ret for e in recent),
            "episode_length": mean(e.length for e in recent),
            "episodes": self.collector.stats.finished,
            **metrics,
            "invalid_action_rate": collected.invalid_actions / steps,
            "excluded_rate": collected.excluded / steps,
            "total_steps": config.total_steps,
            "elapsed_s": self.train_s,
            "steps_per_s": speed,
            "tokens_per_s": collected.tokens / whole_s,
            "env_share": collected.env_s / whole_s,
            "policy_share": collected.policy_s / whole_s,
            "copy_share": collected.copy_s / whole_s,
            "learn_share": learn_s / whole_s,
            "memory_mb": memory_mb(),
            "eta_s": max(0, config.total_steps - self.env_step) / speed,
        }
        self.log.write("train", self.env_step, self.last)
        if config.max_minutes is not None and self.train_s > 60 * config.max_minutes:
            self.stopped = f"train.max_minutes = {config.max_minutes}"

    # -- validation and test ------------------------------------------------------------------------------------------
    def _validate(self) -> None:
        settings, began = self.config.eval, time.perf_counter()
        suite = self.worlds.suite("valid")
        if suite is None:
            return
        report = self._evaluate(
            self.agent, self.state.params, suite, min(settings.episodes, len(suite)), settings.split
        )
        spent = time.perf_counter() - began
        self.train_s += spent
        better = self._compare(report["success"])
        line = {key: value for key, value in report.items() if key != "by_game"}
        best = {"best_success": self.best, "best_env_step": self.best_env_step}
        self.log.write("eval", self.env_step, {**line, **best, "eval_s": spent, "elapsed_s": self.train_s})
        if better:
            self._save()  # after its line, which belongs to it

    def _compare(self, success: float) -> bool:
        """Is it the best so far (the later of equals)? Has it been good enough, or stale for long enough, to stop?"""
        settings = self.config.eval
        improved = self.best is None or success > self.best
        self.validations_since_best = 0 if improved else self.validations_since_best + 1
        if settings.target is not None and success >= settings.target:
            self.stopped = f"validation success {success:.3f} reached eval.target = {settings.target}"
        elif settings.patience is not None and self.validations_since_best >= settings.patience:
            self.stopped = f"no better validation in eval.patience = {settings.patience} in a row"
        if not improved and success != self.best:
            return False
        self.best, self.best_env_step = success, self.env_step
        return True

    def _evaluate(self, agent, params, suite, episodes: int, split: str) -> dict[str, Any]:
        settings = self.config.eval
        if isinstance(agent, PolicyAgent):
            agent.params = params
        return evaluate(
            agent, suite, episodes=episodes, num_envs=settings.num_envs, seed=settings.seed, split=split,
            make=self.worlds.make, max_episode_steps=self.config.env.max_episode_steps,
        )  # fmt: skip

    def _finish(self) -> None:
        """The test, once, with the parameters that eval.choose says; then results.json and the last line."""
        params = self._chosen_params()
        report = self._test(params)
        self.results = {
            **{key: value for key, value in report.items() if key != "by_game"},
            "env_step": self.env_step,
            "best_env_step": self.best_env_step,
            "chosen": self.config.eval.choose,
            "valid_success": self.best,
            "stopped": self.stopped or f"train.total_steps = {self.config.train.total_steps}",
            "train_s": self.train_s,
            "by_game": report.get("by_game", []),
        }
        losses = {key: self.last.get(key) for key in ("loss", "policy_loss", "value_loss", "entropy", "kl")}
        final = {**losses, "return": report.get("return_mean"), "success": report.get("success")}
        final |= {key: value for key, value in self.results.items() if key not in ("by_game", "env_step")}
        self.log.write("final", self.env_step, final)
        self.log.sync()
        self.folder.write("results.json", json.dumps(self.results, indent=1, default=float))

    def _test(self, params) -> dict[str, Any]:
        settings = self.config.eval
        suite = self.worlds.suite("test") if settings.test_episodes else None
        if suite is None:
            return {
                "success": None,
                "success_low": None,
                "success_high": None,
                "episodes": 0,
                "split": settings.test_split,
            }
        episodes = settings.test_episodes if len(suite) >= settings.test_episodes else len(suite)
        report: dict[str, Any] = {}
        for mode in ("greedy", "sampled"):
            agent = PolicyAgent(self.actor, params, greedy=mode == "greedy")
            found = self._evaluate(agent, params, suite, episodes, settings.test_split)
            report |= {f"{mode}_success": found["success"]}
            report |= {f"{mode}_{end}": found[f"success_{end}"] for end in ("low", "high")}
            if mode == settings.mode:
                report = {**found, **report}
        for name, agent in (("random", RandomAgent()), ("oracle", OracleAgent())):
            if name in settings.baselines and (name == "random" or report["oracle_steps_mean"] is not None):
                report[f"{name}_success"] = self._evaluate(agent, None, suite, episodes, settings.test_split)[
                    "success"
                ]
        return report

    def _chosen_params(self):
        if self.best_env_step is None or self.config.eval.choose == "last":
            return self.state.params
        path = self.folder.path / "checkpoints" / str(self.best_env_step)
        archive.load_meta(path)
        return archive.load(path, self.policy.abstract_params(), part="['train']")

    # -- saving and resuming
    # --------------------------------------------------------------------------------------------
    def _tree(self) -> dict[str, Any]:
        return {
            "train": self.state.params,
            "optimizer": self.state.opt_state,
            "updates": self.state.updates,
            "collector": self.collector.state(),
            "eval_widths": np.zeros(2, np.int64) if self.agent.widths is None else self.agent.widths.state(),
        }

    def _save(self) -> None:
        if self.saved_at == self.env_step:
            return
        offset = self.log.sync()
        meta = {
            "metrics_offset": offset,
            "best_success": self.best,
            "best_env_step": self.best_env_step,
            "validations_since_best": self.validations_since_best,
            "train_s": self.train_s,
            "stopped": self.stopped,
            "last": {key: plain(value) for key, value in self.last.items()},
            "policy": asdict(self.policy.config),
        }
        self.folder.save(self.env_step, self._tree(), meta, self.env)
        self.folder.prune(self.config.train.keep, self.best_env_step)
        self.saved_at = self.env_step

    def _resume(self) -> int:
        """Takes over the newest checkpoint; → bytes of metrics.jsonl that belong to it (0: a fresh start)."""
        found = self.folder.latest()
        if found is None:
            return 0
        path, meta = found
        like = self._tree()
        like["collector"]["stats"]["recent"] = archive.Ragged(np.float64)
        tree = archive.load(path, like)
        restored = self.state._replace(
            params=tree["train"], opt_state=tree["optimizer"], updates=tree["updates"]
        )
        self.state = self.ppo.place(restored)
        self.folder.restore_rows(path, self.env)
        self.collector.load(tree["collector"])
        if tree["eval_widths"].any():
            self.agent.load_widths(tree["eval_widths"])
        self.env_step, self.best, self.best_env_step = (
            meta["env_step"],
            meta["best_success"],
            meta["best_env_step"],
        )
        self.validations_since_best, self.stopped = meta["validations_since_best"], meta["stopped"]
        self.train_s, self.last = meta["train_s"], meta["last"]
        return meta["metrics_offset"]

    def _describe_worlds(self) -> None:
        self.folder.write("suite.json", json.dumps(self.worlds.describe(), indent=1, default=str))
        codec = getattr(self.worlds, "codec", None)
        if codec is not None and self.folder.codec is None:
            self.folder.write("codec.json", json.dumps(codec.to_dict()))

    def result(self) -> RunResult:
        where = self.folder.path
        if self.results:
            return RunResult(
                where, "finished", self.env_step, f"results in {where / 'results.json'}", self.results
            )
        message = (
            f"stopped and saved at env step {self.env_step}; go on with: agentenv-fast train --resume {where}"
        )
        return RunResult(where, "interrupted", self.env_step, message)


# -- parts
# ----------------------------------------------------------------------------------------------------------------
def make_policy(config: Config, env) -> SmallPolicy:
    """The policy of the settings, no wider than the vocabulary needs."""
    settings = config.policy.model_dump()
    if env.spec.vocab_size < 2:
        raise ConfigError("the policy reads tokens, but this env has none: make it with tokens='words'")
    settings["words"] = min(settings["words"], -(-env.spec.vocab_size // 64) * 64)
    return SmallPolicy(SmallConfig(**settings), command_table(env))


def make_ppo(config: Config, policy: SmallPolicy) -> PPO:
    settings = {key: value for key, value in config.ppo.model_dump().items() if key not in NOT_PPO}
    optimizer = make_optimizer(
        config.optimizer.name, max_grad_norm=config.ppo.max_grad_norm, **config.optimizer.kwargs
    )
    sizes = config.mesh.model_dump()
    count = int(np.prod([size for size in sizes.values() if size > 0]))
    devices = jax.devices() if -1 in sizes.values() else jax.devices()[:count]
    return PPO(policy, PPOConfig(**settings), optimizer, make_mesh(**sizes, devices=devices))


def _folder(config: Config | None, out, resume) -> tuple[RunFolder, Config]:
    if resume is not None:
        if config is not None or out is not None:
            raise ConfigError("resume: a run goes on with its own settings and folder; leave out the others")
        return RunFolder.open(resume)
    if config is None:
        raise ConfigError("train: want settings (train.config.load_config) or a run to resume")
    if out is None:
        name = config.suite.id if isinstance(config.suite.id, str) else config.suite.id[0]
        stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in Path(name).stem).strip("-") or "run"
        out = Path("runs") / f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    return RunFolder.create(out, config), config


class _Signals:
    """Notes SIGINT and SIGTERM instead of dying; a second one dies. Does nothing outside the main thread."""

    def __init__(self):
        self.received = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number, frame) -> None:
        if self.received:
            raise KeyboardInterrupt
        self.received = True


def _crossed(before: int, after: int, every: int) -> bool:
    return before // every != after // every
