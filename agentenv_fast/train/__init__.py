"""Training runs: settings, the loop, run folders. Needs the extra `train`; importing this package loads no JAX yet."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentenv_fast.train.config import Config as Config
    from agentenv_fast.train.config import load_config as load_config
    from agentenv_fast.train.config import presets as presets
    from agentenv_fast.train.loop import RunResult as RunResult
    from agentenv_fast.train.loop import train as train
    from agentenv_fast.train.metrics import Display as Display
    from agentenv_fast.train.metrics import read_metrics as read_metrics

_WHERE = {
    "Config": "config",
    "load_config": "config",
    "presets": "config",
    "RunResult": "loop",
    "train": "loop",
    "Display": "metrics",
    "read_metrics": "metrics",
}
__all__ = ["Config", "Display", "RunResult", "load_config", "presets", "read_metrics", "train"]


def __getattr__(name: str):
    if name in _WHERE:
        return getattr(importlib.import_module(f"agentenv_fast.train.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'agentenv_fast.train' has no attribute {name!r}")
