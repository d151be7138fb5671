"""Suite: an ordered collection of compiled games with splits and a hash. load() reads files, suite() generates."""

from __future__ import annotations

import functools
import glob
import hashlib
import json
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agentenv_fast.errors import SuiteError, WorldError
from agentenv_fast.native import _core
from agentenv_fast.spec import Caps
from agentenv_fast.worlds import cache as disk_cache

MAX_FILE_BYTES = 64 << 20
COMPILED_SUFFIX = ".aegame"
PDDL_SUFFIX = ".pddl"
ALFWORLD_SUFFIX = ".tw-pddl"


@dataclass(frozen=True)
class Game:
    """One game of a suite, as `filter` and reports see it."""

    index: int
    name: str
    hash: int  # uint64, of the compiled bytes
    extra: dict[str, Any]  # objective, walkthrough, max_score, metadata, ...

    @property
    def objective(self) -> str:
        return str(self.extra.get("objective", ""))

    @property
    def walkthrough(self) -> list[str]:
        """Commands that win; empty if the world came without."""
        return list(self.extra.get("walkthrough") or [])

    @property
    def max_score(self) -> float:
        return float(self.extra.get("max_score", 0))


@dataclass(frozen=True)
class SuiteSpec:
    """What a consumer must know about a suite."""

    id: str
    num_games: int
    num_commands: int
    max_episode_steps: int
    caps: Caps
    hash: str
    version: str


