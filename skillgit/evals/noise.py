"""How much a score moves when nothing changed: the same text measured against itself (an A/A test)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import ModelError
from skillgit.evals import setup
from skillgit.evals.measure import Measurement, measurement
from skillgit.evals.records import Conditions
from skillgit.evals.stats import believable_change, flip_rate
from skillgit.events import Sink
from skillgit.git import notes
from skillgit.git.publish import Publication, publish
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, Version

_KIND = "noise"


def measure_noise(
    repo: Repository,
    config: Config,
    place: Place,
    version: Version,
    confidence: float,
    sink: Sink,
    environ: Mapping[str, str],
) -> dict[str, Any]:
    """Measure a version twice on val and keep what that says as a note on its skill object.

    Raises:
        ModelError: no task was answered both times.
    """
    benchmark, splits = setup.load_tasks(repo, config, place)
    run = f"noise-{version.object}"
    with (
        setup.open_store(repo) as store,
        setup.open_caller(repo, config, "target", store, setup.make_budget(config), run, sink, environ) as target,
    ):
        rollouts = setup.make_rollouts(repo, config, place, benchmark, target, sink)
        outcomes = rollouts.run(version, splits.val, step=0, stage="noise", samples=2)
        first, second = (measurement(version, [o for o in outcomes if o.sample == n], len(splits.val)) for n in (0, 1))
        record = _record(first, second, setup.conditions(config, benchmark, splits, "val", target), confidence)
    publish(repo, Publication(notes={notes.EVALS: {version.object: (notes.canonical(record),)}}))
    return record


def _record(first: Measurement, second: Measurement, conditions: Conditions, confidence: float) -> dict[str, Any]:
    hard = [{task: score.hard for task, score in part.scores.items()} for part in (first, second)]
    rate = flip_rate(*hard)
    if rate is None:
        raise ModelError("no val task was answered both times", why=next(iter(first.errors.values()), ""))
    n = len(set(hard[0]) & set(hard[1]))
    change = believable_change(n, rate, confidence)
    return {
        "v": 1,
        "kind": _KIND,
        "skill": first.version.object,
        "n": n,
        "flip_rate": rate,
        "confidence": confidence,
        "believable_change": None if math.isinf(change) else change,
        "hard": [first.hard, second.hard],
        "tasks": conditions.tasks,
        "judge": conditions.judge,
        "target": dict(conditions.target),
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def known_noise(repo: Repository, objects: Sequence[str], conditions: Conditions) -> Mapping[str, Any] | None:
    """The newest noise measured on one of the skill objects under the same tasks, judge and target."""
    found = notes.read_records(repo, notes.EVALS, objects)
    wanted = (conditions.tasks, conditions.judge, dict(conditions.target))
    matching = [
        record
        for records in found.values()
        for record in records
        if record.get("kind") == _KIND and (record.get("tasks"), record.get("judge"), record.get("target")) == wanted
    ]
    return max(matching, key=lambda record: str(record.get("at", "")), default=None)
