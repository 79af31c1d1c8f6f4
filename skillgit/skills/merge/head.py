"""Merging what stands before the body: byte order mark and frontmatter, key by key. YAML is never written anew."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgit.errors import SkillError
from skillgit.skills.document import Document
from skillgit.skills.lines import BOM
from skillgit.skills.merge.lines import Markers, Merged, NotUnderstoodError, choose, lines_of
from skillgit.skills.merge.order import Meeting, Place, arrange, unite

_KEY = re.compile(r"([^\s#'\"\[\]{},&*!|>%@`-][^:#]*?)[ \t]*:(?=\s|\Z)")


@dataclass(frozen=True)
class _Chunk:
    """The lines of one key with all that follows up to the next key."""

    key: str
    text: str


def merge_heads(base: Document, ours: Document, theirs: Document, markers: Markers) -> Merged:
    """Merge three heads; two changes of one key conflict around its lines only.

    Raises:
        NotUnderstoodError: both sides changed a frontmatter that cannot be read, or one removed what the other changed.
    """
    docs = (base, ours, theirs)
    heads = [doc.head[0] for doc in docs]
    mark = choose(*(head.startswith(BOM) for head in heads))
    fronts = [head.removeprefix(BOM) for head in heads]
    front = choose(fronts[0], fronts[1], fronts[2])
    merged = Merged(front) if front is not None else _merge_fronts(docs, fronts, markers)
    return Merged((BOM if mark else "") + merged.text, merged.conflicts)


def _merge_fronts(docs: Sequence[Document], fronts: Sequence[str], markers: Markers) -> Merged:
    if not (fronts[1] and fronts[2]):
        raise NotUnderstoodError("one side removed the frontmatter and the other changed it")
    lines = [lines_of(front) or ["", ""] for front in fronts]
    chunks = [list(_chunks(doc, part[1:-1])) for doc, part in zip(docs, lines, strict=True)]
    parts = [_chunk(chunks, place, markers) for place in _order(chunks)]
    fences = [choose(*(part[at] for part in lines)) or max(lines[1][at], lines[2][at]) for at in (0, -1)]
    text = fences[0] + "".join(part.text for part in parts) + fences[1]
    merged = Merged(text, sum(part.conflicts for part in parts))
    if not merged.conflicts:
        _check(Document(text), docs)
    return merged


def _chunks(doc: Document, lines: Sequence[str]) -> Iterator[_Chunk]:
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        match = _KEY.match(line)
        if match or not found:
            found.append((match[1] if match else "", []))
        found[-1][1].append(line)
    if [key for key, _ in found if key] != list(_values(doc)):
        raise NotUnderstoodError("the keys of the frontmatter cannot be told apart")
    yield from (_Chunk(key, "".join(text)) for key, text in found)


def _order(chunks: Sequence[Sequence[_Chunk]]) -> Iterator[Place]:
    keys = [[chunk.key for chunk in side] for side in chunks]
    places = {key: at for at, key in enumerate(keys[0])}
    plan = arrange(len(keys[0]), *([places.get(key) for key in side] for side in keys[1:]))
    for step in plan.steps:
        if not isinstance(step, Meeting):
            yield plan.of_base(step)
            continue
        runs = (step.ours.items, step.theirs.items)
        for pair in unite(*([keys[side + 1][at] for at in run] for side, run in enumerate(runs))):
            mine, yours = (None if at is None else run[at] for at, run in zip(pair, runs, strict=True))
            key = keys[1][mine] if mine is not None else keys[2][yours or 0]
            yield plan.of_base(places[key]) if key in places else (None, mine, yours)


def _chunk(chunks: Sequence[Sequence[_Chunk]], place: Place, markers: Markers) -> Merged:
    base, ours, theirs = ("" if at is None else side[at].text for at, side in zip(place, chunks, strict=True))
    text = choose(base, ours, theirs)
    return Merged(text) if text is not None else Merged(markers.around(ours, theirs), 1)


def _check(merged: Document, docs: Sequence[Document]) -> None:
    """Each key has the value of a side, and none is missing that no side removed."""
    base, ours, theirs = (_values(doc) for doc in docs)
    values = _values(merged)
    wanted = {key for key in (*ours, *theirs) if (key in ours and key in theirs) or key not in base}
    sound = all(value in (ours.get(key), theirs.get(key)) for key, value in values.items())
    if not sound or wanted != set(values):
        raise NotUnderstoodError("the merged frontmatter does not read as its parts do")


def _values(doc: Document) -> Mapping[str, object]:
    try:
        return doc.frontmatter
    except SkillError as error:
        raise NotUnderstoodError(error.what) from error