class Suite:
    """An immutable, ordered collection of games. Indexing, split() and filter() give new suites over the same bytes."""

    def __init__(
        self,
        programs: Sequence[bytes],
        *,
        name: str,
        names: Sequence[str] | None = None,
        source: dict[str, Any] | None = None,
        words: Sequence[str] | None = None,
        splits: Sequence[str] | None = None,
        split: str | None = None,
    ) -> None:
        """
        Args:
          programs: compiled games.
          name: the suite's id.
          names: one per game; default: the names in the games.
          source: how to make this suite again (for pickling).
          words: a fixed vocabulary; default: every word that the games can print.
          splits: the split of each game; default: 80/20 by content hash.
          split: the one split that was generated, if only one was.
        Raises: SuiteError for an empty suite, WorldError for damaged bytes.
        """
        if not programs:
            raise SuiteError(f"suite {name!r}: no games; a suite needs at least one")
        self.id = name
        self.bank = _core.Bank([bytes(program) for program in programs])
        self.names = list(names) if names is not None else [self.bank.name(i) for i in range(len(self.bank))]
        self._source = source
        self._fixed_words = None if words is None else tuple(words)
        self._splits = None if splits is None else list(splits)
        self._split = split
        self._bound: dict[str, Any] = {}
        self.hash = self._content_hash()
        _alive[self.hash] = self

    def _content_hash(self) -> str:
        digest = hashlib.sha256(f"agentenv_fast suite {_core.FORMAT_VERSION}".encode())
        for i in range(len(self.bank)):
            digest.update(self.bank.hash(i).to_bytes(8, "little"))
        return digest.hexdigest()

    # -- contents -----------------------------------------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self.bank)

    def __iter__(self) -> Iterator[Game]:
        return (self.game(i) for i in range(len(self)))

    def game(self, index: int) -> Game:
        """One game's name, hash and metadata."""
        return Game(index, self.names[index], self.bank.hash(index), self.extra(index))

    def extra(self, index: int) -> dict[str, Any]:
        """What the front end keeps beside a game: objective, walkthrough, max_score, metadata, ..."""
        text = self.bank.extra(index)
        return json.loads(text) if text else {}

    def program(self, index: int) -> _core.Program:
        """One game's tables, for inspection."""
        return _core.Program(self.bank.bytes(index))

    @functools.cached_property
    def commands(self) -> list[str]:
        """Every command of every game, C of them, in byte order; a command id is an index into this list."""
        return self.bank.commands

    @functools.cached_property
    def words(self) -> list[str]:
        """The vocabulary: the family's fixed one, else every word of the games' texts and commands, sorted."""
        return list(self._fixed_words) if self._fixed_words is not None else self.bank.words()

    @functools.cached_property
    def codec(self):
        """The default codec: words."""
        from agentenv_fast.envs.text import Codec

        return Codec(self.words)

    @functools.cached_property
    def command_tokens(self) -> np.ndarray:
        """int32[C, Lc], each command in the default codec, padded with 0."""
        return self.codec.command_tokens(self.commands)

    def bound(self, codec):
        """The native token tables of a codec for these games; made once per codec."""
        if codec.hash not in self._bound:
            self._bound[codec.hash] = codec.bind(self.bank)
        return self._bound[codec.hash]

    @functools.cached_property
    def caps(self) -> Caps:
        """Upper bounds over the games, rounded up to 64."""
        tokens = self.bound(self.codec).max_tokens
        bank = self.bank
        bounds = (bank.max_admissible, bank.max_text, tokens, bank.stride, len(self))
        return Caps(*(round_up(bound) for bound in bounds))

    @property
    def spec(self) -> SuiteSpec:
        return SuiteSpec(
            id=self.id,
            num_games=len(self),
            num_commands=len(self.commands),
            max_episode_steps=self.bank.max_episode_steps,
            caps=self.caps,
            hash=self.hash,
            version=version(),
        )

    # -- parts --------------------------------------------------------------------------------------------------------
    def __getitem__(self, ids) -> Suite:
        """Some games, in the order given: an int, a slice, a list of ints or an integer array."""
        if isinstance(ids, slice):
            chosen = list(range(len(self)))[ids]
        elif isinstance(ids, (int, np.integer)):
            chosen = [int(ids)]
        else:
            array = np.asarray(ids)
            if array.dtype == bool and len(array) == len(self):
                array = np.flatnonzero(array)
            if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
                raise SuiteError(f"suite[{ids!r}]: want an int, a slice or a list of ints")
            chosen = [int(i) for i in array]
        for i in chosen:
            if not -len(self) <= i < len(self):
                raise SuiteError(f"suite {self.id!r}: game {i} outside [0, {len(self)})")
        return self._part([i % len(self) for i in chosen], self._split)

    def _part(self, chosen: list[int], split: str | None) -> Suite:
        if len(set(chosen)) != len(chosen):
            raise SuiteError(f"suite {self.id!r}: a game is chosen twice; a suite holds each game once")
        source = None if self._source is None else {"base": self._source, "games": chosen}
        return Suite(
            [self.bank.bytes(i) for i in chosen],
            name=self.id,
            names=[self.names[i] for i in chosen],
            source=source,
            words=self.words,
            splits=None if self._splits is None else [self._splits[i] for i in chosen],
            split=split,
        )

    def split_of(self, index: int) -> str:
        """The split that a game belongs to."""
        if self._split is not None:
            return self._split
        if self._splits is not None:
            return self._splits[index]
        return "train" if _uniform(self.bank.hash(index)) < 0.8 else "test"

    def split(self, name: str) -> Suite:
        """The games of one split.

        Raises: SuiteError if this suite has no game of that split.
        """
        if name == self._split:
            return self
        chosen = [i for i in range(len(self)) if self.split_of(i) == name]
        if not chosen:
            have = sorted({self.split_of(i) for i in range(len(self))})
            raise SuiteError(
                f"suite {self.id!r}: no game in split {name!r}; it has {', '.join(have)}. "
                f"A generated suite holds one split: ae.suite({self.id!r}, split={name!r})"
            )
        return self._part(chosen, name)

    def filter(self, keep: Callable[[Game], bool]) -> Suite:
        """The games for which `keep(game)` is true, in order.

        Raises: SuiteError if none is left.
        """
        chosen = [game.index for game in self if keep(game)]
        if not chosen:
            raise SuiteError(f"suite {self.id!r}: filter keeps none of {len(self)} games")
        return self._part(chosen, self._split)

    # -- processes ----------------------------------------------------------------------------------------------------
    def source(self) -> dict[str, Any] | None:
        """How to make this suite again: files with their hash, or id and parameters. None: only by its bytes."""
        return self._source

    def __reduce__(self):
        state = {"name": self.id, "names": self.names, "splits": self._splits, "split": self._split}
        if self._source is None:  # made from bytes: they travel
            state["programs"] = [self.bank.bytes(i) for i in range(len(self))]
            state["words"] = self._fixed_words
        return _unpickle, (self.hash, self._source, state)

    def __repr__(self) -> str:
        split = f", split={self._split!r}" if self._split else ""
        return f"Suite({self.id!r}, {len(self)} games{split}, hash={self.hash[:12]})"


