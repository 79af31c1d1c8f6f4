"""The words git users read: commit messages, gate lines, journal subjects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgit.evals.gate import Metric, flips
from skillgit.evals.measure import Measurement

if TYPE_CHECKING:
    from skillgit.train.outcome import Outcome
    from skillgit.train.run import Run

_SUBJECT = 72


def subject(skill: str, phrase: str) -> str:
    """`skill(<name>): <phrase>` in at most 72 characters."""
    text = f"skill({skill}): {phrase}"
    return text if len(text) <= _SUBJECT else f"{text[: _SUBJECT - 1].rstrip()}…"


def commit_message(run: Run, outcome: Outcome) -> str:
    """Message of an accepted patch, with trailers. Holds no transcript and no model reasoning."""
    assert outcome.candidate is not None
    assert outcome.base is not None
    improved, regressed = flips(outcome.base.values(run.metric), outcome.candidate.values(run.metric))
    body = f"{change_text(outcome, run.metric)}; {len(improved)} tasks improved, {len(regressed)} regressed"
    trailers = {
        "Skillgit-Run": run.state.run,
        "Skillgit-Step": str(outcome.tick.step),
        "Skillgit-Epoch": str(outcome.tick.epoch),
        "Skillgit-Gate": f"{outcome.verdict} {_change(outcome, run.metric)}",
        "Skillgit-Optimizer": _model(run, "optimizer"),
        "Skillgit-Target": _model(run, "target"),
    }
    name = run.state.skill
    lines = [subject(name, outcome.titled(_SUBJECT - len(subject(name, "")))), "", body, ""]
    return "\n".join([*lines, *(f"{key}: {value}" for key, value in trailers.items()), ""])


def place(kind: str, step: int, epoch: int) -> str:
    """Where in a run something happened, in a few words."""
    return {"step": f"step {step}", "compaction": f"compaction of epoch {epoch}"}.get(kind, f"end of epoch {epoch}")


def gate_line(run: Run, outcome: Outcome) -> str:
    """One line for `git log --notes=skillgit/gates`."""
    where = place(outcome.tick.kind, outcome.tick.step, outcome.tick.epoch)
    why = f" ({outcome.why})" if outcome.why else ""
    noise = "" if run.believable is None else f"; believable change {run.believable:.3f}"
    scores = change_text(outcome, run.metric)
    return f"{outcome.verdict}{why}: {scores}{noise}; run {run.state.run}, {where}: {outcome.title}"


def baseline_line(run: Run, measured: Measurement) -> str:
    """The same for the initial skill."""
    score = measured.score(run.metric)
    text = "nothing measured" if score is None else f"{score:.3f}"
    return f"baseline: val {run.metric.name} {text} (n={len(measured.scores)}); run {run.state.run}"


def journal_subject(outcome: Outcome, metric: Metric) -> str:
    """Subject of a tick's journal commit."""
    where = place(outcome.tick.kind, outcome.tick.step, outcome.tick.epoch)
    scores = f" {change_text(outcome, metric)}" if outcome.candidate else ""
    return f"{where}: {outcome.verdict}{scores}: {outcome.title}"


def change_text(outcome: Outcome, metric: Metric) -> str:
    """`val hard 0.500 -> 0.600 (n=20)`, or the bound a partial evaluation proves."""
    assert outcome.candidate is not None
    assert outcome.base is not None
    candidate, before = outcome.candidate, outcome.base.score(metric)
    old = "?" if before is None else f"{before:.3f}"
    measured = f"n={len(candidate.scores)}"
    if candidate.complete:
        return f"val {metric.name} {old} -> {candidate.score(metric):.3f} ({measured})"
    return f"val {metric.name} {old} -> at most {candidate.at_most(metric):.3f} ({measured} of {candidate.planned})"


def _change(outcome: Outcome, metric: Metric) -> str:
    assert outcome.candidate is not None
    assert outcome.base is not None
    after, before = outcome.candidate.score(metric), outcome.base.score(metric)
    return "unknown" if after is None or before is None else f"{after - before:+.3f}"


def _model(run: Run, role: str) -> str:
    spec = (run.optimizer if role == "optimizer" else run.target).model.spec
    return f"{spec.backend}/{spec.model}".replace("\n", " ")
