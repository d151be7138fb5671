"""Settings of every test process."""

import os
import tempfile

# Compiled JAX programs are kept between tests, processes and runs: learner tests would spend most of their time
# compiling.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR", os.path.join(tempfile.gettempdir(), f"agentenv-fast-jax-{os.getuid()}")
)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")

USE_JAX = (
    "cli",
    "evaluation",
    "examples",
    "learner",
    "policy",
    "rollout",
    "train",
)  # folders of tests/ that load it


def pytest_collection_modifyitems(items):
    """Tests that load JAX come last: a process with JAX's threads cannot fork(2) safely, and some tests fork."""
    items.sort(key=lambda item: item.path.parent.name in USE_JAX)
