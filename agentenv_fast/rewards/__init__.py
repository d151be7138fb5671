"""What a step or an answer is worth: RewardSpec inside the step, `text` for answers in bulk."""

from agentenv_fast.rewards.spec import RewardSpec

__all__ = ["RewardSpec"]
