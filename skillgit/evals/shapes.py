"""The shape of records, results and the like: notes and journals can be edited by hand, and may hold anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]
Shape = Mapping[str, Check]
"""Key to what its value must be, where it is given; other keys may hold anything."""

_LARGEST = 1e15  # of any number here; what is larger was not measured, and cannot be computed with


def text(value: Any) -> bool:
    """A string."""
    return isinstance(value, str)


def flag(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


def number(value: Any) -> bool:
    """A finite number that can be computed with; true and false are none."""
    return isinstance(value, int | float) and not flag(value) and -_LARGEST < value < _LARGEST


def count(value: Any) -> bool:
    """A whole number from zero on."""
    return isinstance(value, int) and number(value) and value >= 0


def maybe(check: Check) -> Check:
    """What fits, or `null`."""
    return lambda value: value is None or check(value)


def many(check: Check) -> Check:
    """A list of what fits."""
    return lambda value: isinstance(value, list) and all(map(check, value))


def of(shape: Shape, *required: str) -> Check:
    """An object of a shape that has these keys."""

    def fits(value: Any) -> bool:
        if not isinstance(value, dict) or any(key not in value for key in required):
            return False
        return all(check(value[key]) for key, check in shape.items() if key in value)

    return fits


GATE: Shape = {
    "verdict": text,
    "why": maybe(text),
    "base": maybe(text),
    "base_score": maybe(number),
    "run": maybe(text),
    "step": maybe(count),
}
RECORD: Shape = {
    "id": text,
    "skill": text,
    "split": text,
    "n": maybe(count),
    "hard": maybe(number),
    "soft": maybe(number),
    "score": maybe(number),
    "metric": maybe(text),
    "weight": number,
    "complete": flag,
    "at": maybe(text),
    "bound": of({"score_at_most": number}, "score_at_most"),
    "gate": maybe(of(GATE)),
}
_TASK = of({"hard": number, "soft": number}, "hard", "soft")


_is_measured = of(RECORD, "skill", "hard", "soft", "n")


def sound_record(record: Any) -> bool:
    """True for a record that can be read: its scores are numbers. A noise record is of no split and has none."""
    return isinstance(record, dict) and ("split" not in record or _is_measured(record))


def sound_results(line: Any) -> bool:
    """True for the per-task results of a record."""
    tasks = line.get("tasks") if isinstance(line, dict) else None
    return isinstance(tasks, dict) and all(map(_TASK, tasks.values()))
