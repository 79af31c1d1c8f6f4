"""Lines of a tasks file to mined tasks, and back.

| field | meaning |
|---|---|
| `id` | unique text |
| `input`, `context` | what is asked, and what is given beside it |
| `answers` | accepted answers |
| `judge` | a judge's name or settings as in any tasks file, or `{"type": "rubric", "rubric": text}` |
| `split` | `train`, `val` or `test`; without it, skillgit chooses |
| `skill` | the skill it is about |
| `said` | what people said when they corrected an answer: only these words make rules |
| `sessions` | hashed ids of the sessions it was asked in |
| `outcome` | `success`, `fail`, `mixed` or `unknown` |
| `project`, `tags`, `origin`, `derived_from` | as mined |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from skillgit.sleep.mine.base import MinedTask, Origin, Outcome, Split
from skillgit.tasks import judges
from skillgit.tasks.base import Task
from skillgit.tasks.problems import suggest
from skillgit.tasks.record import Record

_TEXTS = ("id", "input", "context", "split", "skill", "outcome", "project", "origin", "derived_from")
_FIELDS = frozenset((*_TEXTS, "answers", "judge", "said", "sessions", "tags"))
_HASHED = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True)
class Parsed:
    """A task of a file.

    Attributes:
        split_given: the file says which split it is in; else `task.split` is only a stand-in.
    """

    task: MinedTask
    split_given: bool


def parse_row(record: Record, project: str) -> Parsed | None:
    """One task, or `None` after the problems that forbid it."""
    known = len(record.problems.found)
    record.only(_FIELDS)
    name, question, answers = record.id(), record.text("input"), record.texts("answers")
    settings, wrong = judge_of(record.value.get("judge", "exact"), answers or ())
    for text in wrong:
        record.bad(text)
    split = choice(record, "split", get_args(Split), "train")
    origin = choice(record, "origin", get_args(Origin), "real")
    task = MinedTask(
        Task(
            name or "",
            question or "",
            record.optional_text("context"),
            answers=answers or (),
            tags=record.texts("tags") or (),
            judge=settings,
            where=record.where,
        ),
        split=cast(Split, split),
        skill=record.optional_text("skill"),
        project=record.optional_text("project") or project,
        sessions=_sessions(record),
        said=record.texts("said") or (),
        outcome=cast(Outcome, choice(record, "outcome", get_args(Outcome), "unknown")),
        origin=cast(Origin, origin),
        derived_from=record.optional_text("derived_from"),
    )
    if origin == "dream" and split != "train":
        record.bad(f"a dream is only learned from, so it cannot be in {split}")
    return None if len(record.problems.found) > known else Parsed(task, bool(record.value.get("split")))


def row_of(mined: MinedTask) -> dict[str, Any]:
    """The fields of a task that say something."""
    task = mined.task
    fields = {
        "id": task.id,
        "split": mined.split,
        "input": task.input,
        "context": task.context,
        "answers": list(task.answers),
        "judge": dict(task.judge),
        "said": list(mined.said),
        "skill": mined.skill,
        "outcome": mined.outcome,
        "sessions": list(mined.sessions),
        "project": mined.project,
        "tags": list(task.tags),
        "origin": mined.origin,
        "derived_from": mined.derived_from,
    }
    return {name: value for name, value in fields.items() if value}


def judge_of(spec: Any, answers: tuple[str, ...]) -> tuple[dict[str, Any], list[str]]:
    """A judge with every setting filled in, a rubric included, and what is wrong with it."""
    if not (isinstance(spec, Mapping) and spec.get("type") == "rubric"):
        return judges.resolve(spec, answers)
    text = spec.get("rubric")
    wrong = [f'judge rubric has no setting "{key}"' for key in sorted(set(spec) - {"type", "rubric"})]
    if not isinstance(text, str) or not text.strip():
        wrong.append("judge rubric: rubric must be text that is not blank")
    return {"type": "rubric", "rubric": text}, wrong


def choice(record: Record, name: str, known: tuple[str, ...], default: str) -> str:
    """One of some words; the default after a problem, or when the field is absent or blank."""
    value = record.optional_text(name)
    if value and value not in known:
        record.bad(f'"{name}" is "{value[:40]}"{suggest(value, known)}')
    return value if value in known else default


def _sessions(record: Record) -> tuple[str, ...]:
    """Hashed ids; nothing else may get into commits under this name."""
    names = record.texts("sessions") or ()
    if any(not _HASHED.fullmatch(name) for name in names):
        record.bad('"sessions" must hold hashed ids of 12 hex digits')
    return tuple(dict.fromkeys(names))
