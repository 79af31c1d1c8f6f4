"""Single and multi: the target writes a program, and with several turns mends it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from skillgit.models.base import Message
from skillgit.models.prompt import render
from skillgit.tasks.base import Ask
from skillgit.tasks.benchmarks.single import answer_to
from skillgit.tasks.benchmarks.spreadsheet.code import program_in
from skillgit.tasks.benchmarks.spreadsheet.report import cells
from skillgit.tasks.benchmarks.spreadsheet.work import Work

_SHOWN = 3000
"""Most characters of an error that the target is shown."""

_LAST_SECONDS = 10.0


@dataclass(frozen=True)
class Patience:
    """How long a task is talked about.

    Attributes:
        turns: replies at most.
        seconds: of the whole task; no further turn begins in its last ten.
        tokens: most tokens of one reply; `None` leaves the limit to the backend.
    """

    turns: int
    seconds: float
    tokens: int | None


@dataclass(frozen=True)
class Talk:
    """What was said after the system turn, and the last program; `cut` when the last reply hit the token limit."""

    turns: tuple[Message, ...]
    code: str
    cut: bool


def talk(messages: tuple[Message, ...], work: Work, ask: Ask, patience: Patience, *, feedback: bool) -> Talk:
    """Ask for a program, and again while it fails. Model errors pass through.

    Args:
        feedback: a program that runs is also told which cells of the first case are wrong, not what they should be.
    """
    ends = time.monotonic() + patience.seconds
    said: tuple[Message, ...] = ()
    for turn in range(1, patience.turns + 1):
        sent = (*messages, *(_sent(m) for m in said if m.role != "reasoning"))
        answered, cut = answer_to(sent, patience.tokens, ask)
        said += answered
        code = program_in(said[-1].content)
        if turn == patience.turns or ends - time.monotonic() <= _LAST_SECONDS:
            break
        again = _complaint(work, code, feedback=feedback)
        if again is None:
            break
        said += (replace(again, role="tool"),)
    return Talk((*(m for m in messages if m.role != "system"), *said), code, cut)


def _sent(turn: Message) -> Message:
    """What the record tells as a tool's words is a user's turn for the target, which called no tool."""
    return replace(turn, role="user") if turn.role == "tool" else turn


def _complaint(work: Work, code: str, *, feedback: bool) -> Message | None:
    """What the target is told to mend; `None` when nothing is."""
    if not code:
        return render("spreadsheet_no_code")[0]
    if problem := work.attempt(0, code):
        return render("spreadsheet_error", error=problem.partition(": ")[2][:_SHOWN])[0]
    made = work.output(0)
    verdict = work.judge({0: made})[0] if feedback and made else None
    if verdict is None or verdict.passed:
        return None
    wrong = verdict.problem.partition(": ")[2] or "\n".join(cells(verdict, hidden=True))
    return render("spreadsheet_wrong", cells=wrong)[0]
