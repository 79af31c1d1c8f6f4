"""What a merge is put together from, and how the pieces are joined to text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from skillgit.skills.blocks import Block, BlockKind
from skillgit.skills.merge.lines import choose
from skillgit.skills.merge.order import Place

Documents = Sequence[Sequence[Block]]
"""The blocks of base, ours and theirs."""

_NUMBER = re.compile(r"([ \t]*)(\d{1,9})([.)].*)", re.DOTALL)


@dataclass(frozen=True)
class Unit:
    """A block and its position among the blocks of its document."""

    at: int
    block: Block


@dataclass(frozen=True)
class Piece:
    """One block of the result, or a conflict.

    Attributes:
        kind: of the block.
        text: its lines, the last one ended.
        place: where it stands in the three documents.
        conflicts: how many conflicts `text` holds.
    """

    kind: BlockKind
    text: str
    place: Place
    conflicts: int = 0


def verbatim(units: Iterable[Unit], side: int) -> list[Piece]:
    """Blocks of one side (1 ours, 2 theirs) as they are."""
    return [
        Piece(unit.block.kind, unit.block.text, (None, unit.at, None) if side == 1 else (None, None, unit.at))
        for unit in units
    ]


def text_of(units: Iterable[Unit]) -> str:
    """The text of blocks without the blank lines before the first."""
    blocks = [unit.block for unit in units]
    return "".join(block.gap + block.text for block in blocks)[len(blocks[0].gap) if blocks else 0 :]


def join(pieces: Sequence[Piece], documents: Documents, newline: str) -> str:
    """The text of pieces; those that were no neighbours before are kept apart where they would run together."""
    parts: list[str] = []
    before: Piece | None = None
    for piece in pieces:
        parts += [_gap(before, piece, documents, newline), piece.text]
        before = piece
    return "".join(parts)


def numbered_on(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Let the numbers of new items go on counting where the run of one side follows that of the other.

    Lists that say `1.` each time keep doing so. A number that would get wider is left alone when the item has more
    lines: their indent would no longer fit.
    """
    last, shift = 0, 0
    before: Piece | None = None
    for piece in pieces:
        match = _NUMBER.match(piece.text)
        written = int(match[2]) if match else 0
        if before is None or _side(before) != _side(piece):
            shift = max(0, last + 1 - written) if written > 1 else 0
        if match and shift and piece.place[0] is None:
            yield _numbered(piece, match, written + shift)
        else:
            yield piece
        last, before = written + shift, piece


def _side(piece: Piece) -> tuple[bool, bool]:
    return piece.place[1] is None, piece.place[2] is None


def _numbered(piece: Piece, match: re.Match[str], number: int) -> Piece:
    fits = len(str(number)) == len(match[2]) or "\n" not in piece.text.rstrip()
    return replace(piece, text=f"{match[1]}{number}{match[3]}") if fits else piece


def _gap(before: Piece | None, piece: Piece, documents: Documents, newline: str) -> str:
    """The blank lines between two pieces: those of the sides where they are neighbours, else three-way."""
    near = _neighbours(before, piece) if before else (False, False, False)
    places = list(zip(piece.place, documents, strict=True))
    base, ours, theirs = (None if at is None else blocks[at].gap for at, blocks in places)
    if near[1] != near[2]:
        return (ours if near[1] else theirs) or ""
    if ours is None or theirs is None:
        gap = ours or theirs or ""
    else:
        chosen = choose(base, ours, theirs)
        gap = max(ours, theirs) if chosen is None else chosen
    if before is None or any(near):
        return gap
    if before.kind == piece.kind == "item":
        # What stood before the first item of a list does not belong between two items.
        return "" if all(_opens(blocks, at) for at, blocks in places if at is not None) else gap
    return gap or newline


def _opens(blocks: Sequence[Block], at: int) -> bool:
    """True for the first item of a list."""
    return at == 0 or blocks[at - 1].kind != "item"


def _neighbours(before: Piece, piece: Piece) -> tuple[bool, bool, bool]:
    """In which documents one piece follows the other at once."""
    base, ours, theirs = (
        one is not None and other == one + 1 for one, other in zip(before.place, piece.place, strict=True)
    )
    return base, ours, theirs
