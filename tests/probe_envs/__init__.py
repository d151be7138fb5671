"""Tiny NumPy worlds that fulfil spec.VectorEnv; each can only be solved if one part of a learner works."""

from tests.probe_envs.worlds import PROBES, ProbeEnv

__all__ = ["PROBES", "ProbeEnv"]
