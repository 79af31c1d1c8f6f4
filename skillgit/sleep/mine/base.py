"""A mined task: a question that people really asked, and how an answer to it is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skillgit.tasks.base import Task

Split = Literal["train", "val", "test"]
Outcome = Literal["success", "fail", "mixed", "unknown"]
Origin = Literal["real", "dream", "recall"]

SHAPE_CHECKS = frozenset({"section_present", "section_contains", "max_chars", "min_chars"})
"""Checks on the form of an answer alone: an answer can meet them and be of no use."""


@dataclass(frozen=True)
class MinedTask:
    """A task with the evidence behind it.

    Attributes:
        task: what is asked (redacted), its answers and its judge. The judge is one of `tasks.judges`, or
            `{"type": "rubric", "rubric": text}`, which the optimizer model applies.
        skill: name of the skill in play; blank for none.
        project: top folder of the repository it was asked in.
        sessions: hashed ids of the sessions in which it was asked, each once.
        said: what people said when they corrected an answer, redacted, oldest first. Only these words may make rules.
        outcome: how it ended for the people who asked.
        derived_from: id of the task that a dream or a recalled task was made from.
    """

    task: Task
    split: Split = "train"
    skill: str = ""
    project: str = ""
    sessions: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    outcome: Outcome = "unknown"
    origin: Origin = "real"
    derived_from: str = ""

    @property
    def shape_only(self) -> bool:
        """True when only the form of an answer is judged."""
        checks = self.task.judge.get("checks") or ()
        return self.task.judge.get("type") == "checks" and all(check["op"] in SHAPE_CHECKS for check in checks)
