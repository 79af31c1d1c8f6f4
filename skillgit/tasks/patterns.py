"""Regular expressions written by task authors."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

MAX_SEARCHED = 100_000
"""Only this many characters of a response are searched. Python cannot interrupt a search, so this bounds the damage
of a slow pattern (it does not cure an exponential one: those are for the task's author to avoid)."""

_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str, flags: str = "") -> re.Pattern[str]:
    """The compiled pattern; `flags` holds letters from `ims`. Raises `ValueError` with what is wrong."""
    value = re.NOFLAG
    for letter in flags:
        value |= _FLAGS[letter]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a pattern that may change its meaning some day still has one today
            return re.compile(pattern, value)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from error


def found(pattern: str, text: str, flags: str = "") -> bool:
    """Whether the pattern matches somewhere in the first `MAX_SEARCHED` characters."""
    return compile_pattern(pattern, flags).search(text[:MAX_SEARCHED]) is not None


def pattern_problem(pattern: object) -> str:
    """What is wrong with a pattern, or an empty string."""
    if not isinstance(pattern, str) or not pattern:
        return "must be a regular expression as text"
    try:
        compile_pattern(pattern)
    except ValueError as error:
        return f"is not a valid regular expression ({error})"
    return ""


def flags_problem(flags: object) -> str:
    """What is wrong with flag letters, or an empty string."""
    fine = isinstance(flags, str) and set(flags) <= _FLAGS.keys()
    return "" if fine else 'must hold only the letters "i", "m" and "s"'
