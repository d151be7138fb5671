"""Two rooms, a key, a chest and sometimes a vial: the contract of a vector env in slow, obvious Python.

It is what `check_env` is developed on, and the oracle of the same toy as a compiled game: one row at a time, one `if`
for each rule, no buffers shared, every draw written out.

    kitchen  --down-->  cellar        take the key (+1), open the chest with it (+2, won); drinking the vial loses.
"""

from __future__ import annotations

import io
import re
import secrets
import threading
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from agentenv_fast.errors import ActionError, ConfigError, EnvBusyError, SnapshotError
from agentenv_fast.spec import Autoreset, Caps, EnvSpec

KITCHEN, CELLAR, CARRIED, NOWHERE = 0, 1, 2, 3
ROOMS = ("Kitchen", "Cellar")
COMMANDS = ("drink vial", "drop key", "go down", "go up", "look", "open chest", "take key")  # in byte order
GAMES = (  # where key, chest and vial are
    (KITCHEN, CELLAR, NOWHERE),
    (CELLAR, KITCHEN, KITCHEN),
    (CELLAR, CELLAR, KITCHEN),
    (KITCHEN, KITCHEN, NOWHERE),
    (CELLAR, KITCHEN, NOWHERE),
)
START, ACTION, INVALID = 0, 1, 3
WON, LOST, TERMINATED, TRUNCATED, FIRST, NEXT_IS_RESET = 1, 2, 4, 8, 16, 32
OK, INVALID_ACTION, UNKNOWN_COMMAND = 0, 1, 2
K, B, L, STRIDE = 8, 192, 64, 128
MAX_STEPS = 20

ROW = np.dtype(
    [
        ("seed", "<u8"), ("world_hash", "<u8"), ("stream", "<u4"), ("task", "<u4"), ("episode", "<u4"), ("game", "<u4"),
        ("step", "<u4"), ("last_command", "<u4"), ("score", "<f4"), ("moves", "<u4"), ("score_change", "<i2"),
        ("flags", "u1"), ("status", "u1"), ("event", "u1"), ("fork_count", "<u2"),
        ("place", "u1"), ("key", "u1"), ("found", "u1"), ("opened", "u1"), ("poisoned", "u1"),
        ("unused", "u1", STRIDE - 60),
    ]
)  # fmt: skip
assert ROW.itemsize == STRIDE


# -- rules: one row ---------------------------------------------------------------------------------------------------
def admissible(row) -> list[int]:
    """Command ids, in byte order of the commands."""
    _, chest, vial = GAMES[row["game"]]
    here, ids = row["place"], []
    if vial == here:
        ids.append(0)
    if row["key"] == CARRIED:
        ids.append(1)
    ids.append(2 if here == KITCHEN else 3)
    ids.append(4)
    if chest == here and row["key"] == CARRIED and not row["opened"]:
        ids.append(5)
    if row["key"] == here:
        ids.append(6)
    return ids


def act(row, command: int) -> None:
    """An admissible command takes effect; then what it earns and whether it ends the game."""
    row["event"], row["last_command"] = ACTION, command
    row["moves"] += 1
    if command == 0:
        row["poisoned"] = 1
    elif command == 1:
        row["key"] = row["place"]
    elif command == 2:
        row["place"] = CELLAR
    elif command == 3:
        row["place"] = KITCHEN
    elif command == 5:
        row["opened"] = 1
    elif command == 6:
        row["key"] = CARRIED
    gained = 0
    if row["key"] == CARRIED and not row["found"]:
        row["found"] = 1
        gained += 1
    if row["opened"]:
        gained += 2
        row["flags"] |= WON | TERMINATED
    elif row["poisoned"]:
        row["flags"] |= LOST | TERMINATED
    row["score_change"] = gained
    row["score"] += gained


def refuse(row, status: int) -> None:
    row["event"], row["last_command"], row["status"] = INVALID, 0, status


