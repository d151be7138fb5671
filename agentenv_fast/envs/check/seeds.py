"""What a seed decides: the same bytes for any number of rows and threads, games, groups."""

from __future__ import annotations

import numpy as np

from agentenv_fast.envs.check.kit import (
    Kit,
    Skip,
    Step,
    _not_taken,
    expect,
    expect_raises,
    kept,
    need,
    option,
    promise,
    same,
    same_steps,
    state_of,
    taken,
    texts_of,
    trace,
    unchanged,
    walk,
)
from agentenv_fast.errors import ConfigError


@promise("Same seed, same bytes: for any number of envs.")
def seeds_do_not_depend_on_n(kit: Kit) -> None:
    walks = {}
    for n in (1, 3, 17):
        env, obs, _ = kit.started(num_envs=n, max_episode_steps=7)
        walks[n] = trace(env, obs, 20), env.row_hash() if hasattr(env, "row_hash") else None
    for n in (1, 3):
        same_steps(walks[n][0], walks[17][0], f"{n} rows against 17", slice(0, n))
        if walks[n][1] is not None:
            same(walks[n][1], walks[17][1][:n], f"{n} rows against 17: row hash")


@promise("Same seed, same bytes: for any number of threads.")
def seeds_do_not_depend_on_threads(kit: Kit) -> None:
    walks = []
    for threads in (1, 2, 7):
        env, obs, _ = kit.started(num_envs=kit.wide, num_threads=threads, max_episode_steps=7)
        walks.append(trace(env, obs, 10))
    same_steps(walks[1], walks[0], "2 threads against 1")
    same_steps(walks[2], walks[0], "7 threads against 1")


@promise("Same seed, same bytes: on any run; 0 is a seed like any other.")
def seeds_repeat(kit: Kit) -> None:
    env = kit.env()
    for seed in (kit.seed, 0, 2**64 - 1):
        walks = []
        for _ in range(2):
            obs, info = env.reset(seed=seed)
            same(info["seed"], seed, "info['seed'] of reset")
            expect((info["episode"] == 0).all(), f"seed {seed}: episode {info['episode']}, want 0")
            walks.append([Step(None, *kept((obs, 0, 0, 0, taken(info, slice(None))))), *trace(env, obs, 20)])
        same_steps(walks[1], walks[0], f"seed {seed}, twice")


@promise("Games and starts are drawn from the seed: another seed gives others.")
def seeds_matter(kit: Kit) -> None:
    env = kit.env()
    if env.spec.num_games < 2:
        raise Skip("the suite has one game")
    if option(env, "game_order", "shuffle") == "sequential":
        raise Skip("game_order is sequential")
    seen = {tuple(env.reset(seed=seed)[1]["game"].tolist()) for seed in range(24)}
    expect(len(seen) > 1, f"24 seeds give the same games: {next(iter(seen))}")
    if env.num_envs > 3 and option(env, "group_size", 1) == 1:
        expect(any(len(set(games)) > 1 for games in seen), "all rows play the same game, whatever the seed")


@promise("seed=None: fresh entropy only if no seed was ever given; it is reported, and reproduces the run.")
def unseeded_runs(kit: Kit) -> None:
    if kit.factory is None:
        raise Skip("needs an env that was never seeded: give check_env a factory")
    one, two = kit.env(), kit.env()
    if "seed" not in getattr(one.spec, "options", {}) and not _not_taken(kit.factory, {"seed": None}):
        one, two = kit.env(seed=None), kit.env(seed=None)
    obs, info = kept(one.reset())
    _, other = two.reset()
    expect(
        info["seed"] is not None and other["seed"] is not None,
        "info['seed'] is None: what was used is not reported",
    )
    expect(info["seed"] != other["seed"], f"two unseeded envs share the seed {info['seed']}")
    walked = trace(one, obs, 10)
    obs, _ = two.reset(seed=info["seed"])
    same_steps(trace(two, obs, 10), walked, f"the run repeated from the reported seed {info['seed']}")


@promise("seed=None after a seed: the next episode of each stream, the same on every run.")
def the_next_episode(kit: Kit) -> None:
    env = kit.env()
    found = []
    for _ in range(2):
        env.reset(seed=kit.seed)
        obs, info = kept(env.reset())
        expect((info["episode"] == 1).all(), f"episode {info['episode']} after a second reset, want 1")
        same(info["seed"], kit.seed, "info['seed'] of the second reset")
        found.append((obs, info))
    same(found[1], found[0], "the second episode, twice")


@promise("make's seed is that of the first reset.")
def seed_of_make(kit: Kit) -> None:
    env = kit.env(seed=kit.seed)
    obs, info = kept(env.reset())
    again, _ = kit.env().reset(seed=kit.seed)
    same(info["seed"], kit.seed, "info['seed']")
    same(obs, kept(again), "obs of make(seed=...).reset() against reset(seed=...)")


