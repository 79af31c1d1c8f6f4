"""The journals' step records, found again from commits and skill objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skillgit.git.history import Logged
from skillgit.git.objects import read_blobs
from skillgit.git.repository import Repository
from skillgit.train import journal


@dataclass
class StepRecords:
    """The journals of one skill's runs, each read when it is first needed.

    Attributes:
        missing: runs that something led to and whose journal is not in this clone, in the order they were met.
    """

    repo: Repository
    skill: str
    missing: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._tips = journal.runs(self.repo, self.skill)
        self._read: dict[str, _Steps] = {}

    def step(self, run: str, entry: Logged | None, skill_object: str | None) -> dict[str, Any]:
        """The step record behind a commit: the one that made it, else the one whose candidate it holds.

        A commit that was rebased, cherry-picked or squashed has another id, and may have lost its trailers.
        """
        if not run:
            return {}
        steps = self._steps(run)
        found = steps.by_commit.get(entry.commit) if entry else None
        return dict(found or steps.by_object.get(skill_object or "") or {})

    def at(self, run: str, number: int) -> dict[str, Any]:
        """The record of a run's training step `number`; empty when there is none."""
        found = (step for step in self._steps(run).records if step["kind"] == "step" and step["step"] == number)
        return next(found, {})

    def all(self) -> list[tuple[str, dict[str, Any]]]:
        """Run and record of every step, oldest run first."""
        return [(run, step) for run in self._tips for step in self._steps(run).records]

    def usage(self, run: str, step: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What a step paid, by role and stage: the run's totals after it less those before it."""
        tip, steps = self._tips.get(run), self._steps(run)
        if tip is None or step not in steps.records:
            return []
        names = self.repo.git.text("ls-tree", "-z", "--name-only", "--full-tree", tip, "--", "steps/").split("\0")
        path = names[steps.records.index(dict(step))]
        made = self.repo.git.text("log", "-1", "--no-show-signature", "--format=%H", tip, "--", path)
        after, before = (_totals(blob) for blob in read_blobs(self.repo, [f"{made}:state.json", f"{made}^:state.json"]))
        return [paid for key in after if (paid := _paid(after[key], before.get(key, {})))["calls"]]

    def _steps(self, run: str) -> _Steps:
        if run not in self._read:
            tip = self._tips.get(run)
            if tip is None:
                self.missing.append(run)
            self._read[run] = _Steps.read(self.repo, tip) if tip else _Steps()
        return self._read[run]


@dataclass(frozen=True)
class _Steps:
    """The step records of one run, in order, by the commit that each made, and by its candidate's skill object."""

    records: tuple[dict[str, Any], ...] = ()
    by_commit: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    by_object: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, repo: Repository, tip: str) -> _Steps:
        records = journal.steps(repo, tip)
        measured = [step for step in records if step.get("record") and step["kind"] != "baseline"]
        return cls(
            tuple(records),
            {step["commit"]: step for step in records if step.get("commit")},
            # Of a candidate proposed twice, the step that took it counts.
            {step["record"]["skill"]: step for step in sorted(measured, key=lambda step: bool(step.get("commit")))},
        )


def _totals(blob: bytes | None) -> dict[tuple[str, str], dict[str, Any]]:
    usage = json.loads(blob).get("usage", []) if blob else []
    return {(line["role"], line["stage"]): line for line in usage}


def _paid(after: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value - (before.get(key) or 0) if isinstance(value, int | float) else value for key, value in after.items()
    }
