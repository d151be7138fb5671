"""The settings of a training run: pydantic models, YAML files, presets, and `--set a.b=c`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentenv_fast.errors import ConfigError


class Section(BaseModel):
    """Unknown keys are errors, so that a typo never trains with a default."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())


class SuiteSettings(Section):
    """Which games. `id`: a built-in or registered id, "module:id", a path, a glob or a list of them."""

    id: str | list[str] = "keyquest-v0"
    level: str = "easy"
    size: int = Field(default=4096, gt=0)  # of the training split; generated suites only
    seed: int = Field(default=0, ge=0)
    split: str = "train"  # "all" of files: every game listed
    params: dict[str, Any] = {}  # further keywords of ae.suite


class EnvSettings(Section):
    """Keywords of ae.make. `sections`: which parts of a text the policy reads; None: all."""

    max_episode_steps: int | None = Field(default=None, gt=0)
    num_threads: int = Field(default=0, ge=0)
    text_mode: Literal["tracked", "raw", "extra"] = "tracked"
    sections: list[str] | None = None
    max_tokens: int | None = Field(default=None, gt=0)
    max_admissible: int | None = Field(default=None, gt=0)


class EvalSettings(Section):
    """Validation while training, and the test at the end."""

    # Other games: an id, path, glob or list of them for both, or {valid: ..., test: ...}; None: the suite's own splits.
    suite: str | list[str] | dict[str, str | list[str]] | None = None
    every: int = Field(default=100_000, gt=0)  # env steps between validations
    split: str = "valid"
    episodes: int = Field(default=200, gt=0)
    mode: Literal["greedy", "sampled"] = "greedy"  # which of the two is called success
    choose: Literal["best", "last"] = "best"  # whose parameters are tested: the best validated, or the last
    test_split: str = "test"
    test_episodes: int = Field(default=200, ge=0)  # 0: no test at the end
    baselines: list[Literal["random", "oracle"]] = ["random", "oracle"]
    num_envs: int = Field(default=128, gt=0)
    seed: int = Field(default=0, ge=0)
    target: float | None = Field(default=None, gt=0.0, le=1.0)  # stop once validation reaches it
    patience: int | None = Field(default=None, gt=0)  # stop after so many validations without a new best


class TrainSettings(Section):
    total_steps: int = Field(default=1_000_000, gt=0)  # env steps
    checkpoint_every: int = Field(default=200_000, gt=0)  # env steps
    keep: int = Field(default=2, gt=0)  # latest checkpoints; the best one is always kept
    seed: int = Field(default=0, ge=0)
    num_envs: int = Field(default=256, gt=0)
    rollout_steps: int = Field(default=32, gt=0)  # T
    word_dropout: float = Field(
        default=0.0, ge=0.0, lt=1.0
    )  # share of the words that a training episode hides
    max_minutes: float | None = Field(default=None, gt=0)  # stop by the clock: such a run is not reproducible
    tensorboard: bool = True


class PPOSettings(Section):
    """See learner/ppo.py; learning_rate and its schedule run over train.total_steps."""

    learning_rate: float = Field(default=1e-3, gt=0)
    schedule: Literal["constant", "linear", "cosine"] = "linear"
    warmup: float = Field(default=0.0, ge=0.0, lt=1.0)
    final: float = Field(default=0.1, ge=0.0, le=1.0)  # share of learning_rate left at the end
    discount: float = Field(default=0.97, ge=0.0, le=1.0)
    lam: float = Field(default=0.95, ge=0.0, le=1.0)
    clip: float = Field(default=0.2, gt=0)
    value_clip: float | None = Field(default=0.5, gt=0)
    value_coef: float = Field(default=0.5, ge=0)
    entropy_coef: float = Field(default=0.01, ge=0)
    epochs: int = Field(default=3, gt=0)
    minibatches: int = Field(default=4, gt=0)
    target_kl: float | None = Field(default=0.05, gt=0)
    normalise_advantage: bool = True
    max_grad_norm: float | None = Field(default=0.5, gt=0)


class PolicySettings(Section):
    """See policy/small.py."""

    embed: int = Field(default=64, ge=2)
    hidden: int = Field(default=128, ge=2)
    words: int = Field(default=1024, ge=16)
    pairs: int = Field(default=256, ge=2)
    match_pairs: int = Field(default=4096, ge=2)
    positions: int = Field(default=8, ge=2)
    slot_hidden: int = Field(default=32, ge=2)
    issued: int = Field(default=256, ge=2)
    last_command: bool = True
    first_text: bool = True
    matches: bool = True


class OptimizerSettings(Section):
    """`name` of optax, `kwargs` as it takes them (but learning_rate)."""

    name: str = "adamw"
    kwargs: dict[str, Any] = {}


