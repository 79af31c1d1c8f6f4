"""What a night's work on one document needs, opened once: its tasks, both models, the gate."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from skillgit.config.load import resolved
from skillgit.config.schema import Config
from skillgit.evals import records, setup
from skillgit.evals.caller import Caller
from skillgit.evals.gate import Metric
from skillgit.evals.measure import Measurement
from skillgit.evals.rollouts import Rollouts
from skillgit.evals.rule import Rule
from skillgit.evals.store import Store, totals
from skillgit.events import Sink
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Version
from skillgit.models.budget import Budget
from skillgit.optimizer.advisor import Advisor
from skillgit.skills.edits import Edit, Guard, apply_edits
from skillgit.sleep.mine.base import MinedTask
from skillgit.sleep.night.guard import lesson_guard
from skillgit.sleep.night.replay import Replay
from skillgit.sleep.night.rubric import Grader
from skillgit.sleep.night.subjects import Subject
from skillgit.tasks.base import Splits, Task, digest


@dataclass(frozen=True)
class Models:
    """Both roles, opened for one night, and what they share."""

    store: Store
    budget: Budget
    target: Caller
    optimizer: Caller


@contextmanager
def opened(
    repo: Repository, config: Config, run: str, budget: Budget, sink: Sink, environ: Mapping[str, str]
) -> Iterator[Models]:
    """The models of one night, paid under the name `run`. Raises what opening them raises."""
    with ExitStack() as stack:
        store = stack.enter_context(setup.open_store(repo))
        target = stack.enter_context(setup.open_caller(repo, config, "target", store, budget, run, sink, environ))
        optimizer = stack.enter_context(setup.open_caller(repo, config, "optimizer", store, budget, run, sink, environ))
        yield Models(store, budget, target, optimizer)


@dataclass(frozen=True)
class Desk:
    """One document's night. `tasks` are those of the subject, with dreams and recalled ones in train."""

    repo: Repository
    config: Config
    subject: Subject
    tasks: tuple[MinedTask, ...]
    models: Models
    run: str
    sink: Sink

    @cached_property
    def benchmark(self) -> Replay:
        """The tasks, as something that is rolled out and scored."""
        grader = Grader(self.models.optimizer, self.config.model.optimizer_max_tokens or None)
        return Replay(self.tasks, grader, self.config.env.max_completion_tokens or None)

    @cached_property
    def splits(self) -> Splits:
        """The tasks by split."""
        return self.benchmark.load()

    @property
    def verifies(self) -> bool:
        """True when there are enough val tasks to say that a lesson helps."""
        return len(self.splits.val) >= self.config.sleep.min_val

    @property
    def gate_split(self) -> str:
        """The tasks a lesson is measured on: val, or else the ones it was learned from, which proves nothing."""
        return "val" if self.verifies else "train"

    @property
    def gate_tasks(self) -> tuple[Task, ...]:
        """Tasks of `gate_split`."""
        return self.splits.val if self.verifies else self.splits.train

    @cached_property
    def rollouts(self) -> Rollouts:
        """Rollouts on the configured target."""
        return setup.make_rollouts(
            self.repo, self.config, self.subject.place, self.benchmark, self.models.target, self.sink
        )

    @cached_property
    def advisor(self) -> Advisor:
        """The optimizer, for this night."""
        return make_advisor(self.config, self.models, self.run)

    @cached_property
    def guard(self) -> Guard:
        """Refuses lessons that leak."""
        return lesson_guard(self.tasks, self.config.leaks)

    @property
    def metric(self) -> Metric:
        """How hard and soft make one score."""
        return Metric(self.config.evaluation.gate_metric, self.config.evaluation.gate_mixed_weight)

    @cached_property
    def rule(self) -> Rule:
        """When a lesson is taken: the score rises, and no task gets worse unless that is allowed."""
        pinned = frozenset(task.id for task in self.gate_tasks) if self.config.sleep.no_regression else frozenset()
        return Rule(self.metric, confidence=self.config.evaluation.confidence if self.verifies else 0.0, pinned=pinned)

    @property
    def samples(self) -> int:
        """Answers per task when a lesson is measured."""
        return self.config.evaluation.repeats

    def apply(self, version: Version, edit: Edit) -> tuple[Version, str]:
        """The version with one edit applied, or why it cannot be."""
        before = self.subject.editable(version)
        after, (result,) = apply_edits(before, [edit], self.guard)
        if result.outcome != "applied":
            return version, f"{result.outcome}: {result.reason}" if result.reason else result.outcome
        changed = self.subject.edited(self.repo, version, after)
        return changed, "" if changed.object != version.object else "it changes nothing"

    def conditions(self, split: str) -> records.Conditions:
        """What measuring a split depends on."""
        return setup.conditions(self.config, self.benchmark, self.splits, split, self.models.target)

    def record(
        self, measured: Measurement, split: str, stage: str, gate: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The evaluation record of a measurement, and its scores by task."""
        conditions = self.conditions(split)
        paid = self.models.store.spent(self.run, skill=measured.version.object)
        usage = totals(part for part in paid if part.stage == stage)
        return records.build(measured, conditions, usage=usage, gate=gate), records.results(measured, conditions)

    def usage(self) -> dict[str, Any]:
        """Calls and tokens of the night so far."""
        return totals(self.models.store.spent(self.run))


def make_advisor(config: Config, models: Models, run: str) -> Advisor:
    """The optimizer as something that is asked for JSON."""
    return Advisor(models.optimizer, run, config.train.seed, config.model.optimizer_max_tokens or None)


def for_sleep(config: Config) -> Config:
    """The configuration as a night uses it: small edits, each judged by itself, failures of one habit together."""
    optimizer = dataclasses.replace(config.optimizer, skill_update_mode="patch", use_skill_aware_reflection=False)
    gradient = dataclasses.replace(config.gradient, group_by_tag=True, failure_only=True)
    return dataclasses.replace(config, optimizer=optimizer, gradient=gradient)


def fingerprint(config: Config, subject: Subject, tasks: Sequence[MinedTask]) -> str:
    """64 hex digits: what a night depends on. The same again would be the same night."""
    settings = resolved(config)
    kept = {name: settings[name] for name in ("optimizer", "gradient", "evaluation", "leaks", "model", "train")}
    limits = {"edit_budget", "rollouts", "dream_factor", "recall", "preferences", "min_val", "no_regression"}
    night = {name: value for name, value in settings["sleep"].items() if name in limits}
    asked = sorted([mined.task.digest(), mined.split, list(mined.said)] for mined in tasks)
    return digest([kept, night, subject.place.path, subject.version.object, asked])
