"""A random agent on 1,024 copies of the sample games: how often chance wins, and what row 0 shows in the end."""

import numpy as np

import agentenv_fast as ae


def main(num_envs: int = 1024, steps: int = 200) -> float:
    env = ae.make("examples/games/*.json", num_envs, seed=0, max_episode_steps=100)
    rng = np.random.default_rng(0)
    obs, _ = env.reset()
    won = ended = 0
    for _ in range(steps):
        action = (rng.random(num_envs) * obs["admissible_count"]).astype(np.int32)
        obs, _, terminated, truncated, info = env.step(action)
        won += int(info["won"].sum())
        ended += int((terminated | truncated).sum())
    print(env.get_state()[0])
    print(f"{won} of {ended} episodes won by chance")
    return won / ended


if __name__ == "__main__":
    main()
