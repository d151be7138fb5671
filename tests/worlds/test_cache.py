"""The disk cache of compiled games: hits, misses, damage, bounds, and many processes at once."""

import multiprocessing
import os
import sys
import time
import types
from pathlib import Path

import pytest

from agentenv_fast.errors import ConfigError, WorldError
from agentenv_fast.worlds import cache
from agentenv_fast.worlds.suite import compile_file

GAME = bytes(range(256)) * 40


@pytest.fixture
def where(tmp_path, monkeypatch):
    monkeypatch.setenv("AE_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("AE_CACHE", "AE_CACHE_MB"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


class Compiler:
    """Counts how often it had to work."""

    def __init__(self, game=GAME):
        self.game, self.calls = game, 0

    def __call__(self):
        self.calls += 1
        return self.game


def entries(where):
    return sorted((where / "games").iterdir()) if where.exists() else []


def test_a_file_is_compiled_once(where):
    compiler = Compiler()
    assert [cache.compiled(b"content", "name", compiler) for _ in range(3)] == [GAME] * 3
    assert compiler.calls == 1
    assert len(entries(where)) == 1


def test_another_content_name_or_compiler_is_another_entry(where, monkeypatch):
    compiler = Compiler()
    for content, name in [(b"a", "name"), (b"b", "name"), (b"a", "other"), (b"aname", ""), (b"a", "name")]:
        cache.compiled(content, name, compiler)
    assert compiler.calls == 4
    monkeypatch.setattr(cache, "compiler_version", lambda: b"of tomorrow")
    cache.compiled(b"a", "name", compiler)
    assert compiler.calls == 5


def test_the_compiler_version_covers_front_ends_and_native_module(tmp_path, monkeypatch):
    from agentenv_fast.native import _core

    before = cache.compiler_version()
    front_end = tmp_path / "worlds"
    front_end.mkdir()
    (front_end / "cache.py").write_bytes(Path(cache.__file__).read_bytes())
    monkeypatch.setattr(cache, "__file__", str(front_end / "cache.py"))
    fewer = cache.compiler_version.__wrapped__()
    (front_end / "rules.lark").write_text("start: rule+")
    added = cache.compiler_version.__wrapped__()
    (front_end / "rules.lark").write_text("start: rule*")
    edited = cache.compiler_version.__wrapped__()
    module = tmp_path / "_core.so"
    module.write_bytes(b"rebuilt")
    fake = types.SimpleNamespace(FORMAT_VERSION=_core.FORMAT_VERSION, __file__=str(module))
    monkeypatch.setattr(cache, "_core", fake)
    rebuilt = cache.compiler_version.__wrapped__()
    assert len({before, fewer, added, edited, rebuilt}) == 5


def test_a_compiler_that_fails_leaves_no_entry(where):
    def fails():
        raise WorldError("a.json: no")

    with pytest.raises(WorldError, match=r"a\.json: no"):
        cache.compiled(b"content", "name", fails)
    assert entries(where) == []


DAMAGE = {
    "empty": lambda data: b"",
    "cut": lambda data: data[:-1],
    "cut in the checksum": lambda data: data[:20],
    "longer": lambda data: data + b"\0",
    "a flipped bit": lambda data: data[:-5] + bytes([data[-5] ^ 1]) + data[-4:],
    "a flipped bit of the checksum": lambda data: data[:12] + bytes([data[12] ^ 1]) + data[13:],
    "another format": lambda data: b"AECACHE0" + data[8:],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_entry_is_made_again(where, damage, caplog):
    compiler = Compiler()
    cache.compiled(b"content", "name", compiler)
    (entry,) = entries(where)
    sound = entry.read_bytes()
    entry.write_bytes(damage(sound))
    assert cache.compiled(b"content", "name", compiler) == GAME
    assert compiler.calls == 2
    assert "damaged" in caplog.text
    assert entry.read_bytes() == sound


def test_the_environment_says_where_and_whether(tmp_path, monkeypatch):
    for name in ("AE_CACHE", "AE_CACHE_DIR", "XDG_CACHE_HOME", "AE_CACHE_MB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.folder() == tmp_path / ".cache" / "agentenv_fast"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == tmp_path / "xdg" / "agentenv_fast"
    monkeypatch.setenv("AE_CACHE_DIR", str(tmp_path / "mine"))
    assert cache.folder() == tmp_path / "mine"
    monkeypatch.setenv("AE_CACHE", "0")
    assert cache.folder() is None
    compiler = Compiler()
    cache.compiled(b"content", "name", compiler)
    cache.compiled(b"content", "name", compiler)
    assert compiler.calls == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "-1", "0", "nan", "inf", "a lot"])
def test_a_bad_bound_is_refused(where, monkeypatch, text):
    monkeypatch.setenv("AE_CACHE_MB", text)
    with pytest.raises(ConfigError, match="want a positive number of megabytes"):
        cache.compiled(b"content", "name", Compiler())


def test_the_entry_used_longest_ago_goes_first(where):
    games = cache.GameCache(where, max_bytes=10 * (len(GAME) + 40))
    now = time.time()
    for i in range(10):
        games.put(f"{i:064}", GAME)
        os.utime(games.path(f"{i:064}"), (now - 100 + i, now - 100 + i))
    assert games.get(f"{0:064}") == GAME  # used just now
    games.put(f"{10:064}", GAME)
    left = [i for i in range(11) if games.get(f"{i:064}") is not None]
    assert left == [0, 4, 5, 6, 7, 8, 9, 10]  # 8 of 10: back to 80 %
    assert sum(e.stat().st_size for e in entries(where)) <= games.max_bytes


def test_an_entry_larger_than_the_bound_is_handed_out_and_goes_with_the_next(where):
    games = cache.GameCache(where, max_bytes=100)
    assert games.get_or_make("a" * 64, lambda: GAME) == GAME
    assert games.get_or_make("b" * 64, lambda: GAME) == GAME
    assert [e.stem for e in entries(where)] == ["b" * 64]


def test_what_a_killed_process_left_is_removed_and_what_is_being_written_stays(where):
    games = where / "games"
    games.mkdir(parents=True)
    stale, fresh = games / "dead-1.part", games / "live-1.part"
    stale.write_bytes(b"x")
    fresh.write_bytes(b"x")
    old = time.time() - 2 * cache.STALE_SECONDS
    os.utime(stale, (old, old))
    cache.GameCache(where, max_bytes=10**6).put("a" * 64, GAME)
    assert not stale.exists()
    assert fresh.exists()


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path, monkeypatch, caplog):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("AE_CACHE_DIR", str(blocked))
    compiler = Compiler()
    assert cache.compiled(b"content", "name", compiler) == GAME
    assert cache.compiled(b"content", "name", compiler) == GAME
    assert compiler.calls == 2
    assert "AE_CACHE_DIR names another folder" in caplog.text


