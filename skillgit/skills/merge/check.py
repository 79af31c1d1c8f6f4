"""The safety net of a merge: the result is compared with what went in, by other means than it was made."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from skillgit.skills.blocks import Block, split_blocks
from skillgit.skills.document import Document
from skillgit.skills.lines import split_lines
from skillgit.skills.merge.lines import NotUnderstoodError
from skillgit.skills.merge.pieces import Piece

_MARKER = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+")


def check_lines(bodies: Sequence[str], merged: str, conflicts: int) -> None:
    """Every line that both sides kept or one added is there; in a clean merge no other line is.

    Args:
        bodies: those of base, ours and theirs.

    Raises:
        NotUnderstoodError: a line is missing, or one came back that a side had removed.
    """
    base, ours, theirs, result = (_lines(text) for text in (*bodies, merged))
    if lost := ((ours & theirs) | (ours - base) | (theirs - base)) - result:
        raise NotUnderstoodError(f"the line {min(lost)[:60]!r} would be lost")
    if not conflicts and (extra := result - ((ours & theirs) | (ours - base) | (theirs - base))):
        raise NotUnderstoodError(f"the line {min(extra)[:60]!r} would come back")


def check_once(pieces: Sequence[Piece]) -> None:
    """No block of a side stands in the result twice.

    Raises:
        NotUnderstoodError: one does.
    """
    for side in (1, 2):
        places = [piece.place[side] for piece in pieces if piece.place[side] is not None]
        if len(places) != len(set(places)):
            raise NotUnderstoodError("both sides moved the same block to different places")


def check_blocks(pieces: Sequence[Piece], blocks: Sequence[Sequence[Block]], merged: Document, head: str) -> None:
    """A clean result reads as the blocks it was made of, and each new list item stands under its own lead-in.

    Args:
        blocks: those of base, ours and theirs.

    Raises:
        NotUnderstoodError: blocks run together or apart, an item lost its lead-in, or a region is damaged.
    """
    for side in (1, 2):
        _check_leads(pieces, side, _leads(blocks[side]))
    wanted = [(piece.kind, Block(piece.kind, "", piece.text, 0).key) for piece in pieces]
    found = [(block.kind, block.key) for block in split_blocks(merged).blocks if block.kind != "head"]
    if merged.damage or merged.head != (head, False) or found != wanted:
        raise NotUnderstoodError("the merged text does not read as its parts do")


def _check_leads(pieces: Sequence[Piece], side: int, leads: Mapping[int, int]) -> None:
    under: int | None = None
    for piece in pieces:
        at = piece.place[side]
        if piece.kind != "item":
            under = at
        elif at is not None and piece.place[0] is None and leads.get(at, under) != under:
            raise NotUnderstoodError("a new list item would lose the line that leads in to it")


def _leads(blocks: Sequence[Block]) -> dict[int, int]:
    """For each list item the text that leads in to its list, if one does: it ends in a colon or touches the list."""
    leads: dict[int, int] = {}
    lead: int | None = None
    for at, block in enumerate(blocks):
        if block.kind == "item":
            if lead is not None:
                leads[at] = lead
            continue
        touches = at + 1 < len(blocks) and blocks[at + 1].kind == "item" and not blocks[at + 1].gap
        lead = at if block.kind == "text" and (touches or block.key.endswith(":")) else None
    return leads


def _lines(text: str) -> set[str]:
    """The lines that say something, whatever their indent and list marker."""
    lines = (line.strip() for line in split_lines(text))
    return {_MARKER.sub("", line, count=1).strip() for line in lines} - {""}
