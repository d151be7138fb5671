"""Shared by the benchmark suites: the games, and the machine in every result."""

from pathlib import Path

import pytest

import agentenv_fast as ae
from agentenv_fast.cli import machine

GAMES = Path(__file__).resolve().parents[1] / "examples" / "games"


@pytest.fixture(scope="session", params=["simple", "coin-11", "custom", "cooking", "mix", "keyquest-v0"])
def suite(request):
    """One game of each kind, all sample games at once, and 256 games of the built-in family."""
    if request.param == "mix":
        return ae.load(str(GAMES / "*.json"))
    if request.param == "keyquest-v0":
        return ae.suite("keyquest-v0", size=256)
    return ae.load(GAMES / f"{request.param}.json")


def pytest_benchmark_update_machine_info(config, machine_info):
    machine_info.update({"agentenv_fast": machine.describe()})
