"""What of a Markdown body is code or comment, by offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache

from skillgit.skills.lines import line_starts
from skillgit.skills.markdown import block_tokens

_TICKS = re.compile(r"`+")


def code_lines(body: str) -> Iterator[tuple[int, int]]:
    """Spans of fenced and indented code blocks."""
    yield from _spans(body, "fence", "code_block")


def html_lines(body: str) -> Iterator[tuple[int, int]]:
    """Spans of blocks of HTML."""
    yield from _spans(body, "html_block")


class CodeSpans:
    """Code within paragraphs and headings of a body; each paragraph is looked at when it is asked about."""

    def __init__(self, body: str) -> None:
        self._body = body
        self._parts = list(_spans(body, "inline"))
        self._found: dict[int, list[tuple[int, int]]] = {}

    def __contains__(self, offset: int) -> bool:
        number = bisect_right(self._parts, (offset, len(self._body))) - 1
        if number < 0 or offset >= self._parts[number][1]:
            return False
        if number not in self._found:
            self._found[number] = list(_ticked(self._body, *self._parts[number]))
        spans = self._found[number]
        at = bisect_right(spans, (offset, len(self._body))) - 1
        return at >= 0 and offset < spans[at][1]


def comments(text: str, start: int, is_code: Callable[[int], bool]) -> Iterator[tuple[int, int]]:
    """Spans of HTML comments from `start` on; one that never ends runs to the end of the text."""
    at = text.find("<!--", start)
    while at >= 0:
        if is_code(at):
            end = at + 4
        else:
            end = text.find("-->", at + 4)
            end = len(text) if end < 0 else end + 3
            yield at, end
        at = text.find("<!--", end)


@lru_cache(maxsize=4)
def _parts(body: str) -> tuple[tuple[str, int, int], ...]:
    """Kind and span of every block that has lines."""
    starts = [*line_starts(body), len(body)]
    last = len(starts) - 1
    return tuple(
        (token.type, starts[min(token.map[0], last)], starts[min(token.map[1], last)])
        for token in block_tokens(body)
        if token.map is not None
    )


def _spans(body: str, *kinds: str) -> Iterator[tuple[int, int]]:
    return ((low, high) for kind, low, high in _parts(body) if kind in kinds)


def _ticked(body: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Code spans in one paragraph: a row of backticks up to the next row of the same length."""
    runs = [match.span() for match in _TICKS.finditer(body, low, high)]
    closers: list[int | None] = []
    later: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        size = runs[number][1] - runs[number][0]
        closers.append(later.get(size))
        later[size] = number
    closers.reverse()
    number = 0
    while number < len(runs):
        closer = closers[number]
        escaped = runs[number][0] > low and body[runs[number][0] - 1] == "\\"
        if closer is None or escaped:
            number += 1
            continue
        yield runs[number][0], runs[closer][1]
        number = closer + 1
