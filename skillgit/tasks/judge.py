"""What a judge is made of: its settings, what it asks of a task, and how it scores a response."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from skillgit.tasks.base import Score, Task

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Setting:
    """One setting of a judge.

    Attributes:
        default: value when a task does not give one; `None` makes the setting required.
        problem: says what a value must be, or gives an empty string when it is fine.
    """

    default: Any
    problem: Callable[[Any], str]


def any_answers(answers: tuple[str, ...], settings: Settings) -> list[str]:  # noqa: ARG001 - one shape for all
    """For judges that compare with answers: there must be at least one."""
    return [] if answers else ['the judge needs answers: add "answers": ["…"]']


def no_answers(answers: tuple[str, ...], settings: Settings) -> list[str]:  # noqa: ARG001 - one shape for all
    """For judges that bring their own measure: answers are allowed and unused."""
    return []


@dataclass(frozen=True)
class Judge:
    """A way to score responses.

    Attributes:
        version: raised whenever the same response could score differently; old records are then incomparable.
        score: total on any response text; gives finite numbers in [0, 1].
        settings: the names it understands.
        answers: problems of a task's answers under valid settings.
    """

    version: int
    score: Callable[[Task, str], Score]
    settings: Mapping[str, Setting] = field(default_factory=dict)
    answers: Callable[[tuple[str, ...], Settings], list[str]] = any_answers


def one_of(*values: str) -> Setting:
    """A choice between words; the first is the default."""
    wanted = f"must be one of {', '.join(values)}"
    return Setting(values[0], lambda value: "" if isinstance(value, str) and value in values else wanted)


def flag() -> Setting:
    """Yes or no; no by default."""
    return Setting(False, lambda value: "" if isinstance(value, bool) else "must be true or false")


def number(default: float, low: float, high: float) -> Setting:
    """A number from `low` to `high`, both included."""

    def problem(value: Any) -> str:
        right_type = isinstance(value, (int, float)) and not isinstance(value, bool)
        if right_type and low <= value <= high and value != math.inf:
            return ""
        return f"must be a number of at least {low}" if math.isinf(high) else f"must be a number in {low} to {high}"

    return Setting(default, problem)


def passed(predicted: str, soft: float = 1.0) -> Score:
    """Full marks."""
    return Score(1.0, soft, predicted)


def failed(predicted: str, reason: str, soft: float = 0.0) -> Score:
    """No marks, or part of the soft ones."""
    return Score(0.0, soft, predicted, reason)


def is_text_list(value: Any) -> bool:
    """Whether `value` is a list of strings, none of them blank, with at least one member."""
    return bool(value) and isinstance(value, list) and all(isinstance(v, str) and v.strip() for v in value)


def twice(values: Iterable[str]) -> str:
    """The first value that occurs twice, or an empty string."""
    seen: set[str] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return ""
