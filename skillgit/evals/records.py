"""Evaluation records: one measured result of one skill object, as it is kept in git notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skillgit import __version__
from skillgit.evals.gate import Metric
from skillgit.git import notes
from skillgit.tasks.base import Score, Task, digest

if TYPE_CHECKING:
    # Reading records must stay quick: git hooks do nothing else.
    from skillgit.evals.measure import Measurement

_VERSION = 1


@dataclass(frozen=True)
class Conditions:
    """What a measurement depends on besides the skill; records under different conditions are never compared.

    Attributes:
        split: `train`, `val` or `test`.
        tasks: digest of the task set, in order.
        judge: digest of the scoring code and settings.
        target: `backend`, `model`, a digest of its settings, and what an agent is permitted (`sandbox`).
        metric: how hard and soft make one score.
        samples: rollouts per task, over which scores are means.
        seed: `train.seed`.
        scoring: what of this machine the scores depend on, in words; what of it makes scores differ is in `judge`.
    """

    split: str
    tasks: str
    judge: str
    target: Mapping[str, str]
    metric: Metric
    samples: int
    seed: int
    scoring: str = ""

    def record_id(self, skill_object: str) -> str:
        """20 hex digits that identify measuring this skill object under these conditions."""
        metric = [self.metric.name, self.metric.weight if self.metric.name == "mixed" else None]
        parts = [skill_object, self.split, self.tasks, self.judge, dict(self.target), metric, self.samples, self.seed]
        return digest(parts)[:20]


def task_set_digest(tasks: Sequence[Task]) -> str:
    """Identity of a task set: its tasks with their judges, whatever their order."""
    return digest(sorted(task.digest() for task in tasks))


def build(
    measured: Measurement, conditions: Conditions, *, usage: Mapping[str, Any], gate: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The record of a measurement. A partial one says so and carries the bound it proves."""
    metric = conditions.metric
    record = {
        "v": _VERSION,
        "id": conditions.record_id(measured.version.object),
        "skill": measured.version.object,
        "split": conditions.split,
        "n": len(measured.scores),
        "hard": measured.hard,
        "soft": measured.soft,
        "metric": metric.name,
        "score": measured.score(metric),
        "tasks": conditions.tasks,
        "judge": conditions.judge,
        "target": dict(conditions.target),
        "samples": conditions.samples,
        "seed": conditions.seed,
        "complete": measured.complete,
        "usage": dict(usage),
        "harness": f"skillgit {__version__}",
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    if not measured.complete:
        record["bound"] = {"score_at_most": measured.at_most(metric), "planned": measured.planned}
    if conditions.scoring:
        record["scoring"] = conditions.scoring
    if metric.name == "mixed":
        record["weight"] = metric.weight
    if measured.lenient is not None:
        record["lenient"] = measured.lenient
    if measured.errors:
        record["errors"] = sorted(measured.errors)
    return record | ({"gate": dict(gate)} if gate else {})


def results(measured: Measurement, conditions: Conditions) -> dict[str, Any]:
    """Per-task scores of a record, keyed by the record's id."""
    scores = {task: _scores(score) for task, score in measured.scores.items()}
    return {"v": _VERSION, "record": conditions.record_id(measured.version.object), "tasks": scores}


def _scores(score: Score) -> dict[str, float]:
    more = {} if score.lenient is None else {"lenient": score.lenient}
    return {"hard": score.hard, "soft": score.soft, **more}


def note_lines(record: Mapping[str, Any], per_task: Mapping[str, Any]) -> dict[str, notes.Additions]:
    """The note lines that keep a record and its per-task results on their skill object."""
    skill = record["skill"]
    return {
        notes.EVALS: {skill: (notes.canonical(record),)},
        notes.RESULTS: {skill: (notes.canonical(per_task),)},
    }


def merge_lines(parts: Iterable[Mapping[str, notes.Additions]]) -> dict[str, notes.Additions]:
    """All parts' lines together."""
    out: dict[str, dict[str, tuple[str, ...]]] = {}
    for part in parts:
        for ref, additions in part.items():
            for name, lines in additions.items():
                place = out.setdefault(ref, {})
                place[name] = (*place.get(name, ()), *lines)
    return dict(out)


def best_record(records: Iterable[Mapping[str, Any]], split: str) -> Mapping[str, Any] | None:
    """The record to show for a split: complete before partial, then the newest."""
    of_split = [r for r in records if r.get("split") == split and "hard" in r]
    return max(of_split, key=lambda r: (bool(r.get("complete")), str(r.get("at") or "")), default=None)
