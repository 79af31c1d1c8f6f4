"""Replaying the log of changes as which VS Code writes a chat: only what is asked for of its state is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeGuard

from skillgit.sleep.sources.fields import items
from skillgit.sleep.sources.jsonl import Line

Shape = Any
"""What is kept of a value: all of it (`True`), these keys of an object, or `[shape]` of every item of a list."""

_WHOLE, _SET, _PUSH, _DELETE = range(4)


def replay(lines: Iterable[Line], shape: Shape, damaged: Counter[str]) -> dict[str, Any]:
    """The state after all changes; empty when there is none. A change that fits nowhere is skipped and counted as
    `operation`; a list keeps its length, so that places in it stay what they are."""
    state: dict[str, Any] = {}
    for line in lines:
        operation = line.value
        if operation.get("kind") == _WHOLE and isinstance(operation.get("v"), dict):
            state = reduced(operation["v"], shape)
        elif not _apply(state, operation, shape):
            damaged["operation"] += 1
    return state


def reduced(value: Any, shape: Shape) -> Any:
    """What a shape keeps of a value. What is of another kind becomes empty."""
    if shape is True:
        return value
    if isinstance(shape, list):
        return [reduced(item, shape[0]) for item in items(value)]
    kept = value if isinstance(value, dict) else {}
    return {key: reduced(kept[key], part) for key, part in shape.items() if key in kept}


def _apply(state: dict[str, Any], operation: dict[str, Any], shape: Shape) -> bool:
    """Make one change; `False`: it fits nowhere."""
    kind, path = operation.get("kind"), operation.get("k")
    if kind not in (_SET, _PUSH, _DELETE) or not isinstance(path, list) or not path:
        return False
    part = _shape_at(shape, path)
    if part is None:  # a place of which nothing is kept
        return True
    place = _at(state, path[:-1])
    if kind == _PUSH:
        return _push(place, path[-1], operation, part)
    return _put(place, path[-1], reduced(operation.get("v") if kind == _SET else None, part), delete=kind == _DELETE)


def _shape_at(shape: Shape, path: list[Any]) -> Shape | None:
    for step in path:
        if shape is True:
            return True
        if isinstance(shape, list) != _is_index(step):
            return None
        shape = shape[0] if isinstance(shape, list) else shape.get(step) if isinstance(step, str) else None
        if shape is None:
            return None
    return shape


def _is_index(step: Any) -> TypeGuard[int]:
    return isinstance(step, int) and not isinstance(step, bool)


def _at(value: Any, path: list[Any]) -> Any:
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and _is_index(step) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def _put(place: Any, step: Any, value: Any, *, delete: bool) -> bool:
    if isinstance(place, dict) and isinstance(step, str):
        if delete:
            place.pop(step, None)
        else:
            place[step] = value
        return True
    if isinstance(place, list) and _is_index(step) and 0 <= step < len(place) + (not delete):
        # A deleted item leaves a gap, as it does in JavaScript: places after it stay what they are.
        place[step : step + 1] = [value]
        return True
    return False


def _push(place: Any, step: Any, operation: dict[str, Any], shape: Shape) -> bool:
    if not isinstance(place, dict | list) or not (isinstance(step, str) or _is_index(step)):
        return False
    target = _at(place, [step])
    if target is None and isinstance(place, dict):
        target = place[step] = []
    if not isinstance(target, list):
        return False
    keep = operation.get("i")
    if _is_index(keep) and keep >= 0:
        del target[keep:]
    target += items(reduced(operation.get("v"), shape))
    return True
