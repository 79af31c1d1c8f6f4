"""Measuring a skill on a task set, in full or against the skill it has to beat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillgit.evals.gate import Metric, cannot_win, mean
from skillgit.evals.rollouts import Outcome, Rollouts
from skillgit.git.skillstore import Version
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


def measure(rollouts: Rollouts, version: Version, tasks: Sequence[Task], *, step: int, stage: str) -> Measurement:
    """Roll out every task once under `version`."""
    return _measurement(version, rollouts.run(version, tasks, step=step, stage=stage), len(tasks))


def measure_against(
    rollouts: Rollouts,
    version: Version,
    tasks: Sequence[Task],
    base: Measurement,
    metric: Metric,
    *,
    step: int,
    stage: str,
) -> Measurement:
    """Measure a candidate, the tasks `base` fails first, and stop as soon as it cannot beat `base`.

    Tasks run in waves whose sizes follow from `base` and the number of workers alone, so the same calls are made
    however threads are scheduled.
    """
    current = base.values(metric)
    outcomes: list[Outcome] = []
    waves = _waves(tasks, current, rollouts.workers)
    for number, wave in enumerate(waves, 1):
        outcomes += rollouts.run(version, wave, step=step, stage=stage)
        so_far = _measurement(version, outcomes, len(tasks))
        waiting = [task.id for later in waves[number:] for task in later] + list(so_far.errors)
        if cannot_win(so_far.values(metric), current, waiting):
            break
    return _measurement(version, _in_order(outcomes, tasks), len(tasks))


def _waves(tasks: Sequence[Task], current: Mapping[str, float], workers: int) -> list[list[Task]]:
    # What the base scores 0 on is one wave: until it is through, no candidate can be ruled out.
    order = sorted(tasks, key=lambda task: current.get(task.id, 0.0))
    first = sum(current.get(task.id, 0.0) == 0 for task in order)
    starts = [0, *range(first, len(order), workers)] if first else list(range(0, len(order), workers))
    return [order[start:end] for start, end in zip(starts, [*starts[1:], len(order)], strict=True)]


def _in_order(outcomes: Sequence[Outcome], tasks: Sequence[Task]) -> list[Outcome]:
    by_id = {outcome.task.id: outcome for outcome in outcomes}
    return [by_id[task.id] for task in tasks if task.id in by_id]


def _measurement(version: Version, outcomes: Sequence[Outcome], planned: int) -> Measurement:
    scores = {o.task.id: o.trajectory.score for o in outcomes if o.trajectory}
    errors = {o.task.id: o.error for o in outcomes if o.error}
    return Measurement(version, scores, errors, planned)
