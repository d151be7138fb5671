"""Gymnasium: a VectorEnv, a single-env view with spaces.Text, and every suite under a Gymnasium id.

    envs = gymnasium.make_vec("agentenv_fast.adapters.gymnasium:agentenv_fast/keyquest-v0", num_envs=64)
    env = gymnasium.make("agentenv_fast.adapters.gymnasium:agentenv_fast/keyquest-v0")

Importing this module registers all suites that `ae.suites()` lists, and later ones as they are registered; the id alone
("agentenv_fast/keyquest-v0") works from then on. Tested with Gymnasium 1.2.2 and 1.4.
"""

from __future__ import annotations

import inspect
import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from agentenv_fast.envs import registry
from agentenv_fast.envs.vec_env import VecEnv, make
from agentenv_fast.errors import ActionError, ConfigError, DependencyError
from agentenv_fast.spec import Autoreset
from agentenv_fast.worlds.suite import Suite, as_suite

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise DependencyError(
        "agentenv_fast.adapters.gymnasium needs Gymnasium: pip install 'gymnasium>=1.2.2,<1.5'"
    ) from error

NAMESPACE = "agentenv_fast"
MODES = {
    Autoreset.SAME_STEP: AutoresetMode.SAME_STEP,
    Autoreset.NEXT_STEP: AutoresetMode.NEXT_STEP,
    Autoreset.DISABLED: AutoresetMode.DISABLED,
}
INT32 = np.iinfo(np.int32)
RENAMED = {"episode": "episode_id"}  # RecordEpisodeStatistics and its kind own the key "episode"
_MAKE = set(inspect.signature(make).parameters) - {"suite", "num_envs"}