def begin(row, game: int) -> None:
    """Every counter and flag cleared, the game's first state laid out."""
    for name in set(ROW.names) - {"seed", "stream", "task", "episode", "fork_count"}:
        row[name] = 0
    row["game"], row["flags"], row["event"] = game, FIRST, START
    row["place"], row["key"] = KITCHEN, GAMES[game][0]


def world_hash(row) -> int:
    facts = [int(row[name]) for name in ("game", "place", "key", "found", "opened", "poisoned")]
    return _mix(sum(fact << (8 * i) for i, fact in enumerate(facts)))


def render(row) -> str:
    """The observation text: what happened, where the player is, the score."""
    out = {
        START: "You wake up.\n" + look(row),
        INVALID: "You cannot do that.\n",
    }.get(int(row["event"])) or ACTED[row["last_command"]](row)
    return out + f"Score {int(row['score'])}, moves {row['moves']}.\n"


def look(row) -> str:
    _, chest, vial = GAMES[row["game"]]
    here = row["place"]
    text = f"-= {ROOMS[here]} =-\n"
    for there, name in ((row["key"], "key"), (chest, "chest"), (vial, "vial")):
        if there == here:
            text += f"There is a {name} here.\n"
    return text


ACTED = (
    lambda row: "It was poison.\n",
    lambda row: "You drop the key.\n",
    lambda row: "You go down.\n" + look(row),
    lambda row: "You go up.\n" + look(row),
    look,
    lambda row: "The chest opens. You win!\n",
    lambda row: "You take the key.\n",
)


