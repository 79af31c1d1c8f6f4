"""Lessons that were turned down, as git keeps them: one JSON object per line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from skillgit.evals.shapes import count, maybe, number, of, text
from skillgit.git import notes
from skillgit.git.objects import Commit, read_blobs
from skillgit.git.repository import Repository
from skillgit.skills.edits import Edit, EditError
from skillgit.skills.words import words_of
from skillgit.sleep.proposals.names import REJECTED, copies
from skillgit.sleep.proposals.record import Lesson, NightRecord

By = Literal["gate", "person", "deleted"]
"""Who turned it down: the gate, a person with `sleep reject`, or a person who deleted the branch."""

FILE = "lessons.jsonl"

_is_row = of(
    {
        "edit": of({"op": text}, "op"),
        **dict.fromkeys(("reason", "night", "by", "at"), text),
        "scores": of({"before": maybe(number), "after": maybe(number)}),
        "sessions": count,
    },
    "edit",
    "reason",
)


@dataclass(frozen=True)
class Rejected:
    """One lesson that was turned down.

    Attributes:
        reason: in the words of who did it.
        night: the night that tried it.
        before, after: gate scores without and with it, `None` where nothing was measured.
        at: UTC time, ISO 8601.
        sessions: number of those that spoke for it then.
    """

    edit: Edit
    reason: str
    night: str = ""
    by: By = "gate"
    before: float | None = None
    after: float | None = None
    at: str = ""
    sessions: int = 0

    @property
    def rule(self) -> str:
        """The text it would add, or the one it would remove."""
        return (self.edit.content or self.edit.target).strip()

    def to_json(self) -> dict[str, Any]:
        """The row as JSON values."""
        return {
            "edit": self.edit.to_json(),
            "rule": self.rule,
            "reason": self.reason,
            "night": self.night,
            "by": self.by,
            "scores": {"before": self.before, "after": self.after},
            "at": self.at,
            "sessions": self.sessions,
        }

    @classmethod
    def of(cls, lesson: Lesson, record: NightRecord, reason: str, by: By, at: str = "") -> Rejected:
        """A lesson of a night, turned down."""
        scores, sessions = (lesson.base_score, lesson.score), len(lesson.sessions)
        return cls(lesson.edit, reason, record.night, by, *scores, at or record.at, sessions)


def recorded(repo: Repository, skill: str) -> list[Rejected]:
    """What was written down, oldest first, each lesson of a night once. Lines that are none of ours are left out."""
    tips = copies(repo, "rejected", skill).values()
    lines = [line for blob in read_blobs(repo, [f"{tip}:{FILE}" for tip in tips]) for line in _lines(blob)]
    rows = [row for line in dict.fromkeys(lines) if (row := _row(line))]
    return list({_identity(row): row for row in rows}.values())


def add(repo: Repository, skill: str, rows: Sequence[Rejected]) -> dict[str, Commit]:
    """The commit that adds rows to a skill's, by its ref, to be published; empty when all of them are there."""
    ref = f"{REJECTED}/{skill}"
    tip = repo.resolve(ref)
    before = _lines(read_blobs(repo, [f"{tip}:{FILE}"])[0]) if tip else []
    known = {_identity(row) for line in before if (row := _row(line))}
    new = {_identity(row): row for row in rows if _identity(row) not in known}
    if not new:
        return {}
    lines = [*before, *(notes.canonical(row.to_json()) for row in new.values())]
    subject = f"{len(new)} lessons of {skill} turned down" if len(new) > 1 else f"a lesson of {skill} turned down"
    return {ref: Commit(f"{subject}\n", (tip,) if tip else (), {FILE: notes.encode(lines)})}


def _lines(blob: bytes | None) -> list[str]:
    return [line for line in (blob or b"").decode("utf-8", "surrogateescape").split("\n") if line.strip()]


def _row(line: str) -> Rejected | None:
    record = notes.record_of(line)
    if record is None or not _is_row(record) or record.get("by", "gate") not in get_args(By):
        return None
    try:
        edit = Edit.from_json(record["edit"])
    except EditError:
        return None
    scores = record.get("scores", {})
    told = {key: record[key] for key in ("night", "by", "at", "sessions") if key in record}
    return Rejected(edit, record["reason"], **told, before=scores.get("before"), after=scores.get("after"))


def _identity(row: Rejected) -> tuple[str, ...]:
    """The same lesson turned down twice in the same way tells nothing new."""
    return row.edit.op, row.night, row.by, *words_of(row.rule)
