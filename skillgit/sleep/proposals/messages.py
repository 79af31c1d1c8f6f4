"""The words of a proposal's commits. They hold no transcript, no model reasoning and no session's own id."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from skillgit.errors import CheckFailedError
from skillgit.evals.gatelines import change_text
from skillgit.skills.commit_message import SUBJECT, Message, check_message, subject
from skillgit.skills.lines import split_lines
from skillgit.skills.markers import strip_markers
from skillgit.skills.patch import describe
from skillgit.sleep.proposals.record import Lesson, NightRecord

_SESSIONS = 16  # named in a trailer; the night's record has all
_LINES = 40
_WIDTH = 400
_HASHED = re.compile(r"[0-9a-f]{8,64}")


def commit_message(record: NightRecord, number: int, lesson: Lesson, metric: str) -> str:
    """The message of a lesson's commit, with trailers.

    Args:
        number: of the lesson within the proposal, from 1.
        metric: of the gate.

    Raises:
        CheckFailedError: it would hold a secret.
    """
    head = subject(record.skill, "")
    title = subject(record.skill, describe([lesson.edit], SUBJECT - len(head)))
    trailers = {
        "Skillgit-Run": record.night,
        "Skillgit-Step": str(number),
        "Skillgit-Gate": f"{lesson.verdict} {_change(lesson)}",
        "Skillgit-Optimizer": _one_line(record.optimizer),
        "Skillgit-Target": _one_line(record.target),
        "Skillgit-Evidence": _evidence(lesson),
    }
    ends = [f"{key}: {value}" for key, value in trailers.items() if value]
    text = "\n".join([title, "", *_rule(lesson), "", _asked(lesson), _gained(lesson, metric), "", *ends, ""])
    for problem in check_message(Message.read(text)):
        if problem.level == "error":
            raise CheckFailedError(f"lesson {number} of {record.skill} cannot be proposed", why=problem.message)
    return text


def _evidence(lesson: Lesson) -> str:
    """`sessions=3 tasks=5 HASH HASH …`."""
    return " ".join([f"sessions={len(lesson.sessions)}", f"tasks={len(lesson.tasks)}", *_hashes(lesson)])


def _hashes(lesson: Lesson) -> list[str]:
    return [name if _HASHED.fullmatch(name) else _hash(name) for name in lesson.sessions[:_SESSIONS]]


def is_of(lesson: Lesson, evidence: str) -> bool:
    """Whether a trailer `Skillgit-Evidence` speaks of the sessions of a lesson."""
    return [word for word in evidence.split() if "=" not in word] == _hashes(lesson)


def _gained(lesson: Lesson, metric: str) -> str:
    """What the gate measured, or that it measured nothing."""
    if lesson.score is None:
        return f"not verified: {_one_line(lesson.why) or 'nothing was measured'}"
    # Where too few val tasks are, the gate looked at the train tasks, which proves nothing.
    split = "train" if lesson.verdict == "unverified" else "val"
    scores = change_text(split, metric, lesson.base_score, lesson.score, lesson.n)
    flips = f"{_count(len(lesson.improved), 'task')} improved, {len(lesson.regressed)} regressed"
    return f"{scores}; {flips}{'; not verified' if lesson.verdict == 'unverified' else ''}"


def _asked(lesson: Lesson) -> str:
    return f"Asked in {_count(len(lesson.sessions), 'session')}, {_count(len(lesson.tasks), 'train task')}."


def _rule(lesson: Lesson) -> Iterator[str]:
    """The rule, indented: a line of it must never be taken for a trailer, a comment, or the beginning of a patch."""
    if lesson.edit.op == "delete":
        yield "Removes:"
        yield ""
    lines = split_lines(strip_markers(lesson.rule))
    for line in lines[:_LINES]:
        yield f"    {_printable(line.rstrip())[:_WIDTH]}".rstrip()
    if len(lines) > _LINES:
        yield f"    … ({len(lines) - _LINES} more lines)"


def _change(lesson: Lesson) -> str:
    if lesson.score is None or lesson.base_score is None:
        return "unknown"
    return f"{lesson.score - lesson.base_score:+.3f}"


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _one_line(text: str) -> str:
    return " ".join(_printable(text).split())


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"
