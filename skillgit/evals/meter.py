"""Measuring versions of one skill for a person, and keeping what was measured as records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import ModelError
from skillgit.evals import records, setup
from skillgit.evals.caller import Caller
from skillgit.evals.measure import Measurement, measure
from skillgit.evals.records import Conditions
from skillgit.evals.rollouts import Rollouts
from skillgit.evals.store import Store, totals
from skillgit.events import Sink
from skillgit.git.publish import Publication, publish
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, Version
from skillgit.models.budget import Budget
from skillgit.tasks.base import Benchmark, Splits, Task


@dataclass(frozen=True)
class Meter:
    """What measures versions of one skill under one configuration; `run` is the name its calls are paid under."""

    repo: Repository
    config: Config
    benchmark: Benchmark
    splits: Splits
    rollouts: Rollouts
    target: Caller
    store: Store
    run: str

    def conditions(self, split: str) -> Conditions:
        """What measuring `split` depends on."""
        return setup.conditions(self.config, self.benchmark, self.splits, split, self.target)

    def split(self, version: Version, split: str) -> dict[str, Any]:
        """Measure a version on a whole split and keep the record as a note on its skill object.

        Raises:
            ModelError: no task got an answer, or too many calls failed.
        """
        conditions, tasks = self.conditions(split), getattr(self.splits, split)
        measured = measure(self.rollouts, version, tasks, step=0, stage=split, samples=conditions.samples)
        if measured.hard is None:
            raise ModelError("no task got an answer, so nothing was measured", why=_why(measured))
        paid = [part for part in self.store.spent(self.run, skill=version.object) if part.stage == split]
        record = records.build(measured, conditions, usage=totals(paid))
        lines = records.note_lines(record, records.results(measured, conditions))
        publish(self.repo, Publication(notes=lines))
        return record

    def task(self, version: Version, task: Task, split: str) -> Mapping[str, float]:
        """The `hard` and `soft` score of one task under a version. Only the calls are kept, no record.

        Raises:
            ModelError: it got no answer.
        """
        samples = setup.samples(self.config, split)
        measured = measure(self.rollouts, version, [task], step=0, stage=f"task {task.id}", samples=samples)
        score = measured.scores.get(task.id)
        if score is None:
            raise ModelError(f"task {task.id} got no answer, so nothing was measured", why=_why(measured))
        return {"hard": score.hard, "soft": score.soft}


def _why(measured: Measurement) -> str:
    return next(iter(measured.errors.values()), "")


@contextmanager
def opened(
    repo: Repository,
    config: Config,
    place: Place,
    run: str,
    budget: Budget,
    sink: Sink,
    environ: Mapping[str, str],
) -> Iterator[Meter]:
    """A meter with its tasks loaded and its target ready."""
    benchmark, splits = setup.load_tasks(repo, config, place)
    with (
        setup.open_store(repo) as store,
        setup.open_caller(repo, config, "target", store, budget, run, sink, environ) as target,
    ):
        rollouts = setup.make_rollouts(repo, config, place, benchmark, target, sink)
        yield Meter(repo, config, benchmark, splits, rollouts, target, store, run)