class GymnasiumVectorEnv(gymnasium.vector.VectorEnv):
    """N rows of a suite as a gymnasium.vector.VectorEnv.

    Observations (`observation`):
      "arrays": Dict with the keys, dtypes and shapes of ae.make's obs.
      "text": Tuple of N strings, spaces.Text each.
    Actions (`actions`), integers of any dtype within int32, or a sequence of N str in every case:
      "index": MultiDiscrete([K] * N), an index into the row's admissible commands; action_masks() says which hold.
      "command": MultiDiscrete([C] * N), a command of the suite.
      "text": Tuple of N spaces.Text.
    Infos: ae.make's, as arrays with `_key` masks (`episode` is called `episode_id`). In same_step, as in Gymnasium's
    own vector envs, infos of a row whose episode ended are about the new one; the end is in final_obs (object array
    of single observations) and final_info.

    Attributes:
      vec: the VecEnv underneath; snapshot, fork, get_state and the rest are there.
    """

    def __init__(
        self,
        suite: Suite | str,
        num_envs: int = 1,
        *,
        observation: str = "arrays",
        actions: str = "index",
        autoreset_mode: AutoresetMode | str | None = None,
        render_mode: str | None = None,
        **keywords: Any,
    ) -> None:
        """
        Args:
          suite: a Suite, or what ae.make takes.
          num_envs: N.
          observation, actions: see above.
          autoreset_mode: Gymnasium's enum; another way to say ae.make's `autoreset`.
          render_mode: None or "ansi" (render() gives the N texts).
          keywords: of ae.make; with an id for `suite`, also of ae.suite (`suite_seed` is its seed).
        Raises: ConfigError naming the keyword, SuiteError, WorldError.
        """
        _check_names(observation, actions, render_mode)
        if autoreset_mode is not None:
            keywords["autoreset"] = _autoreset_from(autoreset_mode, keywords.get("autoreset"))
        made = _suite_and_keywords(suite, keywords)
        if observation == "text":
            keywords.setdefault("tokens", None)
        self.vec: VecEnv = make(made, num_envs, actions="index" if actions == "text" else actions, **keywords)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.metadata = {
            "autoreset_mode": MODES[self.vec.spec.autoreset],
            "render_modes": ["ansi"],
            "render_fps": 4,
        }
        self._text = observation == "text"
        self.single_observation_space = _text_space(self.vec) if self._text else _arrays_space(self.vec)
        self.single_action_space = _action_space(self.vec, actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins episodes.

        Args:
          seed: int (row i gets stream i), N of them (equal seeds give equal rows), or None.
          options: "reset_mask" bool[N], "game" int32[N].
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        seed = None if seed is None or _all_none(seed) else seed
        obs, info = self.vec.reset(seed=seed, options=options)
        used = info.pop("seed")
        info.pop("final_obs", None)  # Gymnasium has it only where an episode ended
        infos = self._infos(info)
        infos["seed"] = np.broadcast_to(np.asarray(used, np.uint64), (self.num_envs,)).copy()
        infos["_seed"] = np.ones(self.num_envs, bool)
        return self._observation(obs), infos

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One step of every row.

        Raises: ActionError for actions of the wrong kind, shape or number; nothing has been stepped then.
        """
        obs, reward, terminated, truncated, info = self.vec.step(_checked_actions(actions, self.num_envs))
        final = info.pop("final_obs", None)
        infos = self._infos(info)
        if final is not None:
            self._add_final(infos, final, terminated | truncated)
        return self._observation(obs), reward, terminated, truncated, infos

    def action_masks(self) -> np.ndarray:
        """int8[N, K or C]: which actions each row admits; `action_space.sample(mask=tuple(masks))` draws among them."""
        lists = self.vec.get_available_actions()
        masks = np.zeros((self.num_envs, int(self.single_action_space.n)), np.int8)  # type: ignore[attr-defined]
        if self.vec.spec.options["actions"] == "index":
            for row, commands in zip(masks, lists, strict=True):
                row[: len(commands)] = 1
        else:
            ids = {command: i for i, command in enumerate(self.vec.suite.commands)}
            for row, commands in zip(masks, lists, strict=True):
                row[[ids[command] for command in commands]] = 1
        return masks

    def render(self) -> tuple[str, ...] | None:
        """The text of every row (render_mode="ansi")."""
        return tuple(self.vec.get_state()) if self.render_mode == "ansi" else None

    def close_extras(self, **kwargs: Any) -> None:
        if hasattr(self, "vec"):  # __del__ closes also what could not be made
            self.vec.close()

    def _observation(self, obs: dict[str, np.ndarray]) -> Any:
        return tuple(self.vec.decode(obs)) if self._text else obs

    def _infos(self, info: dict[str, Any]) -> dict[str, Any]:
        """Gymnasium's form: key → array[N], _key → which rows have it."""
        infos: dict[str, Any] = {}
        for key, value in info.items():
            key = RENAMED.get(key, key)
            infos[key] = value if isinstance(value, np.ndarray) else _objects(value)
            infos[f"_{key}"] = np.ones(len(infos[key]), bool)
        return infos

    def _add_final(self, infos: dict[str, Any], final: dict[str, np.ndarray], done: np.ndarray) -> None:
        """same_step: the end of the episodes that ended moves to final_*, the new ones' beginnings take its place."""
        rows = np.flatnonzero(done).astype(np.int32)
        if not len(rows):
            return
        ends = {key: value for key, value in infos.items() if not key.startswith("_")}
        infos["final_info"] = {}
        for key, value in ends.items():
            infos["final_info"][key] = np.where(_columns(done, value), value, np.zeros((), value.dtype))
            infos["final_info"][f"_{key}"] = done.copy()
        _, begun = self.vec.observe(rows)
        begun.pop("final_obs", None)
        for key, value in self._infos(begun).items():
            if not key.startswith("_"):
                infos[key] = infos[key].copy()
                infos[key][rows] = value
        shown = self._observation(final)
        infos["final_obs"] = np.full(self.num_envs, None, dtype=object)
        for row in rows:
            infos["final_obs"][row] = (
                shown[row] if self._text else {k: array[row, ...] for k, array in shown.items()}
            )
        infos["_final_obs"], infos["_final_info"] = done.copy(), done.copy()


class GymnasiumEnv(gymnasium.Env):
    """One row of a suite as a gymnasium.Env: text in, text out.

    Observation: spaces.Text. Action (`actions`): "text" (spaces.Text, the default), "index" (Discrete(K), an index
    into info["admissible_commands"]) or "command" (Discrete(C)); a str is taken in every case. A finished episode
    stays as it is until reset.

    Attributes:
      vec: the VecEnv of one row underneath.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(
        self, suite: Suite | str, *, actions: str = "text", render_mode: str | None = None, **keywords: Any
    ) -> None:
        """
        Args:
          suite: a Suite, or what ae.make takes.
          actions: see above.
          render_mode: None or "ansi".
          keywords: of ae.make; with an id for `suite`, also of ae.suite (`suite_seed` is its seed).
        Raises: ConfigError naming the keyword, SuiteError, WorldError.
        """
        _check_names("text", actions, render_mode)
        for name in ("num_envs", "autoreset", "group_size"):
            if name in keywords:
                raise ConfigError(
                    f"{name}: a single env has one row and is reset by its user; use make_vec for more"
                )
        made = _suite_and_keywords(suite, keywords)
        keywords = {"tokens": None, **keywords, "autoreset": "disabled"}
        self.vec: VecEnv = make(made, 1, actions="index" if actions == "text" else actions, **keywords)
        self.render_mode = render_mode
        self.observation_space = _text_space(self.vec)
        self.action_space = _action_space(self.vec, actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begins an episode.

        Args:
          seed: int (the same task and dice as row 0 of a vector env with this seed), or None: the next episode.
          options: {"game": index of the game}.
        """
        super().reset(seed=seed)
        options = dict(options or {})
        if "game" in options:
            options["game"] = np.full(1, options["game"], np.int32)
        _, info = self.vec.reset(seed=seed, options=options)
        return self._state(), self._info(info)

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """One step.

        Raises: ActionError for an action that is neither a str nor an integer.
        """
        given = (
            [action]
            if isinstance(action, str)
            else _checked_actions(np.reshape(np.asarray(action), (-1,)), 1)
        )
        _, reward, terminated, truncated, info = self.vec.step(given)
        return self._state(), float(reward[0]), bool(terminated[0]), bool(truncated[0]), self._info(info)

    def render(self) -> str | None:  # type: ignore[override]
        """The text shown (render_mode="ansi")."""
        return self._state() if self.render_mode == "ansi" else None

    def _state(self) -> str:
        return self.vec.get_state()[0]

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        """The row's own values: numbers, and arrays where a row has several."""
        out = {RENAMED.get(key, key): _single(value) for key, value in info.items() if key != "final_obs"}
        out["admissible_commands"] = self.vec.get_available_actions()[0]
        return out


# -- registration -----------------------------------------------------------------------------------------------------
def register(id: str) -> None:
    """Makes a suite known to gymnasium.make and make_vec; done for all of ae.suites() when this module is imported."""
    name = f"{NAMESPACE}/{id}"
    if name in gymnasium.registry:
        return
    gymnasium.register(
        id=name,
        entry_point=f"{__name__}:GymnasiumEnv",
        vector_entry_point=f"{__name__}:GymnasiumVectorEnv",
        kwargs={"suite": id},
    )


# -- spaces -----------------------------------------------------------------------------------------------------------
def _arrays_space(vec: VecEnv) -> spaces.Dict:
    """One row of ae.make's obs."""
    spec, out = vec.spec, {}
    bounds = {
        "tokens": (0, max(spec.vocab_size - 1, 1)),
        "token_count": (0, spec.max_tokens),
        "text": (0, 255),
        "text_size": (0, spec.max_text),
        "admissible": (-1, spec.num_commands - 1),
        "admissible_count": (-1, spec.num_commands),
    }
    for key, (shape, dtype) in _obs_layout(vec).items():
        low, high = (0, 2**32 - 1) if dtype == np.uint32 else bounds[key]
        out[key] = spaces.Box(low, high, shape, dtype.type)
    return spaces.Dict(out)


def _obs_layout(vec: VecEnv) -> dict[str, tuple[tuple[int, ...], np.dtype]]:
    options, spec = vec.spec.options, vec.spec
    number = ((), np.dtype(np.int32))
    out: dict[str, tuple[tuple[int, ...], np.dtype]] = {}
    if vec.codec is not None:
        out |= {"tokens": ((spec.max_tokens,), np.dtype(np.int32)), "token_count": number}
    if options["text"]:
        out |= {"text": ((spec.max_text,), np.dtype(np.uint8)), "text_size": number}
    if options["admissible"] == "ids":
        out |= {"admissible": ((spec.max_admissible,), np.dtype(np.int32)), "admissible_count": number}
    elif options["admissible"] == "bitset":
        out |= {
            "admissible": ((-(-spec.num_commands // 32),), np.dtype(np.uint32)),
            "admissible_count": number,
        }
    return out


def _text_space(vec: VecEnv) -> spaces.Text:
    """Anything that the suite can print."""
    letters = (
        set(string.printable) | set("".join(vec.suite.words)) | {"\ufffd"}
    )  # the last: a letter cut in the middle
    letters |= {letter.upper() for letter in letters if len(letter.upper()) == 1}
    return spaces.Text(vec.spec.max_text or vec.suite.caps.B, min_length=0, charset="".join(sorted(letters)))


def _action_space(vec: VecEnv, actions: str) -> spaces.Space:
    if actions == "text":
        longest = max(len(command) for command in vec.suite.commands)
        letters = {
            *string.ascii_letters,
            *string.digits,
            *string.punctuation,
            " ",
            *"".join(vec.suite.commands),
        }
        return spaces.Text(max(64, longest), min_length=0, charset="".join(sorted(letters)))
    if actions == "command":
        return spaces.Discrete(vec.spec.num_commands)
    return spaces.Discrete(vec.spec.max_admissible or vec.suite.caps.K)


# -- checks and conversions -------------------------------------------------------------------------------------------
def _check_names(observation: str, actions: str, render_mode: str | None) -> None:
    for name, got, wanted in (
        ("observation", observation, ("arrays", "text")),
        ("actions", actions, ("index", "command", "text")),
        ("render_mode", render_mode, (None, "ansi")),
    ):
        if got not in wanted:
            raise ConfigError(f"{name}: {got!r}, want one of {', '.join(map(repr, wanted))}")


def _autoreset_from(mode: AutoresetMode | str, given: Any) -> str:
    """Gymnasium's enum or its value ("NextStep", "SameStep", "Disabled") → ours."""
    for ours, theirs in MODES.items():
        if mode in (theirs, theirs.value, ours.value):
            if given is not None and given != ours.value:
                raise ConfigError(
                    f"autoreset: {given!r}, but autoreset_mode says {ours.value!r}; give one of them"
                )
            return ours.value
    raise ConfigError(
        f"autoreset_mode: {mode!r}, want one of {', '.join(str(theirs) for theirs in MODES.values())}"
    )


def _suite_and_keywords(suite: Any, keywords: dict[str, Any]) -> Suite:
    """The suite; what is left in `keywords` is for ae.make."""
    extra = {name: keywords.pop(name) for name in list(keywords) if name not in _MAKE}
    if not extra:
        return as_suite(suite)
    if not isinstance(suite, str):
        raise ConfigError(
            f"{', '.join(sorted(extra))}: not known; a suite that is made already takes ae.make's keywords only"
        )
    if "suite_seed" in extra:
        extra["seed"] = extra.pop("suite_seed")
    return registry.make_suite(suite, **{**registry.STANDARD, **extra})


def _checked_actions(actions: Any, n: int) -> Any:
    """What Gymnasium's spaces give (int64 arrays, tuples of str) → what ae.VecEnv.step takes."""
    if isinstance(actions, (list, tuple)) and all(isinstance(action, str) for action in actions):
        return list(actions)
    if isinstance(actions, tuple) and len(actions) == 2 and np.ndim(actions[0]) == 2:
        return actions  # (tokens, lengths)
    array = (
        actions
        if hasattr(actions, "__dlpack__") and not isinstance(actions, np.ndarray)
        else np.asarray(actions)
    )
    if not isinstance(array, np.ndarray) or array.dtype == np.int32:
        return array
    if not np.issubdtype(array.dtype, np.integer):
        raise ActionError(f"action: dtype {array.dtype}, want integers or a list of {n} str")
    if array.size and (array.min() < INT32.min or array.max() > INT32.max):
        raise ActionError(f"action: {array.min()} to {array.max()}, want numbers within int32")
    return array.astype(np.int32)


def _all_none(seed: Any) -> bool:
    return isinstance(seed, (list, tuple)) and all(one is None for one in seed)


def _columns(mask: np.ndarray, value: np.ndarray) -> np.ndarray:
    return mask.reshape((-1,) + (1,) * (value.ndim - 1))


def _objects(values: Sequence[Any]) -> np.ndarray:
    """A list of anything as an object array [N]."""
    out = np.full(len(values), None, dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out


def _single(value: Any) -> Any:
    """Row 0 of an info value."""
    if isinstance(value, np.ndarray):
        return value[0].item() if value.ndim == 1 else value[0].copy()
    return value[0] if isinstance(value, list) else value


for _entry in registry.suites():
    register(_entry["id"])
registry.on_register(register)
