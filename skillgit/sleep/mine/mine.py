"""From sessions to tasks: what people ask for, how often, and what they took for an answer."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from skillgit.config.sleep import Sleep
from skillgit.events import Sink, ignore
from skillgit.optimizer.advisor import Advisor
from skillgit.sleep.base import Session
from skillgit.sleep.mine import heuristic, llm, splits
from skillgit.sleep.mine.asks import Ask, asks
from skillgit.sleep.mine.attribution import skill_of
from skillgit.sleep.mine.base import MinedTask, Outcome, Split
from skillgit.sleep.mine.cluster import Cluster, clusters, split_units, whole
from skillgit.sleep.mine.heuristic import Judge
from skillgit.sleep.mine.llm import Reading
from skillgit.sleep.mine.splits import Unit
from skillgit.tasks.base import Task

Readings = Mapping[tuple[str, int], Reading]

_NO_SKILLS: Mapping[str, str] = MappingProxyType({})
_NO_SPLITS: Mapping[str, Split] = MappingProxyType({})
_NO_READINGS = llm.Readings({}, (), {})


@dataclass(frozen=True)
class Mined:
    """What was mined.

    Attributes:
        tasks: those asked most often first.
        notes: what a person should know about how they came about.
        dropped: reason to count. `too_short`: requests that cannot be understood alone; `nothing_to_judge_by`: tasks
            of which nobody said what a good answer is; `over_limit`: beyond `sleep.max_tasks`; `model_…`: what a model
            wrote and could not be used.
    """

    tasks: tuple[MinedTask, ...]
    notes: tuple[str, ...]
    dropped: Mapping[str, int]


def mine(
    sessions: Sequence[Session],
    config: Sleep,
    *,
    skills: Mapping[str, str] = _NO_SKILLS,
    advisor: Advisor | None = None,
    known: Mapping[str, Split] = _NO_SPLITS,
    sink: Sink = ignore,
    seed: int = 42,
) -> Mined:
    """The tasks of sessions; the same ones whatever order the sessions come in.

    Args:
        skills: name to path of the repository's skills, to one of which a task may be attributed.
        advisor: the optimizer, to read what nobody's accepted answer judges; `None` (or `sleep.miner=heuristic`) goes
            by what people took and said alone.
        known: task id to split as earlier nights had it; these ids and splits stay.

    Raises:
        ModelConfigError: the optimizer cannot be reached as configured.
    """
    every = [ask for session in sessions for ask in asks(session, config)]
    found = [ask for ask in every if ask.understood]
    use = advisor is not None and config.miner != "heuristic"
    readings = llm.read(found, advisor, sink) if advisor and use else _NO_READINGS
    dropped = Counter({"too_short": len(every) - len(found), **readings.dropped})
    made = _made(clusters(found), readings.of, skills, known)
    dropped["nothing_to_judge_by"] = sum(task is None for task, _ in made)
    tasks = [(task, cluster) for task, cluster in made if task]
    tasks.sort(key=lambda pair: (-len(pair[0].sessions), -_latest(pair[1]), pair[0].task.id))
    dropped["over_limit"] = len(tasks[config.max_tasks :])
    split = _split(tasks[: config.max_tasks], config, known, seed)
    return Mined(tuple(split), readings.notes, +dropped)


def _made(
    groups: Sequence[Cluster], readings: Readings, skills: Mapping[str, str], known: Mapping[str, Split]
) -> list[tuple[MinedTask | None, Cluster]]:
    made: list[tuple[MinedTask | None, Cluster]] = []
    ids: set[str] = set()
    for cluster in groups:
        task = _task(cluster, readings, skills, known)
        if task and task.task.id in ids:
            # The same words in another project.
            task = replace(task, task=replace(task.task, id=_id(f"{task.project}\n{cluster[0].content()}")))
        ids |= {task.task.id} if task else set()
        made.append((task, cluster))
    return made


def _task(
    cluster: Cluster, readings: Readings, skills: Mapping[str, str], known: Mapping[str, Split]
) -> MinedTask | None:
    """The task that a cluster makes; `None` when there is nothing to judge an answer by."""
    first = cluster[0]
    reading = next((readings[ask.key] for ask in cluster if ask.key in readings), None)
    judged = _judged(cluster, reading)
    if judged is None:
        return None
    answers, judge = judged
    names = [name for ask in cluster if (name := _id(ask.content())) in known]
    name = min(names, default=_id(first.content()))
    if reading and judge is reading.judge:
        task = Task(name, reading.intent, answers=answers, judge=judge, tags=("mined:llm",))
    else:
        task = Task(name, first.request, first.context, answers=answers, judge=judge)
    return MinedTask(
        task,
        skill=skill_of(cluster, skills),
        project=first.session.project,
        sessions=tuple(dict.fromkeys(ask.session.hashed for ask in cluster)),
        said=heuristic.said(cluster),
        outcome=_outcome(cluster, reading),
    )


def _judged(cluster: Cluster, reading: Reading | None) -> tuple[tuple[str, ...], Judge] | None:
    """Answers and judge: what people took, else what they demanded of the text, else a rubric.

    Demands on the form alone accept nothing by themselves, so what a model understood goes before these.
    """
    if found := heuristic.exact(cluster):
        return found
    checks, rubric = heuristic.checks(cluster), heuristic.rubric(cluster)
    shape = checks is not None and MinedTask(Task("", "", judge=checks)).shape_only
    model = reading.judge if reading else None
    judge = (model or checks or rubric) if shape else (checks or model or rubric)
    return ((), judge) if judge else None


def _outcome(cluster: Cluster, reading: Reading | None) -> Outcome:
    found = heuristic.outcome(cluster)
    return found if found != "unknown" or reading is None else "success" if reading.satisfied else "fail"


def _split(
    made: Sequence[tuple[MinedTask, Cluster]], config: Sleep, known: Mapping[str, Split], seed: int
) -> list[MinedTask]:
    units = split_units([sorted({whole(task.task), *(ask.text for ask in cluster)}) for task, cluster in made])
    given = [_unit([made[at] for at in unit], known) for unit in units]
    decided: dict[int, Split] = {}
    for unit, split in zip(units, splits.assign(given, config, seed), strict=True):
        decided |= dict.fromkeys(unit, split)
    return [replace(task, split=decided[at]) for at, (task, _) in enumerate(made)]


def _unit(members: Sequence[tuple[MinedTask, Cluster]], known: Mapping[str, Split]) -> Unit:
    first = min((cluster[0] for _, cluster in members), key=Ask.order)
    names = [task.task.id for task, _ in members]
    return Unit(first.content(), len(members), frozenset(known[name] for name in names if name in known))


def _latest(cluster: Cluster) -> float:
    return max(ask.at or 0.0 for ask in cluster)


def _id(content: str) -> str:
    return f"mined-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
