"""The journals' step records, found again from commits and skill objects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from skillgit.evals.shapes import Shape, count, maybe, number, of, text
from skillgit.git.history import Logged
from skillgit.git.objects import read_blobs
from skillgit.git.repository import Repository
from skillgit.report.safe import one_line
from skillgit.report.sleep.lessons import lesson_records
from skillgit.train import journal
from skillgit.train.state import journal_ref

_NUMBERS: Shape = {name: maybe(number) for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "cost")}
_PAID = of({"role": text, "stage": text, "calls": count, **_NUMBERS}, "role", "stage", "calls")


@dataclass
class StepRecords:
    """The journals of one skill's runs, each read when it is first needed.

    Attributes:
        missing: runs that something led to and whose journal is not in this clone, in the order they were met.
        unreadable: step records that cannot be read, of the journals that were read: `run`, `file` and `why`.
    """

    repo: Repository
    skill: str
    missing: list[str] = field(default_factory=list)
    unreadable: list[dict[str, str]] = field(default_factory=list)

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
        steps = self._steps(run).records.values()
        found = (step for step in steps if step["kind"] == "step" and step["step"] == number)
        return next(found, {})

    def all(self) -> list[tuple[str, dict[str, Any]]]:
        """Run and record of every step, oldest run first."""
        return [(run, step) for run in self._tips for step in self._steps(run).records.values()]

    def usage(self, run: str, step: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What a step paid, by role and stage: the run's totals after it less those before it."""
        tip, records = self._tips.get(run), self._steps(run).records
        path = next((path for path, record in records.items() if record == step), None)
        if tip is None or path is None:
            return []
        made = self.repo.git.text("log", "-1", "--no-show-signature", "--format=%H", tip, "--", path)
        after, before = (_totals(blob) for blob in read_blobs(self.repo, [f"{made}:state.json", f"{made}^:state.json"]))
        return [paid for key in after if (paid := _paid(after[key], before.get(key, {})))["calls"]]

    def _steps(self, run: str) -> _Steps:
        if run not in self._read:
            tip = self._tips.get(run)
            night = {} if tip else lesson_records(self.repo, self.skill, run)
            if tip is None and not night:
                self.missing.append(run)
            self._read[run] = self._read_journal(run, tip) if tip else _by_commit_and_object(night)
        return self._read[run]

    def _read_journal(self, run: str, tip: str) -> _Steps:
        found = journal.read_steps(self.repo, tip)
        self.unreadable += [{"run": run, "file": path, "why": why} for path, why in found.unreadable.items()]
        return _by_commit_and_object(found.records)


def problems(skill: str, missing: Sequence[str], unreadable: Sequence[Mapping[str, str]]) -> list[str]:
    """One line for each journal that is missing or damaged, with what to do about it."""
    lines = [
        f"the journal of run {one_line(run)} is not in this clone; get it with: skillgit sync --runs" for run in missing
    ]
    for run, group in groupby(unreadable, key=lambda part: part["run"]):
        first, *more = group
        what = f"{one_line(first['file'])} and {len(more)} more" if more else one_line(first["file"])
        changed = f"git log -p {journal_ref(skill, run)} -- {one_line(first['file'])}"
        lines.append(f"{what} of run {run} cannot be read: {one_line(first['why'])}; what changed it: {changed}")
    return lines


@dataclass(frozen=True)
class _Steps:
    """The step records of one run by path, in order; by the commit that each made; by its candidate's skill object."""

    records: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    by_commit: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    by_object: Mapping[str, dict[str, Any]] = field(default_factory=dict)


def _by_commit_and_object(records: Mapping[str, dict[str, Any]]) -> _Steps:
    steps = records.values()
    measured = [step for step in steps if _measured(step) and step["kind"] != "baseline"]
    return _Steps(
        records,
        {step["commit"]: step for step in steps if step.get("commit")},
        # Of a candidate proposed twice, the step that took it counts.
        {step["record"]["skill"]: step for step in sorted(measured, key=lambda step: bool(step.get("commit")))},
    )


def _measured(step: Mapping[str, Any]) -> bool:
    return "skill" in (step.get("record") or {})


def _totals(blob: bytes | None) -> dict[tuple[str, str], dict[str, Any]]:
    """What a state says that the run paid, by role and stage; nothing when it cannot be read."""
    try:
        usage = json.loads(blob or b"{}").get("usage", [])
        return {(line["role"], line["stage"]): line for line in usage if _PAID(line)}
    except (ValueError, AttributeError, TypeError, RecursionError):
        return {}


def _paid(after: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value - (before.get(key) or 0) if isinstance(value, int | float) else value for key, value in after.items()
    }
