"""Suites by id: built in, registered in the process, of a module, of an installed package."""

import sys
from pathlib import Path

import pytest

import agentenv_fast as ae
from agentenv_fast.envs import registry
from agentenv_fast.errors import ConfigError, SuiteError

GAMES = Path(__file__).resolve().parents[2] / "examples/games"


@pytest.fixture(autouse=True)
def clean_registry(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})


def fake(**_):
    return "no suite"


def test_the_list_names_the_built_in_suites_with_their_cards():
    listed = {entry["id"]: entry for entry in ae.suites()}
    for id in ("keyquest-v0", "coinhunt-v0"):
        assert listed[id]["origin"] == "built in"
        assert listed[id]["summary"] and "medium" in listed[id]["levels"]


def test_a_registered_suite_is_listed_and_found():
    ae.register("lab.fake-v3", fake, card={"summary": "nothing", "author": "me"})
    entry = next(entry for entry in ae.suites() if entry["id"] == "lab.fake-v3")
    assert entry == {
        "id": "lab.fake-v3",
        "summary": "nothing",
        "levels": [],
        "author": "me",
        "origin": "registered",
    }
    assert registry.find("lab.fake-v3").factory is fake


@pytest.mark.parametrize("id", ["", "house", "house-v", "ho use-v0", "a/b-v0", "m:house-v0", 7])
def test_an_id_without_a_version_is_refused(id):
    with pytest.raises(SuiteError, match="ends in a version"):
        ae.register(id, fake, card={})


def test_a_taken_id_is_refused_but_the_same_function_may_register_again():
    ae.register("fake-v0", fake, card={})
    ae.register("fake-v0", fake, card={})
    with pytest.raises(SuiteError, match="'fake-v0' is taken"):
        ae.register("fake-v0", lambda: None, card={})
    with pytest.raises(SuiteError, match=r"'keyquest-v0' is taken \(built in\)"):
        ae.register("keyquest-v0", fake, card={})


def test_what_is_no_function_or_no_card_is_refused():
    with pytest.raises(SuiteError, match="want a function that returns a Suite"):
        ae.register("fake-v0", 3, card={})
    with pytest.raises(SuiteError, match="want a dict"):
        ae.register("fake-v0", fake, card="nothing")


def test_an_unknown_id_names_what_is_known():
    with pytest.raises(SuiteError, match=r"'nothing-v0' is not known .*coinhunt-v0, keyquest-v0"):
        ae.suite("nothing-v0")


def test_a_factory_that_returns_no_suite_is_named():
    ae.register("fake-v0", fake, card={})
    with pytest.raises(SuiteError, match="returned a str, want a Suite"):
        ae.suite("fake-v0")


def test_a_parameter_that_the_factory_lacks_is_refused_not_dropped():
    ae.register("bare-v0", lambda size: f"{size} games", card={})
    for argument in ({"level": "hard"}, {"rooms": 3}, {"seed": 1}):
        with pytest.raises(ConfigError, match=f"{next(iter(argument))}=.*it takes size"):
            ae.suite("bare-v0", **argument)
    with pytest.raises(
        SuiteError, match="returned a str"
    ):  # defaults may be left out, so this one got through
        ae.suite("bare-v0", size=4)


def test_module_and_id_imports_the_module_also_of_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "my_worlds_0.py").write_text(
        "import agentenv_fast as ae\nae.register('mine-v0', lambda **k: k['level'], card={'summary': 'mine'})\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_worlds_0", raising=False)
    before = list(sys.path)
    assert registry.find("my_worlds_0:mine-v0").card == {"summary": "mine"}
    assert sys.path == before
    with pytest.raises(SuiteError, match="my_worlds_0 was imported and does not register it"):
        ae.suite("my_worlds_0:other-v0")
    with pytest.raises(SuiteError, match="module 'no_such_module' cannot be imported"):
        ae.suite("no_such_module:mine-v0")


def test_an_installed_package_is_found_through_its_entry_point_and_imported_only_when_used(
    tmp_path, monkeypatch
):
    package = tmp_path / "lab_worlds_1"
    package.mkdir()
    (package / "__init__.py").write_text(
        "def house(split, size, seed, level): return (split, size, seed, level)\n"
    )
    info = tmp_path / "lab_worlds_1-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lab-worlds-1\nVersion: 0.1\n")
    points = "[agentenv_fast.suites]\nlab-house-v0 = lab_worlds_1:house\nbad-v0 = lab_worlds_1:no\n"
    (info / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = next(entry for entry in ae.suites() if entry["id"] == "lab-house-v0")
    assert entry["origin"] == "lab-worlds-1"
    assert "lab_worlds_1" not in sys.modules
    with pytest.raises(SuiteError, match="returned a tuple"):
        ae.suite("lab-house-v0", split="test")
    assert "lab_worlds_1" in sys.modules
    with pytest.raises(SuiteError, match=r"lab_worlds_1:no \(lab-worlds-1\) is not a function"):
        ae.suite("bad-v0")
