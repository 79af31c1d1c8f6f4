"""Reading and writing the inside of protected regions, for their owners."""

from __future__ import annotations

from skillgit.errors import SkillError
from skillgit.skills.document import Document, Kind, Region
from skillgit.skills.lines import UNPRINTABLE, ended, with_blank_end, with_newline
from skillgit.skills.markdown import open_fence
from skillgit.skills.markers import end_marker, start_marker, strip_markers


def region_text(doc: Document, kind: Kind) -> str:
    """What stands inside the first region of `kind`, stripped; empty when there is none."""
    region = _find(doc, kind)
    return doc.text[region.inner_start : region.inner_end].strip() if region else ""


def set_region(doc: Document, kind: Kind, content: str) -> Document:
    """Replace the inside of a region where it stands, or add the region at the end of the document.

    Markers and control characters in `content` are removed. Every byte outside the region stays. Empty content adds
    no region.

    Raises:
        SkillError: the document's markers are damaged so that the region could not be read back.
    """
    inner = with_newline(_sound(strip_markers(UNPRINTABLE.sub("", content))), doc.newline)
    region = _find(doc, kind)
    if inner == with_newline(region_text(doc, kind), doc.newline):
        return doc
    after = _replaced(doc, region, inner) if region else _added(doc, kind, inner)
    if region_text(after, kind) != inner or _others(after, kind) != _others(doc, kind):
        raise SkillError(
            f"the {kind} region cannot be written",
            why="; ".join(f"line {line}: {problem}" for line, problem in doc.damage) or "its markers are damaged",
            fix="repair the region markers by hand",
            where=doc.where,
        )
    return after


def with_body(doc: Document, body: str) -> Document:
    """The document with a new body: frontmatter and regions are the old ones, whatever `body` says of them.

    The regions stand at the end, in their old order.
    """
    kept = Document(body)
    for region in reversed(kept.regions):
        kept = Document(kept.text[: region.start] + kept.text[region.end :])
    text = _sound(strip_markers(UNPRINTABLE.sub("", kept.text[kept.body_start :])))
    head = doc.text[: doc.body_start]
    after = Document(head + with_newline(f"\n{text}\n" if head else f"{text}\n", doc.newline), doc.where)
    for region in doc.regions:
        after = _added(after, region.kind, doc.text[region.inner_start : region.inner_end].strip())
    return after


def _others(doc: Document, kind: Kind) -> list[object]:
    """All that writing one region must leave alone."""
    regions = [doc.text[region.start : region.end] for region in doc.regions if region.kind != kind]
    return [doc.head, len(doc.damage), *regions]


def _find(doc: Document, kind: Kind) -> Region | None:
    return next((region for region in doc.regions if region.kind == kind), None)


def _sound(content: str) -> str:
    """Close a code block left open, which would swallow the end marker."""
    content = content.strip()
    fence = open_fence(content)
    return f"{content}\n{fence}" if fence else content


def _replaced(doc: Document, region: Region, inner: str) -> Document:
    filling = doc.newline + (inner + doc.newline if inner else "")
    return Document(doc.text[: region.inner_start] + filling + doc.text[region.inner_end :], doc.where)


def _added(doc: Document, kind: Kind, inner: str) -> Document:
    newline, text = doc.newline, ended(doc.text, doc.newline)
    fence = open_fence(text[doc.body_start :])
    text = with_blank_end(text + (fence + newline if fence else ""), newline)
    return Document(text + newline.join([start_marker(kind), inner, end_marker(kind), ""]), doc.where)
