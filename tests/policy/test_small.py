"""SmallPolicy keeps its contract: shapes, masks, memory, and one meaning on every path."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

from agentenv_fast.errors import ConfigError  # noqa: E402
from agentenv_fast.policy import SmallConfig, SmallPolicy  # noqa: E402
from agentenv_fast.rollout.actor import Actor  # noqa: E402
from agentenv_fast.rollout.collect import Collector  # noqa: E402
from agentenv_fast.spec import Policy  # noqa: E402
from tests.probe_envs import ProbeEnv  # noqa: E402

TINY = {
    "embed": 16,
    "hidden": 24,
    "words": 16,
    "pairs": 32,
    "match_pairs": 64,
    "positions": 3,
    "slot_hidden": 8,
    "issued": 8,
}


@pytest.fixture(scope="module")
def policy():
    return SmallPolicy(SmallConfig(**TINY), ProbeEnv("matching", 2).command_tokens)


@pytest.fixture(scope="module")
def scores(policy):
    return jax.jit(policy.scores)


@pytest.fixture(scope="module")
def forward(policy):
    return jax.jit(policy.forward)


@pytest.fixture(scope="module")
def params(policy):
    return policy.init(0)


def obs_of(n=5, k=6, seed=0, counts=None):
    draw = np.random.default_rng(seed)
    counts = np.array([1, 2, 3, 3, 2][:n] if counts is None else counts, np.int32)
    admissible = np.full((n, k), -1, np.int32)
    for row, count in zip(admissible, counts, strict=True):
        row[:count] = draw.permutation(3)[:count]
    tokens = draw.integers(2, 16, (n, 8)).astype(np.int32)
    return {
        "tokens": tokens,
        "token_count": np.full(n, 8, np.int32),
        "admissible": admissible,
        "admissible_count": counts,
    }


def test_it_is_a_policy(policy):
    assert isinstance(policy, Policy)


def test_act_has_the_contracts_shapes_and_never_picks_an_empty_slot(policy, params):
    obs = obs_of()
    act = jax.jit(policy.act)
    for seed in range(20):
        action, logp, value, carry = act(
            params, obs, policy.init_carry(5), np.ones(5, bool), jax.random.key(seed)
        )
        assert action.dtype == jnp.int32 and logp.dtype == value.dtype == jnp.float32
        assert action.shape == logp.shape == value.shape == (5,)
        assert (np.asarray(action) < obs["admissible_count"]).all() and (np.asarray(logp) <= 0).all()
    assert jax.tree.map(lambda x: (x.shape, x.dtype), carry) == jax.tree.map(
        lambda x: (x.shape, x.dtype), policy.init_carry(5)
    )


def test_scores_are_minus_infinity_exactly_where_there_is_no_command(policy, params, scores):
    obs = obs_of()
    got = np.asarray(scores(params, obs, policy.init_carry(5)))
    np.testing.assert_array_equal(np.isfinite(got), np.arange(6) < obs["admissible_count"][:, None])


def test_a_row_without_commands_harms_nobody(policy, params):
    with_one, without = obs_of(counts=[3, 1, 3, 3, 2]), obs_of(counts=[3, 1, 3, 3, 2])
    without["admissible"][1], without["admissible_count"][1] = -1, 0
    first = np.ones(5, bool)
    act = jax.jit(policy.act)
    results = [act(params, o, policy.init_carry(5), first, jax.random.key(0)) for o in (with_one, without)]
    assert np.isfinite(results[1][1]).all() and np.isfinite(results[1][2]).all()
    rows = [0, 2, 3, 4]
    np.testing.assert_array_equal(np.asarray(results[0][2])[rows], np.asarray(results[1][2])[rows])


def test_wider_padding_changes_no_score(policy, params, scores):
    obs = obs_of()
    wide = {
        **obs,
        "tokens": np.pad(obs["tokens"], ((0, 0), (0, 24))),
        "admissible": np.pad(obs["admissible"], ((0, 0), (0, 10)), constant_values=-1),
    }
    narrow = scores(params, obs, policy.init_carry(5))
    np.testing.assert_allclose(scores(params, wide, policy.init_carry(5))[:, :6], narrow, atol=1e-5)


def test_commands_are_scored_by_their_words_wherever_they_are_listed(policy, params, scores):
    obs = obs_of(counts=[3] * 5)
    table = np.asarray(policy.commands.tokens)
    order = np.array([2, 0, 1])
    other = policy.bind(table[:3][order])
    renamed = {
        **obs,
        "admissible": np.where(obs["admissible"] >= 0, np.argsort(order)[obs["admissible"]], -1).astype(
            np.int32
        ),
    }
    mine = scores(params, obs, policy.init_carry(5))
    theirs = scores(params, renamed, policy.init_carry(5), commands=other.commands)
    np.testing.assert_allclose(mine, theirs, atol=1e-5)


def test_encoding_the_commands_ahead_changes_nothing(policy, params, forward):
    obs, first = obs_of(), np.ones(5, bool)
    ahead = policy.encode_commands(params)
    plain = forward(params, obs, policy.init_carry(5), first)
    quick = forward(params, obs, policy.init_carry(5), first, commands=ahead)
    np.testing.assert_allclose(plain[0], quick[0], atol=1e-6)


@pytest.mark.parametrize("probe", ["memory", "matching"])
def test_evaluate_sees_what_act_saw(policy, params, probe):
    """Same parameters: the same log-probabilities and values, across episode starts inside the trajectory."""
    collector = Collector(ProbeEnv(probe, 4), Actor(policy), policy.commands, 7, seed=0)
    collector.collect(params)  # so that the second begins in the middle of episodes
    trajectory, _ = collector.collect(params)
    assert trajectory.first[1:].any() and not trajectory.first[0].all()
    logp, value, entropy = jax.jit(policy.evaluate)(params, trajectory)
    np.testing.assert_allclose(logp, trajectory.logp, atol=2e-5)  # other shapes, other order of sums
    np.testing.assert_allclose(value, trajectory.value, atol=2e-5)
    assert (np.asarray(entropy) >= 0).all() and (np.asarray(entropy) <= np.log(3) + 1e-5).all()
    prepared = jax.jit(policy.evaluate)(params, jax.jit(policy.prepare)(trajectory))
    np.testing.assert_allclose(prepared[0], logp, atol=1e-6)


def test_an_episode_remembers_nothing_of_the_one_before(policy, params, forward):
    obs, key = obs_of(), jax.random.key(0)
    dirty = jax.jit(policy.act)(params, obs_of(seed=1), policy.init_carry(5), np.ones(5, bool), key)[3]
    fresh = forward(params, obs, policy.init_carry(5), np.ones(5, bool))
    reused = forward(params, obs, dirty, np.ones(5, bool))
    for a, b in zip(jax.tree.leaves(fresh), jax.tree.leaves(reused), strict=True):
        np.testing.assert_array_equal(a, b)
    carried = forward(params, obs, dirty, np.zeros(5, bool))
    assert np.abs(np.asarray(carried[0]) - np.asarray(fresh[0]))[:, :1].max() > 0


def test_the_control_never_learns_what_it_did():
    env = ProbeEnv("matching", 2)
    blind = SmallPolicy(SmallConfig(**TINY, last_command=False), env.command_tokens)
    params, obs = blind.init(0), obs_of()
    carries = [blind.remember(blind.init_carry(5), obs, jnp.full(5, slot, jnp.int32)) for slot in (0, 1)]
    score = jax.jit(blind.scores)
    scores = [score(params, obs_of(seed=3), carry) for carry in carries]
    np.testing.assert_array_equal(scores[0], scores[1])


def test_a_draw_by_game_does_not_depend_on_the_batch(policy, params):
    obs, actor = obs_of(), Actor(policy)
    commands = actor.encode(params, policy.commands)

    def play(rows):
        part = {name: array[rows] for name, array in obs.items()}
        game, step = np.arange(5, dtype=np.int32)[rows], np.full(len(rows), 3, np.int32)
        carry, first = policy.init_carry(len(rows)), np.ones(len(rows), bool)
        return np.asarray(
            actor.act_by_game(
                params, part, carry, first, jax.random.key(7), game, step, commands, greedy=False
            )[0]
        )

    whole = play(np.arange(5))
    np.testing.assert_array_equal(whole[[3, 1]], play(np.array([3, 1])))


def test_the_default_is_cheap_and_small():
    policy = SmallPolicy(SmallConfig(words=512), ProbeEnv("matching", 2).command_tokens)
    assert policy.flops(k=24) <= 520_000  # about half a MFLOP
    count = sum(x.size for x in jax.tree.leaves(policy.abstract_params()))
    assert count < 400_000


@pytest.mark.slow
def test_flops_are_those_that_the_compiler_counts():
    policy = SmallPolicy(SmallConfig(words=512), ProbeEnv("matching", 2).command_tokens)
    n, k = 64, 24
    obs = {
        "tokens": np.ones((n, 8), np.int32),
        "admissible": np.zeros((n, k), np.int32),
        "admissible_count": np.full(n, k, np.int32),
    }
    ahead = policy.encode_commands(policy.init(0))
    forward = jax.jit(policy.forward)
    args = (policy.init(0), obs, policy.init_carry(n), np.zeros(n, bool))
    counted = forward.lower(*args, commands=ahead).compile().cost_analysis()["flops"] / n
    assert policy.flops(k) == pytest.approx(
        counted, rel=0.25
    )  # the compiler also counts sigmoids, masks and hashes


@pytest.mark.parametrize("table", [np.zeros((3, 4)), np.zeros(3, np.int32), np.zeros((2, 2), np.int64)])
def test_a_command_table_of_another_kind_is_refused(table):
    with pytest.raises(ConfigError, match=r"command_tokens: dtype .* shape .*, want int32\[C, Lc\]"):
        SmallPolicy(SmallConfig(**TINY), table)


def test_sizes_that_cannot_work_are_refused():
    with pytest.raises(ConfigError, match=r"policy\.words: got 8, want at least 16"):
        SmallConfig(words=8)


def test_a_compacted_table_changes_no_number(policy, params, monkeypatch):
    """An update over only the commands that occur sees what the update over all of them sees."""
    monkeypatch.setattr("agentenv_fast.policy.small.COMPACT", 4)
    draw = np.random.default_rng(0)
    table = np.zeros((40, 4), np.int32)
    table[:, :3] = draw.integers(2, 16, (40, 3))
    wide = policy.bind(table)
    where = np.array([37, 5, 22])

    class Elsewhere(ProbeEnv):
        """The three commands of the probe have scattered ids, as in a suite of many games."""

        def observe(self, rows=None):
            obs, info = super().observe(rows)
            ids = obs["admissible"]
            return {**obs, "admissible": np.where(ids >= 0, where[ids], -1).astype(np.int32)}, info

    collector = Collector(Elsewhere("matching", 4), Actor(wide), wide.commands, 5, seed=0)
    collector.collect(params)
    trajectory, _ = collector.collect(params)
    small, commands = wide.compact(trajectory)
    assert commands.tokens.shape[0] == 4 and set(np.unique(small.obs["admissible"])) == {0, 1, 2}
    assert (np.asarray(small.carry.last) >= 0).any()
    evaluate = jax.jit(wide.evaluate)
    for mine, theirs in zip(
        evaluate(params, small, commands=commands), evaluate(params, trajectory), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)


def test_what_every_text_of_an_episode_holds_is_matched_apart(policy):
    """A goal that is repeated stands out from scenery that changes."""
    carry, first = policy.init_carry(1), np.array([True])
    scenes = [[2, 3, 10, 13, 14], [4, 5, 10, 13, 14], [6, 7, 10, 13, 14]]  # ids 10, 13, 14 in each: "red key"
    for scene in scenes:
        obs = obs_of(1, 3, counts=[3])
        obs["tokens"] = np.array([scene], np.int32)
        _, carry = policy._read(obs, policy._clear(carry, first), first, policy.commands)
        first = np.array([False])
    words = policy.config.words
    assert set(np.flatnonzero(np.asarray(carry.lasting)[0, :words])) == {10, 13, 14}
    assert set(np.flatnonzero(np.asarray(carry.goal_words)[0, :words])) == set(scenes[0])
