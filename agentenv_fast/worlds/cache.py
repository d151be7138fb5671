"""Compiled games on disk, so that a file is compiled once on a machine, whoever loads it and however often.

The cache lies in `AE_CACHE_DIR`, else in `agentenv_fast` under `XDG_CACHE_HOME` or `~/.cache`; `AE_CACHE=0` switches it
off, `AE_CACHE_MB` bounds it (1024). Any number of processes may use it at once: entries are written aside and renamed
into place, checked when read, and made again when damaged. A cache that cannot be written never stops a game from
loading.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from agentenv_fast.errors import ConfigError
from agentenv_fast.native import _core

SUFFIX = ".game"
MAGIC = b"AECACHE1"
CHECKSUM_BYTES = 32
KEEP = 0.8  # of the bound, after the oldest entries had to go
LOOK = 0.05  # of the bound: written between two looks at the folder
STALE_SECONDS = 3600  # age at which an unfinished file belongs to a process that died

_log = logging.getLogger(__name__)


def compiled(content: bytes, name: str, compile: Callable[[], bytes], *, cache: bool = True) -> bytes:
    """The compiled form of a game file: from the cache, else by `compile()`, which is then kept.

    Args:
      content: the bytes of the file.
      name: the game's name, which is part of the compiled form.
      cache: False compiles and keeps nothing.
    Raises: whatever `compile` raises (nothing is kept then); ConfigError for a bad AE_CACHE_MB.
    """
    where = folder() if cache else None
    if where is None:
        return compile()
    return _cache(where, max_bytes()).get_or_make(key(content, name), compile)


def folder() -> Path | None:
    """Where compiled games are kept, as the environment says; None if the cache is switched off."""
    if os.environ.get("AE_CACHE", "1").lower() in ("0", "off", "no", "false"):
        return None
    if chosen := os.environ.get("AE_CACHE_DIR"):
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "agentenv_fast"
    except RuntimeError:  # no home folder: a container with a bare user id
        return None


def max_bytes() -> int:
    """The bound on all entries together.

    Raises: ConfigError if AE_CACHE_MB is not a positive number.
    """
    text = os.environ.get("AE_CACHE_MB", "1024")
    with contextlib.suppress(ValueError, OverflowError):
        if (size := int(float(text) * 2**20)) > 0:
            return size
    raise ConfigError(
        f"AE_CACHE_MB={text!r}: want a positive number of megabytes; AE_CACHE=0 switches the cache off"
    )


def key(content: bytes, name: str) -> str:
    """Names an entry: what was compiled, under which name, and by which compiler."""
    digest = hashlib.sha256(compiler_version())
    for part in (name.encode("utf-8", "surrogatepass"), content):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


@functools.cache
def _cache(where: Path, max_bytes: int) -> GameCache:
    return GameCache(where, max_bytes)


@functools.cache
def compiler_version() -> bytes:
    """A digest of all that turns files into games: this package's front ends and the native module, byte for byte.

    A version number alone would hand out stale games to whoever changes the compiler.
    """
    digest = hashlib.sha256(str(_core.FORMAT_VERSION).encode())
    worlds = Path(__file__).parent
    front_ends = sorted(p for p in worlds.rglob("*") if p.suffix in (".py", ".lark"))
    for path in [*front_ends, Path(str(_core.__file__))]:
        digest.update(path.name.encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()


class GameCache:
    """A folder of checksummed entries, bounded in size; what was used longest ago goes first.

    Each writing process looks through the folder at its first entry and again after every twentieth of the bound, so
    that is by how much it may be exceeded for a while.
    """

    def __init__(self, where: Path, max_bytes: int) -> None:
        self.where = where
        self.max_bytes = max_bytes
        self._unseen = max_bytes  # bytes written since the last look at the folder

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> bytes:
        """The entry, or what `make()` returns, which is then kept."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def get(self, key: str) -> bytes | None:
        """The entry, now the most recently used one; None if there is none or if it is damaged."""
        path = self.path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        head, game = data[: len(MAGIC) + CHECKSUM_BYTES], data[len(MAGIC) + CHECKSUM_BYTES :]
        if head != MAGIC + hashlib.sha256(game).digest():
            _log.warning("%s: damaged, made again", path)
            return None
        with contextlib.suppress(OSError):  # read-only, or evicted meanwhile
            os.utime(path)
        return game

    def put(self, key: str, game: bytes) -> None:
        """Keeps an entry; on a full or read-only disk it is not kept, with a line in the log."""
        path = self.path(key)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_atomically(path, MAGIC + hashlib.sha256(game).digest() + game)
        except OSError as error:
            _log.warning("compiled games cannot be kept: %s; AE_CACHE_DIR names another folder", error)
            return
        self._unseen += len(game)
        if self._unseen > LOOK * self.max_bytes:
            self.shrink(keep=path)

    def shrink(self, keep: Path | None = None) -> None:
        """Back under the bound: the entries used longest ago go first, and what dead processes left; `keep` stays."""
        self._unseen = 0
        entries = list(self._entries())
        total = sum(size for _, size, _ in entries)
        if total <= self.max_bytes:
            return
        for _, size, path in sorted(entries):
            if total <= KEEP * self.max_bytes:
                return
            if path == keep:
                continue
            with contextlib.suppress(OSError):  # another process was faster
                path.unlink()
            total -= size

    def path(self, key: str) -> Path:
        """Where an entry lies."""
        return self.where / "games" / (key + SUFFIX)

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """(time of last use, bytes, path) of each; files that were never finished are removed once they are stale."""
        now = time.time()
        try:
            found = list(os.scandir(self.where / "games"))
        except OSError:
            return
        for entry in found:
            with contextlib.suppress(OSError):
                stat = entry.stat(follow_symlinks=False)
                if entry.name.endswith(SUFFIX):
                    yield stat.st_mtime, stat.st_size, Path(entry.path)
                elif now - stat.st_mtime > STALE_SECONDS:
                    os.unlink(entry.path)


def _write_atomically(path: Path, data: bytes) -> None:
    """All of it or nothing, whatever else happens; a reader sees the old file or the new one."""
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent, prefix=path.stem[:16] + "-", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise
