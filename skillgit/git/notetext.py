"""What people and tools made of a note's text, taken apart again: one canonical line for each record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skillgit.git.notes import DECODER, canonical, encode, record_of


def records_apart(text: str) -> list[str]:
    """The lines of a note, where records that are spread over lines, run together or spaced become one line each.

    What is no JSON object stays as it is; blank lines go.
    """
    return [line for line in _lines(text) if line.strip()]


def _lines(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        record, after = _record(text, at)
        if record:
            yield canonical(record)
            at = _next(text, after)
        else:
            yield text[at:end]
            at = end + 1


def _record(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    """The object that begins at a place, and where it ends."""
    if not text.startswith("{", at):
        return None, at
    try:
        value, after = DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at
    return value, after


def _next(text: str, at: int) -> int:
    """Where the next thing begins."""
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def without_repeats(lines: list[str]) -> list[str]:
    """The lines without records that stand there twice, word for word; other text may well repeat itself."""
    seen: set[str] = set()
    kept = []
    for line in lines:
        if line not in seen or record_of(line) is None:
            kept.append(line)
        seen.add(line)
    return kept


def is_as(lines: list[str], blob: bytes) -> bool:
    """True when a note's blob already holds just these lines."""
    return [line for line in blob.split(b"\n") if line.strip()] == encode(lines).split(b"\n")[:-1]
