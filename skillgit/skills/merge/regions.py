"""Merging protected regions, each by the rule of its owner."""

from __future__ import annotations

from skillgit.skills.blocks import Block, split_blocks
from skillgit.skills.document import Document
from skillgit.skills.lines import ended
from skillgit.skills.merge.leaves import merge_leaves
from skillgit.skills.merge.lines import Markers, NotUnderstoodError, choose, lines_of
from skillgit.skills.merge.order import Place
from skillgit.skills.merge.pieces import Piece, Unit, join

_Parts = tuple[str, str, str]


def merge_region(kind: str, base: Block | None, ours: Block, theirs: Block, place: Place, markers: Markers) -> Piece:
    """Merge a region that both sides have.

    SLOW_UPDATE is written anew each time, so two versions of it conflict as a whole. APPENDIX and LEARNED are lists of
    rules, so the rules of both are kept.
    """
    text = choose(base.text if base else None, ours.text, theirs.text)
    if text is not None:
        return Piece("region", text, place)
    sides = [_parts(block.text) for block in (ours, theirs)]
    if kind != "SLOW_UPDATE":
        inner, conflicts = _united(_parts(base.text)[1] if base else "", sides[0][1], sides[1][1], markers), 0
    else:
        inner, conflicts = markers.around(sides[0][1], sides[1][1]), 1
    start, end = (max(sides[0][at], sides[1][at]) for at in (0, 2))
    return Piece("region", start + inner + end, place, conflicts)


def _parts(text: str) -> _Parts:
    """The line of the first marker, what stands between, and the line of the last marker."""
    lines = lines_of(text)
    if len(lines) < 2 or not all(
        line.strip().startswith("<!--") and line.strip().endswith("-->") for line in (lines[0], lines[-1])
    ):
        raise NotUnderstoodError("a protected region shares a line with other text")
    return lines[0], "".join(lines[1:-1]), lines[-1]


def _united(base: str, ours: str, theirs: str, markers: Markers) -> str:
    """All blocks that no side removed, those of both once."""
    found = [split_blocks(Document(text)) for text in (base, ours, theirs)]
    units = [[Unit(at, block) for at, block in enumerate(part.blocks)] for part in found]
    pieces = merge_leaves(units[0], units[1], units[2], markers, exact=True)
    text = join(pieces, [part.blocks for part in found], markers.newline)
    tail = choose(*(part.tail for part in found))
    return ended(text, markers.newline) + (max(found[1].tail, found[2].tail) if tail is None else tail)
