"""Protected regions: parts of a skill between marker comments that ordinary edits may not touch.

<!-- SLOW_UPDATE_START -->
guidance written at epoch boundaries
<!-- SLOW_UPDATE_END -->
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from skillgit.skills.markdown import matches_in_code

Kind = Literal["SLOW_UPDATE", "APPENDIX", "LEARNED"]
Span = tuple[int, int]

KINDS: tuple[Kind, ...] = get_args(Kind)

_MARKER = re.compile(rf"<!-- ({'|'.join(KINDS)})_(START|END) -->")


@dataclass(frozen=True)
class Region:
    """One protected region.

    Attributes:
        kind: who owns it.
        start, end: the whole of it, markers included.
        inner_start, inner_end: the text between the markers.
    """

    kind: Kind
    start: int
    end: int
    inner_start: int
    inner_end: int


@dataclass(frozen=True)
class Flaw:
    """A marker that does not make a sound region, and the span that is protected because of it."""

    start: int
    end: int
    message: str


@dataclass(frozen=True)
class Marks:
    """Every marker of a document, as structure.

    Attributes:
        regions: complete regions by position.
        flaws: damage by position.
        limit: where the earliest region begins, complete or never closed; `None` without one.
    """

    regions: tuple[Region, ...] = ()
    flaws: tuple[Flaw, ...] = ()
    limit: int | None = None

    @property
    def spans(self) -> tuple[Span, ...]:
        """Everything edits must leave alone."""
        regions = [(region.start, region.end) for region in self.regions]
        return (*regions, *((flaw.start, flaw.end) for flaw in self.flaws))


def start_marker(kind: Kind) -> str:
    """The comment that opens a region."""
    return f"<!-- {kind}_START -->"


def end_marker(kind: Kind) -> str:
    """The comment that closes a region."""
    return f"<!-- {kind}_END -->"


def strip_markers(text: str) -> str:
    """`text` without any marker, those that appear when an inner one is removed included."""
    while _MARKER.search(text):
        text = _MARKER.sub("", text)
    return text


def find_marks(text: str, body_start: int) -> Marks:
    """Pair the markers of the body. Marker text inside code is an example, not a marker."""
    body = text[body_start:]
    if not _MARKER.search(body):
        return Marks()
    quoted = matches_in_code(body, _MARKER)
    markers = [match for match in _MARKER.finditer(text, body_start) if match.start() - body_start not in quoted]
    regions: list[Region] = []
    flaws: list[Flaw] = []
    for kind in KINDS:
        _pair(kind, [match for match in markers if match[1] == kind], len(text), regions, flaws)
    regions.sort(key=lambda region: region.start)
    flaws += [
        Flaw(inner.start, inner.end, f"{inner.kind} region begins inside another region")
        for outer, inner in pairwise(regions)
        if inner.start < outer.end
    ]
    flaws.sort(key=lambda flaw: (flaw.start, flaw.end))
    limit = min((marker.start() for marker in markers if marker[2] == "START"), default=None)
    return Marks(tuple(regions), tuple(flaws), limit)


def _pair(kind: Kind, markers: list[re.Match[str]], size: int, regions: list[Region], flaws: list[Flaw]) -> None:
    """Pair the markers of one kind; what is left over becomes a flaw."""
    opened: re.Match[str] | None = None
    complete = 0
    for marker in markers:
        if marker[2] == "START":
            if opened or complete:
                problem = f"{kind} region begins again" if opened else f"second {kind} region"
                flaws.append(Flaw(*marker.span(), problem))
            opened = opened or marker
        elif opened:
            regions.append(Region(kind, opened.start(), marker.end(), opened.end(), marker.start()))
            opened, complete = None, complete + 1
        else:
            flaws.append(Flaw(*marker.span(), f"{kind} region ends without a beginning"))
    if opened:
        # Nobody knows where it was meant to end, so all that follows is kept safe.
        flaws.append(Flaw(opened.start(), size, f"{kind} region never ends"))
