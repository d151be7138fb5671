"""Synthetic ALFWorld scenes: .tw-pddl files like the real ones in size and oddities, each with a walk that wins.

Domain, grammar, goals and the tables of what holds what are read from the installed package `alfworld`; its data set is
not needed. `dialect` chooses between the texts of the data's versions 2.1.1 and 2.1.3.
"""

from __future__ import annotations

import importlib.util
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

TASK_TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
ACTION = {
    "pick_clean_then_place_in_recep": ("Cleanable", "SinkBasin", "clean"),
    "pick_heat_then_place_in_recep": ("Heatable", "Microwave", "heat"),
    "pick_cool_then_place_in_recep": ("Coolable", "Fridge", "cool"),
}
ROOMS = {
    "kitchen": "CounterTop Cabinet Drawer Fridge Microwave SinkBasin StoveBurner GarbageCan CoffeeMachine Toaster "
    "DiningTable Shelf SideTable",
    "bedroom": "Bed Desk Drawer Shelf SideTable Dresser GarbageCan Safe LaundryHamper ArmChair",
    "livingroom": "Sofa ArmChair CoffeeTable SideTable Drawer Shelf TVStand Ottoman Safe Cabinet GarbageCan "
    "DiningTable",
    "bathroom": "SinkBasin CounterTop Cabinet Drawer Toilet ToiletPaperHanger TowelHolder HandTowelHolder "
    "GarbageCan BathtubBasin Shelf Cart",
}
ONCE = {
    "Fridge",
    "Microwave",
    "GarbageCan",
    "CoffeeMachine",
    "Toaster",
    "Bed",
    "Safe",
    "Toilet",
    "TVStand",
    "Sofa",
}
UNMOVABLE = (
    "Chair",
    "Window",
    "Mirror",
    "LightSwitch",
    "StoveKnob",
    "Curtains",
    "Painting",
    "HousePlant",
    "Blinds",
)


@cache
def package() -> Path:
    """Where `alfworld` is installed; only plain modules of it are loaded, so torch and ai2thor are not needed."""
    spec = importlib.util.find_spec("alfworld")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("alfworld: pip install --no-deps alfworld==0.4.2")
    return Path(spec.origin).parent


