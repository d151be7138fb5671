"""Worlds of probe envs, for training without games."""

from __future__ import annotations

from types import SimpleNamespace

from tests.probe_envs import ProbeEnv


class ProbeWorlds:
    """`train` on a probe: its suite is twelve hidden bits."""

    def __init__(self, probe: str):
        self.probe = probe

    def suite(self, role: str):
        return Games(self.probe)

    def make(self, suite, *, num_envs, max_episode_steps=None, **options):
        return ProbeEnv(self.probe, num_envs, **options)

    def describe(self):
        return {"train": {"id": self.probe}}


class Games(SimpleNamespace):
    def __init__(self, probe: str):
        super().__init__(id=probe, names=[f"{probe}-{i}" for i in range(12)])

    def __len__(self) -> int:
        return 12

    def extra(self, index: int) -> dict:
        return {}
