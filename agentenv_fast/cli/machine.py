"""Which machine this is, for benchmarks and `doctor`: facts read from the system, nothing guessed."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def cores_granted() -> int:
    """Cores that envs use by default: affinity, the cgroup's quota and AE_NUM_THREADS, as the core reads them."""
    from agentenv_fast.native import _core

    return _core.available_threads()


def cgroup_cores() -> float | None:
    """The CPU quota of the cgroup in cores; None without a limit."""
    quota = _read(_CGROUP / "cpu.max")
    if quota:
        amount, period = quota.split()[:2]
        return None if amount == "max" else int(amount) / int(period)
    amount = _read(_CGROUP / "cpu/cpu.cfs_quota_us")
    period = _read(_CGROUP / "cpu/cpu.cfs_period_us")
    return int(amount) / int(period) if amount and period and int(amount) > 0 else None


def memory_limit() -> int:
    """Bytes that this process may use: physical memory or the cgroup's limit, whichever is smaller."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = _read(_CGROUP / "memory.max") or _read(_CGROUP / "memory/memory.limit_in_bytes") or "max"
    return physical if limit == "max" else min(physical, int(limit))


def cpu_model() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", _read(Path("/proc/cpuinfo")), re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def cpu_flags() -> set[str]:
    found = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", _read(Path("/proc/cpuinfo")), re.MULTILINE)
    return set(found.group(1).split()) if found else set()


def commit() -> str:
    """The commit of the source tree that this package lies in, "+" if it has changes; "" outside a checkout."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return ""
    head = _run("git", "-C", str(root), "rev-parse", "--short=12", "HEAD")
    dirty = _run("git", "-C", str(root), "status", "--porcelain", "--untracked-files=no")
    return head + ("+" if dirty else "")


def describe() -> dict[str, object]:
    """What every benchmark result carries."""
    return {
        "cpu": cpu_model(),
        "cores": cores_granted(),
        "memory_gib": round(memory_limit() / 2**30, 1),
        "system": f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
        "python": platform.python_version(),
        "commit": commit(),
        "load_1min": round(os.getloadavg()[0], 2),
    }


def nvidia_gpus() -> list[str]:
    """Names of the NVIDIA GPUs that the driver shows; empty without a driver."""
    if shutil.which("nvidia-smi"):
        listed = _run("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
        return [line.strip() for line in listed.splitlines() if line.strip()]
    return [path.name for path in sorted(Path("/proc/driver/nvidia/gpus").glob("*"))]


def jax_warning(backend: str | None = None) -> str | None:
    """What to say when an NVIDIA GPU is visible and JAX runs on the CPU; None when all is well.

    Args:
      backend: jax.default_backend(), if the caller knows it; else JAX is asked.
    """
    gpus = nvidia_gpus()
    if not gpus:
        return None
    if backend is None:
        import jax

        backend = jax.default_backend()
    if backend != "cpu":
        return None
    wanted = os.environ.get("JAX_PLATFORMS", "")
    if "cpu" in wanted.split(","):
        return f"{gpus[0]} is visible, but JAX_PLATFORMS={wanted} keeps JAX on the CPU; to use it: unset JAX_PLATFORMS"
    return f"{gpus[0]} is visible, but JAX runs on the CPU; to use it: pip install 'jax[cuda13]'"


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _run(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
