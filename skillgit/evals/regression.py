"""Which version broke a task or lowered a score: asked of the records first, and measured where they are silent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import CheckFailedError, GitError, ModelError, TaskError
from skillgit.evals import meter, setup
from skillgit.evals.bisect import Found, Search
from skillgit.evals.caller import Caller
from skillgit.evals.evidence import Evidence, conditions_of, read_evidence
from skillgit.evals.gate import Metric
from skillgit.evals.records import Conditions
from skillgit.events import SearchPlanned, Sink, VersionMeasured
from skillgit.git.lineage import Lineage, lineage
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, Version, read_version
from skillgit.models.budget import Budget, Limits
from skillgit.tasks.base import Benchmark, Splits, Task

_SPLITS = ("val", "train", "test", "confirm")


@dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes:
        good, bad: commits.
        task: id of the task that broke; empty when the score of a whole split is meant.
        metric: `hard`, `soft`, or `score` for the configured gate metric.
        split: `train`, `val` or `test`; `None` is val, or whichever holds the task.
        threshold: versions that score below it are bad; `None` is halfway between good and bad.
    """

    good: str
    bad: str
    task: str = ""
    metric: str = "score"
    split: str | None = None
    threshold: float | None = None


@dataclass(frozen=True)
class Known:
    """A question with all that can be said without a single call.

    Attributes:
        scores: skill object to score, from records under the conditions of the present configuration.
        calls: target calls that measuring one version takes.
        measurements: versions that may have to be measured, at most.
    """

    place: Place
    question: Question
    split: str
    task: Task | None
    metric: Metric
    versions: Lineage
    scores: Mapping[str, float]
    calls: int
    measurements: int


@dataclass(frozen=True)
class Regression:
    """The answer, and the target calls that it took; calls answered from the store of finished calls took none."""

    known: Known
    found: Found
    spent: int

    @property
    def saved(self) -> int:
        """Calls that measuring every version of the range would have taken, less those spent."""
        return self.known.calls * len(self.known.versions.nodes) - self.spent


def look_up(repo: Repository, config: Config, place: Place, question: Question, environ: Mapping[str, str]) -> Known:
    """What records say already, and how much would have to be measured at most. Calls nothing.

    Raises:
        TaskError: no such task, or no tasks.
        GitError: a revision without the skill, or no path from good to bad.
        CheckFailedError, ConfigError: good is not good or bad not bad, as far as that is known.
    """
    benchmark, splits = setup.load_tasks(repo, config, place)
    split, task = _subject(splits, question)
    for revision in (question.good, question.bad):
        if read_version(repo, revision, place) is None:
            raise GitError(f"{revision[:12]} holds no {place.document}", fix=f"git log -- {place.path}")
    versions = lineage(repo, place, question.good, question.bad)
    if versions.nodes[0].object == versions.nodes[-1].object:
        raise CheckFailedError(
            "nothing to find: both revisions hold the same skill",
            fix=f"take others: skillgit log {place.name} lists the versions",
        )
    conditions = _conditions(repo, config, benchmark, splits, split, environ)
    metric = conditions.metric if question.metric == "score" else Metric(question.metric)
    evidence = read_evidence(repo, [node.object for node in versions.nodes])
    read = {name: _recorded(found, conditions, metric, task) for name, found in evidence.items()}
    scores = {name: score for name, score in read.items() if score is not None}
    tasks = 1 if task else len(getattr(splits, split))
    most = Search(versions.nodes).at_most_from(scores, question.threshold)
    calls = tasks * conditions.samples
    return Known(place, question, split, task, metric, versions, scores, calls, most)


def find(repo: Repository, config: Config, known: Known, sink: Sink, environ: Mapping[str, str]) -> Regression:
    """Search, measuring what is missing. Whole-split measurements are kept as records, single tasks as calls only.

    Raises:
        ModelError: a version could not be measured; that never counts as a low score.
        BudgetReachedError: a limit was reached; the same command goes on from there.
        CheckFailedError, ConfigError: good and bad score the same, good is not good, or bad is not bad.
    """
    sink(SearchPlanned(len(known.versions.nodes), len(known.scores), known.measurements, known.calls))
    budget, run = setup.make_budget(config), f"bisect-{known.place.name}"
    with ExitStack() as stack:
        opening = meter.opened(repo, config, known.place, run, budget, sink, environ)
        probe = _Probe(repo, known, partial(stack.enter_context, opening), sink)
        found = Search(known.versions.nodes).run(known.scores, probe, known.question.threshold)
    return Regression(known, found, budget.spent.calls)


