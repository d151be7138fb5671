"""Who imports whom: the layer contracts of pyproject.toml, and what an import must leave unloaded."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRAMEWORKS = {"jax", "jaxlib", "flax", "optax", "torch", "tensorflow", "gymnasium"}
OTHERS = {"textworld", "typer", "rich", "matplotlib", "pydantic"}


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_every_layer_imports_only_the_layers_below_it():
    pytest.importorskip("importlinter")
    done = run(str(Path(sys.executable).parent / "lint-imports"), "pyproject.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


STEP = """
import json, sys
import agentenv_fast as ae
env = ae.make(ae.load(sys.argv[1]), num_envs=2, seed=0)
env.reset()
obs, reward, terminated, truncated, info = env.step(["look", "inventory"])
assert info["moves"].tolist() == [1, 1], info["moves"]
print(json.dumps(sorted(sys.modules)))
"""


def test_stepping_an_env_loads_no_array_framework_and_no_trainer_library():
    done = run(sys.executable, "-c", STEP, str(ROOT / "examples/games/coin-11.json"))
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "agentenv_fast" in loaded
    assert not loaded & (FRAMEWORKS | OTHERS)


def test_importing_the_command_loads_neither_typer_nor_rich():
    code = "import json, sys; import agentenv_fast.cli; print(json.dumps(sorted(sys.modules)))"
    done = run(sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr
    assert not set(json.loads(done.stdout)) & {"typer", "rich", "jax"}
