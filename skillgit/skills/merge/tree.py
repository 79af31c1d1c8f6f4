"""Merging the body: sections are matched by title, and merged inside wherever they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from skillgit.skills.merge.leaves import merge_block, merge_leaves
from skillgit.skills.merge.lines import Markers
from skillgit.skills.merge.order import Meeting, Place, Run, arrange, unite
from skillgit.skills.merge.pieces import Piece, Unit, text_of, verbatim
from skillgit.skills.merge.regions import merge_region

_REGION = 7
"""Rank of a protected region, which is no part of the section above it: that section may end elsewhere tomorrow."""

_ALIKE = 0.5  # share of equal blocks from which a section is another one renamed


@dataclass
class Node:
    """A section: its heading, the blocks directly under it, and the sections in it. The root has no heading.

    Attributes:
        key: level and title; of a region its rank and kind.
    """

    key: tuple[int, str] = (0, "")
    head: Unit | None = None
    leaves: list[Unit] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)

    def units(self) -> Iterator[Unit]:
        """Everything in it, in order."""
        if self.head:
            yield self.head
        yield from self.leaves
        for child in self.children:
            yield from child.units()

    def keys(self) -> list[str]:
        """Keys of everything in it."""
        return [unit.block.key for unit in self.units()]


def tree(units: Sequence[Unit], regions: Sequence[str]) -> Node:
    """The sections of a body.

    Args:
        regions: the kinds of the protected regions in order.
    """
    root = Node()
    path = [root]
    kinds = iter(regions)
    for unit in units:
        block = unit.block
        if block.kind not in ("heading", "region"):
            path[-1].leaves.append(unit)
            continue
        is_region = block.kind == "region"
        node = Node((_REGION, next(kinds)) if is_region else (block.level, block.title), unit)
        while len(path) > 1 and (is_region or path[-1].key[0] >= block.level):
            path.pop()
        path[-1].children.append(node)
        path.append(node)
    return root


def merge_nodes(base: Node | None, ours: Node | None, theirs: Node | None, markers: Markers) -> list[Piece]:
    """Merge one section with all that is in it; `None` stands for a version that lacks it."""
    if ours and theirs:
        return _merged(base or Node(), ours, theirs, markers)
    kept, side = (ours, 1) if ours else (theirs, 2)
    if kept is None or (base and kept.keys() == base.keys()):
        return []
    pieces = verbatim(kept.units(), side)
    if base is None:
        return pieces
    text = text_of(kept.units())
    conflict = markers.around(text, "") if ours else markers.around("", text)
    return [replace(pieces[0], text=conflict, conflicts=1)]


def _merged(base: Node, ours: Node, theirs: Node, markers: Markers) -> list[Piece]:
    pieces: list[Piece] = []
    if ours.head and theirs.head:
        place: Place = (base.head.at if base.head else None, ours.head.at, theirs.head.at)
        blocks = (base.head.block if base.head else None, ours.head.block, theirs.head.block)
        if ours.head.block.kind == "region":
            pieces.append(merge_region(ours.key[1], *blocks, place, markers))
        else:
            pieces.append(merge_block(*blocks, place, markers))
    pieces += merge_leaves(base.leaves, ours.leaves, theirs.leaves, markers)
    sides = [node.children for node in (base, ours, theirs)]
    for place in _order(*sides):
        b, o, t = (None if at is None else nodes[at] for at, nodes in zip(place, sides, strict=True))
        pieces += merge_nodes(b, o, t, markers)
    return pieces


def _order(base: Sequence[Node], ours: Sequence[Node], theirs: Sequence[Node]) -> Iterator[Place]:
    plan = arrange(len(base), _partners(base, ours), _partners(base, theirs))
    base_of = [{at: base for base, at in side.items()} for side in (plan.ours, plan.theirs)]
    for step in plan.steps:
        if not isinstance(step, Meeting):
            yield plan.of_base(step)
            continue
        for one, other in unite(_run_keys(step.ours, ours), _run_keys(step.theirs, theirs)):
            mine = None if one is None else step.ours.items[one]
            yours = None if other is None else step.theirs.items[other]
            known = base_of[0].get(-1 if mine is None else mine, base_of[1].get(-1 if yours is None else yours))
            yield (None, mine, yours) if known is None else plan.of_base(known)


def _run_keys(run: Run, nodes: Sequence[Node]) -> list[tuple[int, str]]:
    return [nodes[at].key for at in run.items]


def _partners(base: Sequence[Node], side: Sequence[Node]) -> list[int | None]:
    """For each section of a side its position in the base: same title, or renamed with most of its blocks kept."""
    counts = [Counter(node.key for node in nodes) for nodes in (base, side)]
    places = {node.key: at for at, node in enumerate(base)}
    found = {at: places[node.key] for at, node in enumerate(side) if counts[0][node.key] == counts[1][node.key] == 1}
    olds = [at for at in range(len(base)) if at not in found.values()]
    blocks = [[_blocks(node) for node in nodes] for nodes in (base, side)]
    scores = [
        (-score, abs(old - at), at, old)
        for at in range(len(side))
        if at not in found
        for old in olds
        if (score := _alike(base[old].key, side[at].key, blocks[0][old], blocks[1][at])) >= _ALIKE
    ]
    for _, _, at, old in sorted(scores):
        if at not in found and old not in found.values():
            found[at] = old
    return [found.get(at) for at in range(len(side))]


def _blocks(node: Node) -> frozenset[str]:
    """Keys of all that is in a section besides its heading."""
    return frozenset(unit.block.key for unit in node.units() if unit is not node.head)


def _alike(one: tuple[int, str], other: tuple[int, str], blocks: frozenset[str], others: frozenset[str]) -> float:
    """How surely two sections are the same: 1 for the title, and up to 1 for the share of equal blocks."""
    if one[0] != other[0] or (one[0] == _REGION and one != other):
        return 0.0
    share = len(blocks & others) / len(blocks | others) if blocks or others else 0.0
    return share + (one == other)
