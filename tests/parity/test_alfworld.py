"""ALFWorld scenes equal textworld's PddlEnv, step by step (AE_PARITY_GAMES scenes, AE_PARITY_SEED)."""

import json

import pytest

pytest.importorskip("alfworld")
pytest.importorskip("fast_downward")
pytest.importorskip("termcolor")

from agentenv_fast.worlds.alfworld.original import OriginalScene
from agentenv_fast.worlds.original import follow, record
from agentenv_fast.worlds.verify import replay, verify
from tests import alfworld_scenes
from tests.parity import games

pytestmark = pytest.mark.parity
USUAL_SCENES = 6
FULL_SCENES = 60


@pytest.fixture(scope="module")
def seed():
    return games.base_seed()


@pytest.fixture(scope="module")
def scenes(seed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    asked = games.how_many(USUAL_SCENES)
    largest = (14, 20) if asked == USUAL_SCENES else (40, 55)
    made = alfworld_scenes.scenes(min(asked, FULL_SCENES), seed, largest)
    print(f"parity seed: {seed} (AE_PARITY_SEED={seed} repeats it)")
    return [(scene, scene.write(folder)) for scene in made]


@pytest.mark.timeout(7200)
def test_the_walk_of_every_scene_wins_in_both(scenes, seed):
    for scene, file in scenes:
        original = OriginalScene(file)
        transcript = record(original, follow(scene.walk), kind="given", limit=len(scene.walk))
        original.close()
        where = f"AE_PARITY_SEED={seed}: {scene.name}"
        assert [s.won for s in transcript.steps] == [False] * len(scene.walk) + [True], where
        assert replay([transcript]) == [], where


@pytest.mark.timeout(7200)
def test_scenes_equal_the_original_alone_and_as_rows_of_one_batch(scenes, seed):
    report = verify([file for _, file in scenes], walks=2, seed=seed, steps=20)
    assert report.ok, f"AE_PARITY_SEED={seed}: {report}"
    assert report.unanswered == [] and report.steps > 15 * len(scenes)


@pytest.mark.timeout(300)
def test_a_changed_scene_is_told_apart_at_the_first_difference(scenes, seed, tmp_path):
    _, file = scenes[0]
    original = OriginalScene(file)
    transcript = record(original, follow(["look"]), kind="given", limit=1)
    original.close()
    data = json.loads(file.read_bytes())
    data["grammar"] = data["grammar"].replace("Looking quickly around you", "Looking slowly around you")
    changed = tmp_path / "changed.tw-pddl"
    changed.write_text(json.dumps(data))
    transcript.path = changed
    (difference,) = replay([transcript])
    assert "Looking slowly" in str(difference.got) and "Looking quickly" in str(difference.want)