class MeshSettings(Section):
    """Devices per axis; -1: what the others leave."""

    data: int = 1
    fsdp: int = 1
    model: int = 1
    expert: int = 1


class Config(Section):
    """All settings of a run; `config.yaml` in its folder."""

    suite: SuiteSettings = SuiteSettings()
    env: EnvSettings = EnvSettings()
    train: TrainSettings = TrainSettings()
    eval: EvalSettings = EvalSettings()
    ppo: PPOSettings = PPOSettings()
    policy: PolicySettings = PolicySettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    mesh: MeshSettings = MeshSettings()

    def to_yaml(self) -> str:
        return yaml.safe_dump(self.model_dump(), sort_keys=False)


def load_config(
    source: str | Path | dict | None = None,
    overrides: Sequence[str] = (),
    *,
    suite: str | Sequence[str] | None = None,
    eval_suite: str | Sequence[str] | None = None,
) -> Config:
    """Settings from a YAML file, a preset's name or a dict, then overridden.

    Args:
      source: path, name of a preset (`presets()`), dict of sections, or None for the defaults.
      overrides: "a.b=c" each, c in YAML.
      suite, eval_suite: short for suite.id and eval.suite.
    Raises: ConfigError that names the file, the setting, what it got and what it takes.
    """
    where, data = _read(source)
    for override in overrides:
        _set(data, override)
    for section, key, value in (("suite", "id", suite), ("eval", "suite", eval_suite)):
        if value is not None:
            _section(data, section, where)[key] = value if isinstance(value, str) else list(value)
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        raise ConfigError(_explain(error, where)) from None
    _check_together(config)
    return config


def presets() -> list[str]:
    """Names that `load_config` and --config take beside paths."""
    return sorted(path.name[:-5] for path in _presets().iterdir() if path.name.endswith(".yaml"))


def _presets():
    return resources.files("agentenv_fast.train") / "presets"


def _read(source: str | Path | dict | None) -> tuple[str, dict[str, Any]]:
    if source is None:
        return "settings", {}
    if isinstance(source, dict):
        return "settings", {
            key: dict(value) if isinstance(value, dict) else value for key, value in source.items()
        }
    if str(source) in presets():
        text, where = (_presets() / f"{source}.yaml").read_text(), f"preset {source}"
    else:
        where = str(source)
        try:
            text = Path(source).read_text(encoding="utf-8")
        except OSError as error:
            known = ", ".join(presets())
            raise ConfigError(f"{source}: {error.strerror}; want a YAML file or a preset: {known}") from error
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{where}: not YAML: {error}") from error
    if data is None:
        return where, {}
    if not isinstance(data, dict):
        raise ConfigError(
            f"{where}: a {type(data).__name__}, want sections ({', '.join(Config.model_fields)})"
        )
    return where, data


def _section(data: dict, name: str, where: str) -> dict:
    section = data.setdefault(name, {})
    if not isinstance(section, dict):
        raise ConfigError(f"{where}: {name}: got {section!r}, want a section of settings")
    return section


def _set(data: dict[str, Any], override: str) -> None:
    path, equals, text = override.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys) or len(keys) < 2:
        raise ConfigError(
            f"--set {override}: want section.setting=value, for instance train.total_steps=200000"
        )
    try:
        value = _number_or(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise ConfigError(f"--set {override}: the value is not YAML: {error}") from error
    place = data
    for key in keys[:-1]:
        place = _section(place, key, f"--set {override}")
    place[keys[-1]] = value


def _number_or(value: Any) -> Any:
    """YAML 1.1 reads 1e-3 as a string; nobody who types it means one."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _explain(error: ValidationError, where: str) -> str:
    lines = []
    for problem in error.errors():
        name = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            lines.append(f"{where}: {name}: no such setting; {_siblings(problem['loc'])}")
        else:
            lines.append(f"{where}: {name}: got {problem['input']!r}: {problem['msg'].lower()}")
    return "\n".join(lines)


def _siblings(loc: tuple) -> str:
    model: Any = Config
    for part in loc[:-1]:
        model = model.model_fields[part].annotation
    of = ".".join(str(part) for part in loc[:-1])
    return f"{of or 'sections'}{' takes' if of else ' are'} {', '.join(model.model_fields)}"


def _check_together(config: Config) -> None:
    train, ppo = config.train, config.ppo
    if train.num_envs % ppo.minibatches:
        raise ConfigError(
            f"ppo.minibatches: {ppo.minibatches} does not divide train.num_envs = {train.num_envs}"
        )
    if train.total_steps < train.num_envs * train.rollout_steps:
        need = train.num_envs * train.rollout_steps
        raise ConfigError(
            f"train.total_steps: {train.total_steps} is less than one update: num_envs x rollout_steps = {need}"
        )
