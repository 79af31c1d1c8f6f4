"""DocVQA's score: average normalised Levenshtein similarity (ANLS), with threshold 0.5.

The similarity of one question is the best over its accepted answers. SkillOpt takes it as the soft score.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from skillgit.errors import TaskError
from skillgit.tasks.text import last_line, quote

HARD = 0.999
"""Least similarity that counts as correct."""

_THRESHOLD = 0.5
"""Least normalised distance, in [0, 1], that counts as no similarity at all."""

_OPEN = re.compile(r"<answer>", re.IGNORECASE)
_CLOSE = re.compile(r"</answer>", re.IGNORECASE)


def answer_in(response: str) -> str:
    """What stands between the last opening and the last closing answer tag, else the last line that is not blank."""
    start = max((tag.end() for tag in _OPEN.finditer(response)), default=-1)
    end = max((tag.start() for tag in _CLOSE.finditer(response)), default=-1)
    return response[start:end].strip() if 0 <= start <= end else last_line(response)


def gold_answers(value: Any, where: str = "") -> tuple[str, ...]:
    """The accepted answers of a data set's field, in order.

    The field is a list, an object with `answers` or `answer`, either of these as JSON or Python text, or one plain
    text. Numbers become text. Raises `TaskError` naming `where` when there is no answer or one of another type.
    """
    if isinstance(value, str):
        value = _literal(value)
    if isinstance(value, Mapping):
        value = value.get("answers", value.get("answer"))
    items = value if isinstance(value, list | tuple) else [value]
    if not items or not all(isinstance(item, str | int | float) for item in items):
        raise TaskError(
            f"no usable answers in {quote(repr(value))}",
            fix='give one text, or a list such as ["7", "seven"]',
            where=where,
        )
    return tuple(str(item) for item in items)


def _literal(text: str) -> Any:
    """The list or object that a text spells; the text itself when it spells none."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    for read in (json.loads, ast.literal_eval):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python warns of unknown escapes such as \d
                value = read(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list | dict):
            return value
    return text


def anls(prediction: str, answers: Iterable[str]) -> float:
    """Best similarity in [0, 1] over the answers; 0 without answers. Case and runs of white space do not count."""
    wanted = _fold(prediction)
    return max((_similarity(wanted, _fold(answer)) for answer in answers), default=0.0)


def _fold(text: str) -> str:
    return " ".join(text.lower().split())


def _similarity(left: str, right: str) -> float:
    """1 - distance / longer length, or 0 from the threshold on. Two empty texts are equal."""
    longest = max(len(left), len(right))
    if not longest:
        return 1.0
    if abs(len(left) - len(right)) / longest >= _THRESHOLD:  # the distance is at least this; spares long responses
        return 0.0
    far = edit_distance(left, right) / longest
    return 0.0 if far >= _THRESHOLD else 1 - far


def edit_distance(left: str, right: str) -> int:
    """Levenshtein distance: fewest insertions, deletions and replacements of one code point."""
    fast = _rapid()
    return fast(left, right) if fast else slow_distance(left, right)


@cache
def _rapid() -> Callable[[str, str], int] | None:
    """rapidfuzz's distance where it is installed: the same numbers, sooner."""
    try:
        found: Callable[[str, str], int] = import_module("rapidfuzz.distance.Levenshtein").distance
    except ImportError:
        return None
    return found


def slow_distance(left: str, right: str) -> int:
    """`edit_distance` without help."""
    row = list(range(len(right) + 1))
    for i, one in enumerate(left, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(right, 1):
            best = min(diagonal + (one != other), row[j] + 1, row[j - 1] + 1)
            diagonal, row[j] = row[j], best
    return row[-1]