@promise("seed uint64[N]: equal (seed, game) gives equal bytes in any row and batch.")
def a_seed_for_each_row(kit: Kit) -> None:
    env = kit.env()
    n = env.num_envs
    if n < 3:
        raise Skip("needs three rows: give check_env a factory")
    seeds = np.arange(n, dtype=np.uint64) + np.uint64(2**63)
    seeds[-1] = seeds[0]
    obs, info = kept(env.reset(seed=seeds))
    same(np.asarray(info["seed"]), seeds, "info['seed']")
    ends = trace(env, obs, 12, keys=seeds.astype(np.uint32))
    for step in ends:
        for name in Step._fields[1:]:
            value = getattr(step, name)
            same(taken(value, [n - 1]), taken(value, [0]), f"rows 0 and {n - 1} with equal seeds: {name}")
    if hasattr(env, "row_hash"):
        same(env.row_hash()[n - 1], env.row_hash()[0], "row hash of rows with equal seeds")
    turned = seeds[::-1].copy()
    obs, _ = env.reset(seed=turned)
    back = trace(env, obs, 12, keys=turned.astype(np.uint32))
    same_steps(back, ends, "the same seeds in other rows", np.arange(n)[::-1])


@promise("A seed is an int in [0, 2**64), uint64[N] or None; anything else raises.")
def bad_seeds_raise(kit: Kit) -> None:
    env, _ = kit.walked(3)
    n, before = env.num_envs, state_of(env)
    for bad in (
        -1,
        2**64,
        1.5,
        "7",
        True,
        np.zeros(n + 1, np.uint64),
        np.zeros(n),
        np.full(n, -1),
        [None] * n,
    ):
        expect_raises(ConfigError, lambda bad=bad: env.reset(seed=bad), f"seed {bad!r}", "seed")
    unchanged(env, before, "after bad seeds were refused")


@promise("group_size: the rows of a group get the same task, episode by episode.")
def groups_share_their_task(kit: Kit) -> None:
    env, obs, info = kit.started(num_envs=8, group_size=4, max_episode_steps=3)
    same(option(env, "group_size", 4), 4, "spec.options['group_size']")
    games: dict[tuple[int, int], set[int]] = {}
    infos = [info, *(step.info for step in walk(env, obs, 30))]
    for seen in infos:
        for row in range(8):
            games.setdefault((row // 4, int(seen["episode"][row])), set()).add(int(seen["game"][row]))
    for (group, episode), found in games.items():
        expect(len(found) == 1, f"group {group}, episode {episode}: games {sorted(found)}, want one")
    texts = texts_of(obs) if "text" in obs else None
    if texts is not None:
        expect(
            len(set(texts[:4])) == 1 and len(set(texts[4:])) == 1,
            "rows of a group begin with different texts",
        )
    if env.spec.num_games > 1:
        seen = [tuple(sorted(games[(group, e)]) for e in range(3) if (group, e) in games) for group in (0, 1)]
        _, _, info = kit.started(num_envs=16, group_size=1, max_episode_steps=3)
        expect(seen[0] != seen[1] or len(set(info["game"].tolist())) > 1, "every group plays the same games")


@promise(
    "game_order: sequential is (task + episode) mod G; shuffle walks a permutation of the suite; sample draws."
)
def game_orders(kit: Kit) -> None:
    env = kit.env(game_order="sequential", num_envs=4)
    games = env.spec.num_games
    for episode in range(min(games + 2, 12)):
        info = env.reset(seed=kit.seed)[1] if episode == 0 else env.reset()[1]
        same(
            info["game"],
            ((np.arange(4) + episode) % games).astype(np.int32),
            f"sequential, episode {episode}: game",
        )
    env = kit.env(game_order="shuffle", num_envs=4)
    if games <= 600:
        seen = [
            env.reset(seed=kit.seed)[1]["game"].copy(),
            *(env.reset()[1]["game"].copy() for _ in range(games - 1)),
        ]
        for row in range(4):
            want = list(range(games))
            same(
                sorted(int(g[row]) for g in seen), want, f"shuffle, row {row}: the games of {games} episodes"
            )
    env = kit.env(game_order="sample", num_envs=4)
    need(env, "set_game_weights")
    weights = np.zeros(games)
    weights[games - 1] = 1.0
    env.set_game_weights(weights)
    same(
        env.reset(seed=kit.seed)[1]["game"],
        np.full(4, games - 1, np.int32),
        "sample with all weight on the last game",
    )
    for what, bad in (
        ("all 0", np.zeros(games)),
        ("negative", -weights),
        ("nan", weights * np.nan),
        ("long", np.ones(games + 1)),
    ):
        expect_raises(ConfigError, lambda bad=bad: env.set_game_weights(bad), f"weights {what}", "weights")


@promise('options["game"] says which game each row plays; -1: as game_order says.')
def chosen_games(kit: Kit) -> None:
    env = kit.env()
    n, games = env.num_envs, env.spec.num_games
    free = env.reset(seed=kit.seed)[1]["game"].copy()
    chosen = (np.arange(n) % (games + 1) - 1).astype(np.int32)
    info = env.reset(seed=kit.seed, options={"game": chosen})[1]
    same(info["game"], np.where(chosen < 0, free, chosen).astype(np.int32), "game")
    before = state_of(env)
    for bad in (
        np.full(n, games, np.int32),
        np.full(n, -2, np.int32),
        np.zeros(n + 1, np.int32),
        np.zeros(n, np.float32),
    ):
        expect_raises(
            ConfigError,
            lambda bad=bad: env.reset(options={"game": bad}),
            f"game {bad.dtype}{bad[:1]}",
            "game",
        )
    unchanged(env, before, "after bad games were refused")
