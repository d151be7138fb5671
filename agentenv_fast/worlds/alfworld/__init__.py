"""ALFWorld scenes: a .tw-pddl file → a compiled game that prints and offers what textworld's PddlEnv does.

The file is JSON with a PDDL domain, a PDDL problem and a grammar (.twl2); all three are read from it, so that every
version of the data works. docs/worlds_alfworld.md names each quirk that is kept and each deliberate difference.
"""

from __future__ import annotations

from agentenv_fast.worlds.alfworld.compile import compile_game
from agentenv_fast.worlds.alfworld.names import shown_names

__all__ = ["compile_game", "shown_names"]
