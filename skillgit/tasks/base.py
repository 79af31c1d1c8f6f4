"""What is asked, and what comes back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from skillgit.models.base import Message, Reply, Request

Ask = Callable[[Request], Reply]
"""Send one request to the target, inside the task's deadline and the run's limits."""

_SETUP = "setup: "


def digest(value: Any) -> str:
    """64 hex digits that identify a JSON value (SHA-256 of its canonical form)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()  # a reply may hold half a character


@dataclass(frozen=True)
class Task:
    """One scored question.

    Attributes:
        id: unique over all splits.
        input: what the target is asked.
        context: text given beside the question.
        files: name to text of attached files.
        answers: accepted answers; empty when the judge needs none.
        tags: labels for reports and pinned regressions.
        judge: judge name and its settings, as validated by the loader.
        where: `file:line` it came from, for messages.
        data: benchmark-specific fields (JSON values).
    """

    id: str
    input: str
    context: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    judge: Mapping[str, Any] = field(default_factory=dict)
    where: str = field(default="", compare=False)
    data: Mapping[str, Any] = field(default_factory=dict)

    def content(self) -> dict[str, Any]:
        """What the target sees; two tasks with equal content are the same question."""
        return {"input": self.input, "context": self.context, "files": dict(self.files), "data": dict(self.data)}

    def digest(self) -> str:
        """Identity of the question and of how it is scored; changes when either does."""
        return digest({"id": self.id, **self.content(), "answers": self.answers, "judge": dict(self.judge)})


@dataclass(frozen=True)
class Splits:
    """The tasks of one skill: learn from `train`, gate on `val`, report `test` once.

    `confirm` is a part of val that the gate never sees, kept for a last look at the best version.
    """

    train: tuple[Task, ...]
    val: tuple[Task, ...]
    test: tuple[Task, ...] = ()
    confirm: tuple[Task, ...] = ()


@dataclass(frozen=True)
class Score:
    """What a judge says: `hard` and `soft` in [0, 1]; `reason` is empty when hard is 1.

    Attributes:
        lenient: in [0, 1], what `hard` would be if the answer's form did not matter; `None` where that is not judged.
            It decides nothing: it tells how much of a failure is form, and how much is knowledge.
    """

    hard: float
    soft: float
    predicted: str = ""
    reason: str = ""
    lenient: float | None = None

    @classmethod
    def of_unusable(cls, why: str) -> Score:
        """Of a task that cannot be asked, for a fault of its own."""
        return cls(0.0, 0.0, "", f"{_SETUP}{why}", 0.0)

    @property
    def unusable(self) -> bool:
        """Whether the task could not be asked: it counts as failed, and there is nothing to learn from it."""
        return self.reason.startswith(_SETUP)


@dataclass(frozen=True)
class Trajectory:
    """The full record of one rollout: the turns after the skill, the final response and its score.

    A turn of the role `reasoning` is what the target thought before the turn after it; it is never sent to a model as
    part of a conversation.
    """

    turns: tuple[Message, ...]
    response: str
    score: Score


@dataclass(frozen=True)
class BenchmarkContext:
    """What a benchmark is built from.

    Attributes:
        root: folder that relative paths start from (the repository's top folder).
        skill: name of the skill whose tasks are wanted.
        options: the `env` section of the configuration.
        seed: `train.seed`.
    """

    root: Path
    skill: str
    options: Mapping[str, Any]
    seed: int = 42


class Benchmark(Protocol):
    """A kind of task: how it is loaded, asked and scored.

    Entry points name a factory `(BenchmarkContext) -> Benchmark`. One whose tasks ask for changes to files has an
    attribute `edits` that is true: an agent is then permitted to, and no other target can do them but by an
    `AgentBenchmark`, which asks it for something else. One whose scores depend on what a machine has installed has an
    attribute `scoring`, which says in words what this one has, for the record. One whose rollouts send more than one
    request has an attribute `requests`, the most that one of them sends.
    """

    name: str

    def load(self) -> Splits:
        """Read and check every task. Raises `TaskError` with file and line before any model call."""
        ...

    def judge_digest(self) -> str:
        """Identity of the scoring code and its settings; a change makes old records incomparable."""
        ...

    def rollout(self, task: Task, skill: str, ask: Ask) -> Trajectory:
        """Do one task with the skill's text and score it. Model errors pass through.

        The text is empty when there is no skill, and when an agent finds the skill in its folder.
        """
        ...


@runtime_checkable
class AgentBenchmark(Protocol):
    """A benchmark that asks an agent otherwise than a model. Optional for benchmarks."""

    def attachments(self, task: Task) -> Mapping[str, str | bytes]:
        """Name to content of the files that an agent gets with a task, in place of `Task.files`."""
        ...

    def work(self, task: Task, ask: Ask) -> Trajectory:
        """`Benchmark.rollout` for an agent, which finds the skill and the attachments in its folder."""
        ...


@runtime_checkable
class Foreseen(Protocol):
    """A benchmark whose rollouts take long to begin. Optional for benchmarks."""

    def first(self, task: Task, skill: str) -> Request:
        """What a rollout asks first, or something of its size, by which the cost of a run is estimated."""
        ...
