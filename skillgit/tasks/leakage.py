"""The leak guard of a run: what its tasks and graders must not leave in the skill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from skillgit.config.schema import Leaks
from skillgit.skills.edits import Guard, allow_all
from skillgit.skills.leaks import LeakIndex, LeakKind, new_leaks
from skillgit.tasks.base import Splits, Task

# Settings of judges that hold words of the grader's author; the others are names and numbers.
_GRADER_SETTINGS = ("pattern", "rubric")


def leak_guard(splits: Splits, switches: Leaks) -> Guard:
    """A guard that refuses changes which carry one of the enabled kinds of leak into the skill."""
    index = leak_index(splits, switches)
    if index is None:
        return allow_all

    def guard(before: str, after: str) -> str:
        return "; ".join(leak.reason for leak in new_leaks(index, before, after))

    return guard


def leak_kinds(switches: Leaks) -> frozenset[LeakKind]:
    """The kinds of leak that are looked for."""
    enabled: dict[LeakKind, bool] = {
        "grader": switches.grader,
        "span": switches.span,
        "reference": switches.reference,
    }
    return frozenset(kind for kind, on in enabled.items() if on)


def leak_index(splits: Splits, switches: Leaks) -> LeakIndex | None:
    """What of the tasks must stay out of the skill; `None` when every kind of leak is switched off."""
    kinds = leak_kinds(switches)
    if not kinds:
        return None
    names = ("train", "val", "test", "confirm")
    everything = [(name, task) for name in names for task in getattr(splits, name)]
    return LeakIndex.build(
        [pair for name, task in everything for pair in _grader(name, task)],
        [pair for name, task in everything for pair in _texts(name, task)],
        [
            (answer, f"{name} task {task.id}, answer")
            for name, task in everything
            if name != "train"
            for answer in task.answers
        ],
        kinds=kinds,
    )


def _grader(name: str, task: Task) -> Iterator[tuple[str, str]]:
    source = f"{name} task {task.id}, judge"
    for setting in _GRADER_SETTINGS:
        if text := task.judge.get(setting):
            yield str(text), source
    checks: Iterable[Any] = task.judge.get("checks") or ()
    for check in checks:
        if isinstance(check.get("arg"), str):
            yield check["arg"], source


def _texts(name: str, task: Task) -> Iterator[tuple[str, str]]:
    source = f"{name} task {task.id}"
    yield task.input, source
    if task.context:
        yield task.context, source
    for text in (*task.files.values(), *task.answers):
        yield text, source
