"""A night for one document. Read `learn`: from answers as they are to lessons that a gate confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from skillgit.errors import BudgetReachedError, PendingAnswerError
from skillgit.evals.gate import ACCEPTED, flips
from skillgit.evals.measure import Measurement, measure, measure_against
from skillgit.evals.records import note_lines
from skillgit.evals.rollouts import Outcome
from skillgit.git.publish import Publication, publish
from skillgit.git.skillstore import Version
from skillgit.models.pending import answered, held
from skillgit.skills.patch import describe
from skillgit.sleep.events import LessonTried
from skillgit.sleep.night.desk import Desk
from skillgit.sleep.night.lessons import behind, reflected, screened
from skillgit.sleep.proposals.record import Lesson, Verdict
from skillgit.sleep.proposals.rejected import Rejected

_WEAK = "only the form of answers got better, by checks that any text can meet"
_LEARNED_FROM = "measured on the tasks it was learned from, which proves nothing"


@dataclass
class Night:
    """What a night has come to so far.

    Attributes:
        current: the live version, or the one with the lessons taken so far, as measured.
        lessons: all that were looked at, in order; `versions` and `evaluations` belong to those taken.
        notes: what a person should know of how the lessons came about.
        stopped: the limit that ended the night early.
    """

    base: Measurement
    current: Measurement
    lessons: list[Lesson] = field(default_factory=list)
    versions: list[Version] = field(default_factory=list)
    evaluations: list[tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=list)
    test: dict[str, float | None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    stopped: BudgetReachedError | None = None

    def drop(self, why: str) -> None:
        """Propose nothing: the lessons taken are known already."""
        self.lessons = [replace(one, verdict="known", why=why) if one.taken else one for one in self.lessons]
        self.versions, self.evaluations, self.test = [], [], {}


def learn(desk: Desk, waiting: Sequence[Lesson], rejected: Sequence[Rejected]) -> Night:
    """Try lessons one by one, each on top of those taken before it, and keep what the gate confirms.

    Args:
        waiting: lessons of proposals that nobody has decided on; they are tried again, on the text as it is now.
        rejected: lessons that were turned down; they are told of and not tried (see `screened`).

    Raises:
        ModelError: too many calls failed, so nothing is known.
        PendingAnswerError: answers of a person are missing; nothing is lost.
    """
    night = begun(desk)
    try:
        if not _is_perfect(desk, night.current):
            attempt(desk, night, [behind(desk, lesson, lesson.tasks) for lesson in waiting])
            version = night.current.version
            found, night.notes = reflected(desk, version, answers(desk, version), rejected)
            attempt(desk, night, list(screened(found, rejected, desk.config.sleep.edit_budget)))
        report(desk, night)
    except BudgetReachedError as error:
        night.stopped = error
    return night


def begun(desk: Desk) -> Night:
    """The baseline; a person who answers for a model is asked for the train answers in the same round."""
    found = held(baseline)(desk)
    if isinstance(found, PendingAnswerError):
        answered([found, held(answers)(desk, desk.subject.version)])
        raise found
    return found


def answers(desk: Desk, version: Version) -> list[Outcome]:
    """A version's answers to the train tasks."""
    samples = desk.config.sleep.rollouts
    return desk.rollouts.run(version, desk.splits.train, step=0, stage="rollout", samples=samples)


def baseline(desk: Desk) -> Night:
    """The live document measured, which is kept as a record of it."""
    version, split = desk.subject.version, desk.gate_split
    base = measure(desk.rollouts, version, desk.gate_tasks, step=0, stage=split, samples=desk.samples)
    if not desk.subject.is_new and base.scores:
        publish(desk.repo, Publication(notes=note_lines(*desk.record(base, split, split))))
    return Night(base, base)


