"""A run in progress: what its ticks work with."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import GitError
from skillgit.evals import records, setup
from skillgit.evals.caller import Caller
from skillgit.evals.gate import Metric
from skillgit.evals.measure import Measurement
from skillgit.evals.rollouts import Rollouts
from skillgit.evals.store import StageUsage, Store, add_up
from skillgit.events import Sink
from skillgit.git import notes, signing
from skillgit.git.objects import Commit, write_commits
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, Version, read_version, write_version
from skillgit.optimizer.advisor import Advisor
from skillgit.optimizer.memory import context_text, meta_text
from skillgit.skills.document import Document
from skillgit.tasks.base import Benchmark, Task
from skillgit.train import journal
from skillgit.train.plan import Plan, Tick
from skillgit.train.state import Mark, RunState


@dataclass
class Run:
    """Everything the ticks of one run share. `state`, `tip` and `val` change as the run goes on.

    Attributes:
        tip: the journal's commit, `None` before the first tick.
        val: the current version measured on val, once it has been.
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
    files: Mapping[str, bytes] = field(default_factory=dict)
    tip: str | None = None
    val: Measurement | None = None

    @property
    def metric(self) -> Metric:
        """The gate's metric."""
        return Metric(self.config.evaluation.gate_metric, self.config.evaluation.gate_mixed_weight)

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
        """A version with a new document on top of the current commit."""
        return write_version(self.repo, self.state.current.commit, self.place, document)

    def commit(self, version: Version, message: str) -> str:
        """A commit of a version on top of the current one, signed when the user signs. No ref moves."""
        changes = {self.place.document: version.document.encode()}
        commit = write_commits(self.repo, [Commit(message, (self.state.current.commit,), changes)])[0].commit
        return signing.resign(self.repo, commit) if self.signs else commit

    @property
    def signs(self) -> bool:
        """Whether commits on the branch are signed."""
        return self.config.git.sign == "auto" and signing.wanted(self.repo)

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
        record = records.build(measured, conditions, usage=_totals(usage), gate=gate)
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
        state = dataclasses.replace(entry.state, tick=tick.number, usage=tuple(usage), reused=reused)
        files = {**self.files, **entry.files} if self.tip is None else entry.files
        self.tip = journal.write(self.repo, dataclasses.replace(entry, state=state, files=files), self.tip)
        self.state = state


def _totals(usage: Sequence[StageUsage]) -> dict[str, Any]:
    total = add_up(dataclasses.replace(part, role="", stage="") for part in usage)
    if not total:
        return {"calls": 0}
    return {name: value for name, value in dataclasses.asdict(total[0]).items() if name not in ("role", "stage")}
