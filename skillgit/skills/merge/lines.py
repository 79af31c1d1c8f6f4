"""Three-way choice and the line merge inside one unit, with git's conflict markers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile
from typing import TypeVar

from skillgit.skills.lines import NEWLINE

Lines = Sequence[str]
T = TypeVar("T")
H = TypeVar("H", bound=Hashable)

MOST = 1_000_000
"""The most effort a comparison may take: about a second."""

_LINE = re.compile(rf".*?(?:{NEWLINE}|\Z)", re.DOTALL)


class NotUnderstoodError(ValueError):
    """A merge that skills' rules do not decide; the message says why. A text merge is the way out."""


@dataclass(frozen=True)
class Merged:
    """A merged text, and how many conflicts it holds; each stands between markers."""

    text: str
    conflicts: int = 0


@dataclass(frozen=True)
class Markers:
    """How a conflict is written.

    Attributes:
        size: characters of a marker; git's `%L`.
        newline: line ending of the marker lines.
    """

    size: int
    newline: str

    def around(self, ours: str, theirs: str) -> str:
        """A conflict of two texts, each empty or with its last line ended."""
        first, middle, last = (sign * self.size for sign in "<=>")
        end = self.newline
        return f"{first} ours{end}{ours}{middle}{end}{theirs}{last} theirs{end}"


def choose(base: T, ours: T, theirs: T) -> T | None:
    """The one value that three ways agree on; `None` when both sides changed it differently."""
    if ours in (theirs, base):
        return theirs
    return ours if theirs == base else None


def compared(one: Sequence[H], other: Sequence[H]) -> SequenceMatcher[H]:
    """What two rows have in common.

    Raises:
        NotUnderstoodError: so much repeats in them that looking would take long.
    """
    if effort(one, other) > MOST:
        raise NotUnderstoodError("too many equal lines or rules")
    return SequenceMatcher(None, one, other, autojunk=False)


def effort(one: Iterable[Hashable], other: Iterable[Hashable]) -> int:
    """How many equal pairs two rows have, which is about how long it takes to compare them."""
    counts = Counter(other)
    return sum(counts[entry] for entry in one)


def lines_of(text: str) -> list[str]:
    """Lines with their endings."""
    return [line for line in _LINE.findall(text) if line]


def merge_lines(base: str, ours: str, theirs: str, markers: Markers) -> Merged:
    """Merge line by line. Changes of neighbouring lines conflict; what both sides changed alike does not."""
    parts: list[str] = []
    conflicts = 0
    for b, o, t in _chunks(*(lines_of(text) for text in (base, ours, theirs))):
        chosen = choose(b, o, t)
        if chosen is not None:
            parts += chosen
            continue
        before = _common(o, t)
        after = _common(o[before:][::-1], t[before:][::-1])
        inner = ("".join(side[before : len(side) - after]) for side in (o, t))
        parts += [*o[:before], markers.around(*inner), *o[len(o) - after :]]
        conflicts += 1
    return Merged("".join(parts), conflicts)


def _common(one: Lines, other: Lines) -> int:
    """How many lines both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _chunks(base: Lines, ours: Lines, theirs: Lines) -> Iterator[tuple[Lines, Lines, Lines]]:
    """The three texts cut where all of them agree: each chunk is stable or changed as a whole."""
    b = o = t = 0
    in_ours, in_theirs = _partners(base, ours), _partners(base, theirs)
    for line in sorted(in_ours.keys() & in_theirs.keys()):
        if in_ours[line] < o or in_theirs[line] < t:
            continue
        yield base[b:line], ours[o : in_ours[line]], theirs[t : in_theirs[line]]
        b, o, t = line + 1, in_ours[line] + 1, in_theirs[line] + 1
        yield base[line:b], ours[o - 1 : o], theirs[t - 1 : t]
    yield base[b:], ours[o:], theirs[t:]


def _partners(base: Lines, side: Lines) -> dict[int, int]:
    """Base lines that stand unchanged in a side, in order."""
    blocks = compared(base, side).get_matching_blocks()
    return {block.a + step: block.b + step for block in blocks for step in range(block.size)}
