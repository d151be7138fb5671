"""The envs and suites of a run: the only place where settings become worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from agentenv_fast.errors import ConfigError, SuiteError
from agentenv_fast.train.config import Config, SuiteSettings

VALID_SHARE = 0.2  # of the training games of files, kept for validation when nothing else is


class Worlds(Protocol):
    """What training asks for; tests have one of their own."""

    def suite(self, role: str) -> Any:
        """The games for "train", "valid" or "test"; None if there are none."""
        ...

    def make(self, suite: Any, **options: Any) -> Any:
        """A spec.VectorEnv with the run's codec."""
        ...

    def describe(self) -> dict[str, Any]:
        """suite.json."""
        ...


class SuiteWorlds:
    """Worlds from `ae.suite`, `ae.load` and `ae.make`; all with the training suite's codec."""

    def __init__(self, config: Config, codec: Path | None = None):
        import agentenv_fast as ae

        self.config, self._suites = config, {}
        train = self.suite("train")
        if codec is not None:
            self.codec = ae.Codec.load(codec)
        else:
            sections = config.env.sections
            self.codec = (
                ae.Codec.words(train) if sections is None else ae.Codec.words(train, sections=sections)
            )

    def suite(self, role: str):
        if role not in self._suites:
            self._suites[role] = self._find(role)
        return self._suites[role]

    def make(self, suite, **options):
        import agentenv_fast as ae

        settings = self.config.env
        options.setdefault("max_episode_steps", settings.max_episode_steps)
        options = {
            "text": False,
            "num_threads": settings.num_threads,
            "text_mode": settings.text_mode,
            **options,
        }
        widths = {name: getattr(settings, name) for name in ("max_tokens", "max_admissible")}
        return ae.make(suite, tokens=self.codec, **widths, **options)

    def describe(self) -> dict[str, Any]:
        return {role: _describe(self.suite(role)) for role in ("train", "valid", "test")}

    def _find(self, role: str):
        settings, evaluation = self.config.suite, self.config.eval
        if role == "train":
            train = open_suite(settings, settings.split, settings.size)
            return self._without_valid(train) if self._carves() else train
        wanted = evaluation.split if role == "valid" else evaluation.test_split
        size = evaluation.episodes if role == "valid" else max(1, evaluation.test_episodes)
        if evaluation.suite is not None:
            return open_suite(settings.model_copy(update={"id": evaluation.suite}), wanted, size, whole=True)
        if role == "valid" and self._carves():
            whole = open_suite(settings, settings.split, settings.size)
            return whole[_valid_part(whole)[1]] if len(whole) > 1 else None
        try:
            return open_suite(settings, wanted, size)
        except SuiteError:
            if is_files(settings.id):
                return None
            raise

    def _carves(self) -> bool:
        """Files have no validation split of their own: some training games become one."""
        return (
            is_files(self.config.suite.id)
            and self.config.eval.suite is None
            and self.config.eval.split == "valid"
        )

    def _without_valid(self, suite):
        return suite[_valid_part(suite)[0]] if len(suite) > 1 else suite


def open_suite(settings: SuiteSettings, split: str, size: int, *, whole: bool = False):
    """The games of one split. `whole`: of files take all, whatever their split.

    Raises: SuiteError, WorldError, ConfigError.
    """
    import agentenv_fast as ae

    if is_files(settings.id):
        suite = ae.load(settings.id)
        return suite if whole or split == "all" else suite.split(split)
    if not isinstance(settings.id, str):
        raise ConfigError(f"suite.id: got {settings.id!r}; a list must hold paths or globs")
    return ae.suite(
        settings.id, split=split, size=size, seed=settings.seed, level=settings.level, **settings.params
    )


def is_files(id: str | list[str]) -> bool:
    """Whether a suite id means files."""
    names = [id] if isinstance(id, str) else id
    return all(
        name.endswith((".json", ".aegame")) or any(c in name for c in "*?[") or Path(name).exists()
        for name in names
    )


def _valid_part(suite) -> tuple[list[int], list[int]]:
    count = max(1, round(VALID_SHARE * len(suite)))
    return list(range(len(suite) - count)), list(range(len(suite) - count, len(suite)))


def _describe(suite) -> dict[str, Any] | None:
    if suite is None:
        return None
    return {"id": suite.id, "games": len(suite), "hash": suite.hash, "source": suite.source()}
