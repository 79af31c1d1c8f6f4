"""Proposals as data, for `sleep list`, `sleep show` and `status`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from skillgit.git import history
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place
from skillgit.report.unmeasured import unmeasured
from skillgit.sleep.proposals import journal, states
from skillgit.sleep.proposals.states import LessonState, State


def listing(repo: Repository, skill: str = "", *, also: Sequence[str] = ()) -> dict[str, Any]:
    """Every proposal, newest first.

    Args:
        also: branches that count as adopting, besides HEAD and the main branches.

    Returns:
        `proposals` (see `row`), `foreign`: branches under sleep/ that no night made, `unmeasured`: skills with adopted
        lessons whose text in HEAD was never measured, `unreadable` records of nights (`file`, `why`).
    """
    found = states.proposals(repo, skill, also=also)
    newest = sorted(found, key=lambda state: state.record.at, reverse=True)
    unreadable = journal.read(repo, skill).unreadable
    return {
        "proposals": [row(state) for state in newest],
        "foreign": states.foreign(repo, skill),
        "unmeasured": learned_unmeasured(repo, found),
        "unreadable": [{"file": file, "why": why} for file, why in unreadable.items()],
    }


def row(state: State) -> dict[str, Any]:
    """One proposal in short; `before` and `after` are val scores without its lessons and with all of them."""
    record = state.record
    scores = [one for one in record.taken if one.score is not None and one.verdict != "unverified"]
    fates = [one.fate for one in state.lessons]
    return {
        "name": state.name,
        "skill": record.skill,
        "night": record.night,
        "branch": state.branch or None,
        "status": state.status,
        "verdict": record.verdict,
        "lessons": len(fates),
        "adopted": sum(fate in ("adopted", "reverted") for fate in fates),
        "waiting": len(state.waiting),
        "before": scores[0].base_score if scores else None,
        "after": scores[-1].score if scores else None,
        "sessions": len({name for one in record.taken for name in one.sessions}),
        "edited": state.edited,
        "stale": state.stale,
        "at": record.at,
        "next": _next(state),
    }


def shown(repo: Repository, state: State, *, patch: bool = False) -> dict[str, Any]:
    """All that is known of a proposal: its night, its lessons with evidence and scores, and what was not proposed.

    Args:
        patch: add the change of the whole proposal as `patch`.
    """
    record = state.record
    told = row(state) | {
        "base": record.base,
        "tip": state.tip or None,
        "path": record.path,
        "counts": dict(record.counts),
        "test": dict(record.test),
        "usage": dict(record.usage),
        "optimizer": record.optimizer or None,
        "target": record.target or None,
        "supersedes": list(record.supersedes),
        "recorded": state.recorded,
        "lessons": [_lesson(one) for one in state.lessons],
        "other_files": other_files(repo, state),
        "not_proposed": [_tried(one) for one in record.to_json()["lessons"] if not _is_taken(one)],
        "notes": list(record.notes),
    }
    return told | ({"patch": _patch(repo, state)} if patch else {})


def other_files(repo: Repository, state: State) -> list[str]:
    """Files besides the skill's that merging its branch would change: a person, or someone else, put them there."""
    start = _start(repo, state)
    if not start:
        return []
    out = repo.git.text("diff-tree", "-r", "-z", "--name-only", "--no-renames", start, state.tip)
    path = state.record.path
    return [name for name in out.split("\0") if name and name != path and not name.startswith(f"{path}/")]


def learned_unmeasured(repo: Repository, found: Sequence[State]) -> list[dict[str, Any]]:
    """Documents with adopted lessons whose text in HEAD has no record on val: two proposals came together, say."""
    places = learned(found)
    return unmeasured(repo, places.values(), places)


def learned(found: Sequence[State]) -> dict[str, Place]:
    """Path to place of the documents that lessons were adopted in."""
    records = [state.record for state in found if state.status in ("adopted", "partly adopted")]
    return {one.path: Place(one.skill, one.path, one.document) for one in records}


def overview(
    repo: Repository, places: Iterable[Place], skill: str = ""
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """For `skillgit status`: the proposals that wait, and the skills of HEAD that were never measured as they are.

    Args:
        places: of the skills of HEAD.
    """
    found = states.proposals(repo, skill)
    merged = learned(found)
    asked = {place.path: place for place in places if skill in ("", place.name)} | merged
    waiting = [row(state) for state in found if state.waiting]
    return waiting, unmeasured(repo, asked.values(), merged)


def _next(state: State) -> str | None:
    if not state.waiting:
        return None
    if state.stale and state.status == "stale":
        return f"skillgit sleep run --skill {state.record.skill}"
    return f"skillgit sleep show {state.name}"


def _lesson(one: LessonState) -> dict[str, Any]:
    told = {
        "number": one.number,
        "fate": one.fate,
        "adopted_by": one.commit or None,
        "rejected_because": one.why or None,
    }
    return told | _tried(one.lesson.to_json())


def _tried(lesson: dict[str, Any]) -> dict[str, Any]:
    rule = lesson["edit"].get("content") or lesson["edit"].get("target", "")
    return {**lesson, "rule": rule.strip(), "change": _change(lesson)}


def _is_taken(lesson: dict[str, Any]) -> bool:
    return lesson["verdict"] in ("accept", "accept_new_best", "unverified")


def _change(lesson: dict[str, Any]) -> float | None:
    before, after = lesson["base_score"], lesson["score"]
    return None if before is None or after is None else round(after - before, 12)


def _patch(repo: Repository, state: State) -> str:
    start = _start(repo, state)
    return history.patch(repo, start, state.tip, []) if start else ""


def _start(repo: Repository, state: State) -> str:
    """The commit that the branch is compared with; blank when it, or the branch, is not in this clone."""
    if not state.tip or repo.resolve(f"{state.tip}^{{commit}}") is None:
        return ""
    base = repo.git.text("merge-base", state.live, state.tip, ok=(0, 1, 128)).split("\n")[0]
    # Of what is merged already, the branch's own beginning tells what it brought.
    start = state.record.base if base in ("", state.tip) else base
    return start if repo.resolve(f"{start}^{{commit}}") else ""
