"""Measuring a skill on a task set, in full or against the skill it has to beat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from skillgit.errors import PendingAnswerError
from skillgit.evals.gate import Metric, mean
from skillgit.evals.rollouts import Outcome, Rollouts
from skillgit.evals.rule import Rule
from skillgit.git.skillstore import Version
from skillgit.models.pending import answered, held
from skillgit.tasks.base import Score, Task


@dataclass(frozen=True)
class Measurement:
    """Scores of one skill version on one task set.

    Attributes:
        scores: task id to score, in task order; tasks without an answer are missing, never zero.
        errors: task id to error of the tasks that got no answer.
        planned: number of tasks in the set.
    """

    version: Version
    scores: Mapping[str, Score]
    errors: Mapping[str, str]
    planned: int

    @property
    def complete(self) -> bool:
        """True when every task was measured."""
        return len(self.scores) == self.planned

    @property
    def hard(self) -> float | None:
        """Mean hard score of the measured tasks."""
        return mean([score.hard for score in self.scores.values()])

    @property
    def soft(self) -> float | None:
        """Mean soft score of the measured tasks."""
        return mean([score.soft for score in self.scores.values()])

    @property
    def lenient(self) -> float | None:
        """Mean lenient score of the measured tasks that have one."""
        return mean([score.lenient for score in self.scores.values() if score.lenient is not None])

    def values(self, metric: Metric) -> dict[str, float]:
        """Task id to gate score."""
        return {task: metric.of(score.hard, score.soft) for task, score in self.scores.items()}

    def score(self, metric: Metric) -> float | None:
        """Gate score over the measured tasks."""
        return mean(list(self.values(metric).values()))

    def at_most(self, metric: Metric) -> float:
        """The highest score a full measurement could still show."""
        values = list(self.values(metric).values())
        return mean([*values, *[1.0] * (self.planned - len(values))]) or 0.0


def measure(
    rollouts: Rollouts, version: Version, tasks: Sequence[Task], *, step: int, stage: str, samples: int = 1
) -> Measurement:
    """Roll out every task under `version`, `samples` times each; a task's score is the mean over its samples."""
    outcomes = rollouts.run(version, tasks, step=step, stage=stage, samples=samples)
    return measurement(version, outcomes, len(tasks))


def measure_against(
    rollouts: Rollouts,
    version: Version,
    tasks: Sequence[Task],
    base: Measurement,
    rule: Rule,
    *,
    step: int,
    stage: str,
    samples: int = 1,
) -> Measurement:
    """Measure a candidate, the tasks `base` fails first, and stop as soon as the rule cannot accept it.

    Tasks run in waves whose sizes follow from `base` and the number of workers alone, so the same calls are made
    however threads are scheduled.
    """
    current, metric = base.values(rule.metric), rule.metric
    contest = rule.contest(version.document.text, base.version.document.text)
    outcomes: list[Outcome] = []
    missing: list[PendingAnswerError] = []
    run = held(partial(rollouts.run, version, step=step, stage=stage, samples=samples, planned=len(tasks)))
    waves = _waves(tasks, current, rollouts.workers)
    for number, wave in enumerate(waves, 1):
        rolled = run(wave, before=outcomes)
        if isinstance(rolled, PendingAnswerError):
            # A person is asked for the whole evaluation at once, and not wave by wave.
            missing.append(rolled)
            continue
        outcomes += rolled
        so_far = measurement(version, outcomes, len(tasks))
        waiting = [task.id for later in waves[number:] for task in later] + list(so_far.errors)
        if not missing and rule.ruled_out(so_far.values(metric), current, waiting, contest):
            break
    answered(missing)
    return measurement(version, _in_order(outcomes, tasks), len(tasks))


def _waves(tasks: Sequence[Task], current: Mapping[str, float], workers: int) -> list[list[Task]]:
    # What the base scores 0 on is one wave: until it is through, no candidate can be ruled out.
    order = sorted(tasks, key=lambda task: current.get(task.id, 0.0))
    first = sum(current.get(task.id, 0.0) == 0 for task in order)
    starts = [0, *range(first, len(order), workers)] if first else list(range(0, len(order), workers))
    return [order[start:end] for start, end in zip(starts, [*starts[1:], len(order)], strict=True)]


def _in_order(outcomes: Sequence[Outcome], tasks: Sequence[Task]) -> list[Outcome]:
    place = {task.id: number for number, task in enumerate(tasks)}
    return sorted(outcomes, key=lambda outcome: (place[outcome.task.id], outcome.sample))


def measurement(version: Version, outcomes: Sequence[Outcome], planned: int) -> Measurement:
    """Scores from rollouts: per task the mean over its answered samples; a task without any is an error."""
    samples: dict[str, list[Score]] = {}
    for outcome in outcomes:
        if outcome.trajectory:
            samples.setdefault(outcome.task.id, []).append(outcome.trajectory.score)
    scores = {task: _mean_score(parts) for task, parts in samples.items()}
    errors = {o.task.id: o.error for o in outcomes if o.error and o.task.id not in scores}
    return Measurement(version, scores, errors, planned)


def _mean_score(parts: Sequence[Score]) -> Score:
    if len(parts) == 1:
        return parts[0]
    hard, soft = (mean([getattr(part, name) for part in parts]) or 0.0 for name in ("hard", "soft"))
    worst = min(parts, key=lambda part: part.hard)
    lenient = mean([part.lenient for part in parts if part.lenient is not None])
    return Score(hard, soft, worst.predicted, worst.reason, lenient)
