"""A suite of your own under an id: then ae.make, Gymnasium and the command line all know it.

`agentenv-fast play examples.my_suite:rooms-v0` imports this module first.
"""

from pathlib import Path

import agentenv_fast as ae

GAMES = Path(__file__).parent / "games"


def rooms(split: str = "all", size: int | None = None, prefix: str = ""):
    """The sample games whose file name begins with `prefix`; the first `size` of them."""
    suite = ae.load(sorted(GAMES.glob(f"{prefix}*.json")), name="rooms-v0")
    suite = suite if split in ("all", "train") else suite.split(split)
    return suite if size is None else suite[:size]


ae.register("rooms-v0", rooms, card={"summary": "The sample games, by file name", "levels": []})

if __name__ == "__main__":
    print([entry["id"] for entry in ae.suites()])
    env = ae.make(ae.suite("rooms-v0", prefix="coin"), num_envs=2, seed=0)
    env.reset()
    print(env.suite.names, env.get_available_actions())
    print(ae.check_env(env))  # your own suite keeps the contract, too
