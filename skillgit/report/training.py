"""A training run as a person watches it: a plan, a line or two per step, a bar while something takes long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.markup import escape

from skillgit import events
from skillgit.evals.gate import ACCEPTED
from skillgit.report.live import LiveView

_MARKS = {
    "reject": "[red]✗ rejected[/]",
    "no_op": "[dim]· no change[/]",
    "skip_no_patches": "[dim]· no edits proposed[/]",
}


class TrainingView(LiveView):
    """Shows a training run."""

    results = (events.RunFinished,)

    def _run_planned(self, event: events.RunPlanned) -> None:
        tasks = ", ".join(f"{n} {name}" for name, n in event.tasks.items())
        self._print(f"[bold]Training {escape(event.skill)}[/], run {event.run}")
        self._print(f"  target     {escape(event.models['target'])}")
        self._print(f"  optimizer  {escape(event.models['optimizer'])}")
        self._print(f"  tasks      {tasks}")
        self._print(f"  plan       {event.steps} steps in {event.epochs} epochs on branch {event.branch}")
        calls = event.calls
        self._print(f"  at most    {calls['target']} target calls, {calls['optimizer']} optimizer calls")
        self._estimate(event)
        limits = {key: value for key, value in event.config["budget"].items() if value}
        if limits:
            self._print("  limits     " + ", ".join(f"{key} {value:g}" for key, value in limits.items()))
        if event.resumed_step:
            self._print(f"  resumed    after step {event.resumed_step}")
        for note in event.notes:
            self._print(f"  [yellow]note[/]       {escape(note)}")
        if self._verbose:
            self._settings(event.config, "")

    def _estimate(self, event: events.RunPlanned) -> None:
        total = {role: _sum(event.expected, role) for role in ("target", "optimizer")}
        parts = [f"{calls} {role} calls ({prompt} + {reply} tokens)" for role, (calls, prompt, reply) in total.items()]
        self._print(f"  expected   {', '.join(parts)}")
        if self._verbose:
            for name, stage in event.expected.items():
                row = f"{stage['calls']:6} calls {stage['prompt_tokens']:9} + {stage['completion_tokens']:7} tokens"
                self._print(f"    {name:20} {row}")
            self._print(f"    assumed: {', '.join(f'{key} {value:g}' for key, value in event.assumed.items())}")

    def _settings(self, section: Mapping[str, Any], prefix: str) -> None:
        for name, value in section.items():
            if isinstance(value, Mapping) and value:
                self._settings(value, f"{prefix}{name}.")
            else:
                self._print(f"    {escape(f'{prefix}{name} = {value!r}')}")

    def _baseline(self, event: events.Baseline) -> None:
        self._print(f"baseline   val {event.score:.3f} ({event.n} tasks)")

    def _step_finished(self, event: events.StepFinished) -> None:
        if event.kind != "step" and event.verdict == "no_op":
            return
        names = {"step": f"step {event.step}/{event.steps}", "compaction": "compaction"}
        where = names.get(event.kind, f"epoch {event.epoch} ends")
        rollout = "" if event.rollout is None else f"rollout {event.rollout:.2f}  "
        counts = f"edits {event.proposed}/{event.selected}/{event.applied}  " if event.kind == "step" else ""
        self._print(f"{where:10} {rollout}{counts}{_verdict(event)}  [dim]{event.seconds:.1f} s[/]")
        if event.verdict in ACCEPTED or self._verbose:
            self._print(f"           {escape(event.subject)}")
        shown = event.problems if self._verbose else event.problems[:1]
        for problem in shown:
            self._print(f"           [dim]{escape(problem[:160])}[/]")
        if len(event.problems) > len(shown):
            self._print(f"           [dim]… and {len(event.problems) - len(shown)} more (-v shows them)[/]")
        if self._verbose:
            for label, tasks in (("improved", event.improved), ("regressed", event.regressed)):
                if tasks:
                    self._print(f"           {label}: {escape(', '.join(tasks))}")

    def _run_finished(self, event: events.RunFinished) -> None:
        best, first = event.best, event.baseline.get("score")
        reason = " (val score is at its ceiling)" if event.reason == "no_headroom" else ""
        self._print(
            f"[bold]done[/]{reason}: {event.accepted} accepted, {event.rejected} rejected, {event.skipped} skipped; "
            f"val {_number(first)} -> {_number(best['score'])}"
        )
        for label, report in (("test", event.test), ("confirm", event.confirm)):
            if report:
                scores = ", ".join(f"{name} {_number(part['hard'])}" for name, part in report.items())
                self._print(f"{label:10} {scores} (hard, {report['initial']['n']} tasks)")
        calls = event.calls
        self._print(
            f"calls      target {calls['target']}, optimizer {calls['optimizer']}, reused {calls['cached']}\n"
            f"best       {best['commit'][:12]} (step {best['step']})\n"
            f"next       git log --notes=skillgit/gates {event.branch}\n"
            f"           git merge {event.branch}"
        )


def _sum(expected: Mapping[str, Mapping[str, Any]], role: str) -> tuple[int, int, int]:
    stages = [stage for stage in expected.values() if stage["role"] == role]
    calls, prompt, reply = (
        sum(stage[key] for stage in stages) for key in ("calls", "prompt_tokens", "completion_tokens")
    )
    return calls, prompt, reply


def _verdict(event: events.StepFinished) -> str:
    if event.verdict in ACCEPTED:
        change = f" {event.base_score:.3f} -> {event.score:.3f}" if event.score is not None else ""
        forced = " (forced)" if event.verdict == "force_accept" else ""
        mark = f"[green]✓ accepted[/]{forced}{change}"
    else:
        mark = _MARKS.get(event.verdict, f"[yellow]{event.verdict}[/]")
        if event.score is not None:
            mark += f" {event.base_score:.3f} -> {event.score:.3f}"
    flips = f" (+{len(event.improved)} −{len(event.regressed)} tasks)" if event.improved or event.regressed else ""
    return mark + flips + (f"  {event.commit[:8]}" if event.commit else "")


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.3f}"
