"""Two versions of a skill compared rule by rule, as data: what was added, removed, reworded and moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from skillgit.errors import SkillError
from skillgit.skills.blocks import Block, split_blocks
from skillgit.skills.document import Document
from skillgit.skills.markers import Kind
from skillgit.skills.pairing import Pairing, region_kind
from skillgit.skills.words import Piece, bag, similarity, word_changes

ChangeKind = Literal["added", "removed", "reworded", "moved", "moved+reworded"]

REGION_NAMES: Mapping[Kind, str] = {
    "SLOW_UPDATE": "guidance block",
    "APPENDIX": "appendix",
    "LEARNED": "learned block",
}


@dataclass(frozen=True)
class Change:
    """What happened to one block.

    Attributes:
        kind: `moved` also when the block only changed its place among its neighbours.
        before, after: the block on each side; `None` where it does not exist.
        similarity: share of words in common, in [0, 1]; 0 for what was added or removed.
    """

    kind: ChangeKind
    before: Block | None
    after: Block | None
    similarity: float = 0.0

    @property
    def block(self) -> Block:
        """The block as it is now, or as it last was."""
        block = self.after or self.before
        assert block is not None
        return block

    @property
    def what(self) -> str:
        """`item`, `text`, `heading`, `guidance block` or `appendix`."""
        return REGION_NAMES[region_kind(self.block)] if self.block.kind == "region" else self.block.kind

    @property
    def words(self) -> tuple[Piece, ...]:
        """The rewording word by word; empty when no word changed."""
        if self.before is None or self.after is None or self.before.key == self.after.key:
            return ()
        return word_changes(self.before.key, self.after.key)


@dataclass(frozen=True)
class FieldChange:
    """A frontmatter key that differs; `None` where it is not given."""

    key: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Comparison:
    """Everything that differs between two documents.

    Attributes:
        fields: frontmatter keys that differ. When one side's frontmatter cannot be read, all of it as `frontmatter`.
        changes: blocks that differ, in the order of the later document; a removed one stands where it stood.
        layout: the texts differ although no field and no block does: blank lines, list markers or line endings.
    """

    fields: tuple[FieldChange, ...]
    changes: tuple[Change, ...]
    layout: bool


def compare(before: Document, after: Document) -> Comparison:
    """Compare two documents. Equal ones give an empty comparison; a missing one is compared as an empty document."""
    fields, changes = tuple(_fields(before, after)), tuple(_changes(before, after))
    return Comparison(fields, changes, layout=not fields and not changes and before.text != after.text)


def _fields(before: Document, after: Document) -> Iterator[FieldChange]:
    old, new = _frontmatter(before), _frontmatter(after)
    if old is None or new is None:
        if before.head != after.head:
            yield FieldChange("frontmatter", before.head[0], after.head[0])
        return
    for key in dict.fromkeys([*old, *new]):
        if old.get(key) != new.get(key):
            yield FieldChange(key, old.get(key), new.get(key))


def _frontmatter(doc: Document) -> Mapping[str, Any] | None:
    try:
        return doc.frontmatter
    except SkillError:
        return None


def _changes(before: Document, after: Document) -> Iterator[Change]:
    old, new = ([b for b in split_blocks(doc).blocks if b.kind != "head"] for doc in (before, after))
    pairing = Pairing(old, new)
    moved = pairing.moved()
    found: list[tuple[int, int, Change]] = []
    near = -1
    for at, block in enumerate(old):
        if at in pairing.pairs:
            near = pairing.pairs[at]
            if change := _paired(block, new[near], moved=at in moved):
                found.append((near, 0, change))
        else:
            found.append((near, 1 + at, Change("removed", block, None)))
    added = set(range(len(new))) - set(pairing.pairs.values())
    found += [(at, 0, Change("added", None, new[at])) for at in added]
    yield from (change for *_, change in sorted(found, key=lambda entry: entry[:2]))


def _paired(before: Block, after: Block, *, moved: bool) -> Change | None:
    if before.key == after.key:
        return Change("moved", before, after, 1.0) if moved else None
    share = similarity(bag(before.key), bag(after.key))
    return Change("moved+reworded" if moved else "reworded", before, after, share)
