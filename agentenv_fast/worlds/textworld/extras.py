"""What a game keeps beside its tables, for infos and reports: objective, walkthrough, names, quests, metadata."""

from __future__ import annotations

from typing import Any

from agentenv_fast.worlds.textworld.game import Fact, GameFile

DIRECTIONS = ["north", "south", "east", "west"]


def extras(game: GameFile, inventory_program: int) -> dict[str, Any]:
    """JSON-able; keys are TextWorld's EnvInfos names where there is one."""
    named = [game.entities[id] for id in game.infos if id in game.entities and game.entities[id].name]
    objects = [(e.name, e.type) for e in named if e.type != "r"]
    templates = game.logic.command_templates
    walkthrough = game.metadata.get("walkthrough")
    return {
        "objective": game.objective,
        "walkthrough": [str(c) for c in walkthrough] if isinstance(walkthrough, list) else [],
        "max_score": game.max_score,
        "entities": [name for name, _ in objects] + DIRECTIONS,
        "typed_entities": objects,
        "verbs": sorted({t.split()[0] for t in templates}),
        "command_templates": templates,
        "names": {e.id: [e.name or e.id, e.type] for e in game.entities.values()},
        "win_facts": [[_facts(event) for event in q.win] for q in game.quests],
        "fail_facts": [[_facts(event) for event in q.fail] for q in game.quests],
        "types": game.logic.types,
        "inventory_program": inventory_program,
        "metadata": game.metadata,
    }


def _facts(event: list[Fact]) -> list[list[Any]]:
    return [[f.name, *f.args] for f in event]
