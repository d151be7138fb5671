"""Policies as pure functions over pytrees (spec.Policy). Needs the extra `train`; imported only by who learns."""

from agentenv_fast.policy.small import SmallConfig, SmallPolicy

__all__ = ["SmallConfig", "SmallPolicy"]
