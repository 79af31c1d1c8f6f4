"""Finding an edit's target in a document, and saying what is near when it is not there."""

from __future__ import annotations

import difflib
import re

from skillgit.skills.lines import NEWLINE, line_number, split_lines
from skillgit.skills.markers import Span

_SHOWN = 80


def occurrences(text: str, target: str) -> list[Span]:
    """Every place where `target` stands, overlapping ones included.

    Character for character, except that any line ending matches any other and a final one also matches the end of
    the text: models write LF whatever the file uses.
    """
    parts = [re.escape(part) for part in split_lines(target)]
    last = f"(?:{NEWLINE}|\\Z)" if len(parts) > 1 and not parts[-1] else ""
    if last:
        parts.pop()
    pattern = re.compile(f"(?=({NEWLINE.join(parts)}{last}))")
    return [match.span(1) for match in pattern.finditer(text)]


def missing_reason(text: str, target: str) -> str:
    """Why `target` was not found, naming the most similar line when one is close."""
    lines = split_lines(text)
    wanted = [line for line in split_lines(target) if line.strip()]
    strange = next((line for line in wanted if line not in text), None)
    if strange is None:
        return "its lines are in the text, but not together"
    close = difflib.get_close_matches(strange, lines, n=1)
    if not close:
        return "nothing like it is in the text"
    return f"not in the text; closest is line {lines.index(close[0]) + 1}: {close[0].strip()[:_SHOWN]!r}"


def ambiguous_reason(text: str, found: list[Span]) -> str:
    """Where an ambiguous target stands."""
    lines = [str(line_number(text, start)) for start, _ in found[:5]]
    more = ", …" if len(found) > len(lines) else ""
    return f"occurs {len(found)} times: lines {', '.join(lines)}{more}"
