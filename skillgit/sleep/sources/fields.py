"""Reading values of other programs' records, which may be missing or of another kind."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

_NAME = 80
# A name begins where a part of a path does: looking takes time in proportion to the text.
_SKILL_FILE = re.compile(rf"(?<![^/\\\s\"'`])([^/\\\s\"'`]{{1,{_NAME}}})[/\\]+SKILL\.md(?![\w.])")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")
_MILLISECONDS = 1e11
"""Seconds reach this in the year 5138, milliseconds passed it in 1973."""


def string(value: Any) -> str:
    """A string as it is; blank for anything else."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """An object as it is; empty for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """A list as it is; empty for anything else."""
    return value if isinstance(value, list) else []


def name(value: Any) -> str:
    """The name of a tool or skill as one printable word of at most `_NAME` characters; blank when it is none."""
    return "".join(letter if letter.isprintable() else "_" for letter in string(value).strip()[:_NAME])


def absolute(value: Any) -> str:
    """The path of a folder, POSIX or Windows; blank when it is not absolute."""
    path = string(value)
    return path if _ABSOLUTE.match(path) else ""


def seconds(value: Any) -> float | None:
    """Seconds since 1970 UTC of an ISO 8601 time (UTC where it has no offset), of seconds or of milliseconds."""
    if isinstance(value, str):
        return _iso(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = float(value) if abs(value) < 1e15 else math.nan
    if not number > 0:
        return None
    return number / 1000 if number >= _MILLISECONDS else number


def _iso(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def without(text: str, tag: str) -> str:
    """A text without every `<tag>…</tag>` that is closed, in linear time."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    kept, start = [], 0
    while (begin := text.find(opening, start)) >= 0 and (end := text.find(closing, begin)) >= 0:
        kept.append(text[start:begin])
        start = end + len(closing)
    return "".join([*kept, text[start:]])


def inside(text: str, tag: str) -> str:
    """What the first `<tag>…</tag>` of a text holds; blank when there is none."""
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


def skill_files(text: str) -> tuple[str, ...]:
    """Names of the skills whose `SKILL.md` a path or command names: the folders they are in, in order."""
    return tuple(dict.fromkeys(_SKILL_FILE.findall(text)))
