"""What is known of skill versions without measuring anything: records and results read from git notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillgit.evals.gate import Metric, flips
from skillgit.evals.records import best_record
from skillgit.evals.shapes import sound_record, sound_results
from skillgit.git import notes
from skillgit.git.repository import Repository

SPLITS = ("val", "test", "train")

_CONDITIONS = ("tasks", "judge", "target", "metric", "weight", "samples")


@dataclass(frozen=True)
class Evidence:
    """The records of one skill object, and record id to task id to `hard` and `soft`."""

    records: tuple[Mapping[str, Any], ...] = ()
    results: Mapping[str, Mapping[str, Mapping[str, float]]] | None = None

    def record(self, split: str, conditions: str = "") -> Mapping[str, Any] | None:
        """The record to show for a split, measured under `conditions` when given: complete before partial, newest."""
        return best_record((r for r in self.records if conditions in ("", conditions_of(r))), split)

    def tasks(self, record: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
        """Task id to scores of one of the records; empty when they were not kept."""
        return (self.results or {}).get(str(record.get("id")), {})


@dataclass(frozen=True)
class Comparison:
    """Two versions measured under the same conditions.

    Attributes:
        split: of both records.
        before, after: the records.
        improved, regressed: ids of the tasks whose gate score rose or fell, among those measured on both sides.
        known: false when per-task results are missing on a side, so that nothing can be said of single tasks.
    """

    split: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    improved: tuple[str, ...]
    regressed: tuple[str, ...]
    known: bool

    @property
    def change(self) -> float | None:
        """Score after less score before; `None` when either is partial or unknown."""
        before, after = whole_score(self.before), whole_score(self.after)
        return None if before is None or after is None else round(after - before, 12)


def whole_score(record: Mapping[str, Any]) -> float | None:
    """The score of a complete record; `None` for a partial one, or when what stands there is no number."""
    score = record.get("score")
    known = isinstance(score, int | float) and not isinstance(score, bool) and record.get("complete")
    return float(score) if known and score is not None else None


def read_evidence(repo: Repository, objects: Iterable[str]) -> dict[str, Evidence]:
    """Everything recorded about skill objects; one without records has empty evidence."""
    records = read_records(repo, objects)
    results = notes.read_records(repo, notes.RESULTS, [name for name, found in records.items() if found])
    return {name: Evidence(tuple(found), _tables(results.get(name, []))) for name, found in records.items()}


def read_records(repo: Repository, objects: Iterable[str]) -> dict[str, list[Mapping[str, Any]]]:
    """The records of each skill object, without per-task results.

    A record names the object that it measured: one copied to another object proves nothing about that one. One whose
    values are not what they should be is left out too, like a line that is no JSON; `skillgit notes repair` names it.
    """
    names = list(dict.fromkeys(objects))
    found = notes.read_records(repo, notes.EVALS, names)
    return {name: [r for r in found.get(name, ()) if r.get("skill") == name and sound_record(r)] for name in names}


def compare(before: Evidence, after: Evidence, split: str = "val") -> Comparison | None:
    """Both versions under the newest conditions that each has a record for, complete ones first; else `None`."""
    shared = {conditions_of(r) for r in before.records if r.get("split") == split}
    found = best_record((r for r in after.records if conditions_of(r) in shared), split)
    old = before.record(split, conditions_of(found)) if found else None
    if found is None or old is None:
        return None
    metric = Metric(str(found.get("metric") or "hard"), float(found.get("weight", 0.5)))
    values = [_values(side.tasks(record), metric) for side, record in ((before, old), (after, found))]
    return Comparison(split, old, found, *flips(values[0], values[1]), known=all(values))


def conditions_of(record: Mapping[str, Any]) -> str:
    """What a record's scores depend on besides the skill; only records that agree in it may be compared."""
    return notes.canonical({key: record[key] for key in _CONDITIONS if key in record})


def comparable(evidence: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[Mapping[str, Any]]]:
    """Only the records of each split that were measured under the conditions most versions share.

    Scores under different tasks, judges or targets must not stand in one column; of equally common conditions the
    newest count.

    Args:
        evidence: skill object to its records.
    """
    kept: dict[str, list[Mapping[str, Any]]] = {name: [] for name in evidence}
    for split in SPLITS:
        seen: dict[str, tuple[set[str], str]] = {}
        for name, found in evidence.items():
            for record in found:
                if record.get("split") == split and "hard" in record:
                    key = conditions_of(record)
                    names, newest = seen.get(key, (set(), ""))
                    seen[key] = (names | {name}, max(newest, str(record.get("at") or "")))
        shared = max(seen, key=lambda key: (len(seen[key][0]), seen[key][1]), default="")
        for name, found in evidence.items():
            kept[name] += [r for r in found if r.get("split") == split and conditions_of(r) == shared]
    return kept


def _tables(results: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Mapping[str, float]]]:
    return {str(line.get("record")): line["tasks"] for line in results if sound_results(line)}


def _values(tasks: Mapping[str, Mapping[str, float]], metric: Metric) -> dict[str, float]:
    return {task: metric.of(score["hard"], score["soft"]) for task, score in tasks.items()}