def test_compile_file_goes_through_the_cache_unless_told_otherwise(where, tmp_path, monkeypatch):
    compiler = Compiler()
    front_end = types.ModuleType("agentenv_fast.worlds.textworld")
    front_end.compile_game = lambda content, file: compiler()
    monkeypatch.setitem(sys.modules, front_end.__name__, front_end)
    monkeypatch.setattr("agentenv_fast.worlds.textworld", front_end, raising=False)
    file = tmp_path / "a.json"
    file.write_text("{}")
    assert [compile_file(file) for _ in range(2)] == [GAME] * 2
    assert compiler.calls == 1
    assert compile_file(file, cache=False) == GAME
    assert compiler.calls == 2


def _compile_many(where: Path, barrier, answers, seed: int) -> None:
    """Makes and reads the same few entries, and damages one now and then."""
    games = cache.GameCache(where, max_bytes=10**9)
    barrier.wait()
    wrong = 0
    for i in range(150):
        name = f"{i % 5:064}"
        wanted = bytes([i % 5]) * 300_000
        wrong += games.get_or_make(name, lambda wanted=wanted: wanted) != wanted
        if i % 10 == seed:
            games.path(name).write_bytes(wanted[:1000])
    answers.put(wrong)


@pytest.mark.slow
def test_processes_that_compile_at_once_get_whole_games(where):
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(3), context.Queue()
    workers = [
        context.Process(target=_compile_many, args=(where, barrier, answers, seed)) for seed in range(3)
    ]
    for worker in workers:
        worker.start()
    wrong = [answers.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join(timeout=60)
    assert wrong == [0, 0, 0]
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    games = cache.GameCache(where, max_bytes=10**9)
    for i in range(5):
        assert games.get_or_make(f"{i:064}", lambda i=i: bytes([i]) * 300_000) == bytes([i]) * 300_000
    assert [e.suffix for e in entries(where)] == [".game"] * 5
