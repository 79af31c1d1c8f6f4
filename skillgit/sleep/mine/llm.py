"""The miner that asks the optimizer: what people asked for, put so that it can be understood alone, and its rubric."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any

from skillgit.events import Progress, Sink
from skillgit.models.pending import answered, held
from skillgit.models.prompt import render
from skillgit.optimizer.advisor import Advisor
from skillgit.sleep.mine.alike import content_words
from skillgit.sleep.mine.asks import Ask
from skillgit.sleep.mine.heuristic import Judge
from skillgit.sleep.mine.screen import sound_checks
from skillgit.sleep.redact import clip

PER_SESSION = 3
"""Most tasks of one session."""

_STAGE = "mine"
_WORKERS = 4
_SESSIONS, _CHARS = 8, 16_000  # most sessions in one call, and about how much text
_ABOUT = 5  # of so many sessions one begins a new call
_ASKED, _SAID, _ANSWER = 2000, 600, 400  # characters that are shown
_RUBRIC_CHARS = 2000
_FEWEST_CHARS = 8  # of an intent

_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "tasks": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "session": {"type": "integer"},
                    "request": {"type": "integer"},
                    "intent": {"type": "string"},
                    "rubric": {"type": "string"},
                    "checks": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"op": {"type": "string"}, "arg": {"type": ["string", "integer", "null"]}},
                            "required": ["op"],
                        },
                    },
                    "satisfied": {"type": "boolean"},
                },
                "required": ["session", "request", "intent", "rubric", "satisfied"],
            },
        }
    },
    "required": ["tasks"],
}


@dataclass(frozen=True)
class Reading:
    """How a model understood one ask.

    Attributes:
        judge: a rubric, or checks where it wrote no usable rubric.
    """

    intent: str
    judge: Judge
    satisfied: bool


@dataclass(frozen=True)
class Readings:
    """All that a model understood: by `Ask.key`, with notes and what was dropped by reason."""

    of: Mapping[tuple[str, int], Reading]
    notes: tuple[str, ...]
    dropped: Mapping[str, int]


def read(asks: Sequence[Ask], advisor: Advisor, sink: Sink) -> Readings:
    """What the optimizer makes of the asks that no accepted answer judges already.

    A session whose call fails has no readings, and a note says so: its asks are then judged by what people said.

    Raises:
        ModelConfigError: the optimizer cannot be reached as configured.
    """
    batches = [(_hash(batch[0]), batch) for batch in _batches(asks)]
    done = count(1)

    def ask(numbered: tuple[int, list[list[Ask]]]) -> dict[str, Any] | None:
        number, batch = numbered
        lines = render("mine", lines="\n".join(_lines(batch)))
        reply = advisor.ask(lines, _SCHEMA, stage=_STAGE, step=0, index=number, spare=True)
        sink(Progress(_STAGE, next(done), len(batches)))
        return reply

    with ThreadPoolExecutor(_WORKERS, _STAGE) as pool:
        replies = answered(pool.map(held(ask), batches))
    found: dict[tuple[str, int], Reading] = {}
    dropped = Counter[str]()
    for (_, batch), reply in zip(batches, replies, strict=True):
        found |= _readings(batch, reply["tasks"] if reply else (), dropped)
    return Readings(found, tuple(_notes(dict(batches), advisor)), +dropped)


def _batches(asks: Sequence[Ask]) -> Iterator[list[list[Ask]]]:
    """Sessions, as many as fit into one call; those that need no reading are left out.

    Where a batch may begin is told by the session alone, so that a new one changes its own batch and no other: all
    others are asked as on the nights before, which is free.
    """
    sessions: dict[str, list[Ask]] = {}
    for ask in sorted(asks, key=lambda ask: ask.key):
        sessions.setdefault(ask.key[0], []).append(ask)
    batch: list[list[Ask]] = []
    size = 0
    for session in sessions.values():
        if all(ask.exact for ask in session):
            continue
        length = sum(len(line) for line in _lines([session]))
        begins = _hash(session) % _ABOUT == 0
        if batch and (begins or len(batch) == _SESSIONS or size + length > _CHARS):
            yield batch
            batch, size = [], 0
        batch.append(session)
        size += length
    if batch:
        yield batch


def _hash(session: Sequence[Ask]) -> int:
    """Says where batches begin, and tells a batch by its first session, whatever other batches there are."""
    return int(hashlib.sha256(session[0].key[0].encode()).hexdigest()[:6], 16)


def _lines(batch: Sequence[Sequence[Ask]]) -> Iterator[str]:
    """JSON lines: whatever a text holds, it cannot end its string, so it cannot pass for another line."""
    for number, session in enumerate(batch, 1):
        for place, ask in enumerate(session, 1):
            shown = [("person", ask.text, _ASKED), *(("person", text, _SAID) for text in ask.said)]
            for who, text, limit in (*shown, ("agent", ask.last, _ANSWER)):
                line = {"session": number, "request": place, "who": who, "text": clip(text, limit)}
                yield json.dumps(line, ensure_ascii=False)


def _readings(
    batch: Sequence[Sequence[Ask]], tasks: Iterable[Mapping[str, Any]], dropped: Counter[str]
) -> dict[tuple[str, int], Reading]:
    places = {(number, place): ask for number, asks in enumerate(batch, 1) for place, ask in enumerate(asks, 1)}
    found: dict[tuple[str, int], Reading] = {}
    taken = Counter[str]()
    for task in tasks:
        ask = places.get((task["session"], task["request"]))
        if ask is None or ask.key in found or taken[ask.session.hashed] == PER_SESSION:
            dropped["model_no_such_request" if ask is None else "model_too_many"] += 1
            continue
        reading = _reading(batch[task["session"] - 1], task, dropped)
        if reading:
            found[ask.key] = reading
            taken[ask.session.hashed] += 1
    return found


def _reading(session: Sequence[Ask], task: Mapping[str, Any], dropped: Counter[str]) -> Reading | None:
    """What the model wrote of one ask; nothing that shares no word with what people said."""
    people = {word for ask in session for text in (ask.text, *ask.said) for word in content_words(text)}
    intent, rubric = task["intent"].strip(), task["rubric"].strip()
    if len(intent) < _FEWEST_CHARS or not people & content_words(intent):
        dropped["model_not_grounded"] += 1
        return None
    judge, unusable = sound_checks(task.get("checks") or ())
    dropped["model_unusable_checks"] += unusable
    if people & content_words(rubric):
        return Reading(intent, {"type": "rubric", "rubric": clip(rubric, _RUBRIC_CHARS)}, task["satisfied"])
    if judge is None:
        dropped["model_nothing_to_judge_by"] += 1
        return None
    return Reading(intent, judge, task["satisfied"])


def _notes(batches: Mapping[int, Sequence[Sequence[Ask]]], advisor: Advisor) -> Iterator[str]:
    for drop in advisor.take_drops():
        size = len(batches[drop.index])
        yield f"{size} {'session was' if size == 1 else 'sessions were'} mined without a model: {drop.told}"
