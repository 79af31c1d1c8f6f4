"""Nights without a model: lessons put on a skill as the night does it, with made-up scores, and published for real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillgit.config.load import load_config
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, Version, read_version, with_document
from skillgit.skills.document import Document
from skillgit.skills.edits import Edit, apply_edits
from skillgit.sleep.proposals.publish import publish_night
from skillgit.sleep.proposals.record import Lesson, NightRecord

GREETER = Place("greeter", "skills/greeter", "skills/greeter/SKILL.md")
DATES = Edit("append", "- Write dates as YYYY-MM-DD.")
UNITS = Edit("append", "- Give lengths in metres.")
NIGHT = "2026-11-30"


def lesson(edit: Edit = DATES, *, verdict: str = "accept_new_best", score: float | None = 0.75, **more: Any) -> Lesson:
    """A lesson of five tasks from three sessions that lifted the score from one half."""
    fields: dict[str, Any] = {
        "tasks": tuple(f"mined-{n:012x}" for n in range(5)),
        "sessions": tuple(f"{n:012x}" for n in range(3)),
        "base_score": None if score is None else 0.5,
        "score": score,
        "n": 0 if score is None else 4,
        "improved": ("mined-0000000000aa",),
        "reasoning": "people corrected it",
    }
    return Lesson(edit, verdict=verdict, **(fields | more))


def applied(repo: Repository, version: Version, edit: Edit, place: Place = GREETER) -> Version:
    """The version with an edit applied."""
    document, (result,) = apply_edits(version.document, [edit])
    assert result.outcome == "applied", result.reason
    return with_document(repo, version, place, document)


def measured(version: Version, score: float, before: float, base: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The record of a version on four val tasks, and their scores."""
    record: dict[str, Any] = {
        "v": 1,
        "id": f"{version.object[:16]}val",
        "skill": version.object,
        "split": "val",
        "n": 4,
        "hard": score,
        "soft": score,
        "metric": "hard",
        "score": score,
        "tasks": "t",
        "judge": "j",
        "target": {"backend": "scripted", "model": "m"},
        "samples": 1,
        "seed": 42,
        "complete": True,
        "at": "2026-11-30T03:00:00Z",
        "gate": {"verdict": "accept_new_best", "base": base, "base_score": before},
    }
    tasks = {f"v{n}": {"hard": float(n < score * 4), "soft": float(n < score * 4)} for n in range(4)}
    return record, {"v": 1, "record": record["id"], "tasks": tasks}


def night(
    folder: Path, *lessons: Lesson, date: str = NIGHT, place: Place = GREETER, new: str = "", **more: Any
) -> NightRecord:
    """A published night of the skill as it is in HEAD.

    Args:
        new: text of a document that HEAD does not have yet.
    """
    repo = Repository.open(folder)
    head = repo.commit("HEAD")
    tasks = more.pop("tasks", None)
    record, versions, evaluations = worked(repo, head, lessons or (lesson(),), date, place, new)
    return publish_night(repo, load_config(folder, "", ()), replace(record, **more), versions, evaluations, tasks=tasks)


def worked(
    repo: Repository, head: str, lessons: Sequence[Lesson], date: str = NIGHT, place: Place = GREETER, new: str = ""
) -> tuple[NightRecord, list[Version], list[tuple[dict[str, Any], dict[str, Any]]]]:
    """A night's work, not published yet."""
    base = version = read_version(repo, head, place) or _scaffold(repo, place, new)
    versions, evaluations = [], []
    for one in lessons:
        if one.taken:
            before, version = version.object, applied(repo, version, one.edit, place)
            versions.append(version)
            known = one.score is not None
            evaluations.append(measured(version, one.score or 0.0, 0.5, before) if known else ({}, {}))
    verified = all(one.verdict != "unverified" for one in lessons)
    verdict = ("verified" if verified else "unverified") if versions else "nothing"
    record = NightRecord(
        date,
        place.name,
        place.path,
        place.document,
        head,
        base.object,
        verdict,  # type: ignore[arg-type]
        tuple(lessons),
        counts={"train": 5, "val": 4, "test": 0, "sessions": 3},
        fingerprint="f" * 64,
        optimizer="scripted/o",
        target="scripted/t",
        at=f"{date}T03:00:00Z",
    )
    return record, versions, evaluations


def _scaffold(repo: Repository, place: Place, text: str) -> Version:
    blob = repo.git.run("hash-object", "-w", "--stdin", data=text.encode()).decode().strip()
    tree = blob
    if place.path != place.document:
        tree = repo.git.run("mktree", data=f"100644 blob {blob}\tSKILL.md\n".encode()).decode().strip()
    return Version(tree, Document.parse(text.encode()))
