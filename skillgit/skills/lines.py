"""Lines and newlines, counted as Markdown counts them: LF, CRLF and lone CR each end a line.

`str.splitlines` is not used because it also splits on form feeds and Unicode separators, which Markdown and git
keep inside a line.
"""

from __future__ import annotations

import re
from itertools import accumulate

NEWLINE = r"(?:\r\n|(?<!\r)\n|\r(?!\n))"
"""One line ending. Never matches half of a CRLF."""

_NEWLINE_RE = re.compile(NEWLINE)
BOM = "\ufeff"

_BLANK_END = re.compile(rf"(?:\A|{NEWLINE})[ \t]*{NEWLINE}\Z")
_STYLES = ("\n", "\r\n", "\r")

UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Characters that are invisible in review or cannot be written as UTF-8; tab and line endings are text."""


def line_starts(text: str) -> list[int]:
    """Offset of the first character of every line."""
    if "\r" not in text:
        return [0, *accumulate(len(line) + 1 for line in text.split("\n")[:-1])]
    return [0, *(match.end() for match in _NEWLINE_RE.finditer(text))]


def line_number(text: str, offset: int) -> int:
    """1-based line that holds `offset`."""
    if "\r" not in text:
        return text.count("\n", 0, offset) + 1
    return len(_NEWLINE_RE.findall(text, 0, offset)) + 1


def line_start(text: str, offset: int) -> int:
    """Offset where the line that holds `offset` begins."""
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def next_line(text: str, offset: int) -> int:
    """Offset just after the line that holds `offset`, its line ending included."""
    match = _NEWLINE_RE.search(text, offset)
    return match.end() if match else len(text)


def split_lines(text: str) -> list[str]:
    """Lines without their endings."""
    return _NEWLINE_RE.split(text)


def dominant_newline(text: str) -> str:
    """The line ending used most; LF when there is none or the count is equal."""
    endings = _NEWLINE_RE.findall(text)
    return max(_STYLES, key=endings.count)


def with_newline(text: str, newline: str) -> str:
    """`text` with every line ending written as `newline`."""
    return newline.join(split_lines(text))


def ended(text: str, newline: str) -> str:
    """`text` with its last line ended, unless it is empty."""
    return text if not text.lstrip(BOM) or text.endswith(("\n", "\r")) else text + newline


def with_blank_end(text: str, newline: str) -> str:
    """`text` with a blank line at its end, unless it is empty: a new block can follow."""
    text = ended(text, newline)
    return text if not text.lstrip(BOM) or _BLANK_END.search(text) else text + newline
