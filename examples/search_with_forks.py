"""Breadth-first search over rows: the shortest win of a game, without a model and without replaying anything.

A row is plain bytes, so a frontier of states is an array; trying every command in every state is one restore, one step.
"""

import numpy as np

import agentenv_fast as ae


def solve(game: str, max_depth: int = 30) -> list[str]:
    """The shortest winning commands. Raises: RuntimeError if there are none within max_depth."""
    suite = ae.load(game)
    root = ae.make(suite, 1, seed=0, autoreset="disabled")
    obs, info = root.reset()
    states, plans = root.snapshot().rows, [[]]
    seen = {info["world_hash"][0].tobytes()}
    for _ in range(max_depth):
        counts = obs["admissible_count"]
        source = np.repeat(np.arange(len(counts)), counts)  # the state that each branch starts from
        action = np.concatenate([np.arange(n) for n in counts]).astype(np.int32)
        env = ae.make(suite, len(source), seed=0, autoreset="disabled")
        env.reset()
        env.restore(type(root.snapshot())(states[source], suite.hash, root.spec.version))
        offered = env.observe()[0]["admissible"]
        obs, _, _, _, info = env.step(action)
        commands = [suite.commands[offered[i, a]] for i, a in enumerate(action)]
        for i in np.flatnonzero(info["won"]):
            return [*plans[source[i]], commands[i]]
        keys = [key.tobytes() for key in info["world_hash"]]
        fresh = [i for i, key in enumerate(keys) if key not in seen and not seen.add(key)]
        if not fresh:
            break
        plans = [[*plans[source[i]], commands[i]] for i in fresh]
        states = env.snapshot(np.array(fresh, np.int32)).rows
        obs = {"admissible_count": obs["admissible_count"][fresh]}
    raise RuntimeError(f"{game}: no win within {max_depth} commands")


if __name__ == "__main__":
    for command in solve("examples/games/coin-11.json"):
        print(">", command)
