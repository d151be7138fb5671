"""What the original says to typed commands that it refuses. csrc/logic/typed_textworld.cpp finds them by name."""

from __future__ import annotations

from agentenv_fast.worlds.source import SourceBuilder
from agentenv_fast.worlds.textworld.game import GameFile
from agentenv_fast.worlds.textworld.logic import Logic
from agentenv_fast.worlds.textworld.rules import TOO_MANY
from agentenv_fast.worlds.textworld.texts import Tail, Texts

# name → (text, tail); operands as in Texts.say
PARSER = {
    "beg_pardon": "I beg your pardon?",
    "no_verb": "That's not a verb I recognise.",
    "unseen": "You can't see any such thing.",
}
REFUSALS = {
    "no_direction": "You'll have to say which compass direction to go in.",
    "no_exit": "You can't go that way.",
    "door_closed": "You have to open the {0:n} first.",
    "too_general": "You have to be more specific!",
    "already_here": "{0:T} is already here.",
    "already_here_door": "{0} is already here.",
    "not_held": "You haven't got that.",
    "already_open": "That's already open.",
    "locked": "You have to unlock the {0:n} with the {1:n} first.",
    "welded": "The {0:n} is welded shut.",
    "cannot_open": "It isn't something you can open.",
    "already_closed": "That's already closed.",
    "cannot_close": "It isn't something you can close.",
    "inedible": "That's plainly inedible.",
    "take_first": "You need to take the {0:n} first.",
    "take_second": "You need to take the {1:n} first.",
    "fixed": "The {0:n} is fixed in place.",
    "fixed_second": "The {1:n} is fixed in place.",
    "on_itself": "You can't put something on top of itself.",
    "in_itself": "You can't put something inside itself.",
    "not_supporter": "Putting things on {1} would achieve nothing.",
    "not_container": "That can't contain things.",
    "container_closed": "{1:T} is closed.",
    "cannot_lock": "That doesn't seem to be something you can lock.",
    "cannot_unlock": "That doesn't seem to be something you can unlock.",
    "already_locked": "That's locked at the moment.",
    "already_unlocked": "That's unlocked at the moment.",
    "close_first": "First you would have to close {0}.",
    "wrong_key": "That doesn't seem to fit the lock.",
    "time_passes": "Time passes.",
    "jumped": "You jump on the spot.",
}
TAKING = {
    "already_held": "You already have that.",
    "cannot_take": "That's fixed in place.",
    "too_many": TOO_MANY,
}
PLAIN_KITCHEN = {
    "nothing_to_drink": "There's nothing suitable to drink here.",
    "no_cutting": "Cutting it up would achieve little.",
}
COOKING = {
    "undrinkable": "You cannot drink {0}.",
    "cook_first": "You should cook {0} first.",
    "uncuttable": "Can only cut cuttable food.",
    "already_sliced": "{0:T} is already sliced.",
    "already_diced": "{0:T} is already diced.",
    "already_chopped": "{0:T} is already chopped.",
    "no_knife": "Cutting something requires a knife.",
    "only_food": "Can only cook food.",
    "no_heat": "Cooking requires a source of heat.",
    "missing": "You still miss something.",
}


def write(source: SourceBuilder, game: GameFile, texts: Texts) -> None:
    """Adds the refusals of a game, and the words that its things answer to beside their names."""
    cooking = texts.cooking
    for name, text in PARSER.items():
        source.refusal(name, texts.say(text, Tail.PARSER), turn_passes=False)
    for name, text in (REFUSALS | (COOKING if cooking else PLAIN_KITCHEN)).items():
        source.refusal(name, texts.say(text, Tail.REPORT))
    for name, text in TAKING.items():
        source.refusal(name, texts.say(text, Tail.TAKE))
    source.refusal("too_many_from", texts.say(TOO_MANY, Tail.CARRY_OUT))
    source.refusal("examined", texts.examine_text)
    source.refusal("self", texts.say("As good-looking as ever.", Tail.CARRY_OUT))
    if cooking:
        place = next((f.args[0] for f in game.facts if f.name == "cooking_location"), None)
        if place is not None:
            title = texts.title(game.entities[place])
            source.refusal("elsewhere", texts.say(f"Can only prepare meal in the {title}.", Tail.REPORT))
    source.refusal("words:" + " ".join(_other_words(game, game.logic)), -1)


def _other_words(game: GameFile, logic: Logic) -> list[str]:
    words = {w for e in game.entities.values() for s in e.synonyms for w in s.lower().split()}
    words |= {w for e in game.entities.values() if e.type == "r" for w in e.name.lower().split()}
    if "ingredient" in logic.types:
        words |= {"uncut", "sliced", "diced", "chopped", "raw", "grilled", "roasted", "fried"}
    return sorted(words)
