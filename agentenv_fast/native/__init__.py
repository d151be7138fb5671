"""The compiled module, and nothing else. Everything here has a friendlier face above: make, load, suite."""

try:
    from agentenv_fast.native import _core
except ImportError as error:  # a source tree without a build, or a build for another Python
    raise ImportError(
        "agentenv_fast.native._core is not built for this Python: run `pip install .` in the repository "
        f"(or `make build`); the import said: {error}"
    ) from error

__all__ = ["_core"]
