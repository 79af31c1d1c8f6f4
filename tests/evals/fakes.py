"""A benchmark and a target without any model: scores come from a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skillgit.errors import ModelError
from skillgit.evals.caller import Caller
from skillgit.evals.rollouts import Rollouts
from skillgit.evals.store import Store
from skillgit.events import ignore
from skillgit.git.skillstore import Version
from skillgit.models.base import Message, ModelSpec, Reply, Request, Usage
from skillgit.models.budget import Budget, Limits
from skillgit.models.scripted import Scripted
from skillgit.skills.document import Document
from skillgit.tasks.base import Ask, Score, Task, Trajectory


def tasks(count: int) -> list[Task]:
    return [Task(f"t{number}", f"question {number}", answers=("x",)) for number in range(count)]


def version(name: str) -> Version:
    return Version(name, Document(name))


class Table:
    """A benchmark whose scores are written down: skill text to one score per task; an error instead of a score."""

    name = "table"

    def __init__(self, scores: Mapping[str, Mapping[str, Score | ModelError]]) -> None:
        self._scores = scores
        self.rolled: list[tuple[str, str]] = []

    def rollout(self, task: Task, skill: str, ask: Ask) -> Trajectory:
        self.rolled.append((skill, task.id))
        reply = ask(Request((Message("user", task.input),)))
        score = self._scores[skill][task.id]
        if isinstance(score, ModelError):
            raise score
        return Trajectory((Message("assistant", reply.text),), reply.text, score)


class Memory:
    """A store that forgets when it is closed."""

    def __init__(self) -> None:
        self.replies: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        return self.replies.get(key)

    def put(self, key: str, reply: Reply, payer: Any) -> Reply:
        self.replies[key] = (reply, payer.run, payer.step)
        return reply


def caller(
    respond: Any, store: Any = None, *, role: str = "target", run: str = "r", limit: int | None = None
) -> Caller:
    model = Scripted(ModelSpec(role, "scripted", "m"), respond)
    return Caller(model, store or Memory(), Budget(Limits(calls=limit)), run)


def rollouts(table: Table, *, workers: int = 4, max_error_rate: float = 0.2, sink: Any = ignore) -> Rollouts:
    target = caller(lambda request: Reply("answer", Usage(1, 1)))
    return Rollouts(table, target, sink, workers=workers, timeout=60, max_error_rate=max_error_rate)


def disk(path: Path) -> Store:
    return Store(path / "cache.db")


def table_of(before: Sequence[Any], after: Sequence[Any]) -> Table:
    return Table({name: {f"t{n}": score for n, score in enumerate(row)} for name, row in _rows(before, after)})


def _rows(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[str, Sequence[Any]]]:
    return [("before", before), ("after", after)]
