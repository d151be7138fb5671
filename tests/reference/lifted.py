"""A Source of the bare logic of a TextWorld game, made from textworld's own objects: the grounder's oracle.

No texts: observations say "ok". What it is for: the commands that the compiled game admits must be those that
textworld.generator.game.GameProgression offers, state by state.
"""

from __future__ import annotations

from typing import Any

from textworld.generator.game import Game


def bare_source(game: Game, name: str) -> dict[str, Any]:
    """→ the dict that compile_source takes."""
    logic = game.kb.logic
    types = {t.name: i for i, t in enumerate(logic.types)}
    objects: dict[str, int] = {}
    listed = []
    for variable in [*game.world.state.variables, *_constants(game)]:
        if variable.name in objects:
            continue
        objects[variable.name] = len(listed)
        info = game.infos.get(variable.name)
        shown = (info.name if info is not None else None) or ""
        listed.append({"id": variable.name, "type": types[variable.type], "name": shown})
    predicates: dict[tuple[str, int], int] = {}

    def predicate(lifted) -> int:
        arity = len(getattr(lifted, "arguments", None) or getattr(lifted, "parameters", ()))
        return predicates.setdefault((lifted.name, arity), len(predicates))

    rules = [_rule(game, rule, types, objects, predicate) for rule in game.kb.rules.values()]
    init = [(predicate(f), [objects[a.name] for a in f.arguments]) for f in game.world.facts]
    place = predicates.get(("at", 2), -1)
    return {
        "name": name,
        "family": "bare",
        "types": [(t.name, [types[p] for p in t.parents]) for t in logic.types],
        "objects": listed,
        "predicates": [(n, n in ("at", "in", "on")) for n, _ in predicates],
        "rules": rules,
        "init": init,
        "place_predicate": place,
        "player": objects["P"],
        "inventory": objects["I"],
        "literals": ["ok"],
        "programs": [([(1, 0)], [])],
        "texts": {"frame": 0, "start": 0, "invalid": 0},
    }


def _constants(game: Game):
    return list(game.kb.types.constants_mapping.values())


def _rule(game: Game, rule, types, objects, predicate) -> dict[str, Any]:
    placeholders = {p.name: i for i, p in enumerate(rule.placeholders)}
    mapping = {ph.name: v.name for ph, v in game.kb.types.constants_mapping.items()}
    parameters = [
        (types[p.type], objects[mapping[p.name]] if mapping.get(p.name) in objects else -1)
        for p in rule.placeholders
    ]

    def atoms(lifted):
        return [(predicate(p), [placeholders[a.name] for a in p.parameters]) for p in lifted]

    before, after = set(rule.preconditions), set(rule.postconditions)
    command: list[Any] = []
    rest = game.kb.inform7_commands[rule.name]
    while "{" in rest:
        head, _, rest = rest.partition("{")
        inside, _, rest = rest.partition("}")
        command += [head, placeholders[inside]]
    return {
        "name": rule.name,
        "parameters": parameters,
        "preconditions": atoms(rule.preconditions),
        "adds": atoms(p for p in rule.postconditions if p not in before),
        "deletes": atoms(p for p in rule.preconditions if p not in after),
        "command": [*command, rest],
        "outcomes": [{"text": 0}],
    }
