"""A learner of your own beside the env: in each situation, the command that was tried there least often.

Nothing of the learner is used. `world_hash` names a situation (facts, not list order or score), and `rows=` steps only
the rows whose episodes still run.
"""

from collections import Counter

import numpy as np

import agentenv_fast as ae


def main(games: int = 32, budget: int = 300) -> float:
    """→ share of the games that are won within the budget, by exploring alone."""
    suite = ae.suite("keyquest-v0", split="test", size=games, level="easy")
    env = ae.make(
        suite, games, seed=0, autoreset="disabled", max_episode_steps=budget, game_order="sequential"
    )
    obs, info = env.reset()
    tried: list[Counter] = [Counter() for _ in range(games)]
    running = np.arange(games, dtype=np.int32)
    won = np.zeros(games, bool)
    rng = np.random.default_rng(0)
    hashes = [key.tobytes() for key in info["world_hash"]]
    while len(running):
        action = np.empty(len(running), np.int32)
        for i, row in enumerate(running):
            offered = obs["admissible"][row, : obs["admissible_count"][row]]
            counts = np.array([tried[row][hashes[row], int(c)] for c in offered]) + 0.1 * rng.random(
                len(offered)
            )
            action[i] = counts.argmin()
            tried[row][hashes[row], int(offered[action[i]])] += 1
        part, _, terminated, truncated, info = env.step(action, rows=running)
        for name in ("admissible", "admissible_count"):
            obs[name][running] = part[name]
        for i, row in enumerate(running):
            hashes[row] = info["world_hash"][i].tobytes()
        won[running] |= info["won"]
        running = running[~(terminated | truncated)]
    print(f"{won.mean():.2f} of {games} games won within {budget} steps")
    return float(won.mean())


if __name__ == "__main__":
    main()
