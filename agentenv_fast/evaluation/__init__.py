"""How well a policy plays: every listed game once, with intervals. `load_run` and `load_policy` need the extra
`train`.
"""

from agentenv_fast.evaluation.agents import OracleAgent, RandomAgent
from agentenv_fast.evaluation.evaluate import evaluate
from agentenv_fast.evaluation.runs import PolicyAgent, Run, load_policy, load_run

__all__ = ["OracleAgent", "PolicyAgent", "RandomAgent", "Run", "evaluate", "load_policy", "load_run"]
