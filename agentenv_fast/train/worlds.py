"""The envs and suites of a run: the only place where settings become worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from agentenv_fast.errors import ConfigError, SuiteError
from agentenv_fast.train.config import Config, SuiteSettings

VALID_SHARE = 0.2  # of the training games of files, kept for validation when nothing else is
FEW = 5  # files: fewer than that are all trained on, with nothing held out


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
        if role != "train" and evaluation.suite is not None:
            wanted, size = self._held_out(role)
            named = evaluation.suite.get(wanted) if isinstance(evaluation.suite, dict) else evaluation.suite
            if named is None:
                return None
            return open_suite(settings.model_copy(update={"id": named}), wanted, size, whole=True)
        if is_files(settings.id):
            return self._of_files(role)
        wanted, size = (settings.split, settings.size) if role == "train" else self._held_out(role)
        return open_suite(settings, wanted, size)

    def _held_out(self, role: str) -> tuple[str, int]:
        """Split and number of games for "valid" or "test"."""
        evaluation = self.config.eval
        if role == "valid":
            return evaluation.split, evaluation.episodes
        return evaluation.test_split, max(1, evaluation.test_episodes)

    def _of_files(self, role: str):
        """Files are split by content: 80 % train, 20 % test; the last training games become the validation split."""
        settings, evaluation = self.config.suite, self.config.eval
        games = self._files()
        few = len(games) < FEW and settings.split == "train"
        if few and role != "train":
            return None
        if role == "test" or (role == "valid" and evaluation.split != "valid"):
            return _split_or_none(games, evaluation.test_split if role == "test" else evaluation.split)
        train = games if few or settings.split == "all" else games.split(settings.split)
        if few or evaluation.suite is not None or evaluation.split != "valid" or len(train) < 2:
            return train if role == "train" else None
        return train[_valid_part(train)[role == "valid"]]

    def _files(self):
        import agentenv_fast as ae

        if "files" not in self._suites:
            self._suites["files"] = ae.load(self.config.suite.id)
        return self._suites["files"]


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


def _split_or_none(games, split: str):
    try:
        return games.split(split)
    except SuiteError:
        return None


def _describe(suite) -> dict[str, Any] | None:
    if suite is None:
        return None
    return {"id": suite.id, "games": len(suite), "hash": suite.hash, "source": suite.source()}