_alive: weakref.WeakValueDictionary[str, Suite] = weakref.WeakValueDictionary()


def _unpickle(digest: str, source: dict[str, Any] | None, state: dict[str, Any]) -> Suite:
    found = _alive.get(digest)
    if found is not None:
        return found
    if source is None:
        made = Suite(**state)
    else:
        made = from_source(source)
    if made.hash != digest:
        raise SuiteError(
            f"suite {state['name']!r}: made again from {source}, its hash is {made.hash[:12]}, want {digest[:12]}: "
            "the files or the generator have changed since it was saved"
        )
    return made


def from_source(source: dict[str, Any]) -> Suite:
    """A suite from what `Suite.source()` returned.

    Raises: SuiteError or WorldError if it cannot be made again.
    """
    if "base" in source:
        return from_source(source["base"])[source["games"]]
    if "files" in source:
        return load(source["files"], name=source.get("name"), grammar=source.get("grammar"))
    arguments = dict(source)
    return suite(arguments.pop("id"), **arguments.pop("params", {}), **arguments)


def round_up(number: int, to: int = 64) -> int:
    return -(-number // to) * to


def version() -> str:
    """Of row format and compiler; snapshots and caches carry it."""
    from agentenv_fast import __version__

    return f"{__version__}/{_core.FORMAT_VERSION}"


def _uniform(content_hash: int) -> float:
    digest = hashlib.sha256(content_hash.to_bytes(8, "little")).digest()
    return int.from_bytes(digest[:8], "little") / 2**64


# -- files ------------------------------------------------------------------------------------------------------------
def load(
    paths: str | Path | Iterable[str | Path] | dict[str, Any],
    *,
    problem: str | Path | Iterable[str | Path] | dict[str, Any] | None = None,
    grammar: str | Path | None = None,
    name: str | None = None,
    progress=None,
) -> Suite:
    """Games from files, order kept.

    Args:
      paths: a file, a glob, a list of files and globs, or {split: any of these}. `.json` is a TextWorld game,
        `.tw-pddl` an ALFWorld scene, `.pddl` a PDDL problem (or a domain, for the problems behind it), `.aegame` a
        compiled one (`agentenv-fast compile`).
      problem: PDDL problems of the domain in `paths`, one game each: a file, a glob, a list, or {split: any of these}.
        A problem without its domain uses the `domain.pddl` in its own folder.
      grammar: the texts of PDDL games (docs/worlds_pddl.md), a .toml file; default: made from the names in the files.
      name: the suite's id; default: the first file's stem.
      progress: called as progress(done, total) after each file; default: a bar on a terminal once it takes seconds.
    Returns: a Suite, compiled through the cache on disk.
    Raises: WorldError naming the file and the place in it; the same content twice is refused.
    """
    lists = _lists(paths, problem)
    progress = progress or _Bar()
    files: list[_File] = []
    splits: list[Any] = []
    for split, part in lists.items():
        found = _games(expand(part), grammar)
        files += found
        splits += [split] * len(found) if split is not None else []
    if grammar is not None and not any(file.path.suffix == PDDL_SUFFIX for file in files):
        raise WorldError(f"{grammar}: a grammar file is for PDDL games, and there is none among these files")
    _refuse_duplicates(files)
    programs = []
    for done, file in enumerate(files, 1):
        programs.append(file.compile())
        progress(done, len(files))
    given = {split: [str(f) for f in expand(part)] for split, part in lists.items()}
    source = {"files": given.get(None, given), "name": name}
    return Suite(
        programs,
        name=name or _game_name(files[0].path),
        names=[_game_name(file.path) for file in files],
        source=source if grammar is None else {**source, "grammar": str(grammar)},
        splits=splits or None,
    )


@dataclass(frozen=True)
class _File:
    """One game among files: what it is called, what it is made of, and how."""

    path: Path
    digest: Callable[[], bytes]
    compile: Callable[[], bytes]


def _lists(paths: Any, problem: Any) -> dict[Any, Any]:
    """{split: files and globs}; the split is None if none is named. A domain stands before its problems."""
    if problem is None:
        return paths if isinstance(paths, dict) else {None: paths}
    from agentenv_fast.worlds.pddl.files import is_domain

    domain = [] if isinstance(paths, dict) else expand(paths)
    if len(domain) != 1 or domain[0].suffix != PDDL_SUFFIX or not is_domain(domain[0]):
        raise WorldError(f"{paths}: with problem=..., want the one .pddl file of their domain")
    problems = problem if isinstance(problem, dict) else {None: problem}
    return {split: [domain[0], *expand(part)] for split, part in problems.items()}


def _games(files: Sequence[Path], grammar: str | Path | None = None) -> list[_File]:
    """The games among files; PDDL domains are taken up by their problems."""
    from agentenv_fast.worlds.pddl import files as pddl

    chosen = None if grammar is None else Path(grammar)
    described = [file for file in files if file.suffix == PDDL_SUFFIX]
    games = {game.problem: game for game in pddl.pair(described, chosen)} if described else {}
    out = []
    for file in files:
        if file in games:
            game = games[file]
            digest = functools.partial(_digest_of_pddl, game)
            out.append(_File(file, digest, functools.partial(_compile_pddl, game)))
        elif file.suffix != PDDL_SUFFIX:
            digest = functools.partial(_digest_of_file, file)
            out.append(_File(file, digest, functools.partial(compile_file, file)))
    return out


class _Bar:
    """A line on stderr, only on a terminal and only if compiling takes longer than two seconds."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        seconds = time.monotonic() - self._start
        if seconds < 2 or not sys.stderr.isatty():
            return
        filled = 30 * done // total
        left = seconds / done * (total - done)
        end = "\n" if done == total else ""
        bar = "#" * filled + "." * (30 - filled)
        sys.stderr.write(f"\rcompiling [{bar}] {done}/{total}, {left:.0f} s left {end}")
        sys.stderr.flush()


def expand(paths: str | Path | Iterable[str | Path]) -> list[Path]:
    """Files and globs → files; a glob's matches are sorted.

    Raises: WorldError for a file that is missing or a glob without a match.
    """
    out: list[Path] = []
    items: list[Any] = [paths] if isinstance(paths, (str, Path)) else list(paths)
    for item in items:
        text = str(item)
        if any(c in text for c in "*?[") and not Path(text).exists():
            found = sorted(glob.glob(text, recursive=True))
            if not found:
                raise WorldError(f"{text}: no file matches; the pattern is relative to {Path.cwd()}")
            out += [Path(f) for f in found]
        elif not Path(text).is_file():
            raise WorldError(
                f"{text}: no such file; give a game file, a glob such as 'games/*.json', or a list of them"
            )
        else:
            out.append(Path(text))
    if not out:
        raise WorldError("load([]): no files given")
    return out


def compile_file(file: str | Path, *, cache: bool = True) -> bytes:
    """One file → compiled game, through the cache on disk unless `cache` is False.

    Raises: WorldError naming the file.
    """
    file = Path(file)
    size = file.stat().st_size
    if size > MAX_FILE_BYTES:
        raise WorldError(f"{file}: {size} bytes, at most {MAX_FILE_BYTES} are read: is this a game file?")
    content = file.read_bytes()
    if file.suffix == COMPILED_SUFFIX:
        try:
            _core.Program(content)
        except WorldError as error:
            raise WorldError(f"{file}: {error}") from error
        return content
    if file.suffix == PDDL_SUFFIX:
        return _games([file])[0].compile() if cache else _compile_pddl_now(file)
    if file.suffix == ".json":
        return disk_cache.compiled(content, file.stem, lambda: _compile_json(content, file), cache=cache)
    if file.suffix == ALFWORLD_SUFFIX:
        name = _game_name(file)
        return disk_cache.compiled(content, name, lambda: _compile_alfworld(content, file), cache=cache)
    raise WorldError(
        f"{file}: suffix {file.suffix!r} is not known; want .json (TextWorld), .tw-pddl (ALFWorld), .pddl or "
        f"{COMPILED_SUFFIX}"
    )


def _game_name(file: Path) -> str:
    """The file's name; of ALFWorld's, which are all called game.tw-pddl, that of the folders above."""
    if file.suffix != ALFWORLD_SUFFIX or file.stem != "game" or not file.absolute().parent.name:
        return file.stem
    folder = file.absolute().parent
    return f"{folder.parent.name}/{folder.name}" if folder.name.startswith("trial_") else folder.name


def _compile_alfworld(content: bytes, file: Path) -> bytes:
    from agentenv_fast.worlds import alfworld

    return alfworld.compile_game(content, file, _game_name(file))


def _compile_json(content: bytes, file: Path) -> bytes:
    from agentenv_fast.worlds import textworld

    return textworld.compile_game(content, file)


def _compile_pddl(game) -> bytes:
    from agentenv_fast.worlds.pddl.files import compile_problem

    return disk_cache.compiled(game.content(), game.problem.stem, lambda: compile_problem(game))


def _compile_pddl_now(file: Path) -> bytes:
    from agentenv_fast.worlds.pddl import files as pddl

    return pddl.compile_problem(pddl.pair([file])[0])


def _digest_of_file(file: Path) -> bytes:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def _digest_of_pddl(game) -> bytes:
    return hashlib.sha256(game.content()).digest()


def _refuse_duplicates(files: list[_File]) -> None:
    seen: dict[bytes, Path] = {}
    for file in files:
        digest = file.digest()
        if digest in seen:
            raise WorldError(f"{file.path}: the same game as {seen[digest]}; list each game once")
        seen[digest] = file.path


# -- ids --------------------------------------------------------------------------------------------------------------
def suite(
    id: str, split: str = "train", size: int | None = 512, seed: int = 0, level: str = "medium", **params: Any
) -> Suite:
    """A suite by id: built in ("keyquest-v0", "coinhunt-v0"), registered, or "module:id".

    Args:
      split: "train", "valid" or "test"; the split of a generated game is a property of its content.
      size: number of games; suite(size=a) is a prefix of suite(size=b).
      seed: of the generator.
      level: "easy", "medium", "hard" or "long".
      params: override single numbers of the level.
    Raises: SuiteError for an unknown id or split, ConfigError for a parameter out of range.
    """
    from agentenv_fast.envs import registry

    made = registry.make_suite(id, split=split, size=size, seed=seed, level=level, **params)
    return made


def as_suite(suite_or_id) -> Suite:
    """A Suite from a Suite, an id, a path or a glob."""
    if isinstance(suite_or_id, Suite):
        return suite_or_id
    if isinstance(suite_or_id, (list, tuple, dict, Path)):
        return load(suite_or_id)
    if not isinstance(suite_or_id, str):
        raise SuiteError(f"suite: {type(suite_or_id).__name__}, want a Suite, an id, a path or a glob")
    looks_like_path = suite_or_id.endswith((".json", ALFWORLD_SUFFIX, PDDL_SUFFIX, COMPILED_SUFFIX)) or any(
        c in suite_or_id for c in "*?[/"
    )
    if looks_like_path and ":" not in suite_or_id:
        return load(suite_or_id)
    return suite(suite_or_id)
