"""Task records of SkillOpt-Sleep as mined tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, cast, get_args

from skillgit.sleep.mine.base import MinedTask, Origin, Outcome, Split
from skillgit.sleep.mine.taskrows import Parsed, choice, judge_of
from skillgit.tasks.base import Task
from skillgit.tasks.record import Record

FORMAT = "skillopt_sleep.tasks.v1"

_SPLITS: Mapping[str, Split] = {"train": "train", "replay": "train", "val": "val", "holdout": "val", "test": "test"}


def parse_published(record: Record, source: str, notes: list[str]) -> Parsed | None:
    """One task, or `None`: after problems, or, with a note, when nothing says what a good answer is.

    An exact reference is compared as a whole, where SkillOpt-Sleep is content to find it anywhere; case, punctuation
    and articles do not count there or here. Fields it does not use are left aside; so is an attempted solution.

    Args:
        source: whose transcripts they are, to hash the ids of sessions with.
    """
    known = len(record.problems.found)
    name, question = record.id(), record.text("intent")
    kind = choice(record, "reference_kind", ("exact", "rubric", "rule", "none", "answer"), "none")
    answers, spec = _judged(record, kind)
    split = choice(record, "split", tuple(_SPLITS), "train")
    outcome = choice(record, "outcome", get_args(Outcome), "unknown")
    origin = choice(record, "origin", ("real", "dream"), "real")
    sessions, tags = record.texts("source_sessions") or (), record.texts("tags") or ()
    if spec is None:
        notes.append(f"{record.where}: left out, for nothing says what a good answer is")
        return None
    settings, wrong = judge_of(spec, answers)
    for text in wrong:
        record.bad(text)
    if record.optional_text("system"):
        notes.append(f'{record.where}: its "system" is not used')
    context = record.optional_text("context_excerpt")
    task = MinedTask(
        Task(name or "", question or "", context, answers=answers, tags=tags, judge=settings, where=record.where),
        split=_SPLITS[split],
        skill=record.optional_text("skill_hint"),
        project=record.optional_text("project"),
        sessions=tuple(dict.fromkeys(_hashed(source, session) for session in sessions)),
        outcome=cast(Outcome, outcome),
        origin=cast(Origin, origin),
        derived_from=record.optional_text("derived_from"),
    )
    # There, train is also what a task is in before anyone decided.
    return None if len(record.problems.found) > known else Parsed(task, _SPLITS[split] != "train")


def _judged(record: Record, kind: str) -> tuple[tuple[str, ...], Any]:
    reference = record.optional_text("reference")
    if kind == "exact" and reference.strip():
        return (reference,), {"type": "exact", "normalise": "loose"}
    if kind == "rubric" and reference.strip():
        return (), {"type": "rubric", "rubric": reference}
    judge = record.value.get("judge")
    if kind == "rule" and judge:
        checks = judge.get("checks") if isinstance(judge, Mapping) else judge
        return (), {"type": "checks", "checks": checks}
    return (), None


def _hashed(source: str, session: str) -> str:
    return hashlib.sha256(f"{source}:{session}".encode()).hexdigest()[:12]
