"""Gymnasium's view: ids, spaces, autoreset modes, infos with masks, its statistics wrapper and its own checker."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import agentenv_fast as ae
from agentenv_fast.envs import registry
from agentenv_fast.errors import ActionError, ConfigError
from tests.probe_envs import two_rooms_compiled

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env as gymnasium_check  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics  # noqa: E402

from agentenv_fast.adapters.gymnasium import GymnasiumEnv, GymnasiumVectorEnv  # noqa: E402

N = 5
MODES = {
    "same_step": AutoresetMode.SAME_STEP,
    "next_step": AutoresetMode.NEXT_STEP,
    "disabled": AutoresetMode.DISABLED,
}
GYMNASIUM = tuple(int(part) for part in gymnasium.__version__.split(".")[:2])


@pytest.fixture
def suite():
    return two_rooms_compiled.suite()


def vector(suite, **keywords):
    return GymnasiumVectorEnv(suite, N, **keywords)


def draw(envs, rng):
    masks = envs.action_masks()
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


# -- ids --------------------------------------------------------------------------------------------------------------
def test_make_vec_imports_the_module_and_then_knows_the_bare_id():
    code = (
        "import gymnasium, sys\n"
        "envs = gymnasium.make_vec('agentenv_fast.adapters.gymnasium:agentenv_fast/keyquest-v0', num_envs=64, size=8)\n"
        "obs, info = envs.reset(seed=0)\n"
        "assert obs in envs.observation_space and len(obs['tokens']) == 64\n"
        "obs, *_ = envs.step(envs.action_space.sample())\n"
        "assert obs in envs.observation_space\n"
        "assert gymnasium.make_vec('agentenv_fast/coinhunt-v0', num_envs=3, size=4).num_envs == 3\n"
        "env = gymnasium.make('agentenv_fast/coinhunt-v0', size=4)\n"
        "text, info = env.reset(seed=0)\n"
        "env.step(info['admissible_commands'][0])\n"
        "assert 'jax' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_suite_registered_later_gets_a_gymnasium_id_too(suite, monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    ae.register("later-v0", lambda: suite, card={"summary": "two rooms"})
    assert gymnasium.make_vec("agentenv_fast/later-v0", num_envs=2).vec.suite is suite


def test_keywords_reach_suite_and_env_and_unknown_ones_are_refused(suite):
    envs = gymnasium.make_vec(
        "agentenv_fast/keyquest-v0", num_envs=4, split="test", size=3, level="easy", suite_seed=5, rooms=5,
        max_episode_steps=7, tokens=None, group_size=2, seed=11, autoreset_mode=AutoresetMode.NEXT_STEP,
    )  # fmt: skip
    assert (
        envs.vec.suite.hash
        == ae.suite("keyquest-v0", split="test", size=3, level="easy", seed=5, rooms=5).hash
    )
    assert (envs.vec.spec.max_episode_steps, envs.vec.spec.autoreset) == (7, "next_step")
    assert "tokens" not in envs.observation_space.spaces
    assert envs.reset()[1]["seed"].tolist() == [11] * 4
    with pytest.raises(ConfigError, match="colour"):
        gymnasium.make_vec("agentenv_fast/keyquest-v0", num_envs=2, colour="red")
    with pytest.raises(ConfigError, match="colour: not known"):
        GymnasiumVectorEnv(suite, 2, colour="red")
    with pytest.raises(ConfigError, match="give one of them"):
        GymnasiumVectorEnv(suite, 2, autoreset="disabled", autoreset_mode=AutoresetMode.NEXT_STEP)
    with pytest.raises(ConfigError, match="autoreset_mode: 'sometimes', want one of AutoresetMode"):
        GymnasiumVectorEnv(suite, 2, autoreset_mode="sometimes")
    for name in ("observation", "actions", "render_mode"):
        with pytest.raises(ConfigError, match=f"{name}: 'x', want one of"):
            GymnasiumVectorEnv(suite, 2, **{name: "x"})
    with pytest.raises(ConfigError, match="group_size: a single env has one row"):
        GymnasiumEnv(suite, group_size=1)


# -- the vector env ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"observation": "text"},
        {"admissible": "bitset"},
        {"actions": "command"},
        {"text": False},
        {"copy": False},
    ],
    ids=str,
)
def test_observations_and_actions_are_in_their_spaces(suite, mode, options):
    envs = vector(suite, autoreset=mode, max_episode_steps=4, **options)
    assert isinstance(envs, gymnasium.vector.VectorEnv)
    assert envs.metadata["autoreset_mode"] is MODES[mode]
    obs, infos = envs.reset(seed=3)
    envs.action_space.seed(0)
    rng = np.random.default_rng(0)
    for t in range(20):
        assert obs in envs.observation_space
        assert obs in gymnasium.vector.utils.batch_space(envs.single_observation_space, N)
        actions = envs.action_space.sample() if t % 2 else draw(envs, rng)
        obs, reward, terminated, truncated, infos = envs.step(actions)
        assert reward.shape == terminated.shape == truncated.shape == (N,)
        if "final_obs" in infos:
            for row in np.flatnonzero(infos["_final_obs"]):
                assert infos["final_obs"][row] in envs.single_observation_space
        for key in infos:
            if not key.startswith("_"):
                assert infos[f"_{key}"].shape == (N,) and infos[f"_{key}"].dtype == bool


@pytest.mark.parametrize("mode", MODES)
def test_steps_are_those_of_the_env_underneath(suite, mode):
    envs = vector(suite, autoreset=mode, max_episode_steps=5)
    vec = ae.make(suite, N, autoreset=mode, max_episode_steps=5)
    obs, infos = envs.reset(seed=9)
    want, want_info = vec.reset(seed=9)
    rng = np.random.default_rng(1)
    for _ in range(30):
        for key in want:
            np.testing.assert_array_equal(obs[key], want[key])
        actions = draw(envs, rng)
        obs, reward, terminated, truncated, infos = envs.step(actions)
        want, *rest, want_info = vec.step(actions.astype(np.int32))
        for got, wanted in zip((reward, terminated, truncated), rest, strict=True):
            np.testing.assert_array_equal(got, wanted)
        done = terminated | truncated
        moved = done & (mode == "same_step")
        for ours, theirs in (
            ("score", "score"),
            ("episode", "episode_id"),
            ("won", "won"),
            ("moves", "moves"),
        ):
            np.testing.assert_array_equal(infos[theirs][~moved], want_info[ours][~moved])
            if moved.any():
                np.testing.assert_array_equal(infos["final_info"][theirs][moved], want_info[ours][moved])
                assert not infos["final_info"][theirs][~moved].any()
        if moved.any():
            np.testing.assert_array_equal(infos["_final_info"], done)
            assert (infos["score"][moved] == 0).all() and infos["first"][moved].all()
            np.testing.assert_array_equal(infos["episode_id"][moved], want_info["episode"][moved] + 1)
            for row in range(N):
                if not moved[row]:
                    assert infos["final_obs"][row] is None
                    continue
                for key, array in infos["final_obs"][row].items():
                    np.testing.assert_array_equal(array, want_info["final_obs"][key][row])
        else:
            assert "final_obs" not in infos and "final_info" not in infos


def test_final_infos_survive_later_steps(suite):
    envs = vector(suite, max_episode_steps=3)
    envs.reset(seed=0)
    held = []
    for _ in range(30):
        *_, infos = envs.step(np.zeros(N, np.int64))
        if "final_obs" in infos:
            held.append(
                (
                    infos["final_obs"],
                    [None if o is None else {k: v.copy() for k, v in o.items()} for o in infos["final_obs"]],
                )
            )
    assert len(held) >= 9
    for final, was in held:
        for now, then in zip(final, was, strict=True):
            assert (now is None) == (then is None)
            for key in now or ():
                np.testing.assert_array_equal(now[key], then[key])


def three_steps(**keywords):
    """Every episode lasts three steps and earns 1 in its first one: game 0 begins beside the key."""
    envs = GymnasiumVectorEnv(two_rooms_compiled.suite()[[0]], N, max_episode_steps=3, **keywords)
    return envs, lambda elapsed: np.where(
        elapsed == 0, 2, 1
    )  # "take key" is the third command, "look" the second


@pytest.mark.parametrize("mode", MODES)
def test_record_episode_statistics_counts_exactly(mode):
    envs, play = three_steps(autoreset=mode)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stats = RecordEpisodeStatistics(envs, buffer_length=10_000)
    _, infos = stats.reset(seed=0)
    episodes = 0
    for _ in range(200):
        elapsed = np.where(infos["first"], 0, infos["elapsed_step"])
        _, _, terminated, truncated, infos = stats.step(play(elapsed))
        done = terminated | truncated
        if done.any():
            np.testing.assert_array_equal(infos["_episode"], done)
            if mode == "same_step" and GYMNASIUM < (1, 3):
                pytest.skip("this Gymnasium's wrapper counts same_step as if it were next_step")
            assert infos["episode"]["r"][done].tolist() == [1.0] * int(done.sum())
            assert infos["episode"]["l"][done].tolist() == [3] * int(done.sum())
            episodes += int(done.sum())
        if mode == "disabled" and done.any():
            _, infos = stats.reset(options={"reset_mask": done.copy()})
    assert set(stats.length_queue) == {3} and set(stats.return_queue) == {1.0}
    assert episodes == len(stats.length_queue) == N * {"same_step": 66, "next_step": 50, "disabled": 66}[mode]


def test_a_masked_reset_leaves_the_other_rows(suite):
    envs = vector(suite)
    envs.reset(seed=0)
    envs.step(["look"] * N)
    before = envs.vec.row_hash()
    mask = np.array([True, False, False, True, False])
    _, infos = envs.reset(options={"reset_mask": mask})
    np.testing.assert_array_equal((envs.vec.row_hash() == before).all(1), ~mask)
    np.testing.assert_array_equal(infos["first"], mask)
    with pytest.raises(ConfigError, match="no row is True"):
        envs.reset(options={"reset_mask": np.zeros(N, bool)})


def test_a_list_of_seeds_gives_each_row_its_own(suite):
    envs = vector(suite)
    obs, infos = envs.reset(seed=[7, 8, 7, 9, 7])
    assert infos["seed"].tolist() == [7, 8, 7, 9, 7]
    for key, array in obs.items():
        np.testing.assert_array_equal(array[[0, 0]], array[[2, 4]], err_msg=key)
    envs.reset(seed=[None] * N)
    with pytest.raises(ConfigError, match="seed"):
        envs.reset(seed=[1, None, 2, 3, 4])


def test_actions_come_as_integers_of_any_width_or_as_texts(suite):
    envs = vector(suite)
    for actions in (
        np.ones(N, np.int64), np.ones(N, np.int32), np.ones(N, np.uint8), [1] * N, (1,) * N, ["look"] * N, ("look",) * N
    ):  # fmt: skip
        envs.reset(seed=0)
        *_, infos = envs.step(actions)
        assert (infos["status"] == 0).all() and (infos["moves"] == 1).all()
    before = envs.vec.row_hash()
    for actions, message in (
        (np.ones(N), "float64"), (np.full(N, 2**40), "within int32"), (np.ones(N + 1, np.int64), r"\(6,\)"),
        (None, "object"), (["look"] * (N - 1), "4 commands"), (np.ones((N, 1), np.int64), r"\(5, 1\)"),
    ):  # fmt: skip
        with pytest.raises(ActionError, match=message):
            envs.step(actions)
    np.testing.assert_array_equal(envs.vec.row_hash(), before)


def test_masks_name_the_admissible_actions(suite):
    for actions in ("index", "command"):
        envs = vector(suite, actions=actions)
        envs.reset(seed=1)
        envs.action_space.seed(4)
        for _ in range(10):
            masks = envs.action_masks()
            assert masks.dtype == np.int8 and masks.shape == (N, envs.single_action_space.n)
            sample = envs.action_space.sample(mask=tuple(masks))
            assert (envs.step(sample)[4]["status"] == 0).all()


def test_infos_become_one_dict_a_row(suite):
    envs = DictInfoToList(vector(suite, max_episode_steps=2, infos=["admissible_commands"]))
    _, infos = envs.reset(seed=0)
    assert [info["seed"] for info in infos] == [0] * N
    assert [info["admissible_commands"] for info in infos] == envs.env.vec.get_available_actions()
    for _ in range(2):
        *_, infos = envs.step(["look"] * N)
    assert all(info["final_info"]["elapsed_step"] == 2 and info["elapsed_step"] == 0 for info in infos)
    assert all(info["final_obs"].keys() == envs.single_observation_space.keys() for info in infos)


def test_text_observations_are_what_the_rows_show(suite):
    envs = vector(suite, observation="text", render_mode="ansi")
    obs, _ = envs.reset(seed=0)
    assert list(obs) == envs.vec.get_state() == list(envs.render())
    assert obs[0].startswith("You wake up.")
    obs, *_ = envs.step(["look"] * N)
    assert list(obs) == envs.vec.get_state()


# -- the single env ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("actions", ["text", "index", "command"])
@pytest.mark.parametrize("id", ["two-rooms", "keyquest-v0", "coinhunt-v0"])
def test_gymnasiums_own_checker_passes(id, actions, suite):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if id == "two-rooms":
            warnings.filterwarnings("ignore", message=".*not having a spec")
            gymnasium_check(GymnasiumEnv(suite, actions=actions))
        else:
            env = gymnasium.make(f"agentenv_fast/{id}", size=8, actions=actions, render_mode="ansi")
            gymnasium_check(env.unwrapped)


def test_a_game_is_played_by_text_to_its_end(suite):
    env = GymnasiumEnv(suite, render_mode="ansi")
    text, info = env.reset(seed=0, options={"game": 3})
    assert text == env.render() and "-= Kitchen =-" in text and info["game"] == 3
    assert info["admissible_commands"] == ["go down", "look", "take key"]
    text, reward, terminated, truncated, info = env.step("TAKE  key")
    assert (text, reward, terminated, truncated) == (
        "You take the key.\nScore 1, moves 1.\n",
        1.0,
        False,
        False,
    )
    text, reward, terminated, truncated, info = env.step("xyzzy")
    assert info["status"] == 2 and "You cannot do that." in text
    text, reward, terminated, truncated, info = env.step("open chest")
    assert (reward, terminated, truncated, info["won"], info["score"]) == (2.0, True, False, True, 3.0)
    again = env.step("look")
    assert again[0] == text and again[1:4] == (0.0, True, False)


def test_the_same_seed_gives_the_same_task_through_every_door(suite):
    single = GymnasiumEnv(suite)
    for seed in range(12):
        game = single.reset(seed=seed)[1]["game"]
        assert ae.make(suite).reset(seed=seed)[1]["game"][0] == game
        assert vector(suite).reset(seed=seed)[1]["game"][0] == game
        assert (vector(suite).reset(seed=[seed] * N)[1]["game"] == game).all()
    seen = {game, *(single.reset()[1]["game"] for _ in range(4))}  # no seed: the next episode, another game
    assert len(seen) == 5


def test_integers_of_a_discrete_action_are_taken(suite):
    env = GymnasiumEnv(suite, actions="index")
    for action in (1, np.int64(1), np.array(1), np.int32(1)):
        env.reset(seed=0)
        assert env.step(action)[4]["status"] == 0
    for action in (1.0, None, [1, 2], b"look"):
        with pytest.raises(ActionError):
            env.step(action)
    assert env.step(99)[4]["status"] == 1


def test_single_envs_can_be_batched_by_gymnasium_itself(suite):
    envs = gymnasium.vector.SyncVectorEnv([lambda: GymnasiumEnv(suite, actions="index") for _ in range(3)])
    obs, _ = envs.reset(seed=5)
    assert len(obs) == 3 and obs in envs.observation_space
    obs, *_ = envs.step(np.ones(3, np.int64))
    assert obs in envs.observation_space
