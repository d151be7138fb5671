"""The functional form of an env: reset, step and observe as pure functions of a state, for jit, scan and shard_map.

Axes: N envs (rows), stride bytes of a row, G games rounded up to 64, and those of `spec`.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from agentenv_fast.envs import vec_env
from agentenv_fast.envs.snapshot import Snapshot
from agentenv_fast.errors import ActionError, ConfigError, SnapshotError
from agentenv_fast.rewards import RewardSpec
from agentenv_fast.spec import Autoreset, EnvSpec, StepBatch
from agentenv_fast.worlds.suite import Suite, as_suite, version
from agentenv_fast.xla import ffi

_DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(vec_env.make).parameters.items()
    if name not in ("suite", "num_envs")
}
_NOT_HERE = {
    "copy": "results are JAX arrays",
    "seed": "it is reset's first argument",
    "device": "JAX decides where a computation runs",
}
_FORMS = {"index": 0, "command": 1}
_TOKEN_FORM = 2
_ADMISSIBLE = {None: 0, "ids": 1, "bitset": 2}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class State:
    """N envs as a pytree of arrays. Indexing takes rows: `state[ids]` is a snapshot, or a fork where ids repeat.

    Attributes:
      rows: uint8[N, stride], the very bytes of a Snapshot, random stream included.
      owner: uint32[N], which suite each row is of.
      obs: the current observation, as the last call returned it. Carry the state alone through a scan: what a policy
        reads is in here.
      final_obs: that of the last call; an empty dict unless autoreset is same_step.
      final_filled: uint32[N], where final_obs holds the end of an episode; [0] unless autoreset is same_step.
      suite: uint32[4], which suite is played, a Functional's `operand`: another one of equal Caps compiles nothing.
      weights: float32[G], cumulative weights of the games for game_order="sample"; negative: uniform.
    """

    rows: Any
    owner: Any
    obs: dict[str, Any]
    final_obs: dict[str, Any]
    final_filled: Any
    suite: Any
    weights: Any

    def __getitem__(self, index) -> State:
        """Some rows; an int keeps one row, still as [1, ...]."""
        if isinstance(index, (int, np.integer)):
            index = slice(index, index + 1 or None)
        by_row = {
            name: jax.tree.map(lambda x: x[index], getattr(self, name))
            for name in ("rows", "owner", "obs", "final_obs")
        }
        filled = self.final_filled[index] if self.final_obs else self.final_filled
        return dataclasses.replace(self, **by_row, final_filled=filled)

    def __len__(self) -> int:
        return self.rows.shape[0]


def make(suite: Any, num_envs: int = 1, **keywords: Any) -> Functional:
    """The functional form of `ae.make(suite, num_envs, ...)`.

    Args:
      suite: a Suite, an id, a path or a glob.
      num_envs: N.
      keywords: those of ae.make but copy, seed and device; text is False unless asked for. `infos`, `strict` and a
        tokenizer's codec need Python at each step and are refused.
    Raises: ConfigError naming the keyword, SuiteError, WorldError; DependencyError where JAX does not fit.
    """
    for name in keywords:
        if name in _NOT_HERE:
            raise ConfigError(f"ae.xla.make: {name}: not a keyword here: {_NOT_HERE[name]}")
        if name not in _DEFAULTS:
            raise ConfigError(f"ae.xla.make: {name}: not known; it takes {', '.join(_DEFAULTS)}")
    options = {**_DEFAULTS, "text": False, "copy": False, "num_envs": num_envs, **keywords}
    if options["strict"]:
        raise ConfigError(
            "ae.xla.make: strict: a compiled program cannot raise; look at info['status'] instead"
        )
    if vec_env._infos(options["infos"]):
        raise ConfigError(
            "ae.xla.make: infos: lists of Python objects cannot leave a compiled program; use ae.make"
        )
    ffi.register()
    return Functional(as_suite(suite), options)


class Functional:
    """reset, step and observe of N rows. Every function is pure; call them as they are, or inside jit, scan, shard_map.

    A call outside of any transformation is compiled once per shape and leaves its state alone. To update a state in
    place give it away: `jax.jit(f.step, donate_argnums=0)`, or carry it through lax.scan.

    Attributes:
      num_envs: N.
      spec, suite, codec: as of the env that ae.make gives.
      operand: uint32[4], stands for the suite.
    """

    def __init__(self, suite: Suite, options: dict[str, Any], *, shares: Functional | None = None) -> None:
        env, native = vec_env.plan(suite, options)
        if env.codec is not None and not env.codec.native:
            raise ConfigError(
                "ae.xla.make: tokens: a tokenizer.json runs in Python at each step; use tokens='words' or None"
            )
        self.num_envs: int = env.num_envs
        self.spec: EnvSpec = env.spec
        self.suite, self.codec = suite, env.codec
        self.operand = jnp.asarray(ffi.register_suite(suite, env.codec))
        self._options, self._native = options, native
        self._weights = jnp.full(suite.caps.games, -1.0, jnp.float32)
        self._same_step = self.spec.autoreset == Autoreset.SAME_STEP
        reward: RewardSpec | None = options["reward"]
        self._reward = np.array((1.0, 0, 0, 0, 0) if reward is None else reward.weights, np.float32)
        functions = {"reset": self._reset, "step": self._step, "observe": self._observe}
        self._jitted: dict[str, Any] = {
            name: jax.jit(function, static_argnames="form") for name, function in functions.items()
        }

    # -- the three functions ------------------------------------------------------------------------------------------
    def reset(
        self,
        seed,
        *,
        state: State | None = None,
        mask=None,
        game=None,
        first_row=0,
        num_envs: int | None = None,
    ) -> tuple[State, dict]:
        """Begins an episode in every row, or in those of `mask`; the others keep every byte.

        Args:
          seed: int, uint32[2] (low and high half of one), traced or not: row i draws from stream i. uint64[N] or
            uint32[N, 2]: equal seeds give equal rows. None: the next episode of each row of `state`.
          state: needed with `mask` and without a seed; its suite and weights stay in use.
          mask: bool[N].
          game: int32[N], -1: as game_order says.
          first_row: global index of row 0 where these rows are a shard of more; see agentenv_fast.xla.shard.
          num_envs: rows of a fresh state, if not N.
        Returns: (state, obs).
        Raises: ConfigError for a wrong shape or dtype. Inside a compiled program a game out of range or a state of
          another suite stops the program.
        """
        if state is None:
            if mask is not None or seed is None:
                what = "mask" if mask is not None else "seed=None"
                raise ConfigError(f"reset: {what} needs the state whose rows go on: reset(..., state=state)")
            state = self.blank(self.num_envs if num_envs is None else num_envs)
        self._check(state)
        n = state.rows.shape[0]
        seed, form = seed_operand(seed, n)
        mask = _array("mask", mask, jnp.bool_, (n,), ConfigError)
        game = _array("game", game, jnp.int32, (n,), ConfigError)
        if game is not None and not isinstance(game, jax.core.Tracer):
            _check_games(np.asarray(game), len(self.suite))
        first_row = jnp.asarray(first_row).astype(jnp.uint32)
        after, batch = self._jitted["reset"](state, (first_row, seed, mask, game), form=form)
        return after, batch.obs

    def step(self, state: State, action) -> tuple[State, StepBatch]:
        """One step of every row.

        Args:
          state: from reset, step or restore.
          action: int32[N] (what make's `actions` says), or (tokens int32[N, A], lengths int32[N]).
        Returns: (state, StepBatch). An action that cannot be taken marks its row in info["status"].
        Raises: ActionError, ConfigError for a wrong shape or dtype.
        """
        self._check(state)
        operands, form = self._action(action, state.rows.shape[0])
        return self._jitted["step"](state, operands, form=form)

    def observe(self, state: State) -> StepBatch:
        """The outputs of a state again; nothing is stepped. → StepBatch with reward 0."""
        self._check(state)
        return self._jitted["observe"](state, form=0)

    # -- states -------------------------------------------------------------------------------------------------------
    def blank(self, n: int) -> State:
        """A state whose rows must be reset before they can be stepped."""

        def arrays(pad: int) -> dict[str, Any]:
            return {
                name: jnp.full((n, *shape), pad if name == "admissible" and kind == jnp.int32 else 0, kind)
                for name, (shape, kind) in self._obs_layout().items()
            }

        return State(
            rows=jnp.zeros((n, self.suite.bank.stride), jnp.uint8),
            owner=jnp.zeros(n, jnp.uint32),
            obs=arrays(-1),
            final_obs=arrays(0) if self._same_step else {},
            final_filled=jnp.zeros(n if self._same_step else 0, jnp.uint32),
            suite=self.operand,
            weights=self._weights,
        )

    def set_game_weights(self, state: State, w) -> State:
        """The state with weights of the games for game_order="sample", float[G] of the host; None: uniform."""
        padded = np.full(self.suite.caps.games, -1.0 if w is None else 1.0, np.float32)
        if w is not None:
            padded[: len(self.suite)] = vec_env.cumulative_weights(w, len(self.suite))
        return dataclasses.replace(state, weights=jnp.asarray(padded))

    def snapshot(self, state: State) -> Snapshot:
        """The rows as a Snapshot, which `ae.make`'s env restores and the other way round."""
        return Snapshot(np.array(state.rows), self.suite.hash, version())

    def restore(self, snapshot: Snapshot) -> State:
        """A state of the rows of a snapshot, with their observation.

        Raises: SnapshotError for another suite, version or stride, or for damaged bytes.
        """
        if not isinstance(snapshot, Snapshot):
            raise SnapshotError(f"restore: {type(snapshot).__name__}, want a Snapshot")
        if snapshot.suite_hash != self.suite.hash:
            theirs, ours = snapshot.suite_hash[:12], self.suite.hash[:12]
            raise SnapshotError(f"snapshot of suite {theirs}, this env plays suite {ours}")
        if snapshot.version != version():
            raise SnapshotError(f"snapshot of version {snapshot.version}, this is {version()}")
        rows, stride = np.asarray(snapshot.rows), self.suite.bank.stride
        if rows.dtype != np.uint8 or rows.ndim != 2 or rows.shape[1] != stride:
            raise SnapshotError(f"rows: {rows.dtype}{rows.shape}, want uint8[M, {stride}]")
        state = dataclasses.replace(
            self.blank(len(rows)),
            rows=jnp.array(rows),
            owner=jnp.full(len(rows), self.operand[0]),
        )
        try:
            batch = jax.block_until_ready(self.observe(state))
        except (ValueError, jax.errors.JaxRuntimeError) as error:
            raise SnapshotError(f"not the bytes of rows of this suite: they are damaged ({error})") from error
        return dataclasses.replace(state, obs=batch.obs)

    # -- calls --------------------------------------------------------------------------------------------------------
    def _reset(self, state: State, operands: tuple, form: int) -> tuple[State, StepBatch]:
        first_row, seed, mask, game = operands
        extra = [x for x in (first_row, seed, mask, game) if x is not None]
        return self._call("reset", state, extra, seed=form, mask=mask is not None, game=game is not None)

    def _step(self, state: State, operands, form: int) -> tuple[State, StepBatch]:
        return self._call("step", state, list(operands), action=form)

    def _observe(self, state: State, form: int) -> StepBatch:
        return self._call("observe", state, [])[1]

    def _call(
        self, name: str, state: State, extra: list, *, action=0, seed=0, mask=False, game=False
    ) -> tuple[State, StepBatch]:
        held = [state.rows, state.owner, *_listed(state.obs), *_listed(state.final_obs)]
        held += [state.final_filled] if self._same_step else []
        n = state.rows.shape[0]
        fresh = {
            name: jax.ShapeDtypeStruct((n, *shape), kind) for name, (shape, kind) in self._outputs().items()
        }
        native = self._native
        options = [
            *(
                native[key]
                for key in ("autoreset", "text_mode", "game_order", "max_steps", "group_size", "threads")
            ),
            *("text_size" in state.obs, "tokens" in state.obs, _ADMISSIBLE[self._options["admissible"]]),
            *(action, seed, mask, game),
        ]
        results = jax.ffi.ffi_call(
            ffi.TARGETS[name],
            [*(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in held), *fresh.values()],
            input_output_aliases={i: i for i in range(len(held))},
        )(*held, state.suite, state.weights, *extra, options=np.array(options, np.int64), reward=self._reward)
        return self._unpack(state, list(results), list(fresh))

    def _unpack(self, state: State, results: list, names: list[str]) -> tuple[State, StepBatch]:
        take = iter(results)
        rows, owner = next(take), next(take)
        obs = {name: next(take) for name in _names(state.obs)}
        final_obs = {name: next(take) for name in _names(state.final_obs)}
        filled = next(take) if self._same_step else state.final_filled
        out = {name: next(take) for name in names}
        after = dataclasses.replace(
            state, rows=rows, owner=owner, obs=obs, final_obs=final_obs, final_filled=filled
        )
        reward, terminated, truncated = (out.pop(name) for name in ("reward", "terminated", "truncated"))
        info = {**out, "final_obs": dict(final_obs)} if self._same_step else out
        return after, StepBatch(dict(obs), reward, terminated, truncated, info)

    def _obs_layout(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Name → (shape of one row, dtype), in the order in which the handlers take them."""
        native, words = self._native, -(-len(self.suite.commands) // 32)
        out: dict[str, tuple[tuple[int, ...], Any]] = {}
        if native["text"]:
            out |= {"text": ((native["max_text"],), jnp.uint8), "text_size": ((), jnp.int32)}
        if native["tokens"]:
            out |= {"tokens": ((native["max_tokens"],), jnp.int32), "token_count": ((), jnp.int32)}
        if native["admissible"]:
            ids = (native["max_admissible"],), jnp.int32
            out |= {"admissible": ((words,), jnp.uint32) if native["bitset"] else ids}
            out |= {"admissible_count": ((), jnp.int32)}
        return out

    def _outputs(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        terms = len(self.spec.reward_names)
        flag, number = ((), jnp.bool_), ((), jnp.int32)
        return {
            "reward": ((), jnp.float32),
            "terminated": flag,
            "truncated": flag,
            "score": ((), jnp.float32),
            "won": flag,
            "lost": flag,
            "moves": number,
            "game": number,
            "episode": number,
            "elapsed_step": number,
            "status": ((), jnp.uint8),
            "overflow": ((), jnp.uint8),
            "first": flag,
            "valid": flag,
            "world_hash": ((2,), jnp.uint32),
            "reward_terms": ((terms,), jnp.float32),
        }

    # -- checks -------------------------------------------------------------------------------------------------------
    def _check(self, state: State) -> None:
        """Shapes and dtypes: a state of another suite, or of other keywords, is told here, before anything runs."""
        if not isinstance(state, State):
            raise ConfigError(f"state: {type(state).__name__}, want the State that reset returned")
        n = state.rows.shape[0] if getattr(state.rows, "ndim", 0) == 2 else -1
        layout = self._obs_layout()
        wanted: dict[str, Any] = {
            "rows": ((n, self.suite.bank.stride), jnp.uint8),
            "owner": ((n,), jnp.uint32),
        }
        wanted |= {f"obs[{name!r}]": ((n, *shape), kind) for name, (shape, kind) in layout.items()}
        if self._same_step:
            wanted |= {f"final_obs[{name!r}]": ((n, *shape), kind) for name, (shape, kind) in layout.items()}
        wanted |= {"final_filled": ((n if self._same_step else 0,), jnp.uint32), "suite": ((4,), jnp.uint32)}
        wanted |= {"weights": (self._weights.shape, jnp.float32)}
        have = {name: getattr(state, name) for name in ("rows", "owner", "final_filled", "suite", "weights")}
        have |= {f"obs[{name!r}]": x for name, x in state.obs.items()}
        have |= {f"final_obs[{name!r}]": x for name, x in state.final_obs.items()}
        for name in [*wanted, *have]:
            got = _kind(have[name]) if name in have else "nothing"
            want = _kind(jax.ShapeDtypeStruct(*wanted[name])) if name in wanted else "nothing"
            if got != want:
                raise ConfigError(
                    f"state.{name}: {got}, want {want}: a state of another suite or of other keywords of make"
                )

    def _action(self, action, n: int) -> tuple[tuple, int]:
        if isinstance(action, (list, str)):
            raise ActionError(
                "action: typed commands are strings, which only ae.make's env takes; want int32[N]"
            )
        if isinstance(action, tuple):
            if len(action) != 2:
                raise ActionError(
                    f"action: tuple of {len(action)}, want (tokens int32[N, A], lengths int32[N])"
                )
            if self.codec is None:
                raise ActionError('action: token actions need tokens: make(..., tokens="words")')
            width = action[0].shape[1] if getattr(action[0], "ndim", 0) == 2 else -1
            tokens = _array("action tokens", action[0], jnp.int32, (n, width), ActionError)
            return (tokens, _array("lengths", action[1], jnp.int32, (n,), ActionError)), _TOKEN_FORM
        form = _FORMS[self._options["actions"]]
        return (_array("action", action, jnp.int32, (n,), ActionError),), form


def _names(obs: dict[str, Any]) -> list[str]:
    """In the order in which the handlers take them; a pytree's dict comes back sorted."""
    order = ("text", "text_size", "tokens", "token_count", "admissible", "admissible_count")
    return [name for name in order if name in obs]


def _listed(obs: dict[str, Any]) -> list[Any]:
    return [obs[name] for name in _names(obs)]


def _kind(x: Any) -> str:
    return f"{np.dtype(x.dtype).name}{list(x.shape)}"


def _array(what: str, x: Any, dtype: Any, shape: tuple[int, ...], error: type[Exception]) -> Any:
    """x as it is, if it is an array of that dtype and shape; None stays None."""
    if x is None and error is ConfigError:
        return None
    array: Any = x
    wanted = f"{np.dtype(dtype).name}[{', '.join('A' if size < 0 else str(size) for size in shape)}]"
    if not hasattr(x, "dtype") or not hasattr(x, "shape"):
        raise error(f"{what}: {type(x).__name__}, want an array {wanted}")
    if array.dtype != dtype or tuple(array.shape) != shape:
        raise error(f"{what}: {_kind(array)}, want {wanted}")
    return array


def _check_games(game: np.ndarray, games: int) -> None:
    for i in np.flatnonzero((game < -1) | (game >= games)):
        raise ConfigError(f"game[{i}]: {game[i]} outside [-1, {games})")


def seed_operand(given: Any, n: int) -> tuple[Any, int]:
    """A seed as uint32[2] or uint32[N, 2] and which of the two: 0 none, 1 one for all rows, 2 one for each."""
    if given is None:
        return None, 0
    seed: Any = np.asarray(given, np.uint64) if isinstance(given, (list, tuple)) else given
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
        if not 0 <= int(seed) < 2**64:
            raise ConfigError(f"seed: {seed}, want an int in [0, 2**64)")
        return np.array([int(seed) & 0xFFFFFFFF, int(seed) >> 32], np.uint32), 1
    kind: Any = getattr(seed, "dtype", None)
    shape = tuple(getattr(seed, "shape", (-1,)))
    if kind == np.uint32 and shape == (2,):
        return seed, 1
    if kind == np.uint32 and shape == (n, 2):
        return seed, 2
    if kind == np.uint64 and shape == (n,):
        return np.ascontiguousarray(seed).view(np.uint32).reshape(n, 2), 2
    if shape == () and kind in (np.int32, np.uint32):  # a traced int
        return jnp.stack([jnp.asarray(seed).astype(jnp.uint32), jnp.uint32(0)]), 1
    got = type(seed).__name__ if kind is None else _kind(seed)
    raise ConfigError(f"seed: {got}, want an int, uint32[2], uint32[{n}, 2] or uint64[{n}]")
