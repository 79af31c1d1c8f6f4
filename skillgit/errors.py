"""Every error a user can meet, each with its exit code.

A message says what happened, why, and what to do next; a place (file and line) comes first when there is one.
"""

from __future__ import annotations


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
