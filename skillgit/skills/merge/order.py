"""In which order a merge puts things: what stayed in its place is the frame, all else stands behind a part of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillgit.skills.merge.lines import compared

Place = tuple[int | None, int | None, int | None]
"""Where one thing stands in base, ours and theirs; `None` where it is not."""


@dataclass(frozen=True)
class Run:
    """What one side added or moved to one spot.

    Attributes:
        items: positions in that side, in order.
        over: base positions that the side dropped there.
        low, high: base positions between which it may stand: after `low`, at the latest after `high`.
    """

    items: tuple[int, ...] = ()
    over: frozenset[int] = frozenset()
    low: int = -1
    high: int = -1


@dataclass(frozen=True)
class Meeting:
    """The runs of both sides at one spot; one of them may be empty."""

    ours: Run = Run()
    theirs: Run = Run()


@dataclass(frozen=True)
class Plan:
    """The order of a merge.

    Attributes:
        steps: base positions that stayed where they were, and meetings between them.
        ours, theirs: base position: position in that side.
    """

    steps: tuple[int | Meeting, ...]
    ours: Mapping[int, int]
    theirs: Mapping[int, int]

    def of_base(self, at: int) -> Place:
        """Where a thing of the base stands."""
        return at, self.ours.get(at), self.theirs.get(at)


def arrange(size: int, ours: Sequence[int | None], theirs: Sequence[int | None]) -> Plan:
    """Plan a merge from what each position of a side was in a base of `size` things."""
    sides = (ours, theirs)
    moved = [_moved(side) for side in sides]
    frame = [at for at in range(size) if not any(at in gone for gone in moved)]
    runs = [_runs(side, moved[number], frame, size) for number, side in enumerate(sides)]
    spots = dict(_meetings(*runs))
    steps = [step for at in (-1, *frame) for step in (at, spots.get(at)) if step is not None and step != -1]
    return Plan(tuple(steps), *({base: at for at, base in enumerate(side) if base is not None} for side in sides))


def unite(ours: Sequence[Any], theirs: Sequence[Any]) -> list[tuple[int | None, int | None]]:
    """Put two runs into one: equal keys become one place, and each side's rest stays together.

    The order depends on the keys, not on whose run it is. Keys can be hashed and put in order.

    Returns:
        Position in ours and in theirs, `None` where a side has no part.
    """
    swapped = list(theirs) < list(ours)
    first, second = (theirs, ours) if swapped else (ours, theirs)
    matcher = compared(first, second)
    pairs: dict[int, int] = {
        block.a + step: block.b + step for block in matcher.get_matching_blocks() for step in range(block.size)
    }
    rest = [at for at in range(len(second)) if at not in pairs.values()]
    for at in range(len(first)):
        twin = next((other for other in rest if at not in pairs and second[other] == first[at]), None)
        if twin is not None:
            rest.remove(twin)
            pairs[at] = twin
    united: list[tuple[int | None, int | None]] = []
    for _, low, high, other_low, other_high in matcher.get_opcodes():
        united += [(at, pairs.get(at)) for at in range(low, high)]
        united += [(None, at) for at in range(other_low, other_high) if at in rest]
    return [(other, one) for one, other in united] if swapped else united


def _moved(side: Sequence[int | None]) -> frozenset[int]:
    """Base positions that changed their order in a side: all but a longest rising row of them."""
    ends: list[int] = []
    last: list[int] = []
    before: dict[int, int | None] = {}
    for base in (base for base in side if base is not None):
        at = bisect_left(ends, base)
        before[base] = last[at - 1] if at else None
        ends[at : at + 1] = [base]
        last[at : at + 1] = [base]
    kept: set[int] = set()
    link = last[-1] if last else None
    while link is not None:
        kept.add(link)
        link = before[link]
    return frozenset(before.keys() - kept)


def _runs(side: Sequence[int | None], moved: frozenset[int], frame: Sequence[int], size: int) -> list[Run]:
    framed = set(frame)
    present = {base for base in side if base is not None}
    runs: list[Run] = []
    items: list[int] = []
    low = -1
    for at, base in [*enumerate(side), (len(side), size)]:
        if base is None or base in moved:
            items.append(at)
        elif base in framed or base == size:
            over = frozenset(gone for gone in frame if low < gone < base and gone not in present)
            if items:
                runs.append(Run(tuple(items), over, low, max(over, default=low)))
            items, low = [], base
    return runs


def _meetings(ours: list[Run], theirs: list[Run]) -> Iterator[tuple[int, Meeting]]:
    """Runs that may stand at one spot meet there: all that lies between them was dropped by one of the sides."""
    left = sorted([*((run, 0) for run in ours), *((run, 1) for run in theirs)], key=lambda entry: entry[0].low)
    while left:
        met = [left.pop(0)]
        high = met[0][0].high
        while left and left[0][0].low <= high:
            met.append(left.pop(0))
            high = max(high, met[-1][0].high)
        parts = [_as_one([run for run, owner in met if owner == side]) for side in (0, 1)]
        yield met[0][0].low, Meeting(*parts)


def _as_one(runs: Sequence[Run]) -> Run:
    return Run(tuple(at for run in runs for at in run.items), frozenset().union(*(run.over for run in runs)))
