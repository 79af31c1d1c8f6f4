"""A skill as a row of blocks: the head, headings, list items, other text and protected regions.

The blocks and the text that stands after the last one are the whole document, byte for byte. A block is what people
call a rule: comparing and merging skills work on blocks, so that they follow rules and not line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from skillgit.skills.document import Document
from skillgit.skills.lines import line_number, line_starts, split_lines
from skillgit.skills.markdown import Extent, extents

BlockKind = Literal["head", "heading", "item", "text", "region"]

_Path = tuple[tuple[int, str], ...]

_MARKER = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]*")


@dataclass(frozen=True)
class Block:
    """One block of a document.

    Attributes:
        kind: `head` is everything before the body, `item` a top-level list item with all that is nested in it, `text`
            any other block (paragraph, code, table, quote, HTML), `region` a protected region with its markers.
        gap: the blank lines before it, as written.
        text: its own lines, the last line ending included when there is one.
        start: offset of `text` in the document.
        section: titles of the headings it stands under, outermost first; a heading's own title is not among them.
        level: 1 to 6 for a heading, else 0.
        title: of a heading, on one line.
    """

    kind: BlockKind
    gap: str
    text: str
    start: int
    section: tuple[str, ...] = ()
    level: int = 0
    title: str = ""

    @property
    def key(self) -> str:
        """What makes two blocks the same rule: the text without list marker, line endings and spaces at line ends."""
        text = _MARKER.sub("", self.text, count=1) if self.kind == "item" else self.text
        return "\n".join(line.rstrip() for line in split_lines(text)).strip()


@dataclass(frozen=True)
class Blocks:
    """All blocks of a document in order, and the blank lines after the last one."""

    blocks: tuple[Block, ...]
    tail: str

    @property
    def text(self) -> str:
        """The document they came from."""
        return "".join(block.gap + block.text for block in self.blocks) + self.tail


def split_blocks(doc: Document) -> Blocks:
    """The blocks of a document. Lossless: `split_blocks(doc).text == doc.text`."""
    body = doc.text[doc.body_start :]
    starts = [*line_starts(body), len(body)]
    labels = _labels(doc, body, len(starts) - 1)
    blocks: list[Block] = []
    if doc.body_start:
        blocks.append(Block("head", "", doc.text[: doc.body_start], 0))
    gap = ""
    path: _Path = ()
    for extent, lines in groupby(range(len(starts) - 1), key=lambda line: labels[line]):
        numbers = list(lines)
        low, high = starts[numbers[0]], starts[numbers[-1] + 1]
        if extent is None:
            gap += body[low:high]
            continue
        path = _above(path, extent)
        section = tuple(title for _, title in path)
        place = (gap, body[low:high], doc.body_start + low, section)
        blocks.append(Block(extent.kind, *place, extent.level, extent.title))
        gap = ""
        if extent.kind == "heading":
            path = (*path, (extent.level, extent.title))
    return Blocks(tuple(blocks), gap)


def _above(path: _Path, extent: Extent) -> _Path:
    """The headings that a block stands under: those of a higher rank when it is a heading itself."""
    return path if extent.kind != "heading" else tuple(entry for entry in path if entry[0] < extent.level)


def _labels(doc: Document, body: str, count: int) -> list[Extent | None]:
    """For each line the block it belongs to; `None` for a blank line between blocks."""
    labels: list[Extent | None] = [None] * count
    starts = line_starts(body)
    ends = [*starts[1:], len(body)]
    for extent in _all_extents(doc, body):
        last = extent.last
        while last > extent.first and not body[starts[last - 1] : ends[last - 1]].strip():
            last -= 1
        labels[extent.first : last] = [extent] * (last - extent.first)
    loose: Extent | None = None
    for line in range(count):
        # Some lines make no token (a link's definition, say): they are text all the same.
        blank = not body[starts[line] : ends[line]].strip()
        if labels[line] is None and not blank:
            loose = loose or Extent("text", line, line + 1)
            labels[line] = loose
        else:
            loose = None
    return labels


def _all_extents(doc: Document, body: str) -> Iterator[Extent]:
    """Blocks by line, protected regions last, because they win over what stands in them."""
    yield from extents(body)
    for region in doc.regions:
        first = line_number(body, region.start - doc.body_start) - 1
        yield Extent("region", first, line_number(body, region.end - doc.body_start))
