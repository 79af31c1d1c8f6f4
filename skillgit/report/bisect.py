"""A search for the version that made things worse: what is said while it runs, and its answer as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillgit import events
from skillgit.evals.bisect import Search
from skillgit.evals.regression import Known, Regression
from skillgit.git.history import messages, patch
from skillgit.git.lineage import Node, brought
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place
from skillgit.report.training import TrainingView


class BisectView(TrainingView):
    """A sink for a search: the plan, then a line for each version measured."""

    def _search_planned(self, event: events.SearchPlanned) -> None:
        self._print(plan_line(event.versions, event.known, event.measurements, event.calls))

    def _version_measured(self, event: events.VersionMeasured) -> None:
        self._print(f"measured   {event.commit[:12]}  {event.score:.3f}")


def plan_line(versions: int, known: int, measurements: int, calls: int) -> str:
    """What is known, and the most that a search can take."""
    most = f"at most {measurements} to measure, {measurements * calls} target calls"
    return f"{versions} versions, {known} known from records; {most if measurements else 'nothing to measure'}"


def plan(known: Known) -> dict[str, Any]:
    """What is known without any call.

    Returns:
        `skill`, `split`, `task`, `metric`; `versions` (`commit`, `object`, `score` or `None`), oldest first; `left_out`
        commits; `measurements`: versions to measure at most; `calls` (`at_most`, `per_version`, `all_versions`).
    """
    nodes, each = known.versions.nodes, known.calls
    return _asked(known) | {
        "versions": [_scored(node, known.scores.get(node.object)) for node in nodes],
        "left_out": list(known.versions.left_out),
        "measurements": known.measurements,
        "calls": {"at_most": known.measurements * each, "per_version": each, "all_versions": len(nodes) * each},
    }


def answer(repo: Repository, regression: Regression) -> dict[str, Any]:
    """The first bad version with its commit and what it changed, and the calls spent and saved.

    Returns:
        `skill`, `split`, `task`, `metric`, `threshold`; `good`, `bad` and each of `measured` and `ups_and_downs` (pairs
        `bad`, `good`) as `commit`, `object`, `score`; `first_bad`: the same and `subject`, `run`, `step`, `before` (the
        versions it was made from), `brought` (of a merge), `patch`; the numbers of `versions` and of those `known`;
        `left_out` commits; `calls` (`spent`, `saved`, `per_version`, `all_versions`).
    """
    known, found = regression.known, regression.found
    nodes, scores = known.versions.nodes, found.scores
    each = known.calls
    pairs = Search(nodes).ups_and_downs(found)
    return _asked(known) | {
        "threshold": found.threshold,
        "good": _scored(nodes[0], scores[nodes[0].object]),
        "bad": _scored(nodes[-1], scores[nodes[-1].object]),
        "first_bad": _first(repo, known.place, nodes, found.first, scores),
        "versions": len(nodes),
        "known": len(known.scores),
        "measured": [
            _scored(next(node for node in nodes if node.object == name), scores[name]) for name in found.measured
        ],
        "ups_and_downs": [
            {"bad": _scored(nodes[bad], scores[nodes[bad].object]), "good": _scored(nodes[n], scores[nodes[n].object])}
            for bad, n in pairs
        ],
        "left_out": list(known.versions.left_out),
        "calls": {
            "spent": regression.spent,
            "saved": regression.saved,
            "per_version": each,
            "all_versions": len(nodes) * each,
        },
    }


def _asked(known: Known) -> dict[str, Any]:
    task = known.task.id if known.task else None
    return {"skill": known.place.name, "split": known.split, "task": task, "metric": known.metric.name}


def _scored(node: Node, score: float | None) -> dict[str, Any]:
    return {"commit": node.commit, "object": node.object, "score": score}


def _first(
    repo: Repository, place: Place, nodes: Sequence[Node], number: int, scores: Mapping[str, float]
) -> dict[str, Any]:
    node = nodes[number]
    before = [nodes[parent] for parent in node.parents]
    message = messages(repo, [node.commit])[node.commit]
    lessons = brought(repo, place, node.commit)
    subjects = messages(repo, lessons)
    return _scored(node, scores[node.object]) | {
        "subject": message.subject,
        "run": message.run or None,
        "step": message.step,
        "before": [_scored(part, scores[part.object]) for part in before],
        "brought": [{"commit": name, "subject": subjects[name].subject} for name in lessons],
        "patch": patch(repo, before[0].commit, node.commit, [place.path]),
    }
