"""Where lessons come from: proposals that are still open, and what the optimizer makes of tonight's answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from skillgit.evals.rollouts import Outcome
from skillgit.git.skillstore import Version
from skillgit.optimizer.contrast import contrast, pairs
from skillgit.optimizer.patches import Patch
from skillgit.optimizer.reflect import reflect, stop_if_many_failed
from skillgit.skills.edits import Edit
from skillgit.sleep.night.desk import Desk
from skillgit.sleep.proposals.record import Lesson
from skillgit.sleep.proposals.rejected import Rejected, is_known

_SHOWN = 20  # lessons of each kind that the optimizer is told of, the newest
_TEXT = 300  # characters of each
_AGAIN = 2  # times the sessions that spoke for a lesson when it gained nothing


def reflected(
    desk: Desk, version: Version, outcomes: Sequence[Outcome], rejected: Sequence[Rejected]
) -> tuple[list[Lesson], list[str]]:
    """Lessons from a version's answers to the train tasks, those with the most sessions behind them first.

    Also notes on what the optimizer wrote and could not be used.

    Raises:
        ModelError: too many calls got no answer.
    """
    context = told(desk.config.sleep.preferences, rejected)
    text, budget = desk.subject.editable(version).text, desk.config.sleep.edit_budget
    limit = desk.config.gradient.trajectory_chars // 4
    found = pairs(outcomes, desk.metric)
    differing = contrast(desk.advisor, text, found, context=context, budget=budget, limit=limit, step=0)
    worst = _worst(desk, outcomes)
    patches = reflect(desk.advisor, desk.config, text, worst, context=context, budget=budget, step=0)
    drops = desk.advisor.take_drops()
    failures = [drop.reason for drop in drops if drop.failed]
    stop_if_many_failed(failures, len(patches) + len(drops), desk.config.evaluation.max_error_rate)
    patches = [differing, *patches] if differing else patches
    lessons = once(lesson for patch in patches for lesson in _of(desk, patch))
    lost = [f"a reply of the optimizer was not used: {drop.told}" for drop in drops]
    if malformed := sum(len(patch.malformed) for patch in patches):
        lost.append(f"edits of the optimizer that could not be read: {malformed}")
    return sorted(lessons, key=lambda lesson: (-len(lesson.sessions), -len(lesson.tasks))), lost


def told(preferences: str, rejected: Sequence[Rejected]) -> str:
    """What the optimizer should know besides the cases: a person's preferences, and lessons that were turned down."""
    parts = [f"## Preferences of the people who own the document\n\n{preferences}"] if preferences.strip() else []
    for head, ours in (
        ("were turned down; do not propose them again", [one for one in rejected if one.by != "gate"]),
        ("gained nothing when they were tried", [one for one in rejected if one.by == "gate"]),
    ):
        rows = [
            f"- {' '.join(one.rule.removeprefix('- ').split())[:_TEXT]} ({one.reason[:_TEXT]})"
            for one in ours[-_SHOWN:]
        ]
        parts += [f"## Lessons that {head}\n\n" + "\n".join(rows)] if rows else []
    return "\n\n".join(parts)


def screened(lessons: Iterable[Lesson], rejected: Sequence[Rejected], budget: int) -> Iterator[Lesson]:
    """The lessons, with those that are not to be tried marked: turned down before, or beyond the budget."""
    left = budget
    for lesson in lessons:
        known = next((one for one in reversed(rejected) if _turned_down(lesson, one)), None)
        if known:
            yield replace(lesson, verdict="known", why=f"turned down before: {known.reason}")
        elif left <= 0:
            yield replace(lesson, verdict="over_budget", why=f"sleep.edit_budget is {budget}")
        else:
            left -= 1
            yield lesson


def _turned_down(lesson: Lesson, one: Rejected) -> bool:
    """Whether it is the one, and that still counts.

    To remove a rule is another lesson than to add it. What a person turned down stays so; what the gate did, on the few
    tasks of an early night, is tried again once twice as many sessions speak for it.
    """
    if one.by == "gate" and one.sessions and len(lesson.sessions) >= _AGAIN * one.sessions:
        return False
    return (lesson.edit.op == "delete") == (one.edit.op == "delete") and is_known(lesson.rule, [one.rule])


def _worst(desk: Desk, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The worst of each task's answers: an analyst reads one, and learns from what goes wrong."""
    rows: dict[str, Outcome] = {}
    for outcome in outcomes:
        kept = rows.get(outcome.task.id)
        if outcome.trajectory and (kept is None or _score(desk, outcome) < _score(desk, kept)):
            rows[outcome.task.id] = outcome
    return list(rows.values())


def _score(desk: Desk, outcome: Outcome) -> float:
    assert outcome.trajectory is not None
    return desk.metric.of(outcome.trajectory.score.hard, outcome.trajectory.score.soft)


def _of(desk: Desk, patch: Patch) -> Iterator[Lesson]:
    """One lesson per edit."""
    for edit in patch.edits:
        if isinstance(edit, Edit):
            yield behind(desk, Lesson(edit, reasoning=" ".join(patch.reasoning.split())), patch.tasks)


def behind(desk: Desk, lesson: Lesson, shown: Sequence[str]) -> Lesson:
    """The lesson with the evidence for it: all train tasks that people corrected as they did those of ids `shown`.

    What it had before stays, in front.
    """
    cases = [desk.benchmark.mined[name] for name in shown if name in desk.benchmark.mined]
    habits = {one.task.tags[0] for one in cases if one.said}
    mined = [one for one in desk.tasks if one in cases or (one.split == "train" and one.task.tags[0] in habits)]
    # A dream is no evidence: nobody asked it.
    tasks = (one.derived_from or one.task.id for one in mined)
    sessions = (session for one in mined for session in one.sessions)
    return replace(
        lesson,
        tasks=tuple(dict.fromkeys((*lesson.tasks, *tasks))),
        sessions=tuple(dict.fromkeys((*lesson.sessions, *sessions))),
    )


def once(lessons: Iterable[Lesson]) -> list[Lesson]:
    """Equal rules once, with the evidence of all of them."""
    merged: list[Lesson] = []
    for lesson in lessons:
        at = next((n for n, other in enumerate(merged) if _same(lesson, other)), None)
        if at is None:
            merged.append(lesson)
        else:
            both = (merged[at], lesson)
            tasks = tuple(dict.fromkeys(task for one in both for task in one.tasks))
            sessions = tuple(dict.fromkeys(session for one in both for session in one.sessions))
            merged[at] = replace(merged[at], tasks=tasks, sessions=sessions)
    return merged


def _same(one: Lesson, other: Lesson) -> bool:
    return one.edit.op == other.edit.op and one.edit.target == other.edit.target and is_known(one.rule, [other.rule])
