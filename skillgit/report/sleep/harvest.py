"""What a harvest found, as one JSON document and as lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from skillgit.report.diff_text import counted
from skillgit.report.safe import one_line
from skillgit.report.sleep.status import moment
from skillgit.sleep.base import Session
from skillgit.sleep.harvest.collect import Harvest
from skillgit.sleep.mine.mine import Mined
from skillgit.sleep.mine.taskrows import row_of

_SHOWN = 20  # sessions, files and tasks that a person sees; the document has all
_WORDS = 70
_BLANK = {"skill": "", "project": "", "context": "", "answers": [], "judge": {}, "said": [], "sessions": []}


def document(harvest: Harvest, tasks: Mined, *, texts: bool = False) -> dict[str, Any]:
    """The whole result as JSON values.

    Args:
        texts: with what was said, redacted, in `said` of each session.
    """
    return {
        "sessions": [_session(session, harvest.number, texts=texts) for session in harvest.sessions],
        "new": harvest.new,
        "excluded": dict(harvest.excluded),
        "excluded_sessions": dict(harvest.excluded_sessions),
        "damaged": {file: dict(kinds) for file, kinds in harvest.damaged.items()},
        "tasks": [_BLANK | row_of(task) for task in tasks.tasks],
        "dropped": dict(tasks.dropped),
        "notes": [*harvest.notes, *tasks.notes],
        "bytes": harvest.bytes,
        "seconds": harvest.seconds,
    }


def head(found: Mapping[str, Any]) -> str:
    """How many sessions there are, in a line."""
    by_source = counts(Counter(one["source"] for one in found["sessions"]))
    count = counted(len(found["sessions"]), "session")
    return f"{count} kept{f' ({by_source})' if by_source else ''}, {found['new']} with something new"


def session_rows(found: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The newest sessions as cells, a header first; empty when there are none."""
    shown = [_row(session) for session in reversed(found["sessions"][-_SHOWN:])]
    return [("ended", "source", "session", "turns", "skills", "project"), *shown] if shown else []


def task_rows(found: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The tasks asked most often as cells, a header first; empty when there are none."""
    shown = [
        (task["split"], str(len(task["sessions"])), one_line(task["skill"]) or "–", one_line(task["input"], _WORDS))
        for task in found["tasks"][:_SHOWN]
    ]
    return [("split", "sessions", "skill", "asked"), *shown] if shown else []


def left_out(found: Mapping[str, Any]) -> Iterator[str]:
    """What was left out or damaged, and why, in lines."""
    yield from _more(len(found["sessions"]), "session")
    if found["excluded"]:
        yield f"left out: {counts(found['excluded'])} (records)"
    if found["excluded_sessions"]:
        yield f"          {counts(found['excluded_sessions'])} (whole sessions)"
    yield from damage(found["damaged"])


def damage(damaged: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Damaged files in lines."""
    if damaged:
        yield f"damaged: {counted(sum(sum(kinds.values()) for kinds in damaged.values()), 'record')}"
    for file, kinds in list(damaged.items())[:_SHOWN]:
        yield f"  {one_line(file)}: {counts(kinds)}"
    yield from _more(len(damaged), "file")


def mined(found: Mapping[str, Any]) -> Iterator[str]:
    """How many tasks there are, and what gave none, in lines."""
    splits = Counter(task["split"] for task in found["tasks"])
    parts = counts({name: splits[name] for name in ("train", "val", "test") if splits[name]})
    yield f"{counted(len(found['tasks']), 'task')} mined{f' ({parts})' if parts else ''}"
    if found["dropped"]:
        yield f"no task: {counts(found['dropped'])}"


def _session(session: Session, number: int, *, texts: bool) -> dict[str, Any]:
    return {
        "source": session.source,
        "session": session.hashed,
        "project": session.project,
        "branch": session.branch,
        "started": moment(session.started),
        "ended": moment(session.ended),
        "turns": len(session.turns),
        "skills": list(session.skills),
        "new": session.harvested == number,
        **({"said": [{"role": turn.role, "text": turn.text} for turn in session.turns]} if texts else {}),
    }


def _row(session: Mapping[str, Any]) -> tuple[str, ...]:
    ended = (session["ended"] or "–")[:16].replace("T", " ")
    skills = one_line(", ".join(session["skills"]), 40)
    name = one_line(session["source"])
    return (ended, name, session["session"], str(session["turns"]), skills, one_line(session["project"]))


def counts(found: Mapping[str, int]) -> str:
    """Names with their counts, safe to print."""
    return ", ".join(f"{count} {one_line(name)}" for name, count in found.items())


def _more(number: int, what: str) -> Iterator[str]:
    if number > _SHOWN:
        yield f"  and {counted(number - _SHOWN, what)} more: --json lists all"
