"""check_env: the contract of a vector env as a test, for any object with the interface of spec.VectorEnv.

Each promise is one function under the sentence that it holds an env to. What an env cannot do (it has no snapshot(),
its factory does not take num_threads) is skipped and says so; what it does wrong is an error that quotes the sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentenv_fast.envs.check import actions, episodes, outputs, seeds, state
from agentenv_fast.envs.check.kit import PROMISES, Broken, Kit, Skip
from agentenv_fast.errors import ConfigError, ConformanceError

__all__ = ["Check", "Report", "check_env", "promises"]


@dataclass(frozen=True)
class Check:
    """One promise, and how it went."""

    name: str
    promise: str
    outcome: str  # "passed", "skipped" or "failed"
    detail: str = ""  # why skipped, or what was found


@dataclass(frozen=True)
class Report:
    """Every promise that was looked at."""

    checks: tuple[Check, ...]

    def of(self, outcome: str) -> list[Check]:
        return [check for check in self.checks if check.outcome == outcome]

    def __str__(self) -> str:
        counts = ", ".join(
            f"{len(self.of(outcome))} {outcome}" for outcome in ("passed", "skipped", "failed")
        )
        lines = [f"  {c.outcome} {c.name}: {c.detail}" for c in self.checks if c.outcome != "passed"]
        return "\n".join([f"check_env: {counts}", *lines])


def check_env(
    target: Any,
    *,
    only: Iterable[str] | None = None,
    steps: int = 40,
    wide: int = 256,
    seed: int = 7,
    raises: bool = True,
) -> Report:
    """Holds an env to the contract.

    Args:
      target: a factory that takes keywords of ae.make (`check_env(lambda **k: ae.make(suite, **k))`), or an env. With
        a factory more can be checked: other numbers of rows, threads, autoreset modes. An env of ae.make is its own
        factory. An env is reset and stepped; use one that nobody needs.
      only: names of the promises to look at (`promises()` lists them); None for all.
      steps: length of the walks.
      wide: number of rows where threads are to be kept busy.
      seed: of everything.
      raises: False returns the report also when promises are broken.
    Returns: Report.
    Raises: ConformanceError that quotes each broken promise and what was found; ConfigError for a name in `only` that
      is not a promise.
    """
    chosen = _chosen(only)
    kit = Kit(target, steps, wide, seed)
    report = Report(tuple(_run(kit, name, promise, check) for name, promise, check in chosen))
    failed = report.of("failed")
    if failed and raises:
        lines = "\n".join(f"- {c.promise}\n    {c.name}: {c.detail}" for c in failed)
        raise ConformanceError(f"{len(failed)} of {len(report.checks)} promises are broken:\n{lines}")
    return report


def promises() -> list[tuple[str, str, Callable[[Kit], None]]]:
    """(name, sentence, check) of every promise, what comes out first."""
    order = [module.__name__ for module in (outputs, actions, episodes, seeds, state)]
    return sorted(PROMISES, key=lambda entry: order.index(entry[2].__module__))


def _chosen(only: Iterable[str] | None) -> list[tuple[str, str, Callable[[Kit], None]]]:
    if only is None:
        return promises()
    names = set(only)
    unknown = names - {name for name, _, _ in promises()}
    if unknown:
        raise ConfigError(f"only: {', '.join(sorted(unknown))}: no such promise; promises() lists them")
    return [entry for entry in promises() if entry[0] in names]


def _run(kit: Kit, name: str, sentence: str, check: Callable[[Kit], None]) -> Check:
    try:
        check(kit)
    except Skip as skip:
        return Check(name, sentence, "skipped", str(skip))
    except Broken as broken:
        return Check(name, sentence, "failed", str(broken))
    except Exception as error:
        return Check(name, sentence, "failed", f"{type(error).__name__} at {_place(error)}: {error}")
    return Check(name, sentence, "passed")


def _place(error: BaseException) -> str:
    """The last line of this kit that led there."""
    trace, line = error.__traceback__, "?"
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if file.parent == Path(__file__).parent:
            line = f"{file.name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return line
