"""A run in progress: what its ticks work with."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import GitError
from skillgit.evals import records, setup
from skillgit.evals.caller import Caller
from skillgit.evals.gate import Metric
from skillgit.evals.measure import Measurement
from skillgit.evals.noise import known_noise
from skillgit.evals.rollouts import Rollouts
from skillgit.evals.rule import Rule, text_bonus
from skillgit.evals.stats import believable_change
from skillgit.evals.store import Store, add_up, totals
from skillgit.events import Sink
from skillgit.git import notes, signing
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, Version, read_version, with_document
from skillgit.optimizer.advisor import Advisor
from skillgit.optimizer.memory import context_text, meta_text
from skillgit.skills.document import Document
from skillgit.skills.edits import Guard
from skillgit.tasks.base import Benchmark, Task
from skillgit.train import journal
from skillgit.train.plan import Plan, Tick
from skillgit.train.state import Mark, RunState


@dataclass
class Run:
    """Everything the ticks of one run share. `state`, `tip` and `val` change as the run goes on.

    Attributes:
        tip: the journal's commit.
        guard: refuses changes that would leak tasks or graders into the skill.
        val: the current version measured on val, once it has been.
        val_tick: the tick that measured it.
        started: monotonic seconds when this process took the run up; `seconds_before` is what earlier ones used.
    """

    repo: Repository
    config: Config
    place: Place
    benchmark: Benchmark
    plan: Plan
    store: Store
    target: Caller
    optimizer: Caller
    rollouts: Rollouts
    advisor: Advisor
    sink: Sink
    state: RunState
    tip: str
    guard: Guard
    val: Measurement | None = None
    val_tick: int = 0
    started: float = field(default_factory=time.monotonic)
    seconds_before: float = 0.0

    @property
    def metric(self) -> Metric:
        """The gate's metric."""
        return Metric(self.config.evaluation.gate_metric, self.config.evaluation.gate_mixed_weight)

    @property
    def rule(self) -> Rule:
        """When the gate accepts."""
        evaluation = self.config.evaluation
        density = evaluation.semantic_density_weight if evaluation.use_semantic_density else 0.0
        return Rule(
            metric=self.metric,
            use_gate=evaluation.use_gate,
            confidence=evaluation.confidence,
            pinned=_pinned(self.tasks("val"), evaluation.no_regression),
            shorter_ties=evaluation.accept_shorter_ties,
            bonus=text_bonus(evaluation.leading_words, density, evaluation.length_weight),
        )

    @cached_property
    def believable(self) -> float | None:
        """The smallest score change that can be believed, from `skillgit noise`; `None` when it was not measured."""
        objects = [self.state.initial.object, self.state.current.object]
        known = known_noise(self.repo, objects, self.conditions("val"))
        if known is None:
            return None
        change = believable_change(len(self.tasks("val")), known["flip_rate"], known["confidence"])
        return None if math.isinf(change) else change

    def gate_score(self, measured: Measurement) -> float | None:
        """A measurement's gate score, with what the text itself adds."""
        score = measured.score(self.metric)
        return None if score is None else score + self.rule.bonus(measured.version.document.text)

    @property
    def context(self) -> str:
        """The optimizer's memories as prompt text."""
        return context_text(self.state.buffer, self.state.meta_skill)

    @property
    def memory(self) -> str:
        """The optimizer's own advice as prompt text."""
        return meta_text(self.state.meta_skill)

    def version(self, mark: Mark) -> Version:
        """A committed version, read from its commit."""
        version = read_version(self.repo, mark.commit, self.place)
        if version is None:
            raise GitError(f"commit {mark.commit[:12]} holds no skill at {self.place.path}")
        return version

    def candidate(self, document: Document) -> Version:
        """A version with a new document on top of the current one. Nothing is written yet."""
        base = self.val.version if self.val else self.version(self.state.current)
        return with_document(self.repo, base, self.place, document)

    def commit(self, version: Version, message: str) -> str:
        """A commit of a version on top of the current one, signed when the user signs. No ref moves."""
        sign = self.config.git.sign == "auto"
        return signing.commit_version(self.repo, self.place, version, message, self.state.current.commit, sign=sign)

    def record_notes(
        self, measured: Measurement, split: str, tick: Tick, stage: str, gate: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, notes.Additions]]:
        """The evaluation record of a measurement and the note lines that keep it."""
        conditions = self.conditions(split)
        usage = [
            part
            for part in self.store.spent(self.state.run, tick.number - 1, measured.version.object)
            if part.stage == stage
        ]
        record = records.build(measured, conditions, usage=totals(usage), gate=gate)
        return record, records.note_lines(record, records.results(measured, conditions))

    def conditions(self, split: str) -> records.Conditions:
        """What measurements of a split depend on."""
        return setup.conditions(self.config, self.benchmark, self.plan.splits, split, self.target)

    def tasks(self, split: str) -> Sequence[Task]:
        """Tasks of a split as this run uses them."""
        tasks: Sequence[Task] = getattr(self.plan.splits, split)
        return tasks

    def finish(self, tick: Tick, entry: journal.Entry) -> None:
        """Make a tick durable: usage into the state, then branch, journal and notes in one transaction."""
        usage = add_up([*self.state.usage, *self.store.spent(self.state.run, self.state.tick)])
        reused = self.state.reused + self.target.reused(tick.number) + self.optimizer.reused(tick.number)
        seconds = round(self.seconds_before + time.monotonic() - self.started, 3)
        state = dataclasses.replace(
            entry.state, tick=tick.number, step=tick.step, usage=tuple(usage), reused=reused, seconds=seconds
        )
        self.tip = journal.write(self.repo, dataclasses.replace(entry, state=state), self.tip)
        self.state = state


def _pinned(tasks: Sequence[Task], setting: str) -> frozenset[str]:
    """Ids of the tasks that must not get worse: none for `off`, all for `all`, else those with one of the tags."""
    if setting == "off":
        return frozenset()
    tags = {tag.strip() for tag in setting.split(",")}
    return frozenset(task.id for task in tasks if setting == "all" or tags & set(task.tags))
