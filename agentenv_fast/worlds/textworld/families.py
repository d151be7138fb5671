"""The rules and Inform 7 texts that this front end knows, by name and content.

A fingerprint (logic.fingerprint) is of what a rule or a type's texts say, blanks apart. The families: `custom` (also
treasure_hunter and simple), coin_collector, cooking, and cooking with --drop. "-": a type without Inform 7 texts.
"""

from __future__ import annotations

from agentenv_fast.errors import WorldError
from agentenv_fast.worlds.textworld.logic import Logic

RULES = {
    "chop": "2b5b260fa108",
    "close/c": "c8cb63576703",
    "close/d": "d643afbc2ee2",
    "cook/oven/burned": "50cb71ab7b04",
    "cook/oven/cooked/needs_cooking": "6cd3090f8f95",
    "cook/oven/cooked/raw": "bff7509afb9e",
    "cook/stove/burned": "4b902fd4be8d",
    "cook/stove/cooked/needs_cooking": "e87adecdb79d",
    "cook/stove/cooked/raw": "789310254550",
    "cook/toaster/burned": "a580100e02b6",
    "cook/toaster/cooked/needs_cooking": "dfc92a9e3873",
    "cook/toaster/cooked/raw": "50a25089dc49",
    "dice": "0af261ecec88",
    "drink": "1387cb46b806 2d2cf63f2e27",
    "drop": "3209d62188ee 810be3d03e86",
    "eat": "0cf3d5105fda 1c0d5e6c87e3 7d03a6ee5b31",
    "examine/I": "384c3432db88 b780ae60348f",
    "examine/c": "a75aa51d3bb1",
    "examine/d": "31d2e0f1cc68",
    "examine/s": "4702b0497d64",
    "examine/t": "f1bc27894055",
    "go/east": "3da9c92b3638",
    "go/north": "4801c74e37e7",
    "go/south": "fa81e89191ad",
    "go/west": "33c230d8d222",
    "insert": "39be561a41be 7e63b797670b",
    "inventory": "13c34e11e99d",
    "lock/c": "5355806214af",
    "lock/d": "3eca7619ba03",
    "look": "657aacdde9f2",
    "make/recipe/1": "da94cae7ee7d",
    "make/recipe/2": "c1fe07cd2364 f9d55c3f238e",
    "make/recipe/3": "0f44089ffc07 1a479d7923b6",
    "make/recipe/4": "58cea6d70e0b 92bc6d362c1e",
    "make/recipe/5": "2866843870ef 9ec41fbab1b4",
    "open/c": "73c9a73f2f1a",
    "open/d": "2489dc6ea9bb",
    "put": "45776de84779 7f0cef7429c3",
    "slice": "a67b87d00a8b",
    "take": "8fcb2d0a69f0 ae31ecda5f2e",
    "take/c": "3f69730b8908 d805453c1814",
    "take/s": "2b9f3a2fae96 3652b5fdc554",
    "unlock/c": "198c75007040",
    "unlock/d": "2cb42d043dd1",
}

SECTIONS = {
    "I": "d21ee3365841",
    "P": "- d68fd23482e6",
    "RECIPE": "f0b3dd0f7e30",
    "c": "c53c2e844df3",
    "d": "ed4e2694c30c",
    "f": "31e5418e94cc b3a1f950dad1",
    "ingredient": "333072a6811d",
    "k": "114150890e43",
    "meal": "1690b6841877",
    "o": "7268411e8ce0",
    "object": "80c6a8ff08b6",
    "oven": "fa1ade7e3ed6",
    "r": "0a87c803b163 6c2397d43aaf 82acbee5c547",
    "s": "005880e33565",
    "slot": "7137cea9ebd8",
    "stove": "1ee50fbe9bf3",
    "t": "075758572fab 7f0e554ccf66",
    "toaster": "e8f3c513928c",
}


def check(logic: Logic) -> None:
    """Refuses logic whose texts are not known.

    Raises: WorldError naming the rule or type.
    """
    for name, rule in logic.rules.items():
        if name not in RULES:
            raise WorldError(
                f"KB.logic: rule {name}: not a rule of textworld's own families (custom, tw-simple, tw-coin_collector, "
                "tw-treasure_hunter, tw-cooking); games with third-party logic are not supported"
            )
        if rule.fingerprint not in RULES[name].split():
            raise WorldError(
                f"KB.logic: rule {name}: differs from textworld's own rule of that name; games with changed logic are "
                "not supported"
            )
    for name in logic.types:
        if logic.sections.get(name, "-") not in SECTIONS.get(name, "").split():
            raise WorldError(
                f"KB.logic: type {name}: its inform7 texts are not those of textworld's own families; games with "
                "third-party logic are not supported"
            )
