"""Long text, cut in the middle."""

from __future__ import annotations

import re

MARK = re.compile(r"\[redacted:[A-Za-z][A-Za-z -]{1,40}\]")
"""What stands in the place of something that was redacted."""

_ROOM = 60  # a note is shorter
_REACH = 64  # a mark is shorter


def clip(text: str, limit: int) -> str:
    """At most `limit` characters: the head and the tail, with a note between them of how much was left out.

    A mark of something redacted, and a pair of surrogates, is kept whole or left out.

    Args:
        limit: characters, 1 or more; below 120 there is no room for the count, and the note is `…`.
    """
    if len(text) <= limit:
        return text
    plain = limit < 2 * _ROOM
    room = limit - (1 if plain else _ROOM)
    low = _apart(text, room - room // 3, down=True)
    high = _apart(text, len(text) - room // 3, down=False)
    note = "…" if plain else f"\n[… {high - low:,} characters left out …]\n"
    return text[:low] + note + text[high:]


def _apart(text: str, at: int, *, down: bool) -> int:
    """`at`, or the nearest place in one direction that cuts through nothing."""
    for mark in MARK.finditer(text, max(0, at - _REACH), min(len(text), at + _REACH)):
        if mark.start() < at < mark.end():
            return mark.start() if down else mark.end()
    split = 0 < at < len(text) and "\ud800" <= text[at - 1] <= "\udbff" and "\udc00" <= text[at] <= "\udfff"
    return at + (-1 if down else 1) if split else at
