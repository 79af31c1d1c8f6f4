"""The lessons of a night in the shape of a run's steps, so that `blame` and `show` tell of both alike."""

from __future__ import annotations

from typing import Any

from skillgit.git.objects import resolve_many
from skillgit.git.repository import Repository
from skillgit.sleep.proposals.journal import read_nights
from skillgit.sleep.proposals.names import is_night
from skillgit.sleep.proposals.record import Lesson, NightRecord


def lesson_records(repo: Repository, skill: str, night: str) -> dict[str, dict[str, Any]]:
    """Number to record of the proposed lessons of a night; empty when `night` is none, or its record is not here."""
    nights = read_nights(repo, skill) if is_night(night) else []
    record = next((one for one in nights if one.night == night), None)
    if record is None:
        return {}
    objects = resolve_many(repo, [f"{lesson.commit}:{record.path}" for lesson in record.taken])
    numbered = enumerate(zip(record.taken, objects, strict=True), 1)
    return {str(number): _step(record, number, lesson, name) for number, (lesson, name) in numbered}


def _step(record: NightRecord, number: int, lesson: Lesson, skill_object: str | None) -> dict[str, Any]:
    return {
        "kind": "lesson",
        "step": number,
        "epoch": None,
        "verdict": lesson.verdict,
        "commit": lesson.commit,
        "edits": [lesson.edit.to_json()],
        "proposed": len(record.lessons),
        "patterns": [_asked(lesson)],
        "reasoning": lesson.reasoning,
        "sessions": list(lesson.sessions),
        "tasks": list(lesson.tasks),
        **({"record": {"skill": skill_object}} if skill_object else {}),
    }


def _asked(lesson: Lesson) -> str:
    return f"asked in {len(lesson.sessions)} sessions, {len(lesson.tasks)} train tasks"