# -- draws ------------------------------------------------------------------------------------------------------------
def philox(key: int, *counter: int) -> list[int]:
    """Philox4x32-10, Salmon et al. 2011."""
    c, k = list(counter), [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def permuted(index: int, size: int, seed: int, task: int, turn: int) -> int:
    """A Feistel network over the next power of four, walked until it lands inside (Black and Rogaway 2002)."""
    half = 1
    while 4**half < size:
        half += 1
    mask, x = 2**half - 1, index
    while True:
        left, right = x >> half, x & mask
        for step in range(4):
            left, right = right, left ^ (philox(seed, task, turn, (step << 24) ^ right, 4)[0] & mask)
        x = (left << half) | right
        if x < size:
            return x


def choose_game(row, order: str, weights) -> int:
    games, seed, task, episode = len(GAMES), int(row["seed"]), int(row["task"]), int(row["episode"])
    if order == "sequential":
        return (task + episode) % games
    if order == "shuffle":
        return permuted(episode % games, games, seed, task, episode // games)
    draw = philox(seed, task, episode, 0, 1)
    if weights is None:
        return draw[1] * games >> 32
    return int(np.searchsorted(weights, np.float32((draw[0] >> 8) * 2.0**-24), side="right"))


def _mix(x: int) -> int:
    """splitmix64's finaliser."""
    m = 2**64 - 1
    x = (x + 0x9E3779B97F4A7C15) & m
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & m
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & m
    return x ^ (x >> 31)


# -- words ------------------------------------------------------------------------------------------------------------
class Words:
    """Lower-case words and single digits; 0 pads, 1 is unknown."""

    def __init__(self) -> None:
        texts = "You wake up. cannot do that. It was poison. drop the key. go down. look opens. win! take a here. "
        texts += "There is Kitchen Cellar chest vial Score moves 0 1 2 3 4 5 6 7 8 9 " + " ".join(COMMANDS)
        self.words = sorted(set(self.split(texts)))
        self.vocab_size = len(self.words) + 2

    @staticmethod
    def split(text: str) -> list[str]:
        return re.findall(r"[a-z]+|[0-9]", text.lower())

    def encode(self, text: str) -> np.ndarray:
        return np.array(
            [self.words.index(w) + 2 if w in self.words else 1 for w in self.split(text)], np.int32
        )

    def decode(self, ids) -> str:
        return " ".join(("<pad>", "<unk>", *self.words)[i] for i in ids if i != 0)

    def command_tokens(self, commands) -> np.ndarray:
        rows = [self.encode(command) for command in commands]
        out = np.zeros((len(rows), max(map(len, rows))), np.int32)
        for line, ids in zip(out, rows, strict=True):
            line[: len(ids)] = ids
        return out


# -- the batch --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Snapshot:
    rows: np.ndarray
    suite_hash: str
    version: str

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index) -> Snapshot:
        return Snapshot(
            self.rows[[index] if isinstance(index, int) else index].copy(), self.suite_hash, self.version
        )

    def save(self, path) -> None:
        buffer = io.BytesIO()
        np.savez(buffer, rows=self.rows, suite_hash=np.array(self.suite_hash), version=np.array(self.version))
        with open(path, "wb") as file:
            file.write(buffer.getvalue())

    @classmethod
    def load(cls, path) -> Snapshot:
        with np.load(path) as data:
            return cls(data["rows"], str(data["suite_hash"]), str(data["version"]))


class TwoRooms:
    """N rows of the toy, behind the interface of ae.VecEnv; the keywords are those of ae.make."""

    _begin, _act, _refuse = staticmethod(begin), staticmethod(act), staticmethod(refuse)
    _admissible, _render, _world_hash = (
        staticmethod(admissible),
        staticmethod(render),
        staticmethod(world_hash),
    )

    def __init__(
        self, num_envs: int = 1, *, seed=None, num_threads: int = 0, max_episode_steps: int | None = None,
        autoreset: str = "same_step", text: bool = True, tokens: str | None = "words", admissible: str | None = "ids",
        actions: str = "index", game_order: str = "shuffle", group_size: int = 1, strict: bool = False,
        copy: bool = True, max_admissible: int | None = None,
    ) -> None:  # fmt: skip
        self._options = {name: value for name, value in locals().items() if name != "self"}
        self.num_envs, self.codec = num_envs, Words() if tokens else None
        self.suite = SimpleNamespace(commands=list(COMMANDS), hash="two-rooms")
        self._limit, self._k = max_episode_steps or MAX_STEPS, max_admissible or K
        self._rows = np.zeros(num_envs, ROW)
        self._seed: Any = None
        self._weights = None
        self._views: dict[int, tuple] = {}
        self._lock = threading.Lock()
        self.spec = EnvSpec(
            id="two_rooms-v0", num_envs=num_envs, caps=Caps(K, B, L, STRIDE, len(GAMES)), num_commands=len(COMMANDS),
            num_games=len(GAMES), max_episode_steps=self._limit, autoreset=Autoreset(autoreset), text_mode="tracked",
            reward_names=("score",), reward_range=(0.0, 3.0), vocab_size=self.codec.vocab_size if self.codec else 0,
            max_tokens=L if tokens else 0, max_text=B if text else 0, suite_hash="two-rooms", version="1",
            max_admissible=self._k if admissible == "ids" else 0, options=self._options,
        )  # fmt: skip

    # -- stepping
    def reset(self, *, seed=None, options=None) -> tuple[dict, dict]:
        with self._use():
            mask, games = self._reset_options(dict(options or {}))
            used = self._checked_seed(seed)
            if used is None and self._seed is None:
                used = self._checked_seed(self._options["seed"])
                used = secrets.randbits(63) if used is None else used
            for i in np.flatnonzero(mask):
                self._seed_row(self._rows[i], i, used)
                game = games[i] if games[i] >= 0 else self._choose(self._rows[i])
                self._begin(self._rows[i], int(game))
            self._seed = used if used is not None and (self._seed is None or mask.all()) else self._seed
            obs, _, _, _, info = self._show(range(self.num_envs), [{}] * self.num_envs)
            info["seed"] = self._seed if used is None else used
            return obs, info

    def step(self, action, rows=None) -> tuple[dict, np.ndarray, np.ndarray, np.ndarray, dict]:
        with self._use():
            ids = self._checked_rows(rows)
            commands = self._checked_actions(action, ids)
            return self._show(
                ids, [self._step_row(self._rows[i], c) for i, c in zip(ids, commands, strict=True)]
            )

    def observe(self, rows=None) -> tuple[dict, dict]:
        with self._use():
            ids = self._checked_rows(rows)
            obs, _, _, _, info = self._show(ids, [{}] * len(ids))
            return obs, info

    def _step_row(self, row, command: int) -> dict[str, Any]:
        """One row, one command (a negative one is a status that refuses it). → what happened, and the final row."""
        done = bool(row["flags"] & (TERMINATED | TRUNCATED))
        autoreset = self.spec.autoreset
        if done and autoreset != Autoreset.DISABLED:  # in same_step: it came with a snapshot of another mode
            self._next_episode(row)
            return {"valid": False}
        if done:
            return {
                "valid": False,
                "terminated": row["flags"] & TERMINATED,
                "truncated": row["flags"] & TRUNCATED,
            }
        row["flags"] &= ~FIRST & 0xFF
        row["status"], row["score_change"] = OK, 0
        row["step"] += 1
        if command in self._admissible(row):
            self._act(row, command)
        else:
            self._refuse(row, -command if command < 0 else INVALID_ACTION)
        if not row["flags"] & TERMINATED and row["step"] >= self._limit:
            row["flags"] |= TRUNCATED
        happened = {
            "reward": row["score_change"], "terminated": row["flags"] & TERMINATED,
            "truncated": row["flags"] & TRUNCATED, "ended": row.copy(),
        }  # fmt: skip
        if autoreset == Autoreset.SAME_STEP and row["flags"] & (TERMINATED | TRUNCATED):
            happened["final"] = row.copy()
            self._next_episode(row)
        return happened

    def _next_episode(self, row) -> None:
        row["episode"] += 1
        self._begin(row, self._choose(row))

    def _choose(self, row) -> int:
        return choose_game(row, self._options["game_order"], self._weights)

    def _seed_row(self, row, i: int, used) -> None:
        if used is None:
            row["episode"] += 1
            return
        row["episode"] = row["fork_count"] = 0
        if isinstance(used, np.ndarray):
            row["seed"], row["stream"], row["task"] = used[i], 0, 0
        else:
            row["seed"], row["stream"], row["task"] = used, i, i // self._options["group_size"]

    # -- outputs
    def _show(self, ids, happened) -> tuple:
        n = len(ids)
        out = self._buffers(n)
        obs, reward, terminated, truncated, info = out
        for i, (row_id, what) in enumerate(zip(ids, happened, strict=True)):
            row = self._rows[row_id]
            about = what.get("ended", row)
            overflow = self._observe_row(row, obs, i)
            if "final" in what:
                overflow |= self._observe_row(what["final"], info["final_obs"], i)
            reward[i] = what.get("reward", 0)
            terminated[i], truncated[i] = what.get("terminated", False), what.get("truncated", False)
            info["score"][i], info["reward_terms"][i] = about["score"], reward[i]
            info["won"][i], info["lost"][i] = about["flags"] & WON, about["flags"] & LOST
            for name, field in (
                ("moves", "moves"),
                ("game", "game"),
                ("episode", "episode"),
                ("elapsed_step", "step"),
            ):
                info[name][i] = about[field]
            info["status"][i], info["overflow"][i] = about["status"], overflow
            info["first"][i], info["valid"][i] = row["flags"] & FIRST, what.get("valid", True)
            info["world_hash"][i] = self._world_hash(about) & 0xFFFFFFFF, self._world_hash(about) >> 32
        if self._options["copy"]:
            return out
        return tuple(dict(part) if isinstance(part, dict) else part for part in self._overwrite(n, out))

    def _buffers(self, n: int) -> tuple:
        obs = self._obs_buffers(n, -1)
        flag = lambda: np.zeros(n, bool)  # noqa: E731
        number = lambda: np.zeros(n, np.int32)  # noqa: E731
        info = {
            "score": np.zeros(n, np.float32), "won": flag(), "lost": flag(), "moves": number(), "game": number(),
            "episode": number(), "elapsed_step": number(), "status": np.zeros(n, np.uint8),
            "overflow": np.zeros(n, np.uint8), "first": flag(), "valid": flag(),
            "world_hash": np.zeros((n, 2), np.uint32), "reward_terms": np.zeros((n, 1), np.float32),
        }  # fmt: skip
        if self.spec.autoreset == Autoreset.SAME_STEP:
            info["final_obs"] = self._obs_buffers(n, 0)
        return obs, np.zeros(n, np.float32), flag(), flag(), info

    def _obs_buffers(self, n: int, pad: int) -> dict[str, np.ndarray]:
        obs, options = {}, self._options
        if options["tokens"]:
            obs |= {"tokens": np.zeros((n, L), np.int32), "token_count": np.zeros(n, np.int32)}
        if options["text"]:
            obs |= {"text": np.zeros((n, B), np.uint8), "text_size": np.zeros(n, np.int32)}
        if options["admissible"] == "ids":
            obs["admissible"] = np.full((n, self._k), pad, np.int32)
        elif options["admissible"] == "bitset":
            obs["admissible"] = np.zeros((n, -(-len(COMMANDS) // 32)), np.uint32)
        if options["admissible"]:
            obs["admissible_count"] = np.zeros(n, np.int32)
        return obs

    def _observe_row(self, row, obs, i: int) -> int:
        text, ids, overflow = self._render(row), self._admissible(row), 0
        if "text" in obs:
            data = np.frombuffer(text.encode(), np.uint8)
            obs["text"][i, : len(data)], obs["text_size"][i] = data, len(data)
        if "tokens" in obs:
            tokens = self.codec.encode(text)
            obs["tokens"][i, : len(tokens)], obs["token_count"][i] = tokens, len(tokens)
        if self._options["admissible"] == "ids":
            overflow = 4 if len(ids) > self._k else 0
            ids = ids[: self._k]
            obs["admissible"][i] = -1
            obs["admissible"][i, : len(ids)] = ids
        elif "admissible" in obs:
            obs["admissible"][i] = sum(1 << c for c in ids)
        if "admissible" in obs:
            obs["admissible_count"][i] = len(ids)
        return overflow

    def _overwrite(self, n: int, fresh: tuple) -> tuple:
        """copy=False: the same arrays again, with new contents."""
        kept = self._views.setdefault(n, fresh)
        if kept is not fresh:
            for old, new in zip(_leaves(kept), _leaves(fresh), strict=True):
                old[...] = new
        return kept

    # -- text
    def get_state(self, rows=None) -> list[str]:
        return [self._render(self._rows[i]) for i in self._checked_rows(rows)]

    def get_available_actions(self, rows=None) -> list[list[str]]:
        return [[COMMANDS[c] for c in self._admissible(self._rows[i])] for i in self._checked_rows(rows)]

    def decode(self, obs) -> list[str]:
        if "text" in obs:
            return [bytes(line[:n]).decode() for line, n in zip(obs["text"], obs["text_size"], strict=True)]
        return [
            self.codec.decode(line[:n]) for line, n in zip(obs["tokens"], obs["token_count"], strict=True)
        ]

    # -- state
    def snapshot(self, rows=None) -> Snapshot:
        chosen = self._rows[self._checked_rows(rows)]
        return Snapshot(chosen.view(np.uint8).reshape(len(chosen), STRIDE).copy(), self.suite.hash, "1")

    def restore(self, snapshot, rows=None) -> None:
        if (snapshot.suite_hash, snapshot.version) != (self.suite.hash, "1"):
            got = f"suite {snapshot.suite_hash} version {snapshot.version}"
            raise SnapshotError(f"snapshot of {got}, this env plays suite {self.suite.hash} version 1")
        ids = self._checked_rows(rows)
        if snapshot.rows.shape != (len(ids), STRIDE):
            raise SnapshotError(f"rows: shape {snapshot.rows.shape}, want ({len(ids)}, {STRIDE})")
        self._rows[ids] = np.ascontiguousarray(snapshot.rows).view(ROW)[:, 0]
        self._seed = self._seed if self._seed is not None else int(self._rows[ids[0]]["seed"])

    def fork(self, source, targets, rng: str = "share") -> None:
        if rng not in ("share", "split"):
            raise ConfigError(f"rng: {rng!r}, want one of 'share', 'split'")
        to = self._checked_rows(targets)
        sources = self._checked_rows(
            np.full(len(to), source) if np.ndim(source) == 0 else source, distinct=False
        )
        if len(sources) != len(to):
            raise ActionError(f"source: shape ({len(sources)},), want ({len(to)},)")
        copies = self._rows[sources].copy()
        for row_id, target, copied in zip(sources, to, copies, strict=True):
            self._rows[target] = copied
            if rng == "split":
                seed, stream, taken = (
                    int(copied["seed"]),
                    int(copied["stream"]),
                    int(self._rows[row_id]["fork_count"]),
                )
                self._rows[row_id]["fork_count"] += 1
                self._rows[target]["stream"] = philox(seed, stream, int(target), taken, 3)[0]
                self._rows[target]["fork_count"] = 0

    def row_hash(self, rows=None) -> np.ndarray:
        hashes = []
        for i in self._checked_rows(rows):
            value = 0
            for word in self._rows[i : i + 1].view(np.uint64):
                value = _mix(value ^ int(word))
            hashes.append((value & 0xFFFFFFFF, value >> 32))
        return np.array(hashes, np.uint32).reshape(-1, 2)

    def set_game_weights(self, w) -> None:
        if w is None:
            self._weights = None
            return
        w = np.asarray(w, np.float64)
        if w.shape != (len(GAMES),) or not np.isfinite(w).all() or (w < 0).any() or w.sum() == 0:
            raise ConfigError(f"weights: want {len(GAMES)} finite numbers >= 0, got {w}")
        self._weights = np.cumsum(w / w.sum()).astype(np.float32)
        self._weights[np.flatnonzero(w)[-1] :] = 1

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + sum(leaf.nbytes for leaf in _leaves(self._buffers(self.num_envs)))

    # -- checks of what comes in
    def _use(self):
        if not self._lock.acquire(blocking=False):
            raise EnvBusyError("this env is being used from another thread")
        return _Release(self._lock)

    def _checked_seed(self, seed):
        if seed is None:
            return None
        if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
            if not 0 <= seed < 2**64:
                raise ConfigError(f"seed: {seed}, want an int in [0, 2**64)")
            return int(seed)
        values = np.asarray(seed)
        if values.shape != (self.num_envs,) or values.dtype.kind not in "iu" or (values < 0).any():
            raise ConfigError(f"seed: {values.dtype}{values.shape}, want an int or uint64({self.num_envs},)")
        return values.astype(np.uint64)

    def _reset_options(self, options) -> tuple[np.ndarray, np.ndarray]:
        n = self.num_envs
        mask = options.pop("reset_mask", np.ones(n, bool))
        games = options.pop("game", np.full(n, -1, np.int32))
        if options:
            raise ConfigError(f"options: {sorted(options)} not known")
        if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (n,) or not mask.any():
            raise ConfigError(f"options['reset_mask']: {mask!r}, want bool({n},) with a True")
        games = np.asarray(games)
        if (
            games.shape != (n,)
            or games.dtype.kind != "i"
            or (games < -1).any()
            or (games >= len(GAMES)).any()
        ):
            raise ConfigError(f"options['game']: {games!r}, want int32({n},) in [-1, {len(GAMES)})")
        return mask, games

    def _checked_rows(self, rows, distinct: bool = True) -> list[int]:
        if rows is None:
            return list(range(self.num_envs))
        values = np.asarray(rows) if len(rows) else np.zeros(0, np.int32)
        if values.ndim != 1 or values.dtype.kind not in "iu":
            raise ActionError(f"rows: {values.dtype}{values.shape}, want int32[M]")
        for value in values:
            if not 0 <= value < self.num_envs:
                raise ActionError(f"rows: row {value} outside [0, {self.num_envs})")
        if distinct and len(set(values.tolist())) != len(values):
            raise ActionError("rows: a row is named twice")
        return values.tolist()

    def _checked_actions(self, action, ids) -> list[int]:
        """→ a command id for each row, or minus the status that refuses it."""
        n = len(ids)
        if isinstance(action, list):
            return self._typed(action, ids)
        if isinstance(action, tuple):
            return self._tokens(action, n)
        if not isinstance(action, np.ndarray) or action.dtype != np.int32 or action.shape != (n,):
            got = (
                f"dtype {action.dtype}, shape {action.shape}"
                if isinstance(action, np.ndarray)
                else type(action).__name__
            )
            raise ActionError(f"action: {got}, want dtype int32, shape ({n},)")
        commands = [self._command(self._rows[i], int(a)) for i, a in zip(ids, action, strict=True)]
        self._refuse_if_strict(commands, ids, action)
        return commands

    def _command(self, row, action: int) -> int:
        allowed = self._admissible(row)
        if self._options["actions"] == "command":
            return action if action in allowed else -INVALID_ACTION
        most = min(len(allowed), self._k if self._options["admissible"] == "ids" else len(allowed))
        return allowed[action] if 0 <= action < most else -INVALID_ACTION

    def _typed(self, texts, ids) -> list[int]:
        if len(texts) != len(ids):
            raise ActionError(f"action: {len(texts)} commands, want {len(ids)}")
        for i, text in zip(ids, texts, strict=True):
            if not isinstance(text, str):
                raise ActionError(f"row {i}: action of type {type(text).__name__}, want str")
        texts = [" ".join(text.lower().split()) for text in texts]
        allowed = [[COMMANDS[c] for c in self._admissible(self._rows[i])] for i in ids]
        commands = [
            COMMANDS.index(text) if text in here else -UNKNOWN_COMMAND
            for text, here in zip(texts, allowed, strict=True)
        ]
        self._refuse_if_strict(commands, ids, texts)
        return commands

    def _tokens(self, action, n: int) -> list[int]:
        if len(action) != 2:
            raise ActionError(
                f"action: tuple of {len(action)}, want (tokens int32[{n}, A], lengths int32[{n}])"
            )
        tokens, lengths = action
        if (
            not isinstance(tokens, np.ndarray)
            or tokens.dtype != np.int32
            or tokens.ndim != 2
            or len(tokens) != n
        ):
            raise ActionError(f"action tokens: {getattr(tokens, 'dtype', type(tokens))}, want int32[{n}, A]")
        if not isinstance(lengths, np.ndarray) or lengths.dtype != np.int32 or lengths.shape != (n,):
            raise ActionError(f"lengths: {getattr(lengths, 'dtype', type(lengths))}, want int32[{n}]")
        known = {tuple(self.codec.encode(command)): c for c, command in enumerate(COMMANDS)}
        rows = [
            known.get(tuple(line[:size]), -UNKNOWN_COMMAND)
            for line, size in zip(tokens, lengths, strict=True)
        ]
        return rows

    def _refuse_if_strict(self, commands, ids, action) -> None:
        for i, command, given in zip(ids, commands, action, strict=True):
            if self._options["strict"] and command < 0:
                raise ActionError(
                    f"row {i}: action {given} outside [0, {len(self._admissible(self._rows[i]))})"
                )

    # -- processes
    def __getstate__(self):
        return {
            "options": self._options,
            "rows": self._rows.copy(),
            "seed": self._seed,
            "weights": self._weights,
        }

    def __setstate__(self, state) -> None:
        self.__init__(**state["options"])
        self._rows, self._seed, self._weights = state["rows"], state["seed"], state["weights"]


class _Release:
    def __init__(self, lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc) -> None:
        self._lock.release()


def _leaves(tree) -> list[np.ndarray]:
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in _leaves(tree[key])]
    if isinstance(tree, tuple):
        return [leaf for part in tree for leaf in _leaves(part)]
    return [tree]
