"""The two ends of a run: the baseline before the first step, and the report after the last."""

from __future__ import annotations

import dataclasses
from typing import Any

from skillgit.evals.measure import Measurement, measure
from skillgit.evals.records import merge_lines
from skillgit.evals.store import StageUsage
from skillgit.events import Baseline, RunFinished
from skillgit.git import notes
from skillgit.train import journal, messages
from skillgit.train.plan import Tick
from skillgit.train.run import Run
from skillgit.train.state import Mark


def start(run: Run, tick: Tick, measured: Measurement) -> None:
    """Write the baseline down: the branch begins, and every mark is the initial skill with its score."""
    score = measured.score(run.metric)
    mark = dataclasses.replace(run.state.initial, score=score)
    state = dataclasses.replace(
        run.state, initial=mark, current=mark, best=mark, epoch_start=mark, reason="no_headroom" if score == 1.0 else ""
    )
    gate = {"verdict": "baseline", "run": run.state.run, "step": 0}
    record, lines = run.record_notes(measured, "val", tick, "val", gate)
    told = {notes.GATES: {mark.commit: (messages.baseline_line(run, measured),)}}
    entry = journal.Entry(
        state=state,
        record={"v": 1, "kind": "baseline", "step": 0, "epoch": 0, "verdict": "baseline", "record": record},
        subject=messages.baseline_line(run, measured),
        notes=merge_lines([lines, told]),
        branch_to=mark.commit,
    )
    run.finish(tick, entry)
    run.sink(Baseline(score or 0.0, measured.hard or 0.0, measured.soft or 0.0, len(measured.scores)))


def final(run: Run, tick: Tick) -> None:
    """Report initial, best and last skill on test, each distinct version once, and close the run."""
    tasks = run.tasks("test") if run.config.evaluation.eval_test else ()
    report: dict[str, Any] = {}
    measured: dict[str, dict[str, Any]] = {}
    lines = []
    for name in ("initial", "best", "current"):
        mark: Mark = getattr(run.state, name)
        if tasks and mark.object not in measured:
            result = measure(run.rollouts, run.version(mark), tasks, step=tick.number, stage="test")
            record, added = run.record_notes(result, "test", tick, "test")
            measured[mark.object] = {key: record[key] for key in ("hard", "soft", "n")}
            lines.append(added)
        if tasks:
            report[name] = measured[mark.object]
    state = dataclasses.replace(run.state, reason=run.state.reason or "finished", closed=True, test=report)
    record = {"v": 1, "kind": "final", "step": tick.step, "epoch": tick.epoch, "verdict": "final", "test": report}
    run.finish(tick, journal.Entry(state, record, f"finished: {state.reason}", notes=merge_lines(lines)))


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
        test=state.test,
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