def attempt(desk: Desk, night: Night, lessons: Sequence[Lesson]) -> None:
    """Try lessons that are to be tried; those taken become part of the current version."""
    for lesson in lessons:
        number = len(night.lessons) + 1
        measured = None
        if not lesson.verdict:
            lesson, measured = trial(desk, lesson, night.current, number)
        if measured and lesson.taken:
            night.evaluations.append(_evidence(desk, lesson, night.current, measured, number))
            night.versions.append(measured.version)
            night.current = measured
        night.lessons.append(lesson)
        desk.sink(_told(desk, lesson, number))


def trial(desk: Desk, lesson: Lesson, current: Measurement, number: int) -> tuple[Lesson, Measurement | None]:
    """One lesson applied, measured and judged."""
    version, refused = desk.apply(current.version, lesson.edit)
    if refused:
        return replace(lesson, verdict="refused", why=refused), None
    measured = measure_against(
        desk.rollouts,
        version,
        desk.gate_tasks,
        current,
        desk.rule,
        step=number,
        stage=desk.gate_split,
        samples=desk.samples,
    )
    improved, regressed = flips(current.values(desk.metric), measured.values(desk.metric))
    verdict, why = _verdict(desk, measured, current, improved)
    judged = replace(
        lesson,
        verdict=verdict,
        why=why,
        base_score=current.score(desk.metric),
        score=measured.score(desk.metric) if measured.complete else None,
        n=len(measured.scores),
        improved=improved,
        regressed=regressed,
    )
    return judged, measured


def _verdict(desk: Desk, measured: Measurement, current: Measurement, improved: Sequence[str]) -> tuple[str, str]:
    contest = desk.rule.contest(measured.version.document.text, current.version.document.text)
    missing = [task for task in {*current.scores, *current.errors} if task not in measured.scores]
    new, old = measured.values(desk.metric), current.values(desk.metric)
    verdict, why = desk.rule.verdict(new, old, missing, contest, current.score(desk.metric) or 0.0)
    if verdict == "unverified":
        # In a night that word means a gain on the tasks learned from; here nothing was seen at all.
        return "underpowered", why
    if verdict not in ACCEPTED:
        return verdict, why
    if lost := sorted(desk.rule.pinned & measured.errors.keys() & current.scores.keys()):
        return "underpowered", f"no answer to {', '.join(lost)}, so it may have made that worse"
    if not desk.verifies:
        return "unverified", _LEARNED_FROM
    if all(desk.benchmark.mined[task].shape_only for task in improved):
        return "reject", _WEAK
    return verdict, why


def report(desk: Desk, night: Night) -> None:
    """The test tasks, which nothing was decided on, before and after."""
    if not desk.splits.test or not night.versions:
        return
    for name, version in (("before", desk.subject.version), ("after", night.current.version)):
        measured = measure(desk.rollouts, version, desk.splits.test, step=0, stage="test")
        night.test[name] = measured.score(desk.metric)


def verdict_of(desk: Desk, night: Night) -> Verdict:
    """What the night as a whole came to."""
    if night.versions:
        return "verified" if desk.verifies else "unverified"
    return "no_headroom" if _is_perfect(desk, night.base) else "nothing"


def _is_perfect(desk: Desk, measured: Measurement) -> bool:
    return measured.complete and measured.score(desk.metric) == 1.0


def _evidence(
    desk: Desk, lesson: Lesson, current: Measurement, measured: Measurement, number: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    gate = {
        "verdict": lesson.verdict,
        **({"why": lesson.why} if lesson.why else {}),
        "base": current.version.object,
        "base_score": lesson.base_score,
        "improved": list(lesson.improved),
        "regressed": list(lesson.regressed),
        "run": desk.run,
        "kind": "lesson",
        "step": number,
        "epoch": 0,
        "title": describe([lesson.edit]),
    }
    return desk.record(measured, desk.gate_split, desk.gate_split, gate)


def _told(desk: Desk, lesson: Lesson, number: int) -> LessonTried:
    return LessonTried(
        skill=desk.subject.place.name,
        number=number,
        of=desk.config.sleep.edit_budget,
        rule=lesson.rule,
        verdict=lesson.verdict,
        why=lesson.why,
        base_score=lesson.base_score,
        score=lesson.score,
        n=lesson.n,
    )
