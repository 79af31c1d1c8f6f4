"""The judges that a task may name, and how a task's judge is resolved and used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgit.tasks.base import Score, Task
from skillgit.tasks.checks import CHECKS
from skillgit.tasks.compare import CHOICE, CONTAINS, EXACT, F1, REGEX
from skillgit.tasks.judge import Judge
from skillgit.tasks.numeric import NUMERIC
from skillgit.tasks.problems import suggest

JUDGES: Mapping[str, Judge] = {
    "exact": EXACT,
    "f1": F1,
    "contains": CONTAINS,
    "regex": REGEX,
    "choice": CHOICE,
    "numeric": NUMERIC,
    "checks": CHECKS,
}


def resolve(spec: Any, answers: tuple[str, ...] | None = None) -> tuple[dict[str, Any], list[str]]:
    """A judge with every setting filled in, and what is wrong with it (then the settings must not be used).

    Args:
        spec: a judge's name, or an object with `type` and settings.
        answers: the task's answers; `None` leaves them unchecked (a default for many tasks).
    """
    given = {"type": spec} if isinstance(spec, str) else spec
    if not isinstance(given, Mapping) or not isinstance(given.get("type"), str):
        return {}, ['judge must be a name or an object with "type"']
    name = given["type"]
    judge = JUDGES.get(name)
    if judge is None:
        return {}, [f'unknown judge "{name}"{suggest(name, JUDGES)}']
    wrong = _unknown(name, judge, given) + _unusable(name, judge, given)
    settings = {"type": name, **{key: given.get(key, s.default) for key, s in judge.settings.items()}}
    if not wrong and answers is not None:
        wrong = judge.answers(answers, settings)
    return settings, wrong


def _unknown(name: str, judge: Judge, given: Mapping[str, Any]) -> list[str]:
    known = {"type", *judge.settings}
    extra = sorted(set(given) - known)
    return [f'judge {name} has no setting "{key}"{suggest(key, known)}' for key in extra]


def _unusable(name: str, judge: Judge, given: Mapping[str, Any]) -> list[str]:
    problems = {key: s.problem(given.get(key, s.default)) for key, s in judge.settings.items()}
    return [f"judge {name}: {key} {text}" for key, text in problems.items() if text]


def score(task: Task, response: str) -> Score:
    """What the task's own judge says; the task's settings must come from `resolve` without problems."""
    return JUDGES[task.judge["type"]].score(task, response)


def versions() -> dict[str, int]:
    """Version of each judge's code, for the identity of a measurement."""
    return {name: judge.version for name, judge in JUDGES.items()}
