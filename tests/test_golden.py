"""What the built-in suites print, kept: an id rises (-v0 to -v1) when any of this changes.

After a change on purpose, with the id raised: AE_UPDATE_GOLDEN=1 python -m pytest tests/test_golden.py
"""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

import agentenv_fast as ae

GOLDEN = Path(__file__).parent / "golden"
IDS = [entry["id"] for entry in ae.suites() if entry["origin"] == "built in"]


def transcript(id):
    """Two games of each level, played by their oracle, as text; then a digest of random play on many."""
    lines = []
    for level in ("easy", "medium", "hard", "long"):
        suite = ae.suite(id, size=2, seed=0, level=level)
        for game in suite:
            env = ae.make(suite[game.index], 1, seed=0, autoreset="disabled", tokens=None)
            env.reset()
            lines += [f"== {id} {level} game {game.index}", env.get_state()[0]]
            for command in game.walkthrough:
                _, reward, terminated, _, info = env.step([command])
                lines += [f"> {command}", env.get_state()[0], f"[{reward[0]:g}]"]
            assert terminated[0] and info["won"][0]
    lines += [f"== {id} played at random: {digest(id)}", ""]
    return "\n".join(lines)


def digest(id):
    """Every byte of 24 steps of 64 rows in each level."""
    seen = hashlib.sha256()
    for level in ("easy", "medium", "hard", "long"):
        env = ae.make(ae.suite(id, size=64, seed=1, level=level), 64, seed=2, max_episode_steps=16)
        obs, info = env.reset()
        for t in range(24):
            action = (np.arange(64) * 7 + t * 13) % np.maximum(obs["admissible_count"], 1)
            obs, reward, terminated, truncated, info = env.step(action.astype(np.int32))
            for array in (
                obs["text"],
                obs["tokens"],
                obs["admissible"],
                reward,
                terminated,
                truncated,
                info["game"],
            ):
                seen.update(np.ascontiguousarray(array).tobytes())
    return seen.hexdigest()


@pytest.mark.parametrize("id", IDS)
def test_an_id_prints_what_it_printed(id):
    path = GOLDEN / f"{id}.txt"
    now = transcript(id)
    if os.environ.get("AE_UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(now, encoding="utf-8")
    assert now == path.read_text(encoding="utf-8"), (
        f"{id} changed: raise its version, then update {path.name}"
    )
