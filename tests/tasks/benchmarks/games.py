"""Real text games for tests: small kitchens of our own, in the files, the PDDL domain and the words of ALFWorld."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

PLAYABLE = find_spec("textworld") is not None and find_spec("alfworld") is not None
"""Whether the engine is installed."""

PLACES = {"countertop": 0, "diningtable": 0, "fridge": 1, "microwave": 1, "cabinet": 1, "sinkbasin": 0}
"""What stands in the kitchen, and whether it has a door."""

PLACE, HEAT, COOL = "pick_and_place", "pick_heat_then_place_in_recep", "pick_cool_then_place_in_recep"
_GOALS = {
    PLACE: ("put a {thing} in {place}.", ""),
    HEAT: ("put a hot {thing} in {place}.", "(isHot ?o)"),
    COOL: ("put a cool {thing} in {place}.", "(isCool ?o)"),
    "pick_clean_then_place_in_recep": ("put a clean {thing} in {place}.", "(isClean ?o)"),
}


def write_game(
    folder: Path, task_type: str, thing: str, place: str, start: str = "countertop", others: Iterable[str] = ()
) -> Path:
    """A game in which `thing` starts at `start` and has to come to `place`; `others` lie on the table. Gives its file.

    Args:
        folder: of ALFWorld's data.
    """
    # Importing the package would make a folder in the home folder, and set a variable.
    rules = Path(find_spec("alfworld").origin).with_name("data")
    said, state = _GOALS[task_type]
    goal = said.format(thing=thing, place=place)
    game = {
        "pddl_domain": (rules / "alfred.pddl").read_text(),
        "grammar": (rules / "alfred.twl2").read_text().replace("UNKNOWN GOAL.", goal),
        "pddl_problem": problem(thing, place, start, others, state),
        "solvable": True,
        "walkthrough": [],
    }
    path = folder / f"json_2.1.1/train/{task_type}-{thing}-None-{place}-1/trial_1/game.tw-pddl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(game))
    return path


def way(task_type: str, thing: str) -> list[str]:
    """The actions that win a game whose thing goes from the countertop to the dining table."""
    machine = {HEAT: "heat {} 1 with microwave 1", COOL: "cool {} 1 with fridge 1"}.get(task_type)
    detour = [f"go to {machine.split()[-2]} 1", machine.format(thing)] if machine else []
    fetch = ["go to countertop 1", f"take {thing} 1 from countertop 1"]
    return [*fetch, *detour, "go to diningtable 1", f"move {thing} 1 to diningtable 1"]


def problem(thing: str, place: str, start: str, others: Iterable[str], state: str) -> str:
    """The PDDL problem: every place at a location of its own, the agent in the middle of the room."""
    things = {thing: start, **dict.fromkeys(others, "diningtable")}
    kinds = {"knife", "butterknife", *things}
    objects = ["agent1 - agent", "loc_bar_0 - location"]
    facts = ["(= (total-cost) 0)", "(atLocation agent1 loc_bar_0)"]
    for number, (name, door) in enumerate(PLACES.items(), 1):
        at, ident = f"loc_bar_{number}", _ident(name)
        objects += [f"{at} - location", f"{ident} - receptacle", f"{name}Type - rtype"]
        facts += [f"(receptacleAtLocation {ident} {at})", f"(receptacleType {ident} {name}Type)"]
        facts += [f"(openable {ident})"] * door + [f"(canContain {name}Type {kind}Type)" for kind in sorted(kinds)]
    objects += [f"{kind}Type - otype" for kind in sorted(kinds)]
    for name, where in things.items():
        at = f"loc_bar_{list(PLACES).index(where) + 1}"
        objects.append(f"{_ident(name)} - object")
        facts += [f"({can} {_ident(name)})" for can in ("pickupable", "heatable", "coolable", "cleanable")]
        facts += [f"(objectType {_ident(name)} {name}Type)", f"(objectAtLocation {_ident(name)} {at})"]
        facts.append(f"(inReceptacle {_ident(name)} {_ident(where)})")
    there = f"(inReceptacle ?o ?r) (objectType ?o {thing}Type) (receptacleType ?r {place}Type) {state}"
    return "\n".join(
        (
            f"(define (problem kitchen)\n(:domain alfred)\n(:objects\n{_lines(objects)}\n)",
            f"(:init\n{_lines(facts)}\n)",
            f"(:goal (exists (?r - receptacle) (exists (?o - object) (and {there}))))\n)",
        )
    )


def _ident(name: str) -> str:
    return "sink_bar_1_bar_sinkbasin" if name == "sinkbasin" else f"{name}_bar_1"


def _lines(parts: Iterable[str]) -> str:
    return "\n".join(f"  {part}" for part in parts)
