"""Sessions of a shop in which a user corrects the same three habits again and again, as Claude Code keeps them.

    python sessions.py HOME PROJECT [COUNT]

writes 3 x COUNT sessions into HOME/projects, held in the folder PROJECT over the last days. Prices are wanted as $40,
dates as 2026-05-17, order numbers as ORD-123; the assistant first says it in a sentence, as small models do.
"""

from __future__ import annotations

import json
import random
import sys
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


THINGS = _words("coat scarf lamp kettle chair table bicycle guitar camera tent backpack ladder drill clock rug vase")
COLOURS = _words("grey red blue green brown white black yellow purple orange silver golden dark light old new")
PEOPLE = _words("Anna Boris Clara Dmitri Elena Farid Greta Hugo Irene Jonas Katya Luis Mona Nils Olga Pavel")
MONTHS = _words("January February March April May June July August September October November December")
EVENTS = _words("meeting workshop inspection delivery concert audit training visit")
ASIDES = (
    "It has been in the window since May.",
    "The shop opens at nine.",
    "Nobody has asked for it yet.",
    "It came with the last delivery.",
    "The box is a little damaged.",
    "The customer will call again.",
)
MOST = len(THINGS)

Exchange = tuple[str, str, str, str]
"""Question, first answer, correction, wanted answer."""


def price(number: int, rng: random.Random) -> Exchange:
    value, thing = rng.randint(11, 99), THINGS[number]
    question = f"The {COLOURS[number]} {thing} costs {value} dollars. {rng.choice(ASIDES)} What does the {thing} cost?"
    return question, f"The {thing} costs {value} dollars.", f"No, write it as ${value} and nothing else.", f"${value}"


def date(number: int, rng: random.Random) -> Exchange:
    day, month, year = rng.randint(1, 28), rng.randint(1, 12), rng.choice([2025, 2026])
    who, event, spoken = PEOPLE[number], EVENTS[number % len(EVENTS)], f"{MONTHS[month - 1]} {day}, {year}"
    question = f"{who} moved the {event} to {spoken}. {rng.choice(ASIDES)} When is the {event} of {who}?"
    wanted = f"{year}-{month:02}-{day:02}"
    return question, f"The {event} is on {spoken}.", f"No, give the date as {wanted}, nothing else.", wanted


def order(number: int, rng: random.Random) -> Exchange:
    value, who, thing = rng.randint(100, 999), PEOPLE[number], THINGS[number]
    question = f"{who} asked about order number {value} of the {thing}. {rng.choice(ASIDES)} Which order is it?"
    return question, f"It is order number {value}.", f"No, write the order as ORD-{value}, only that.", f"ORD-{value}"


KINDS: tuple[Callable[[int, random.Random], Exchange], ...] = (price, date, order)


def write(home: Path, project: Path, count: int = 14, now: datetime | None = None) -> int:
    """Write the sessions; their number. At most `MOST` of each kind."""
    rng = random.Random(7)  # noqa: S311 - reproducible, not secret
    start = (now or datetime.now(UTC)) - timedelta(hours=60)
    folder = home / "projects" / "-shop"
    folder.mkdir(parents=True, exist_ok=True)
    rows = [kind(number, rng) for number in range(min(count, MOST)) for kind in KINDS]
    for at, (question, said, fix, wanted) in enumerate(rows):
        turns = [("user", question), ("assistant", said), ("user", fix)]
        turns += [("assistant", wanted), ("user", "Perfect, thanks.")]
        session = str(uuid.UUID(int=rng.getrandbits(128)))
        lines = list(_lines(session, turns, project, start + timedelta(minutes=70 * at), rng))
        (folder / f"{session}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return len(rows)


def _lines(
    session: str, turns: list[tuple[str, str]], project: Path, start: datetime, rng: random.Random
) -> Iterator[dict[str, Any]]:
    parent = None
    for number, (role, text) in enumerate(turns):
        name = str(uuid.UUID(int=rng.getrandbits(128)))
        yield {
            "type": role,
            "uuid": name,
            "parentUuid": parent,
            "sessionId": session,
            "cwd": str(project),
            "gitBranch": "main",
            "entrypoint": "cli",
            "isSidechain": False,
            "timestamp": (start + timedelta(seconds=20 * number)).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "message": {"role": role, "content": text if role == "user" else [{"type": "text", "text": text}]},
        }
        parent = name


if __name__ == "__main__":
    home, project, *rest = sys.argv[1:]
    written = write(Path(home), Path(project).resolve(), int(rest[0]) if rest else 14)
    sys.stdout.write(f"{written} sessions written\n")
