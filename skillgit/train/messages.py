"""The words git users read: commit messages and journal subjects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgit.evals import gatelines
from skillgit.evals.gate import Metric, flips
from skillgit.skills.commit_message import SUBJECT, subject

if TYPE_CHECKING:
    from skillgit.train.outcome import Outcome
    from skillgit.train.run import Run


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
    lines = [subject(name, outcome.titled(SUBJECT - len(subject(name, "")))), "", body, ""]
    return "\n".join([*lines, *(f"{key}: {value}" for key, value in trailers.items()), ""])


def journal_subject(outcome: Outcome, metric: Metric) -> str:
    """Subject of a tick's journal commit."""
    where = gatelines.place(outcome.tick.kind, outcome.tick.step, outcome.tick.epoch)
    scores = f" {change_text(outcome, metric)}" if outcome.candidate else ""
    return f"{where}: {outcome.verdict}{scores}: {outcome.title}"


def change_text(outcome: Outcome, metric: Metric) -> str:
    """`val hard 0.500 -> 0.600 (n=20)`, or the bound a partial evaluation proves."""
    assert outcome.candidate is not None
    assert outcome.base is not None
    candidate, before = outcome.candidate, outcome.base.score(metric)
    limit, planned = (None, None) if candidate.complete else (candidate.at_most(metric), candidate.planned)
    scores = (before, candidate.score(metric), len(candidate.scores))
    return gatelines.change_text("val", metric.name, *scores, limit=limit, planned=planned)


def _change(outcome: Outcome, metric: Metric) -> str:
    assert outcome.candidate is not None
    assert outcome.base is not None
    after, before = outcome.candidate.score(metric), outcome.base.score(metric)
    return "unknown" if after is None or before is None else f"{after - before:+.3f}"


def _model(run: Run, role: str) -> str:
    spec = (run.optimizer if role == "optimizer" else run.target).model.spec
    return f"{spec.backend}/{spec.model}".replace("\n", " ")
