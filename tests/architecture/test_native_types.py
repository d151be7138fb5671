"""The golden file of the native module: its Python surface changes only on purpose (`make stubs` writes it)."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parents[2] / "agentenv_fast" / "native" / "_core.pyi"
WRITTEN_WITH = "3.1"  # pybind11; other versions word the same signatures otherwise


def test_the_native_module_has_the_types_that_its_golden_file_says(tmp_path):
    pytest.importorskip("pybind11_stubgen")
    version = importlib.metadata.version("pybind11")
    if not version.startswith(WRITTEN_WITH):
        pytest.skip(f"the golden file was written with pybind11 {WRITTEN_WITH}, this is {version}")
    command = [sys.executable, "-m", "pybind11_stubgen", "agentenv_fast.native._core", "-o", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    now = (tmp_path / "agentenv_fast" / "native" / "_core.pyi").read_text()
    assert now == GOLDEN.read_text(), (
        "the surface of the native module has changed: make stubs, and look at the diff"
    )