@cache
def module(name: str) -> Any:
    """gen/<name>.py, without importing the packages around it."""
    spec = importlib.util.spec_from_file_location(f"_alfworld_{name}", package() / "gen" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@cache
def domain(dialect: str) -> str:
    text = (package() / "data" / "alfred.pddl").read_text()
    if dialect == "2.1.1":
        text = _swap(
            text,
            "(receptacleType ?r SinkBasinType)",
            "(receptacleType ?r SinkType)\n (receptacleType ?r SinkBasinType)",
        )
    return text


@cache
def grammar(dialect: str) -> str:
    text = (package() / "data" / "alfred.twl2").read_text()
    if dialect == "2.1.1":
        text = _swap(text, "move {o} to {r}", "put {o} in/on {r}")
        text = _swap(
            text, "You move the {o.name} to the {r.name}.", "You put the {o.name} in/on the {r.name}."
        )
        text = _swap(text, "You arrive at {r.name}.", "You arrive at {lend.name}.")
        text = _swap(text, "move (object) to (receptacle):  place", "put (object) in/on (receptacle):  place")
    return text


def _swap(text: str, old: str, new: str) -> str:
    assert old in text, f"the package's files have changed: no {old!r}"
    return text.replace(old, new)


@dataclass
class Scene:
    """One scene. `data` is what a .tw-pddl file holds, `walk` a list of commands that wins."""

    name: str
    task_type: str
    data: dict[str, Any]
    traj: dict[str, Any]
    walk: list[str]
    odd: dict[str, int] = field(default_factory=dict)  # oddity → how often

    def write(self, folder: Path) -> Path:
        """The scene as the data set lays it out: <folder>/<name>/game.tw-pddl with traj_data.json beside it."""
        where = folder / self.name
        where.mkdir(parents=True, exist_ok=True)
        (where / "traj_data.json").write_text(json.dumps(self.traj))
        file = where / "game.tw-pddl"
        file.write_text(json.dumps(self.data))
        return file


def mangled(text: str) -> str:
    for old, new in (("-", "_minus_"), ("|", "_bar_"), ("+", "_plus_"), (".", "_dot_"), (",", "_comma_")):
        text = text.replace(old, new)
    return text


def shown_names(ids: list[str]) -> dict[str, str]:
    """What the original's demangler calls these ids (lower case), written independently of the product."""
    classes = {}
    for id in ids:
        if "_bar_" in id:
            classes[id] = id.split("_bar_", 1)[0] + ("basin" if "basin" in id else "")
    left = Counter(classes.values())
    out = {}
    for id in sorted(ids):
        if id not in classes:
            out[id] = f"{id} "
            continue
        out[id] = f"{classes[id]} {left[classes[id]]}"
        left[classes[id]] -= 1
    return out


class _Maker:
    def __init__(self, task: str, seed: int, receptacles: int, objects: int, dialect: str, odd: bool) -> None:
        self.rng = random.Random(f"{task}/{seed}/{receptacles}/{objects}/{dialect}/{odd}")
        self.task, self.seed, self.dialect, self.with_odd = task, seed, dialect, odd
        self.constants, self.goals = module("constants"), module("goal_library")
        self.holds: dict[str, set[str]] = {
            r: set(v) for r, v in self.constants.VAL_RECEPTACLE_OBJECTS.items()
        }
        self.num_receptacles, self.num_objects = receptacles, objects
        self.receptacles: dict[str, str] = {}  # id → class
        self.objects: dict[str, str] = {}
        self.place: dict[str, str] = {}  # of receptacles and objects
        self.inside: dict[str, list[str]] = {}
        self.openable: set[str] = set()
        self.cool: set[str] = set()
        self.odd: Counter[str] = Counter()

    # -- ids
    def coordinates(self) -> str:
        return "|".join(
            f"{self.rng.choice('+-')}{self.rng.randint(0, 3):02d}.{self.rng.randint(0, 99):02d}"
            for _ in range(3)
        )

    def location(self) -> str:
        r = self.rng
        return mangled(
            f"loc|{r.randint(-12, 20)}|{r.randint(-12, 20)}|{r.randint(0, 3)}|{r.choice((0, 15, 30, 45, 60))}"
        )

    def new_id(self, cls: str) -> str:
        base = {"SinkBasin": "Sink", "BathtubBasin": "Bathtub"}.get(cls)
        while True:
            id = mangled(f"{base or cls}|{self.coordinates()}" + (f"|{cls}" if base else ""))
            if id not in self.receptacles and id not in self.objects:
                return id

    def chance(self, share: float, what: str) -> bool:
        if self.with_odd and self.rng.random() < share:
            self.odd[what] += 1
            return True
        return False

    # -- contents
    def run(self) -> Scene:
        self.choose_task()
        self.make_receptacles()
        self.make_targets()
        self.make_objects()
        return self.finish()

    def choose_task(self) -> None:
        r, table = self.rng, self.constants.VAL_ACTION_OBJECTS
        portable = sorted(
            {o for v in self.holds.values() for o in v if not o.endswith("Sliced") and o != "TissueBox"}
            - {"Towel", "HandTowel"}
        )
        self.room = r.choice(sorted(ROOMS))
        self.tool = ""
        self.toggle = r.choice(["DeskLamp", "FloorLamp"]) if self.task == "look_at_obj_in_light" else ""
        if self.task in ACTION:
            kind, self.tool, _ = ACTION[self.task]
            portable = [o for o in portable if o in table[kind]]
            self.room = "bathroom" if self.tool == "SinkBasin" and r.random() < 0.3 else "kitchen"
        if self.task == "look_at_obj_in_light":
            self.room = r.choice(["bedroom", "livingroom"])
        kinds = ROOMS[self.room].split()
        while True:
            self.parent = "" if self.toggle else r.choice([k for k in kinds if k != self.tool])
            fits = [
                o
                for o in portable
                if (not self.parent or o in self.holds.get(self.parent, ()))
                and any(o in self.holds.get(k, ()) for k in kinds if k not in (self.parent, self.tool))
            ]
            if fits:
                self.target = r.choice(fits)
                return

    def make_receptacles(self) -> None:
        r, kinds = self.rng, ROOMS[self.room].split()
        source = r.choice(
            [k for k in kinds if self.target in self.holds.get(k, ()) and k not in (self.parent, self.tool)]
        )
        wanted = [k for k in (self.parent, self.tool, source) if k] + (["SideTable"] if self.toggle else [])
        many = [k for k in kinds if k not in ONCE]
        for k in kinds:
            if len(wanted) < self.num_receptacles and k not in wanted:
                wanted.append(k)
        while len(wanted) < self.num_receptacles:
            wanted.append(r.choice(many))
        self.source_class = source
        for cls in wanted:
            id = self.new_id(cls)
            self.receptacles[id] = cls
            self.inside[id] = []
            if cls in self.constants.OPENABLE_CLASS_SET and not self.chance(
                0.3, "openable class, not openable"
            ):
                self.openable.add(id)
            if self.place and self.chance(0.15, "shared place"):
                self.place[id] = r.choice(sorted(self.place.values()))
            else:
                self.place[id] = self.fresh_location()
        self.start = self.fresh_location()

    def fresh_location(self) -> str:
        while True:
            location = self.location()
            if location not in self.place.values() and location != getattr(self, "start", ""):
                return location

    def add(self, cls: str, receptacle: str | None) -> str:
        id = self.new_id(cls)
        self.objects[id] = cls
        if receptacle is None:
            self.place[id] = self.fresh_location()
            return id
        self.inside[receptacle].append(id)
        self.place[id] = (
            self.fresh_location()
            if self.chance(0.05, "object elsewhere than its receptacle")
            else self.place[receptacle]
        )
        return id

    def of_class(self, cls: str) -> list[str]:
        return [id for id, c in self.receptacles.items() if c == cls]

    def make_targets(self) -> None:
        count = 2 if self.task == "pick_two_obj_and_place" else 1
        self.targets = []
        for _ in range(count):
            where = self.rng.choice(self.of_class(self.source_class))
            self.targets.append((self.add(self.target, where), where))
        self.lamp = ()
        if self.toggle:
            where = self.rng.choice(self.of_class("SideTable"))
            self.lamp = (self.add(self.toggle, where), where)

    def make_objects(self) -> None:
        r = self.rng
        homes = {
            o: [k for k in self.receptacles if o in self.holds.get(self.receptacles[k], ())]
            for o in sorted({o for v in self.holds.values() for o in v if not o.endswith("Sliced")})
        }
        avoid = {self.target, "Box"}  # a target elsewhere might be in the goal already
        usable = [o for o, k in homes.items() if k and o not in avoid]
        if any(c == "SinkBasin" for c in self.receptacles.values()):
            for id in self.of_class("SinkBasin"):  # "Sink|x" is an object, "Sink|x|SinkBasin" the receptacle
                sink = id.removesuffix("_bar_SinkBasin")
                self.objects[sink] = "Sink"
                self.place[sink] = self.place[id]
                self.odd["id is a prefix"] += 1
        while len(self.objects) < self.num_objects:
            if r.random() < 0.12:
                cls = r.choice(UNMOVABLE)
                self.add(
                    cls, r.choice(sorted(self.receptacles)) if self.chance(0.4, "unmovable inside") else None
                )
                continue
            cls = r.choice(usable)
            if self.chance(0.06, "in no receptacle"):
                self.add(cls, None)
                continue
            where = r.choice(homes[cls])
            id = self.add(cls, where)
            if len(homes[cls]) > 1 and self.chance(0.06, "in two receptacles"):
                self.inside[r.choice([k for k in homes[cls] if k != where])].append(id)
            if (
                cls in self.constants.VAL_ACTION_OBJECTS["Coolable"]
                and self.receptacles[where] == "Fridge"
                and self.chance(0.5, "cool at the start")
            ):
                self.cool.add(id)

    # -- the file
    def facts(self) -> list[str]:
        c, table, out = self.constants, self.constants.VAL_ACTION_OBJECTS, []
        movable = {o for v in self.holds.values() for o in v}
        for id, cls in self.receptacles.items():
            out += [f"(receptacleType {id} {cls}Type)", f"(receptacleAtLocation {id} {self.place[id]})"]
            if id in self.openable:
                out.append(f"(openable {id})")
        for id, cls in self.objects.items():
            out += [f"(objectType {id} {cls}Type)", f"(objectAtLocation {id} {self.place[id]})"]
            if cls in movable:
                out.append(f"(pickupable {id})")
            for kind, fact in (
                ("Cleanable", "cleanable"),
                ("Heatable", "heatable"),
                ("Coolable", "coolable"),
                ("Toggleable", "toggleable"),
                ("Sliceable", "sliceable"),
            ):
                if cls in table[kind]:
                    out.append(f"({fact} {id})")
            if cls in c.MOVABLE_RECEPTACLES_SET:
                out.append(f"(isReceptacleObject {id})")
        for id, inside in self.inside.items():
            out += [f"(inReceptacle {o} {id})" for o in inside]
        out += [f"(isCool {id})" for id in sorted(self.cool)]
        contain = [
            f"(canContain {k}Type {o}Type)"
            for k, v in sorted(self.holds.items())
            if k not in c.MOVABLE_RECEPTACLES_SET
            for o in sorted(v)
            if o in c.OBJECTS_SET
        ]
        out += contain
        if self.chance(0.99, "duplicate canContain"):
            out += self.rng.sample(contain, 12)
        out.append(f"(atLocation agent1 {self.start})")
        self.rng.shuffle(out)
        return out

    def finish(self) -> Scene:
        c, glib = self.constants, self.goals
        rtypes = sorted(c.RECEPTACLES - set(c.MOVABLE_RECEPTACLES))
        otypes = sorted(c.OBJECTS_SET - set(rtypes))
        dummies = sorted(otypes) if self.chance(0.99, "dummies") else []
        goal = (
            glib.gdict[self.task]["pddl"]
            .format(obj=self.target, recep=self.parent, toggle=self.toggle, mrecep="")
            .replace("#", "-")
        )
        listed = [
            "agent1 - agent",
            *(f"{o} - object" for o in dummies),
            *(f"{t}Type - otype" for t in otypes),
            *(f"{t}Type - rtype" for t in rtypes),
            *(f"{o} - object" for o in sorted(self.objects)),
            *(f"{r} - receptacle" for r in sorted(self.receptacles)),
            *(f"{p} - location" for p in dict.fromkeys([*self.place.values(), self.start])),
        ]
        facts = self.facts()
        if self.rng.random() < 0.5:  # the goal's text closes (define ...) itself
            goal = goal.rstrip().removesuffix(")") + "(:metric minimize (total-cost))\n)"
        newline = "\n        "
        problem = (
            f"(define (problem plan_{self.seed})\n    (:domain alfred)\n    (:objects\n        "
            f"{newline.join(listed)}\n        )\n    (:init\n        (= (total-cost) 0)\n        "
            f"{newline.join(facts)}\n        )\n{goal}"
        )
        template = self.rng.choice(glib.gdict[self.task]["templates"])
        words = template.format(
            obj=self.target.lower(), recep=self.parent.lower(), toggle=self.toggle.lower(), mrecep=""
        )
        walk = self.walk(facts)
        data: dict[str, Any] = {
            "pddl_domain": domain(self.dialect),
            "grammar": grammar(self.dialect).replace("UNKNOWN GOAL", words),
            "pddl_problem": problem,
        }
        if not self.chance(0.2, "no solvable key"):
            data["solvable"] = True
        if not self.chance(0.2, "no walkthrough key"):
            data["walkthrough"] = walk
        params = {
            "object_target": self.target,
            "parent_target": self.parent,
            "toggle_target": self.toggle,
            "mrecep_target": "",
            "object_sliced": False,
        }
        name = f"{self.task}-{self.target}-None-{self.parent or self.toggle}-{self.seed}"
        traj = {"task_type": self.task, "pddl_params": params, "task_id": f"trial_{self.seed}"}
        return Scene(name, self.task, data, traj, walk, dict(self.odd))

    def walk(self, facts: list[str]) -> list[str]:
        ids = {word.lower() for fact in facts for word in fact.strip("()").split()[1:]}
        name = shown_names(sorted(ids))

        def shown(id: str) -> str:
            return name[id.lower()]

        here, opened, walk = self.start, set(), []

        def visit(receptacle: str, inside: bool = True) -> None:
            nonlocal here
            if self.place[receptacle] != here:
                walk.append(f"go to {shown(receptacle)}")
                here = self.place[receptacle]
            if inside and receptacle in self.openable and receptacle not in opened:
                walk.append(f"open {shown(receptacle)}")
                opened.add(receptacle)

        put = "move {o} to {r}" if self.dialect == "2.1.3" else "put {o} in/on {r}"
        for target, where in self.targets:
            visit(where)
            walk.append(f"take {shown(target)} from {shown(where)}")
            if self.tool:
                tool = self.rng.choice(self.of_class(self.tool))
                visit(tool, inside=False)
                walk.append(f"{ACTION[self.task][2]} {shown(target)} with {shown(tool)}")
            if self.toggle:
                visit(self.lamp[1], inside=False)
                walk.append(f"use {shown(self.lamp[0])}")
                continue
            parent = self.goal_parent = getattr(self, "goal_parent", None) or self.rng.choice(
                self.of_class(self.parent)
            )
            visit(parent)
            walk.append(put.format(o=shown(target), r=shown(parent)))
        return walk


def make(
    task: str, seed: int, receptacles: int = 12, objects: int = 20, dialect: str = "2.1.3", odd: bool = True
) -> Scene:
    """One scene; the same arguments make the same scene."""
    return _Maker(task, seed, receptacles, objects, dialect, odd).run()


def scenes(count: int, seed: int, largest: tuple[int, int] = (40, 55)) -> list[Scene]:
    """Scenes over all task types, both dialects and sizes from 8 receptacles up to `largest`."""
    rng = random.Random(seed)
    out = []
    for i in range(count):
        receptacles = rng.randint(8, largest[0])
        objects = rng.randint(10, max(12, min(largest[1], receptacles * 2)))
        out.append(
            make(
                TASK_TYPES[i % 6],
                rng.randrange(1 << 30),
                receptacles,
                objects,
                rng.choice(["2.1.1", "2.1.3"]),
            )
        )
    return out


def kitchen(seed: int = 1) -> Scene:
    """The scene of the speed targets: 31 receptacles, 50 objects."""
    return make("pick_heat_then_place_in_recep", seed, 31, 50, odd=False)
