"""`agentenv-fast doctor`: which parts are active on this machine, and why the others are not."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
from typing import Annotated, Any

import typer

from agentenv_fast.cli import machine
from agentenv_fast.cli.output import closing, note, show_record

_EXTRAS = {
    "train": ("jax", "flax", "optax", "orbax.checkpoint", "scipy", "matplotlib", "tensorboardX"),
    "textworld": ("textworld",),
    "gymnasium (its adapter)": ("gymnasium",),
}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="JSON also on a terminal.")] = False,
) -> None:
    """Compiler, SIMD, threads, memory, JAX backend, CUDA and extras. Exit 1 if the native core cannot be loaded."""
    core, healthy = _core()
    report = {
        "agentenv_fast": _version("agentenv-fast"),
        "native core": core,
        "python": f"{platform.python_version()} {platform.python_implementation()}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": machine.cpu_model(),
        "simd": _simd(),
        "threads": _threads(healthy),
        "cgroup limit": _cgroup(),
        "memory limit": f"{machine.memory_limit() / 2**30:.1f} GiB",
        "cache folder": _cache_folder(),
        **_jax(),
        **{f"extra {name}": _extra(name, modules) for name, modules in _EXTRAS.items()},
    }
    show_record(report, title="doctor", as_json=as_json)
    warning = machine.jax_warning() if importlib.util.find_spec("jax") else None
    if warning:
        note(f"warning: {warning}")
    if not healthy:
        raise typer.Exit(1)
    closing("agentenv-fast bench")


def _core() -> tuple[str, bool]:
    try:
        from agentenv_fast.native import _core
    except ImportError as error:
        return (
            f"cannot be loaded ({error}); build it: make build, or: pip install .",
            False,
        )
    facts: dict[str, Any] = _core.build_info()
    return f"active; {facts['build']} build by {facts['compiler']}, baseline {facts['simd']}", True


def _simd() -> str:
    flags = machine.cpu_flags()
    levels = [name for name in ("sse4_2", "avx2", "avx512bw", "asimd", "sve") if name in flags]
    return ", ".join(levels) or "none of sse4_2, avx2, avx512bw, asimd, sve"


def _threads(healthy: bool) -> str:
    if not healthy:
        return "unknown without the core"
    bound = os.environ.get("AE_NUM_THREADS")
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    told = f"; AE_NUM_THREADS={bound}" if bound else ""
    return f"{machine.cores_granted()} by default (affinity allows {allowed}{told})"


def _cgroup() -> str:
    quota = machine.cgroup_cores()
    return f"{quota:g} cores" if quota else "none"


def _cache_folder() -> str:
    from agentenv_fast.worlds.cache import folder

    return str(folder() or "none: AE_CACHE=0 switches it off")


def _jax() -> dict[str, str]:
    if importlib.util.find_spec("jax") is None:
        none = "not installed, so no training; pip install 'agentenv-fast[train]'"
        return {"jax": none, "xla": "inactive: jax is not installed", "cuda": _cuda("")}
    import jax

    backend = jax.default_backend()
    devices = ", ".join(str(device) for device in jax.devices())
    return {
        "jax": f"{jax.__version__}, backend {backend} ({devices})",
        "xla": _xla(),
        "cuda": _cuda(backend),
    }


def _xla() -> str:
    """ae.xla: envs inside jitted programs."""
    try:
        from agentenv_fast.native import _core
    except ImportError:
        return "inactive: no native core"
    native: Any = _core
    from agentenv_fast.xla.ffi import why_not

    reason = why_not()
    major, minor = native.xla_api_version()
    return f"active, built with XLA FFI {major}.{minor}" if reason is None else f"inactive: {reason}"


def _cuda(backend: str) -> str:
    gpus = machine.nvidia_gpus()
    if not gpus:
        return "inactive: no NVIDIA driver or GPU is visible"
    if backend in ("gpu", "cuda"):
        return f"training on {', '.join(gpus)}; envs step on the CPU (this core is built without CUDA)"
    return f"visible ({', '.join(gpus)}) but unused"


def _extra(name: str, modules: tuple[str, ...]) -> str:
    missing = [module for module in modules if not _found(module)]
    if not missing:
        return "active"
    way_out = (
        "pip install gymnasium" if name.startswith("gymnasium") else f"pip install 'agentenv-fast[{name}]'"
    )
    return f"inactive: no {', '.join(missing)}; {way_out}"


def _found(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed; running from a source tree"
