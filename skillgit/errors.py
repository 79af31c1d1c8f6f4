"""Every error a user can meet, each with its exit code.

A message says what happened, why, and what to do next; a place (file and line) comes first when there is one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


class SkillgitError(Exception):
    """Base of all expected errors.

    Args:
        what: one sentence on what went wrong.
        why: the cause, when it is known.
        fix: what to do next, usually a command.
        where: `file` or `file:line` the error is about.
    """

    exit_code = 3

    def __init__(self, what: str, *, why: str = "", fix: str = "", where: str = "") -> None:
        super().__init__(what)
        self.what, self.why, self.fix, self.where = what, why, fix, where

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        lines = [head, self.why and f"  why:  {self.why}", self.fix and f"  next: {self.fix}"]
        return "\n".join(line for line in lines if line)


class CheckFailedError(SkillgitError):
    """Something was checked and did not pass."""

    exit_code = 1


class ConfigError(SkillgitError):
    """A command line or configuration that cannot be used."""

    exit_code = 2


class TaskError(ConfigError):
    """A task, task file or data set that cannot be used."""


class SkillError(ConfigError):
    """A skill document that cannot be read."""


class GitError(SkillgitError):
    """git refused, or the repository is not in a usable state."""

    exit_code = 4


class RefConflictError(GitError):
    """A ref moved between reading and writing; read again and retry."""


class ModelError(SkillgitError):
    """A model call that gave no usable answer. Never a score."""

    exit_code = 5


class TransientModelError(ModelError):
    """Network trouble, rate limit, server fault, timeout or empty reply: another try may succeed."""


class ModelConfigError(ModelError):
    """Bad key, unknown model, wrong endpoint: another try cannot succeed."""


class ContextLengthError(ModelError):
    """The request is longer than the model's context."""


class RefusalError(ModelError):
    """The model or its provider declined to answer."""


class BudgetReachedError(SkillgitError):
    """A limit on calls, tokens, cost or time was reached before the next call."""

    exit_code = 6


class NeedsPersonError(SkillgitError):
    """Only a person can go on from here."""

    exit_code = 7


@dataclass(frozen=True)
class Pending:
    """An answer that a person is to write: whose it is, the file that asks, the file it goes into.

    Attributes:
        problem: what is wrong with the answer that is there, as the end of a sentence; blank when there is none.
    """

    role: str
    prompt: str
    answer: str
    problem: str = ""


class PendingAnswerError(NeedsPersonError):
    """Answers that are handed off to a person are missing. Neither a score nor a failure.

    Args:
        pending: the missing answers; each counts once.
    """

    def __init__(self, pending: Iterable[Pending]) -> None:
        self.pending = tuple(dict.fromkeys(pending))
        count = len(self.pending)
        super().__init__(
            "1 answer is needed" if count == 1 else f"{count} answers are needed",
            why="\n        ".join(_wanted(each) for each in self.pending),
            fix=f"read {self.index}, write what is needed, then run the same command again",
        )

    @property
    def index(self) -> str:
        """The file that says how to answer."""
        return str(Path(self.pending[0].prompt).parent.parent / "PROMPTS.md")

    def to_json(self) -> dict[str, Any]:
        """What is missing, as JSON values."""
        return {"event": "pending_answers", "index": self.index, "pending": [asdict(each) for each in self.pending]}


def _wanted(pending: Pending) -> str:
    return f"{pending.answer} {pending.problem}" if pending.problem else f"{pending.prompt} waits for an answer"
