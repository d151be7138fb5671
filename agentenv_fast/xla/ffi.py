"""The native handlers as JAX calls: versions are checked first, then the handlers are registered, once.

A handler of a newer interface than JAX's own would keep JAX's whole CPU backend from starting, so nothing is
registered before both versions are known to fit.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np

from agentenv_fast.errors import DependencyError
from agentenv_fast.native import _core

TESTED = ((0, 10), (0, 12))  # the first and the last jax release that this was tested with
INSTALL = "pip install 'jax>=0.10,<0.13'"
TARGETS = {name: f"agentenv_fast_{name}" for name in ("reset", "step", "observe")}
_registered = False


def why_not() -> str | None:
    """Why ae.xla cannot be used here, with the way out; None: it can."""
    native: Any = _core
    if not native.xla_targets():
        return (
            "this core was built without XLA: build it again where jaxlib's headers are "
            "(pip install 'jaxlib>=0.10,<0.11', then: make native, or: pip install --no-build-isolation .)"
        )
    try:
        import jax
    except ImportError:
        return f"jax is not installed: {INSTALL}"
    return _misfit(jax.__version__, native.xla_api_version(), _api_of_jax(jax))


def _misfit(version: str, ours: tuple[int, int], theirs: tuple[int, int] | None) -> str | None:
    """Whether a jax release, and the FFI interface that it has, fit the interface that the core was built with."""
    release = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if not TESTED[0] <= release <= TESTED[1]:
        first, last = (".".join(map(str, end)) for end in TESTED)
        return f"jax {version} is outside of {first} to {last}, which ae.xla is tested with: {INSTALL}"
    if theirs is None:
        return f"the XLA FFI headers of jax {version} cannot be read: reinstall jaxlib"
    if ours > theirs:
        return (
            f"this core was built with XLA FFI {ours[0]}.{ours[1]}, jax {version} has {theirs[0]}.{theirs[1]}: "
            "build it again with the jaxlib that is installed, or with jaxlib 0.10"
        )
    return None


def _api_of_jax(jax: Any) -> tuple[int, int] | None:
    header = Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h"
    try:
        text = header.read_text(encoding="utf-8")
    except OSError:
        return None
    found = dict(re.findall(r"#define XLA_FFI_API_(MAJOR|MINOR) (\d+)", text))
    return (int(found["MAJOR"]), int(found["MINOR"])) if len(found) == 2 else None


def register() -> None:
    """Registers the handlers with JAX. Raises: DependencyError if they do not fit; JAX is left as it was."""
    global _registered
    if _registered:
        return
    reason = why_not()
    if reason is not None:
        raise DependencyError(f"ae.xla: {reason}")
    import jax

    native: Any = _core
    for name, handler in native.xla_targets().items():
        jax.ffi.register_ffi_target(TARGETS[name], handler, platform="cpu")
    _registered = True


def register_suite(suite: Any, codec: Any) -> np.ndarray:
    """Lets the handlers find a suite with a codec, for the life of the process.

    Returns: uint32[4], the operand that stands for both: content hash and version.
    """
    text = f"{suite.hash} {'' if codec is None else codec.hash} {_core.FORMAT_VERSION}"
    key = np.frombuffer(hashlib.sha256(text.encode()).digest()[:16], np.uint32).copy()
    key[0] |= 1  # 0 marks a row that belongs to no suite
    key[3] = _core.FORMAT_VERSION
    bound = None if codec is None else suite.bound(codec)
    tokens = [] if codec is None else codec.command_tokens(suite.commands)
    native: Any = _core
    native.xla_register(key.tolist(), suite.bank, bound, [row[row != 0].tolist() for row in tokens])
    return key
