"""Which block of one version is which block of another: the same rule, though reworded or moved."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence

from skillgit.skills.blocks import Block
from skillgit.skills.markers import KINDS, Kind, start_marker
from skillgit.skills.words import bag, similarity

_ALIKE = 0.5  # share of words in common from which on a rule counts as reworded and not as another one
_MOST_PAIRS = 2_000_000  # so many rewordings at once are another text: comparing each with each would take minutes

_Path = tuple[str, ...]


class Pairing:
    """The pairs of two rows of blocks, by position.

    Attributes:
        pairs: position before to position after.
        sections: section before to its name after, for sections whose heading was reworded or moved.
    """

    def __init__(self, before: Sequence[Block], after: Sequence[Block]) -> None:
        self._before, self._after = before, after
        self.pairs: dict[int, int] = {}
        self.sections: dict[_Path, _Path] = {}
        self._pair_headings()
        self._pair_equal(lambda block, _: region_kind(block) if block.kind == "region" else None)
        self._pair_equal(lambda block, section: (section, block.key) if _is_rule(block) else None)
        self._pair_equal(lambda block, _: block.key if _is_rule(block) else None)
        self._pair_alike()

    def section(self, block: Block) -> _Path:
        """The section of an earlier block as it is called after."""
        return self._renamed(block.section)

    def moved(self) -> set[int]:
        """Positions before of the blocks that stand in another section, or elsewhere among those that stayed."""
        rows: dict[_Path, list[int]] = defaultdict(list)
        moved = set()
        for old, new in sorted(self.pairs.items()):
            if self.section(self._before[old]) == self._after[new].section:
                rows[self._after[new].section].append(old)
            else:
                moved.add(old)
        for row in rows.values():
            kept = _rising([self.pairs[old] for old in row])
            moved |= {old for old in row if self.pairs[old] not in kept}
        return moved

    def _renamed(self, section: _Path) -> _Path:
        if not section:
            return ()
        return self.sections.get(section) or (*self._renamed(section[:-1]), section[-1])

    def _pair_headings(self) -> None:
        """Equal headings first, then those with like words in title and section, parents before children."""
        self._pair_equal(lambda block, section: (section, block.title) if block.kind == "heading" else None)
        old = [(n, self._words_under(self._before, n)) for n in self._left(self._before, self.pairs, "heading")]
        new = [(n, self._words_under(self._after, n)) for n in self._left(self._after, self.pairs.values(), "heading")]
        for low, high in _alike(old, new, lambda low, high: self._before[low].level == self._after[high].level):
            self.pairs[low] = high
            path, name = self._before[low], self._after[high]
            self.sections[(*path.section, path.title)] = (*name.section, name.title)
        self._pair_equal(lambda block, section: (section, block.title) if block.kind == "heading" else None)

    def _words_under(self, row: Sequence[Block], heading: int) -> Counter[str]:
        path = (*row[heading].section, row[heading].title)
        words = bag(row[heading].title)
        for block in row[heading + 1 :]:
            if block.section[: len(path)] != path:
                break
            words += bag(block.key)
        return words

    def _pair_equal(self, key: Callable[[Block, _Path], Hashable]) -> None:
        """Pair the first block of each key with the first of the same key, and so on; `None` is no key."""
        taken = set(self.pairs.values())
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for at in reversed(range(len(self._after))):
            if at not in taken:
                waiting[key(self._after[at], self._after[at].section)].append(at)
        for at, block in enumerate(self._before):
            name = key(block, self.section(block))
            if name is not None and at not in self.pairs and waiting.get(name):
                self.pairs[at] = waiting[name].pop()

    def _pair_alike(self) -> None:
        old = [(n, bag(self._before[n].key)) for n in self._left(self._before, self.pairs, "item", "text")]
        new = [(n, bag(self._after[n].key)) for n in self._left(self._after, self.pairs.values(), "item", "text")]

        def stays(low: int, high: int) -> bool:
            return self.section(self._before[low]) == self._after[high].section

        for low, high in [*_alike(old, new, stays)]:
            self.pairs[low] = high
        done = set(self.pairs.values())
        rest = [entry for entry in new if entry[0] not in done]
        self.pairs.update(_alike([entry for entry in old if entry[0] not in self.pairs], rest, lambda *_: True))

    def _left(self, row: Sequence[Block], taken: object, *kinds: str) -> list[int]:
        done = set(taken)  # type: ignore[call-overload]
        return [at for at, block in enumerate(row) if block.kind in kinds and at not in done]


def _is_rule(block: Block) -> bool:
    return block.kind in ("item", "text")


def region_kind(block: Block) -> Kind:
    """Whose region a block of kind `region` is."""
    opened = {kind: block.text.find(start_marker(kind)) for kind in KINDS}
    return min((kind for kind in KINDS if opened[kind] >= 0), key=lambda kind: opened[kind])


def _alike(
    old: Sequence[tuple[int, Counter[str]]],
    new: Sequence[tuple[int, Counter[str]]],
    fits: Callable[[int, int], bool],
) -> Iterator[tuple[int, int]]:
    """Pairs of entries that share enough words, the most alike first, each entry once."""
    if len(old) * len(new) > _MOST_PAIRS:
        return
    holders: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for index, (_, words) in enumerate(new):
        for word, count in words.items():
            holders[word].append((index, count))
    found = []
    for low, words in old:
        common: Counter[int] = Counter()
        for word, count in words.items():
            for index, other in holders.get(word, ()):
                common[index] += min(count, other)
        for index, shared in common.items():
            share = similarity(words, new[index][1], shared)
            if share >= _ALIKE and fits(low, new[index][0]):
                found.append((-share, low, new[index][0]))
    yield from _once(sorted(found))


def _once(found: Sequence[tuple[float, int, int]]) -> Iterator[tuple[int, int]]:
    lows: set[int] = set()
    highs: set[int] = set()
    for _, low, high in found:
        if low not in lows and high not in highs:
            lows.add(low)
            highs.add(high)
            yield low, high


def _rising(row: Sequence[int]) -> set[int]:
    """A longest rising subsequence of different numbers: what has not moved among itself."""
    tails: list[int] = []
    before: dict[int, int | None] = {}
    for value in row:
        at = bisect_left(tails, value)
        before[value] = tails[at - 1] if at else None
        tails[at : at + 1] = [value]
    kept: set[int] = set()
    last = tails[-1] if tails else None
    while last is not None:
        kept.add(last)
        last = before[last]
    return kept
