"""The two ends of a run: the baseline before the first step, and the report after the last."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

from skillgit.errors import ModelError
from skillgit.evals.gatelines import gate_line
from skillgit.evals.measure import Measurement, measure
from skillgit.evals.records import merge_lines, results
from skillgit.evals.store import StageUsage
from skillgit.events import Baseline, RunFinished
from skillgit.git import notes
from skillgit.models.pending import answered, held
from skillgit.train import journal
from skillgit.train.plan import Tick
from skillgit.train.run import Run
from skillgit.train.state import Mark


def start(run: Run, tick: Tick, measured: Measurement) -> None:
    """Write the baseline down: the branch begins, and every mark is the initial skill with its score.

    Raises:
        ModelError: no task got an answer; there is no score to beat.
    """
    score = run.gate_score(measured)
    if score is None or measured.hard is None or measured.soft is None:
        why = next(iter(measured.errors.values()), "")
        raise ModelError("no val task got an answer from the target, so there is no baseline", why=why)
    mark = dataclasses.replace(run.state.initial, score=score)
    reason = "no_headroom" if score == 1.0 and measured.complete else ""
    state = dataclasses.replace(run.state, initial=mark, current=mark, best=mark, epoch_start=mark, reason=reason)
    gate = {"verdict": "baseline", "run": run.state.run, "step": 0}
    record, lines = run.record_notes(measured, "val", tick, "val", gate)
    line, per_task = gate_line(record), results(measured, run.conditions("val"))
    told = {notes.GATES: {mark.commit: (line,)}}
    entry = journal.Entry(
        state=state,
        record={"v": 1, "kind": "baseline", "step": 0, "epoch": 0, "verdict": "baseline"}
        | {"record": record, "results": per_task},
        subject=line,
        notes=merge_lines([lines, told]),
        branch_to=mark.commit,
    )
    run.finish(tick, entry)
    run.sink(Baseline(score, measured.hard, measured.soft, len(measured.scores)))


def final(run: Run, tick: Tick) -> None:
    """Report initial, best and last skill on test and on the confirmation tasks, and close the run."""
    report: dict[str, Any] = {}
    lines = []
    measured: list[dict[str, Any]] = []
    wanted = ("test", "confirm") if run.config.evaluation.eval_test else ("confirm",)
    splits = [split for split in wanted if run.tasks(split)]
    reports = answered(map(held(partial(_report, run, tick)), splits))
    for split, (shown, kept, added) in zip(splits, reports, strict=True):
        report[split] = shown
        measured += kept
        lines += added
    state = dataclasses.replace(run.state, reason=run.state.reason or "finished", closed=True, report=report)
    record = {"v": 1, "kind": "final", "step": tick.step, "epoch": tick.epoch, "verdict": "final", "report": report}
    record["measured"] = measured
    run.finish(tick, journal.Entry(state, record, f"finished: {state.reason}", notes=merge_lines(lines)))


class _Report(NamedTuple):
    scores: dict[str, Any]
    measured: list[dict[str, Any]]
    lines: list[dict[str, notes.Additions]]


def _report(run: Run, tick: Tick, split: str) -> _Report:
    """Scores of the three versions, each distinct one measured once, with records, results and their note lines."""
    measured: dict[str, dict[str, Any]] = {}
    lines = []
    marks: dict[str, Mark] = {name: getattr(run.state, name) for name in ("initial", "best", "current")}
    conditions = run.conditions(split)
    versions = [run.version(mark) for mark in {mark.object: mark for mark in marks.values()}.values()]
    how: dict[str, Any] = {"step": tick.number, "stage": split, "samples": conditions.samples}
    take = held(partial(measure, run.rollouts, tasks=run.tasks(split), **how))
    for result in answered(map(take, versions)):
        record, added = run.record_notes(result, split, tick, split)
        measured[result.version.object] = {"record": record, "results": results(result, conditions)}
        lines.append(added)
    scores = {name: measured[mark.object]["record"] for name, mark in marks.items()}
    shown = {name: {key: record[key] for key in ("hard", "soft", "n")} for name, record in scores.items()}
    return _Report(shown, list(measured.values()), lines)


def summary(run: Run) -> RunFinished:
    """The last event of a run, from its state alone."""
    state = run.state
    calls = {role: sum(part.calls for part in state.usage if part.role == role) for role in ("target", "optimizer")}
    return RunFinished(
        run=state.run,
        branch=state.branch,
        best=_mark(state.best),
        accepted=state.accepted,
        rejected=state.rejected,
        skipped=state.skipped,
        calls=calls | {"cached": state.reused},
        usage=_usage(state.usage),
        reason=state.reason,
        baseline=_mark(state.initial),
        test=state.report.get("test", {}),
        confirm=state.report.get("confirm", {}),
    )


def _mark(mark: Mark) -> dict[str, Any]:
    return {"commit": mark.commit, "object": mark.object, "step": mark.step, "score": mark.score}


def _usage(parts: tuple[StageUsage, ...]) -> dict[str, Any]:
    """Role to stage to numbers; `null` is unknown."""
    out: dict[str, Any] = {}
    for part in parts:
        numbers = dataclasses.asdict(part)
        out.setdefault(numbers.pop("role"), {})[numbers.pop("stage")] = numbers
    return out
