"""Three-way merge of skills by section and rule.

Two proposals that each add a rule merge cleanly, equal rules become one, and what conflicts is as small as can be. The
result does not depend on whose side is called ours. What is not surely right is refused: then git's text merge decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from skillgit.skills.blocks import Block, split_blocks
from skillgit.skills.document import Document
from skillgit.skills.lines import NEWLINE, dominant_newline, ended, with_newline
from skillgit.skills.markers import KINDS
from skillgit.skills.merge.check import check_blocks, check_lines, check_once
from skillgit.skills.merge.head import merge_heads
from skillgit.skills.merge.lines import Markers, Merged, NotUnderstoodError, choose, merge_lines
from skillgit.skills.merge.pieces import Unit, join
from skillgit.skills.merge.tree import Node, merge_nodes, tree
from skillgit.skills.regions import region_text

__all__ = ["Merged", "NotUnderstoodError", "merge"]

_CONFLICT = re.compile(r"^(?:<{7,}|>{7,}|\|{7,})(?: |$)", re.MULTILINE)
_ENDINGS = re.compile(NEWLINE)

_Three = tuple[Document, Document, Document]


def merge(base: Document, ours: Document, theirs: Document, marker_size: int = 7) -> Merged:
    """Merge what two sides made of a base. Bytes outside changed rules stay; a side that changed nothing has no say.

    Args:
        marker_size: characters of a conflict marker.

    Raises:
        NotUnderstoodError: damaged regions, unclosed frontmatter, conflict markers in the input, or a change that
            cannot be merged by rule with certainty.
    """
    chosen = choose(base, ours, theirs)
    if chosen is not None:
        return Merged(chosen.text)
    docs = (base, ours, theirs)
    for doc in docs:
        _check_sound(doc)
    final = choose(*_final_newlines(docs))
    docs = _alike(docs)
    newline = dominant_newline(docs[1].text + docs[2].text)
    merged = _merge(docs, Markers(marker_size, newline))
    if final is False and not merged.conflicts:
        return Merged(merged.text.removesuffix("\n").removesuffix("\r"))
    return merged


def _merge(docs: _Three, markers: Markers) -> Merged:
    head = merge_heads(*docs, markers)
    found = [split_blocks(doc) for doc in docs]
    tail = choose(*(blocks.tail for blocks in found))
    nodes = [_tree(doc, blocks.blocks) for doc, blocks in zip(docs, found, strict=True)]
    pieces = merge_nodes(nodes[0], nodes[1], nodes[2], markers)
    check_once(pieces)
    documents = [blocks.blocks for blocks in found]
    body = join(pieces, documents, markers.newline) + (max(found[1].tail, found[2].tail) if tail is None else tail)
    conflicts = head.conflicts + sum(piece.conflicts for piece in pieces)
    merged = Merged(head.text + body, conflicts)
    bodies = [blocks.text[len(doc.head[0]) :] for doc, blocks in zip(docs, found, strict=True)]
    check_lines(bodies, body, conflicts)
    if not conflicts:
        check_blocks(pieces, documents, Document(merged.text), head.text)
        return merged
    is_for_lines = not head.conflicts and not any(piece.conflicts and piece.kind == "region" for piece in pieces)
    plain = _by_lines(docs, head.text, bodies, markers) if is_for_lines else None
    return merged if plain is None else plain


def _by_lines(docs: _Three, head: str, bodies: Sequence[str], markers: Markers) -> Merged | None:
    """The bodies merged by lines, when no line is in conflict: a rule may have changed whose section was cut in two."""
    try:
        merged = merge_lines(bodies[0], bodies[1], bodies[2], markers)
        check_lines(bodies, merged.text, merged.conflicts)
    except NotUnderstoodError:
        return None
    whole = Document(head + merged.text)
    regions = [[region_text(doc, kind) for doc in (whole, *docs[1:])] for kind in KINDS]
    is_sound = not merged.conflicts and not whole.damage and all(mine in sides for mine, *sides in regions)
    return Merged(whole.text) if is_sound else None


def _tree(doc: Document, blocks: Sequence[Block]) -> Node:
    units = [Unit(at, block) for at, block in enumerate(blocks) if block.kind != "head"]
    if sum(unit.block.kind == "region" for unit in units) != len(doc.regions):
        raise NotUnderstoodError("two protected regions share a line")
    return tree(units, [region.kind for region in doc.regions])


def _check_sound(doc: Document) -> None:
    if doc.damage:
        raise NotUnderstoodError(f"line {doc.damage[0][0]}: {doc.damage[0][1]}")
    if doc.head[1]:
        raise NotUnderstoodError("the frontmatter is never closed")
    if _CONFLICT.search(doc.text):
        raise NotUnderstoodError("there are conflict markers in it already")
    if "\0" in doc.text:
        raise NotUnderstoodError("it holds a NUL character")
    if "\r" in doc.text.replace("\r\n", ""):
        raise NotUnderstoodError("a lone carriage return ends a line")


def _final_newlines(docs: _Three) -> tuple[bool | None, ...]:
    """Whether each text ends with a line ending; one that holds nothing says nothing."""
    return tuple(doc.text.endswith("\n") if doc.text else None for doc in docs)


def _alike(docs: _Three) -> _Three:
    """The texts with the last line ended, and in one line ending when each side has only one: the changed one wins."""
    styles = [set(_ENDINGS.findall(doc.text)) for doc in docs]
    newline = dominant_newline("".join(doc.text for doc in docs))
    if all(len(style) <= 1 for style in styles[1:]) and len(styles[1] | styles[2]) > 1:
        chosen = choose(*styles)
        if not chosen:
            raise NotUnderstoodError("each side has line endings of its own")
        (newline,) = chosen
        docs = _each(docs, lambda text: with_newline(text, newline))
    return _each(docs, lambda text: ended(text, newline))


def _each(docs: _Three, change: Callable[[str], str]) -> _Three:
    base, ours, theirs = (Document(change(doc.text), doc.where) for doc in docs)
    return base, ours, theirs
