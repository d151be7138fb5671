"""One env engine and a table of probes; a probe says what is shown, what pays, and when an episode ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agentenv_fast.errors import SnapshotError
from agentenv_fast.spec import Autoreset, Caps, EnvSpec

WORDS = [
    "<pad>",
    "<unk>",
    "left",
    "right",
    "lamp",
    "dark",
    "go",
    "wait",
    "goal",
    "is",
    "red",
    "blue",
    "green",
    "take",
    "key",
    "box",
]
SLOTS = 3  # K and C of every probe, so that one compiled learner serves all
ID = {word: i for i, word in enumerate(WORDS)}


def sentence(text: str) -> list[int]:
    return [ID[word] for word in text.split()]


@dataclass
class Probe:
    """A world with one hidden bit per episode. `show(bit, step)` is a text, `pay(bit, step, action)` a reward."""

    accuses: str  # the part of a learner at fault if it is not solved
    show: object
    pay: object
    length: int = 1
    truncates: bool = False  # the end after `length` steps is a cut, not a true end
    commands: tuple[str, ...] = ("go left", "go right")


PROBES = {
    "constant_value": Probe("value loss", lambda b, t: "lamp", lambda b, t, a: 1.0, commands=("wait",)),
    "observed_value": Probe(
        "the encoder, or gradients to it",
        lambda b, t: ("dark", "lamp")[b],
        lambda b, t, a: float(b),
        commands=("wait",),
    ),
    "discounting": Probe(
        "returns: discount",
        lambda b, t: ("dark", "lamp")[t],
        lambda b, t, a: float(t == 1),
        length=2,
        commands=("wait",),
    ),
    "action": Probe("policy loss, advantages", lambda b, t: "lamp", lambda b, t, a: float(a == 1)),
    "observed_action": Probe(
        "policy and encoder together", lambda b, t: ("dark", "lamp")[b], lambda b, t, a: float(a == b)
    ),
    "memory": Probe(
        "the recurrent core, or its reset",
        lambda b, t: ("dark", "lamp")[b] if t == 0 else "wait",
        lambda b, t, a: float(t == 2 and a == b),
        length=3,
    ),
    "last_command": Probe(
        "the memory of issued commands",
        lambda b, t: "wait",
        lambda b, t, a: float(t == 1 and a != b),
        length=2,
    ),
    "matching": Probe(
        "command words against goal words",
        lambda b, t: f"goal is {('red', 'blue', 'green')[b]} key" if t == 0 else "wait",
        lambda b, t, a: float(t == 1 and a == b),
        length=2,
        commands=("take red key", "take blue key", "take green key"),
    ),
    "truncation": Probe(
        "returns: bootstrapping at a cut",
        lambda b, t: "lamp",
        lambda b, t, a: 1.0,
        length=4,
        truncates=True,
        commands=("wait",),
    ),
    "termination": Probe(
        "returns: no bootstrapping at an end",
        lambda b, t: "lamp",
        lambda b, t, a: 1.0,
        length=1,
        commands=("wait",),
    ),
}


class ProbeEnv:
    """N rows of a probe. The hidden bit of an episode is a hash of (seed, row, episode); `last_command` uses the
    first action.

    Follows contracts.md: same_step and disabled autoreset, options reset_mask and game, rows=, observe, snapshot,
    restore.
    """

    def __init__(self, probe: str, num_envs: int = 8, *, seed=None, autoreset="same_step", **_):
        self.probe, self.num_envs, self.autoreset = PROBES[probe], num_envs, Autoreset(autoreset)
        self.commands = list(self.probe.commands)
        self.command_tokens = np.zeros((SLOTS, 4), np.int32)
        for i, command in enumerate(self.commands):
            self.command_tokens[i, : len(command.split())] = sentence(command)
        k = SLOTS
        self.spec = EnvSpec(
            id=f"probe/{probe}", num_envs=num_envs, caps=Caps(k, 64, 8, 64, 4), num_commands=k, num_games=4,
            max_episode_steps=self.probe.length, autoreset=self.autoreset, text_mode="tracked", reward_names=("score",),
            reward_range=(0.0, 1.0), vocab_size=len(WORDS), max_tokens=8, max_text=64, max_admissible=k,
            max_command_tokens=4, suite_hash=probe,
        )  # fmt: skip
        self.seed = 0 if seed is None else seed
        self.rows = np.zeros((num_envs, 6), np.int64)  # game, episode, step, first action, score, done

    def reset(self, *, seed=None, options=None):
        options = options or {}
        if seed is not None:
            self.seed = seed
            self.rows[:, 1] = -1
        mask = options.get("reset_mask", np.ones(self.num_envs, bool))
        game = options.get("game", np.full(self.num_envs, -1))
        for row in np.flatnonzero(mask):
            self._restart(row, int(game[row]))
        obs, info = self.observe()
        info["first"] = np.array(mask)
        return obs, info

    def _restart(self, row: int, game: int = -1):
        episode = self.rows[row, 1] + 1
        self.rows[row] = [self._draw(row, episode) if game < 0 else game, episode, 0, -1, 0, 0]

    def _draw(self, row: int, episode: int) -> int:
        return int(np.random.Philox(key=[self.seed, row * 100003 + int(episode)]).random_raw() % 12)

    def _bit(self, row: int) -> int:
        if self.probe is PROBES["last_command"]:
            return int(self.rows[row, 3])
        return int(self.rows[row, 0] % max(2, len(self.commands)))

    def step(self, action, rows=None):
        rows = np.arange(self.num_envs) if rows is None else np.asarray(rows)
        reward, ended = np.zeros(len(rows), np.float32), np.zeros(len(rows), bool)
        invalid = np.zeros(len(rows), bool)
        for i, row in enumerate(rows):
            if self.rows[row, 5]:
                continue
            invalid[i] = not 0 <= action[i] < len(self.commands)
            reward[i] = (
                0.0 if invalid[i] else self.probe.pay(self._bit(row), int(self.rows[row, 2]), int(action[i]))
            )
            if self.rows[row, 2] == 0:
                self.rows[row, 3] = action[i]
            self.rows[row, 2] += 1
            self.rows[row, 4] += int(reward[i])
            ended[i] = self.rows[row, 5] = self.rows[row, 2] >= self.probe.length
        obs, info = self.observe(rows)
        info["status"] = invalid.astype(np.uint8)
        info["won"] = ended & (info["score"] > 0)
        if self.autoreset is Autoreset.SAME_STEP:
            info["final_obs"] = {
                k: np.where(ended.reshape(-1, *[1] * (v.ndim - 1)), v, 0) for k, v in obs.items()
            }
            for row in rows[ended]:
                self._restart(row)
            obs = self.observe(rows)[0]
            info["first"] = ended.copy()
        no = np.zeros(len(rows), bool)
        terminated, truncated = (no, ended) if self.probe.truncates else (ended, no)
        return obs, reward, terminated, truncated, info

    def observe(self, rows=None):
        rows = np.arange(self.num_envs) if rows is None else np.asarray(rows)
        n, k = len(rows), len(self.commands)
        admissible = np.full((n, SLOTS), -1, np.int32)
        admissible[:, :k] = np.arange(k)
        tokens, count = np.zeros((n, 8), np.int32), np.zeros(n, np.int32)
        for i, row in enumerate(rows):
            t = min(int(self.rows[row, 2]), self.probe.length - 1)
            ids = sentence(self.probe.show(self._bit(row), t))
            tokens[i, : len(ids)], count[i] = ids, len(ids)
        obs = {
            "tokens": tokens,
            "token_count": count,
            "admissible": admissible,
            "admissible_count": np.full(n, k, np.int32),
        }
        state = self.rows[rows]
        info = {
            "score": state[:, 4].astype(np.float32),
            "won": np.zeros(n, bool),
            "lost": np.zeros(n, bool),
            "moves": state[:, 2].astype(np.int32),
            "game": state[:, 0].astype(np.int32),
            "episode": state[:, 1].astype(np.int32),
            "elapsed_step": state[:, 2].astype(np.int32),
            "status": np.zeros(n, np.uint8),
            "overflow": np.zeros(n, np.uint8),
            "first": np.zeros(n, bool),
            "valid": np.ones(n, bool),
        }
        return obs, info

    def snapshot(self, rows=None):
        return ProbeSnapshot(self.rows.copy(), self.seed)

    def restore(self, snap, rows=None):
        if snap.rows.shape != self.rows.shape:
            raise SnapshotError(f"snapshot of {len(snap.rows)} rows, env of {self.num_envs}")
        self.rows, self.seed = snap.rows.copy(), snap.seed


@dataclass
class ProbeSnapshot:
    rows: np.ndarray
    seed: int

    def save(self, path):
        np.savez(path, rows=self.rows, seed=self.seed)

    @staticmethod
    def load(path):
        with np.load(path) as data:
            return ProbeSnapshot(data["rows"], int(data["seed"]))
