"""The two-room toy of two_rooms.py as a compiled suite: the same games, rules and texts, through the compiler."""

from __future__ import annotations

from functools import cache

import agentenv_fast as ae
from agentenv_fast.native import _core
from tests.probe_envs import two_rooms as toy

PLAYER, INVENTORY, ROOM0, ROOM1, KEY, CHEST, VIAL = range(7)
AT, KEY_AT, CHEST_AT, VIAL_AT, OPENED, POISONED = range(6)
LOOK = 2  # ObjectText::kLook
ROOM = 1  # type
O = _core.OPS  # noqa: E741


@cache
def suite() -> ae.Suite:
    programs = [_core.compile_source(source(number, *game)) for number, game in enumerate(toy.GAMES)]
    return ae.Suite(programs, name="two_rooms-v0", words=toy.Words().words)


def source(number: int, key: int, chest: int, vial: int) -> dict:
    """One game; key, chest and vial are rooms."""
    literals: list[str] = []

    def lit(text: str) -> tuple[int, int]:
        literals.append(text)
        return (O["LIT"], len(literals) - 1)

    def look(room: int) -> tuple[list, list]:
        code = [lit(f"-= {toy.ROOMS[room]} =-\n")]
        facts = [
            (KEY_AT, (KEY, ROOM0 + room)),
            (CHEST_AT, (CHEST, ROOM0 + room)),
            (VIAL_AT, (VIAL, ROOM0 + room)),
        ]
        for i, name in enumerate(("key", "chest", "vial")):
            code += [(O["UNLESS_FACT"], i, 0, len(code) + 2), lit(f"There is a {name} here.\n")]
        return [*code, (O["END"],)], facts

    here = (O["CALL_PLACE"], 0, LOOK)
    count = lambda name: (O["NUMBER"], _core.PSEUDO[name])  # noqa: E731
    score = [lit("Score "), count("SCORE"), lit(", moves "), count("MOVES"), lit(".\n")]
    texts = {
        "look0": look(0), "look1": look(1), "frame": ([(O["CALL_EVENT"],), *score], []),
        "start": ([lit("You wake up.\n"), here], []), "invalid": ([lit("You cannot do that.\n")], []),
        "drink": ([lit("It was poison.\n")], []), "drop": ([lit("You drop the key.\n")], []),
        "down": ([lit("You go down.\n"), here], []), "up": ([lit("You go up.\n"), here], []), "look": ([here], []),
        "open": ([lit("The chest opens. You win!\n")], []), "take": ([lit("You take the key.\n")], []),
    }  # fmt: skip
    index = {name: i for i, name in enumerate(texts)}

    def rule(command: str, text: str, parameters: list, conditions: list, adds: list, deletes: list) -> dict:
        return {
            "name": command, "command": [command], "parameters": parameters, "preconditions": conditions,
            "adds": adds, "deletes": deletes, "outcomes": [{"text": index[text]}],
        }  # fmt: skip

    const = lambda thing: (-1, thing)  # noqa: E731
    a_room = (ROOM, -1)
    things = [
        const(PLAYER),
        a_room,
        const(KEY),
        const(INVENTORY),
        const(CHEST),
        const(VIAL),
    ]  # parameters 0 to 5
    passage = [const(PLAYER), const(ROOM0), const(ROOM1)]
    in_room, key_here, carried = (AT, (0, 1)), (KEY_AT, (2, 1)), (KEY_AT, (2, 3))
    return {
        "name": f"two rooms {number}",
        "family": "toy",
        "types": [("thing", []), ("room", [])],
        "objects": [
            {"id": "P"}, {"id": "I"},
            {"id": "kitchen", "type": ROOM, "name": "kitchen", "look": index["look0"]},
            {"id": "cellar", "type": ROOM, "name": "cellar", "look": index["look1"]},
            {"id": "key", "name": "key"}, {"id": "chest", "name": "chest"}, {"id": "vial", "name": "vial"},
        ],
        "predicates": [
            ("at", False), ("key_at", True), ("chest_at", False), ("vial_at", False), ("opened", False),
            ("poisoned", False),
        ],
        "rules": [
            rule("drink vial", "drink", things, [in_room, (VIAL_AT, (5, 1))], [(POISONED, (0,))], []),
            rule("drop key", "drop", things[:4], [in_room, carried], [key_here], [carried]),
            rule("go down", "down", passage, [(AT, (0, 1))], [(AT, (0, 2))], [(AT, (0, 1))]),
            rule("go up", "up", passage, [(AT, (0, 2))], [(AT, (0, 1))], [(AT, (0, 2))]),
            rule("look", "look", [], [], [], []),
            rule(
                "open chest", "open", things[:5],
                [in_room, carried, (CHEST_AT, (4, 1)), (OPENED, (4,), True)], [(OPENED, (4,))], [],
            ),
            rule("take key", "take", things[:4], [in_room, key_here], [carried], [key_here]),
        ],
        "init": [
            (AT, (PLAYER, ROOM0)), (KEY_AT, (KEY, ROOM0 + key)), (CHEST_AT, (CHEST, ROOM0 + chest)),
            *([(VIAL_AT, (VIAL, ROOM0 + vial))] if vial != toy.NOWHERE else []),
        ],
        "place_predicate": AT, "player": PLAYER, "inventory": INVENTORY,
        "quests": [
            {"win_events": [[(KEY_AT, (KEY, INVENTORY))]], "reward": 1, "optional": True},
            {"win_events": [[(OPENED, (CHEST,))]], "fail_events": [[(POISONED, (PLAYER,))]], "reward": 2},
        ],
        "programs": list(texts.values()),
        "literals": literals,
        "texts": {"frame": index["frame"], "start": index["start"], "invalid": index["invalid"]},
        "max_score": 3,
        "max_episode_steps": toy.MAX_STEPS,
    }  # fmt: skip
