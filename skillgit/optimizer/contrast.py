"""Learning from answers to the same task that differ: what told the good one from the bad one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillgit.evals.gate import Metric
from skillgit.evals.rollouts import Outcome
from skillgit.models.prompt import render, text
from skillgit.optimizer.advisor import Advisor
from skillgit.optimizer.modes import MODES
from skillgit.optimizer.patches import Patch, parse_patch
from skillgit.optimizer.trajectories import question, trim
from skillgit.tasks.base import Task

_MOST_PAIRS = 6


@dataclass(frozen=True)
class Pair:
    """The best and the worst answer to one task, with their scores."""

    task: Task
    best: str
    worst: str
    high: float
    low: float


def pairs(outcomes: Sequence[Outcome], metric: Metric) -> list[Pair]:
    """Tasks whose answers were scored differently, the widest apart first."""
    answers: dict[str, list[tuple[float, int, Outcome]]] = {}
    for outcome in outcomes:
        if outcome.trajectory and outcome.teaches:
            score = metric.of(outcome.trajectory.score.hard, outcome.trajectory.score.soft)
            answers.setdefault(outcome.task.id, []).append((score, outcome.sample, outcome))
    found = [_pair(rows) for rows in answers.values() if max(rows)[0] > min(rows)[0]]
    return sorted(found, key=lambda pair: (pair.low - pair.high, pair.task.id))


def _pair(rows: Sequence[tuple[float, int, Outcome]]) -> Pair:
    ordered = sorted(rows, key=lambda row: row[:2])
    (low, _, worst), (high, _, best) = ordered[0], ordered[-1]
    assert worst.trajectory is not None
    assert best.trajectory is not None
    return Pair(best.task, best.trajectory.response, worst.trajectory.response, high, low)


def contrast(
    advisor: Advisor, skill: str, found: Sequence[Pair], *, context: str, budget: int, limit: int, step: int
) -> Patch | None:
    """Edits that ask for what good answers have in common; `None` when there is nothing to compare or no answer.

    Args:
        found: see `pairs`; the first few are shown.
        limit: most characters of one answer that are shown.
    """
    shown = found[:_MOST_PAIRS]
    if not shown:
        return None
    mode = MODES["patch"]
    messages = render(
        "contrast",
        form=text(mode.form),
        skill=skill or "(empty)",
        context=context,
        pairs="\n\n".join(_case(number, pair, limit) for number, pair in enumerate(shown, 1)),
        budget=f"At most {budget} edits, the most useful first.",
    )
    reply = advisor.ask(
        messages, mode.schema(notes=False), stage="contrast", step=step, accept=mode.accepted(), spare=True
    )
    if reply is None:
        return None
    patch = parse_patch(mode, reply, "failure", len(shown), budget)
    return replace(patch, tasks=tuple(pair.task.id for pair in shown))


def _case(number: int, pair: Pair, limit: int) -> str:
    return "\n".join(
        [
            f"### Case {number}",
            f"Asked: {trim(question(pair.task), limit)}",
            f"Good answer ({pair.high:.2f}): {trim(pair.best, limit)}",
            f"Bad answer ({pair.low:.2f}): {trim(pair.worst, limit)}",
        ]
    )
