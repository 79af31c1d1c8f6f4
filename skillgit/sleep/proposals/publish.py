"""Publishing a night: branch, notes, record and rejected lessons become visible in one transaction, or nothing does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import GitError, RefConflictError
from skillgit.evals.gatelines import gate_line
from skillgit.evals.records import merge_lines, note_lines
from skillgit.git import notes, signing
from skillgit.git.publish import Publication, RefUpdate, publish, refuse_blocked
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, Version
from skillgit.skills.edits import Edit
from skillgit.skills.patch import describe
from skillgit.sleep.proposals import journal, ledger
from skillgit.sleep.proposals.messages import commit_message
from skillgit.sleep.proposals.names import PROPOSED, branch_of, free_night
from skillgit.sleep.proposals.record import Lesson, NightRecord
from skillgit.sleep.redact import clean, redact

_ATTEMPTS = 8

Evaluation = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A version's evaluation record and per-task results (`evals.records`); empty where nothing was measured."""


def publish_night(
    repo: Repository,
    config: Config,
    record: NightRecord,
    versions: Sequence[Version],
    evaluations: Sequence[Evaluation],
    *,
    tasks: bytes | None = None,
) -> NightRecord:
    """Write a night down and, when it has lessons to propose, make their branch. Index, files and HEAD stay.

    Args:
        record: the night; its `night` (or `at`) begins with the date that it is to be named after.
        versions: the document after each taken lesson, each made from the one before it.
        evaluations: what was measured on each of them.
        tasks: the night's tasks as JSONL, to be kept in git.

    Returns:
        The record with the name of the night, the branch, its tip, and the commit of each taken lesson.

    Raises:
        CheckFailedError: a lesson would bring a secret into a commit message.
        GitError: git refused, commits cannot be signed, or the branch cannot be made. Nothing was published.
    """
    taken = len(record.taken)
    if not taken == len(versions) == len(evaluations):
        raise GitError(f"{taken} lessons to propose, {len(versions)} versions and {len(evaluations)} evaluations")
    for attempt in range(_ATTEMPTS):
        night = free_night(repo, record.skill, (record.night or record.at)[:10])
        done = _committed(repo, config, _clean(replace(record, night=night)), versions)
        try:
            publish(repo, _publication(repo, done, evaluations, tasks))
        except RefConflictError:
            # Another night of this skill was faster, and has the name now.
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            return done
    raise AssertionError("unreachable")


def _clean(record: NightRecord) -> NightRecord:
    """The record with whatever may hold a secret redacted; what is proposed is refused before if it does."""
    return replace(
        record,
        lessons=tuple(map(_clean_lesson, record.lessons)),
        notes=tuple(map(_safe, record.notes)),
    )


def _clean_lesson(lesson: Lesson) -> Lesson:
    told = replace(lesson, why=_safe(lesson.why), reasoning=_safe(lesson.reasoning))
    if lesson.taken:
        return told
    edit = replace(lesson.edit, content=_safe(lesson.edit.content), target=_safe(lesson.edit.target))
    return replace(told, edit=edit)


def _safe(text: str) -> str:
    return redact(clean(text))


def _committed(repo: Repository, config: Config, record: NightRecord, versions: Sequence[Version]) -> NightRecord:
    """Write one commit per taken lesson; no ref moves."""
    if not versions:
        return replace(record, branch="", tip="")
    branch = branch_of(record.skill, record.night)
    refuse_blocked(repo, branch)
    place = Place(record.skill, record.path, record.document)
    metric, sign = config.evaluation.gate_metric, config.git.sign == "auto"
    tip, commits = record.base, []
    for number, (lesson, version) in enumerate(zip(record.taken, versions, strict=True), 1):
        message = commit_message(record, number, lesson, metric)
        tip = signing.commit_version(repo, place, version, message, tip, sign=sign)
        commits.append(tip)
    left = iter(commits)
    lessons = tuple(replace(one, commit=next(left) if one.taken else "") for one in record.lessons)
    return replace(record, branch=branch, tip=tip, lessons=lessons)


def _publication(
    repo: Repository, record: NightRecord, evaluations: Sequence[Evaluation], tasks: bytes | None
) -> Publication:
    refs = [journal.written(repo, record, tasks)]
    if record.tip:
        name = f"{record.skill}/{record.night}"
        refs += [RefUpdate(f"refs/heads/{record.branch}", record.tip, None)]
        refs += [RefUpdate(f"{PROPOSED}/{name}", record.tip, None)]
    failed = [lesson for lesson in record.lessons if lesson.verdict == "reject"]
    rows = [ledger.Rejected.of(one, record, one.why or "the gate did not accept it", "gate") for one in failed]
    lines = merge_lines(_note_lines(record, evaluations))
    return Publication(refs, ledger.add(repo, record.skill, rows), lines)


def _note_lines(record: NightRecord, evaluations: Sequence[Evaluation]) -> Iterator[dict[str, notes.Additions]]:
    for number, (lesson, (measured, results)) in enumerate(zip(record.taken, evaluations, strict=True), 1):
        if measured:
            told = dict(measured) | {"gate": _gate(measured, record.night, number, lesson.edit)}
            yield note_lines(told, results)
            yield {notes.GATES: {lesson.commit: (gate_line(told),)}}


def _gate(measured: Mapping[str, Any], night: str, number: int, edit: Edit) -> dict[str, Any]:
    """The gate's decision with the place of the lesson, which only now has a name."""
    where = {"run": night, "kind": "lesson", "step": number}
    return {"title": describe([edit]), **(measured.get("gate") or {}), **where}
