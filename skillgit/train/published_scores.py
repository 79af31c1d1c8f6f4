"""Scores and settings of a SkillOpt output directory, each only as far as it can be believed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillgit.config.published import FLAT
from skillgit.evals.gate import Metric, mean
from skillgit.train.published_files import Folder


@dataclass(frozen=True)
class Scores:
    """Mean scores on a split; `None` is unknown, also for the number of tasks."""

    hard: float | None = None
    soft: float | None = None
    n: int | None = None

    def gate(self, metric: Metric) -> float | None:
        """The score a gate compares."""
        if metric.name != "mixed":
            return self.soft if metric.name == "soft" else self.hard
        return None if self.hard is None or self.soft is None else metric.of(self.hard, self.soft)


UNMEASURED = Scores()


def setting(config: Mapping[str, Any], name: str) -> Any:
    """A setting by its flat name, from a flat configuration or from its section."""
    section, _, leaf = FLAT.get(name, "").partition(".")
    inside = config.get(section)
    if isinstance(inside, Mapping) and leaf in inside:
        return inside[leaf]
    found = config.get(name)
    return None if isinstance(found, Mapping) else found


def metric(config: Mapping[str, Any]) -> Metric:
    """The gate's metric; the published default where the configuration does not tell."""
    name, weight = setting(config, "gate_metric"), setting(config, "gate_mixed_weight")
    known = name if isinstance(name, str) and name in ("hard", "soft", "mixed") else "hard"
    fits = isinstance(weight, int | float) and not isinstance(weight, bool) and 0 <= weight <= 1
    return Metric(known, float(weight) if fits else 0.5)


def baseline(folder: Folder, summary: Mapping[str, Any]) -> Scores:
    """Scores of the initial skill on val: from its rollouts, or as the summary states them when those differ."""
    rows = _measured(folder, "selection_eval_baseline")
    stated = folder.score(summary, "baseline_selection_hard", "summary.json")
    return rows if stated is None or _close(rows.hard, stated) else Scores(stated)


def tests(folder: Folder, summary: Mapping[str, Any]) -> dict[str, Scores]:
    """Scores on test of the `initial`, `best` and `current` version, as far as there are any."""
    sources = {
        "initial": ("baseline_test", "test_eval_baseline"),
        "best": ("test", "test_eval"),
        "current": ("final_test", "test_eval_final"),
    }
    found = {name: stated(folder, summary, key, "summary.json", rows) for name, (key, rows) in sources.items()}
    return {name: scores for name, scores in found.items() if scores.hard is not None}


def stated(folder: Folder, values: Mapping[str, Any], key: str, where: str, rows: str) -> Scores:
    """Scores as a record states them, with the number of tasks when the rollouts beside it agree."""
    hard, soft = (folder.score(values, f"{key}_{name}", where) for name in ("hard", "soft"))
    if hard is None:
        return Scores(None, soft)
    measured = _measured(folder, rows)
    return Scores(hard, soft, measured.n if _close(measured.hard, hard) else None)


def _measured(folder: Folder, place: str) -> Scores:
    """Means over a rollout folder's results; unknown when they cannot be read in full."""
    name = f"{place}/results.jsonl"
    rows = {str(row.get("id")): row for row in folder.rows(name)}
    hard = [folder.score(row, "hard", name) for row in rows.values()]
    soft = [folder.score(row, "soft", name) for row in rows.values()]
    known = [score for score in hard if score is not None]
    if not known or len(known) != len(rows):
        return UNMEASURED
    softs = [score for score in soft if score is not None]
    return Scores(mean(known), mean(softs) if len(softs) == len(rows) else None, len(rows))


def _close(one: float | None, other: float) -> bool:
    return one is not None and math.isclose(one, other, abs_tol=1e-5)