class _Probe:
    """Measures one version at a time. The target is only made ready for the first of them."""

    def __init__(self, repo: Repository, known: Known, ready: Callable[[], meter.Meter], sink: Sink) -> None:
        self._repo, self._known, self._ready, self._sink = repo, known, ready, sink
        self._meter: meter.Meter | None = None

    def __call__(self, name: str) -> float:
        self._meter = self._meter or self._ready()
        node = next(node for node in self._known.versions.nodes if node.object == name)
        version = read_version(self._repo, node.commit, self._known.place)
        assert version is not None
        score = self._measure(self._meter, version, node.commit)
        self._sink(VersionMeasured(node.commit, name, score))
        return score

    def _measure(self, measuring: meter.Meter, version: Version, commit: str) -> float:
        known = self._known
        if known.task:
            score = measuring.task(version, known.task, known.split)
            return known.metric.of(score["hard"], score["soft"])
        record = measuring.split(version, known.split)
        whole = _whole(record, known.metric)
        if whole is None:
            raise ModelError(
                f"{commit[:12]} could not be measured in full, so it is neither good nor bad",
                why=f"no answer to {', '.join(record['errors'])}",
                fix="run the same command again: finished calls are kept",
            )
        return whole


def _subject(splits: Splits, question: Question) -> tuple[str, Task | None]:
    """The split that is asked about, and the task when there is one."""
    names = (question.split,) if question.split else _SPLITS
    if question.task:
        for name in names:
            if task := next((task for task in getattr(splits, name) if task.id == question.task), None):
                return name, task
        known = [task.id for name in names for task in getattr(splits, name)]
        like = ", ".join(get_close_matches(question.task, known)) or ", ".join(known[:3])
        raise TaskError(
            f"there is no task {question.task!r}", why=f"looked in {', '.join(names)}", fix=f"take one of {like}"
        )
    if not getattr(splits, names[0]):
        raise TaskError(f"there are no {names[0]} tasks", fix="add them, or name another split")
    return names[0], None


def _conditions(
    repo: Repository, config: Config, benchmark: Benchmark, splits: Splits, split: str, environ: Mapping[str, str]
) -> Conditions:
    """The present conditions, without making the target ready to be called."""
    model = setup.make_model(repo, config, "target", environ)
    try:
        with setup.open_store(repo) as store:
            return setup.conditions(config, benchmark, splits, split, Caller(model, store, Budget(Limits()), ""))
    finally:
        model.close()


def _recorded(evidence: Evidence, conditions: Conditions, metric: Metric, task: Task | None) -> float | None:
    """A score from the records that were made under these conditions, or `None`."""
    wanted = _key(conditions)
    own = [r for r in evidence.records if r.get("split") == conditions.split and conditions_of(r) == wanted]
    for record in sorted(own, key=lambda r: str(r.get("at") or ""), reverse=True):
        score = _of(evidence.tasks(record).get(task.id), metric) if task else _whole(record, metric)
        if score is not None:
            return score
    return None


def _key(conditions: Conditions) -> str:
    metric = conditions.metric
    weight = {"weight": metric.weight} if metric.name == "mixed" else {}
    fields = {"tasks": conditions.tasks, "judge": conditions.judge, "target": dict(conditions.target)}
    return conditions_of({**fields, "metric": metric.name, "samples": conditions.samples, **weight})


def _whole(record: Mapping[str, Any], metric: Metric) -> float | None:
    """The mean over all tasks; a partial measurement has none."""
    return _of(record, metric) if record.get("complete") else None


def _of(scores: Any, metric: Metric) -> float | None:
    values = [scores.get(name) for name in ("hard", "soft")] if isinstance(scores, Mapping) else []
    numbers = [float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    return metric.of(*numbers) if len(numbers) == 2 else None
