"""The Gymnasium loop: a VectorEnv with Gymnasium's own wrapper for episode statistics. Needs: pip install gymnasium"""

import gymnasium
import numpy as np
from gymnasium.wrappers.vector import RecordEpisodeStatistics


def main(num_envs: int = 64, steps: int = 200) -> float:
    envs = gymnasium.make_vec("agentenv_fast.adapters.gymnasium:agentenv_fast/keyquest-v0", num_envs=num_envs)
    envs = RecordEpisodeStatistics(envs)
    rng = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    returns: list[float] = []
    for _ in range(steps):
        masks = envs.unwrapped.action_masks()  # bool[N, K]: the commands that each row offers
        _, _, _, _, infos = envs.step((rng.random(masks.shape) * masks).argmax(axis=1))
        if "episode" in infos:
            returns += infos["episode"]["r"][infos["_episode"]].tolist()
    print(f"{len(returns)} episodes, mean return {sum(returns) / len(returns):.2f}")
    return sum(returns) / len(returns)


if __name__ == "__main__":
    main()
