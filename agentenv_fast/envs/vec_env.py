"""VecEnv: N rows of a suite, stepped at once. make() is the way to one; contracts are in docs/concepts.md."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agentenv_fast.envs.snapshot import Snapshot
from agentenv_fast.envs.text import Codec
from agentenv_fast.errors import ActionError, ConfigError, SnapshotError
from agentenv_fast.native import _core
from agentenv_fast.rewards import RewardSpec
from agentenv_fast.spec import Autoreset, EnvSpec
from agentenv_fast.worlds.suite import Suite, as_suite, round_up, version

TEXT_MODES = ("tracked", "raw", "extra")
GAME_ORDERS = ("shuffle", "sequential", "sample")
AUTORESETS = tuple(mode.value for mode in Autoreset)


def make(
    suite,
    num_envs: int = 1,
    *,
    seed: int | Sequence[int] | np.ndarray | None = None,
    num_threads: int = 0,
    max_episode_steps: int | None = None,
    autoreset: str = "same_step",
    text: bool = True,
    text_mode: str = "tracked",
    tokens: str | Path | Codec | None = "words",
    infos: Iterable[str] = (),
    reward: RewardSpec | None = None,
    admissible: str | None = "ids",
    actions: str = "index",
    game_order: str = "shuffle",
    group_size: int = 1,
    strict: bool = False,
    copy: bool = True,
    device: str = "cpu",
    max_admissible: int | None = None,
    max_text: int | None = None,
    max_tokens: int | None = None,
) -> VecEnv:
    """A batch of N rows that play the games of a suite.

    Args:
      suite: a Suite, an id ("keyquest-v0"), a path or a glob.
      num_envs: N, any number from 1.
      seed: an int (row i draws from stream i), uint64[N] (equal seeds give equal rows), or None (fresh entropy at
        the first reset, which reports it).
      num_threads: 0 for all cores that affinity and cgroup grant.
      max_episode_steps: truncates; None for the suite's own.
      autoreset: "same_step", "next_step" or "disabled".
      text: whether obs has text and text_size.
      text_mode: "tracked", "raw" or "extra": how TextWorld prints its feedback.
      tokens: "words", a Codec, the path of a tokenizer.json, or None.
      infos: names of TextWorld's EnvInfos, added to info as lists; they cost Python time.
      reward: a RewardSpec; None for the change of score.
      admissible: "ids", "bitset" or None.
      actions: what an int32 action is: "index" into the row's admissible list, or a suite "command" id.
      game_order: "shuffle", "sequential" or "sample" (by set_game_weights).
      group_size: rows per task; the rows of a group play the same games.
      strict: a bad action raises ActionError with nothing stepped, instead of marking its row.
      copy: False hands out views that the next step overwrites.
      device: "cpu".
      max_admissible, max_text, max_tokens: widths of the arrays; None for what the suite can need at most.
    Raises: ConfigError naming the keyword, SuiteError, WorldError.
    """
    options = {k: v for k, v in locals().items() if k != "suite"}
    return VecEnv(as_suite(suite), options)


class VecEnv:
    """N rows of one suite. Use from one thread at a time (a second one raises EnvBusyError).

    Attributes:
      num_envs: N.
      suite, codec: what is played and how text becomes tokens (codec is None with tokens=None).
      spec: EnvSpec.
      nbytes: bytes of the rows and of two sets of output arrays.
    """

    def __init__(self, suite: Suite, options: dict[str, Any]) -> None:
        bound, native_options = self._configure(suite, options)
        native: Any = _core.Env  # the golden stub cannot say that the codec may be None
        self._native = native(suite.bank, bound, self.num_envs, native_options)
        self._knows_token_commands = False
        self._seed: int | np.ndarray | None = None
        self._given_seed = _seed(options["seed"], self.num_envs)
        self._game_weights: np.ndarray | None = None

    # -- construction -------------------------------------------------------------------------------------------------
    def _configure(self, suite: Suite, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Checks the keywords and sets every attribute that follows from them → bound codec, native options."""
        self._options = options = dict(options)
        self.suite = suite
        self.num_envs = _count("num_envs", options["num_envs"], 1)
        self._check(options)
        self.codec = _codec(suite, options["tokens"])
        self._infos = _infos(options["infos"])
        bound = suite.bound(self.codec) if self.codec is not None and self.codec.native else None
        self._encode_here = self.codec is not None and not self.codec.native
        reward = options["reward"]
        widths = self._widths(options, bound)
        self.spec = self._spec(options, widths, reward)
        self.nbytes = _fit(self._sizes(options, widths), self.num_envs)
        return bound, self._native_options(options, widths, reward)

    def _check(self, options: dict[str, Any]) -> None:
        _one_of("autoreset", _value(options["autoreset"]), AUTORESETS)
        _one_of("text_mode", options["text_mode"], TEXT_MODES)
        _one_of("admissible", options["admissible"], ("ids", "bitset", None))
        _one_of("actions", options["actions"], ("index", "command"))
        _one_of("game_order", options["game_order"], GAME_ORDERS)
        for name in ("text", "strict", "copy"):
            if not isinstance(options[name], (bool, np.bool_)):
                raise ConfigError(f"{name}: {options[name]!r}, want True or False")
        if options["device"] != "cpu":
            raise ConfigError(
                f"device: {options['device']!r}; this build steps on 'cpu' only (see agentenv-fast doctor)"
            )
        if options["reward"] is not None and not isinstance(options["reward"], RewardSpec):
            kind = type(options["reward"]).__name__
            raise ConfigError(f"reward: {kind}, want a RewardSpec or None (change of score)")
        if _count("group_size", options["group_size"], 1) > self.num_envs:
            raise ConfigError(
                f"group_size: {options['group_size']} rows per task, but num_envs is {self.num_envs}"
            )
        _count("num_threads", options["num_threads"], 0)
        for name in ("max_episode_steps", "max_admissible", "max_text", "max_tokens"):
            if options[name] is not None:
                _count(name, options[name], 1)

    def _widths(self, options: dict[str, Any], bound) -> dict[str, int]:
        bank = self.suite.bank
        text = options["max_text"] or round_up(bank.max_text)
        if bound is not None:
            tokens = options["max_tokens"] or round_up(bound.max_tokens)
        else:
            tokens = (options["max_tokens"] or text) if self._encode_here else 1
        return {
            "max_text": text,
            "max_tokens": tokens,
            "max_admissible": options["max_admissible"] or round_up(bank.max_admissible),
        }

    def _spec(self, options: dict[str, Any], widths: dict[str, int], reward: RewardSpec | None) -> EnvSpec:
        suite, codec = self.suite, self.codec
        return EnvSpec(
            id=suite.id,
            num_envs=self.num_envs,
            caps=suite.caps,
            num_commands=len(suite.commands),
            num_games=len(suite),
            max_episode_steps=options["max_episode_steps"] or suite.bank.max_episode_steps,
            autoreset=Autoreset(_value(options["autoreset"])),
            text_mode=options["text_mode"],
            reward_names=("score",) if reward is None else reward.names,
            reward_range=(0.0, float(suite.bank.max_score)) if reward is None else (-np.inf, np.inf),
            vocab_size=0 if codec is None else codec.vocab_size,
            max_tokens=0 if codec is None else widths["max_tokens"],
            max_text=widths["max_text"] if options["text"] else 0,
            max_admissible=widths["max_admissible"] if options["admissible"] == "ids" else 0,
            max_command_tokens=0 if codec is None else _command_width(suite, codec),
            tokens_exact=codec is None or codec.native,
            suite_hash=suite.hash,
            version=version(),
            options={k: v for k, v in options.items() if k not in ("num_envs", "reward", "tokens", "seed")},
        )

    def _sizes(self, options: dict[str, Any], widths: dict[str, int]) -> dict[str, tuple[int, str]]:
        """Bytes of each array and the option that shrinks it."""
        n = self.num_envs
        sets = (1 if not options["copy"] else 2) * (2 if _value(options["autoreset"]) == "same_step" else 1)
        sizes = {"rows": (n * self.suite.bank.stride, "num_envs")}
        if options["text"] or self._encode_here:
            sizes["text"] = (sets * n * widths["max_text"], "text=False or max_text")
        if self.codec is not None:
            sizes["tokens"] = (sets * n * 4 * widths["max_tokens"], "tokens=None or max_tokens")
        if options["admissible"] == "ids":
            sizes["admissible"] = (
                sets * n * 4 * widths["max_admissible"],
                "admissible='bitset' or max_admissible",
            )
        elif options["admissible"] == "bitset":
            sizes["admissible"] = (sets * n * -(-len(self.suite.commands) // 32) * 4, "admissible=None")
        sizes["info"] = (n * 64, "num_envs")
        return sizes

    def _native_options(
        self, options: dict[str, Any], widths: dict[str, int], reward: RewardSpec | None
    ) -> dict[str, Any]:
        return {
            "threads": int(options["num_threads"]) or _core.available_threads(),
            "group_size": int(options["group_size"]),
            "text_mode": TEXT_MODES.index(options["text_mode"]),
            "autoreset": AUTORESETS.index(_value(options["autoreset"])),
            "game_order": GAME_ORDERS.index(options["game_order"]),
            "max_steps": int(options["max_episode_steps"] or 0),
            "reward": None if reward is None else list(reward.weights),
            "text": bool(options["text"]) or self._encode_here,
            "tokens": self.codec is not None and self.codec.native,
            "admissible": options["admissible"] is not None,
            "bitset": options["admissible"] == "bitset",
            "copy": bool(options["copy"]),
            "strict": bool(options["strict"]),
            "commands": options["actions"] == "command",
            **widths,
        }

    # -- stepping -----------------------------------------------------------------------------------------------------
    def reset(self, *, seed=None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        """Begins an episode in every row, or in those of options["reset_mask"]; the others keep every byte.

        Args:
          seed: int or uint64[N]: episode 0 of that seed. None: the next episode of each row's stream.
          options: "reset_mask" bool[N]; "game" int32[N] (-1: as game_order says).
        Returns: (obs, info) of all N rows; info["seed"] is the seed in use.
        Raises: ConfigError for a bad seed or option.
        """
        mask, games = _reset_options(options, self.num_envs)
        used = _seed(seed, self.num_envs)
        if used is None and self._seed is None:
            used = self._given_seed if self._given_seed is not None else secrets.randbits(63)
        if used is not None and (mask is None or self._seed is None):
            self._seed = used
        whole = used if isinstance(used, int) else None
        rows = used if isinstance(used, np.ndarray) else None
        obs, info = self._native.reset(whole, rows, mask, games)
        info["seed"] = used if used is not None else self._seed
        self._finish(obs, info, None)
        return obs, info

    def step(self, action, rows=None) -> tuple[dict, np.ndarray, np.ndarray, np.ndarray, dict]:
        """One step of every row, or of `rows` int32[M] (arrays come back as [M], every other row stays).

        Args:
          action: int32[N] (what make's `actions` says), list of N str as typed, or (tokens int32[N, A],
            lengths int32[N]).
        Returns: (obs, reward float32[N], terminated bool[N], truncated bool[N], info).
        Raises: ActionError for a wrong type, dtype, shape or device (and, if strict, for a bad action); nothing has
          been stepped then.
        """
        if isinstance(action, tuple) and not self._knows_token_commands:
            self._learn_token_commands()
        action, rows = _host(action), _rows(rows)
        same_step = self.spec.autoreset == Autoreset.SAME_STEP
        before = self._native.get_rows(rows) if self._infos and same_step else None
        result = self._native.step(action, rows)
        if self._infos or self._encode_here:
            self._finish(result[0], result[4], rows)
        if before is not None:
            self._finish_ended(before, action, result)
        return result

    def _learn_token_commands(self) -> None:
        """Token actions are looked up by the tokens of the suite's commands."""
        if self.codec is not None:
            table = self.codec.command_tokens(self.suite.commands)
            self._native.set_token_commands([row[row != 0].tolist() for row in table])
        self._knows_token_commands = True

    def observe(self, rows=None) -> tuple[dict, dict]:
        """The outputs of the current state again; nothing is stepped."""
        obs, info = self._native.observe(_rows(rows))
        self._finish(obs, info, rows)
        return obs, info

    def _finish(self, obs: dict, info: dict, rows) -> None:
        if self._encode_here:
            self._encode(obs, info)
        if self._infos:
            from agentenv_fast.envs.infos import collect

            info.update(collect(self, self._infos, rows))

    def _finish_ended(self, before: np.ndarray, action, result) -> None:
        """same_step: the lists of rows whose episode ended are about its end, which is played once more to be read."""
        ended = np.flatnonzero(result[2] | result[3])
        if not len(ended):
            return
        from agentenv_fast.envs.infos import collect

        options = {"num_envs": len(ended), "autoreset": "disabled", "group_size": 1, "text": False}
        again = VecEnv(self.suite, {**self._options, **options, "infos": ()})
        again._native.set_rows(before[ended], None)
        again.step(_at(action, ended))
        for name, values in collect(again, self._infos, None).items():
            for row, value in zip(ended, values, strict=True):
                result[4][name][row] = value

    def _encode(self, obs: dict, info: dict) -> None:
        """Token ids by running the tokenizer on the rendered texts."""
        assert self.codec is not None
        for out, flags in ((obs, info["overflow"]), (info.get("final_obs"), info["overflow"])):
            if out is None:
                continue
            size = self.spec.max_tokens
            tokens = np.zeros((len(out["text_size"]), size), dtype=np.int32)
            count = np.zeros(len(tokens), dtype=np.int32)
            for i, ids in enumerate(self.codec.encode_batch(_texts(out))):
                count[i] = min(len(ids), size)
                tokens[i, : count[i]] = ids[:size]
                if len(ids) > size:
                    flags[i] |= 2
            out["tokens"], out["token_count"] = tokens, count
            if not self._options["text"]:
                del out["text"], out["text_size"]

    # -- text ---------------------------------------------------------------------------------------------------------
    def get_state(self, rows=None) -> list[str]:
        """The observation text of each row, also with text=False."""
        return self._native.texts(_rows(rows))

    def get_available_actions(self, rows=None) -> list[list[str]]:
        """The commands that each row admits, in the original's order; an index action indexes this list."""
        return self._native.admissible(_rows(rows))

    def decode(self, obs: dict) -> list[str]:
        """Texts of an obs: of its bytes, or without them of its tokens.

        Raises: ConfigError if obs has neither.
        """
        if "text" in obs:
            return _texts(obs)
        if "tokens" in obs and self.codec is not None:
            pairs = zip(np.asarray(obs["tokens"]), np.asarray(obs["token_count"]), strict=True)
            return [self.codec.decode(row[:n]) for row, n in pairs]
        raise ConfigError("decode: obs has neither text nor tokens; make(text=True) writes the text")

    # -- state --------------------------------------------------------------------------------------------------------
    def snapshot(self, rows=None) -> Snapshot:
        """The bytes of all rows, or of `rows`."""
        return Snapshot(self._native.get_rows(_rows(rows)), self.suite.hash, version())

    def restore(self, snapshot: Snapshot, rows=None) -> None:
        """Puts the rows of a snapshot back, into all rows or into `rows`.

        Raises: SnapshotError for another suite, version or number of rows, or for damaged bytes.
        """
        if not isinstance(snapshot, Snapshot):
            raise SnapshotError(f"restore: {type(snapshot).__name__}, want a Snapshot")
        if not isinstance(snapshot.rows, np.ndarray):
            raise SnapshotError(f"rows: {type(snapshot.rows).__name__}, want an array uint8[M, stride]")
        if snapshot.suite_hash != self.suite.hash:
            theirs, ours = snapshot.suite_hash[:12], self.suite.hash[:12]
            raise SnapshotError(f"snapshot of suite {theirs}, this env plays suite {ours}")
        if snapshot.version != version():
            raise SnapshotError(f"snapshot of version {snapshot.version}, this is {version()}")
        self._native.set_rows(snapshot.rows, _rows(rows))
        if self._seed is None:
            self._seed = int(snapshot.rows[0, :8].view(np.uint64)[0])

    def fork(self, source, targets, rng: str = "share") -> None:
        """Copies rows onto rows; all sources are read before anything is written.

        Args:
          source: int, or int32[M].
          targets: int32[M], distinct.
          rng: "share": the target's bytes are the source's; "split": the target gets a stream of its own.
        """
        _one_of("rng", rng, ("share", "split"))
        to = _rows(np.atleast_1d(np.asarray(targets)) if not isinstance(targets, list) else targets)
        sources = _rows(source)
        if sources is None:
            raise ActionError("source: None, want a row number or int32[M]")
        self._native.fork(int(sources) if sources.ndim == 0 else sources, to, rng == "split")

    def row_hash(self, rows=None) -> np.ndarray:
        """uint32[M, 2], of all bytes of each row."""
        return self._native.row_hash(_rows(rows))

    def set_game_weights(self, w) -> None:
        """Weights of the games for game_order="sample", float[G], from the next episode on; None: uniform."""
        if w is None:
            self._game_weights = None
            return self._native.set_weights([])
        weights = _weights(w, len(self.suite))
        self._native.set_weights(cumulative_weights(weights).tolist())
        self._game_weights = weights

    @property
    def unknown_commands(self) -> int:
        """How many typed or token commands could not be answered exactly so far."""
        return self._native.unknown_commands

    def xla(self):
        """EnvPool's (handle, recv, send, step); installed by agentenv_fast.xla."""
        raise ConfigError("env.xla(): this build has no XLA part; agentenv-fast doctor says why")

    def close(self) -> None:
        """Nothing to release: memory goes with the object. Here for Gymnasium's sake."""

    def __enter__(self) -> VecEnv:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- processes ----------------------------------------------------------------------------------------------------
    def __getstate__(self) -> dict[str, Any]:
        rows = self._native.get_rows(None) if self._native.started else None
        return {
            "suite": self.suite,
            "options": self._options,
            "rows": rows,
            "seed": self._seed,
            "weights": self._game_weights,
            "version": version(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["version"] != version():
            raise SnapshotError(f"pickled env of version {state['version']}, this is {version()}")
        self.__init__(state["suite"], state["options"])  # type: ignore[misc]
        if state["rows"] is not None:
            self._native.set_rows(state["rows"], None)
        self._seed = state["seed"]
        self.set_game_weights(state["weights"])

    def __repr__(self) -> str:
        size = f"{self.nbytes / 2**20:.1f} MiB"
        return f"VecEnv({self.suite.id!r}, num_envs={self.num_envs}, games={len(self.suite)}, {size})"


def plan(suite: Suite, options: dict[str, Any]) -> tuple[VecEnv, dict[str, Any]]:
    """What make's keywords come to, for other ways to step the same rows: an env that cannot step, and its options.

    Returns: (a VecEnv with spec, codec and nbytes but without rows, the native options: numbers for enumerations).
    """
    env = VecEnv.__new__(VecEnv)
    _, native_options = env._configure(suite, options)
    return env, native_options


# -- checks of what comes in ------------------------------------------------------------------------------------------
def _value(option: Any) -> Any:
    return option.value if isinstance(option, Autoreset) else option


def _one_of(name: str, got: Any, wanted: tuple) -> None:
    if got not in wanted:
        raise ConfigError(f"{name}: {got!r}, want one of {', '.join(map(repr, wanted))}")


def _count(name: str, got: Any, least: int) -> int:
    if isinstance(got, bool) or not isinstance(got, (int, np.integer)) or got < least or got >= 2**31:
        raise ConfigError(f"{name}: {got!r}, want an int from {least}")
    return int(got)


def _weights(w: Any, games: int) -> np.ndarray:
    """A copy as float64[G]."""
    try:
        weights = np.array(w, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"weights: {w!r}, want {games} numbers") from error
    sound = (
        weights.shape == (games,)
        and np.isfinite(weights).all()
        and (weights >= 0).all()
        and weights.sum() > 0
    )
    if not sound:
        raise ConfigError(
            f"weights: want {games} finite numbers >= 0 that are not all 0, got shape {weights.shape}"
        )
    return weights


def cumulative_weights(w: Any, games: int | None = None) -> np.ndarray:
    """float32[G], rising to 1, as the engine draws by them. `games`: how many there must be."""
    weights = w if games is None else _weights(w, games)
    cumulative = np.cumsum(weights / weights.sum())
    cumulative[np.flatnonzero(weights)[-1] :] = 1.0
    return cumulative.astype(np.float32)


def _infos(names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        names = (names,)
    if not isinstance(names, Iterable):
        raise ConfigError(f"infos: {names!r}, want names such as ['objective', 'facts']")
    names = tuple(names)
    if names:
        from agentenv_fast.envs.infos import check_names

        check_names(names)
    return names


def _codec(suite: Suite, tokens: Any) -> Codec | None:
    if tokens is None:
        return None
    if isinstance(tokens, Codec):
        return tokens
    if tokens == "words":
        return suite.codec
    if isinstance(tokens, Path) or (isinstance(tokens, str) and Path(tokens).is_file()):
        return Codec.from_tokenizer(tokens)
    raise ConfigError(f"tokens: {tokens!r}, want 'words', a Codec, the path of a tokenizer.json, or None")


def _command_width(suite: Suite, codec: Codec) -> int:
    """Lc, the width of suite.command_tokens in this codec."""
    if codec == suite.codec:
        return suite.command_tokens.shape[1]
    return codec.command_tokens(suite.commands).shape[1]


def _seed(seed: Any, n: int) -> int | np.ndarray | None:
    """None, an int in [0, 2^64), or uint64[N]."""
    if seed is None:
        return None
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
        if not 0 <= int(seed) < 2**64:
            raise ConfigError(f"seed: {seed}, want an int in [0, 2**64)")
        return int(seed)
    values = np.asarray(seed)
    if values.shape == () and np.issubdtype(values.dtype, np.integer):
        return _seed(int(values), n)
    if values.shape != (n,):
        raise ConfigError(f"seed: shape {values.shape}, want an int or uint64({n},)")
    if not np.issubdtype(values.dtype, np.integer) or (values < 0).any():
        raise ConfigError(f"seed: dtype {values.dtype}, want uint64 (numbers >= 0)")
    return np.ascontiguousarray(values, dtype=np.uint64)


def _reset_options(options: dict[str, Any] | None, n: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    if options is not None and not isinstance(options, dict):
        raise ConfigError(f"options: {type(options).__name__}, want a dict with 'reset_mask' or 'game'")
    options = dict(options or {})
    mask, games = options.pop("reset_mask", None), options.pop("game", None)
    if options:
        raise ConfigError(
            f"options: {', '.join(sorted(map(str, options)))} not known; want 'reset_mask' or 'game'"
        )
    if mask is not None:
        mask = np.asarray(_host(mask))
        if not mask.any():
            raise ConfigError("options['reset_mask']: no row is True")
    if games is not None:
        games = np.asarray(_host(games))
        if np.issubdtype(games.dtype, np.integer) and games.dtype != np.int32 and games.shape == (n,):
            if (abs(games) >= 2**31).any():
                raise ConfigError("options['game']: a number outside int32")
            games = games.astype(np.int32)
    return mask, games


def _rows(rows: Any) -> np.ndarray | None:
    """Row numbers as int32; lists and other integer dtypes are converted, since they are indices, not actions."""
    if rows is None or (isinstance(rows, np.ndarray) and rows.dtype == np.int32):
        return rows
    values = np.asarray(_host(rows))
    if values.size == 0:
        values = values.astype(np.int32)
    if values.dtype == bool or not np.issubdtype(values.dtype, np.integer) or (abs(values) >= 2**31).any():
        raise ActionError(f"rows: dtype {values.dtype}, want int32 row numbers")
    return values.astype(np.int32)


def _at(action: Any, positions: np.ndarray) -> Any:
    """The actions at some positions, in whatever form they came."""
    if isinstance(action, tuple):
        return tuple(np.ascontiguousarray(part[positions]) for part in action)
    return [action[i] for i in positions] if isinstance(action, list) else action[positions]


def _host(action: Any) -> Any:
    """An array of another library as NumPy, without a copy; anything that is not an array as it is."""
    if isinstance(action, tuple):
        return tuple(_host(part) for part in action)
    if isinstance(action, (np.ndarray, list)) or not hasattr(action, "__dlpack__"):
        return action
    device = action.__dlpack_device__()[0] if hasattr(action, "__dlpack_device__") else 1
    if int(device) != 1:
        where = getattr(action, "device", device)
        raise ActionError(f"action: on device {where}, want the CPU: this env was made with device='cpu'")
    return np.from_dlpack(action)


def _texts(obs: dict) -> list[str]:
    pairs = zip(np.asarray(obs["text"]), np.asarray(obs["text_size"]), strict=True)
    return [row[:n].tobytes().decode("utf-8", "replace") for row, n in pairs]


def _fit(sizes: dict[str, tuple[int, str]], num_envs: int) -> int:
    """Total bytes; refuses what the machine cannot hold."""
    total = sum(size for size, _ in sizes.values())
    limit = _available_memory()
    if total > limit:
        name, (size, option) = max(sizes.items(), key=lambda item: item[1][0])
        raise ConfigError(
            f"num_envs={num_envs} needs {total / 2**30:.1f} GiB, {limit / 2**30:.1f} GiB are free; "
            f"the largest array is {name} with {size / 2**30:.1f} GiB: shrink it with {option}"
        )
    return total


def _available_memory() -> int:
    """Bytes that may still be allocated: what the kernel calls available, or less in a cgroup."""
    try:
        with open("/proc/meminfo") as lines:
            found = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return 1 << 62
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        if limit != "max":
            found = min(found, max(0, int(limit) - used))
    except (OSError, ValueError):
        pass
    return found
