"""Which unit of a changed document was which unit of its base."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import chain, pairwise

from skillgit.skills.blocks import Block
from skillgit.skills.merge.lines import MOST, compared, effort
from skillgit.skills.words import words_of

_ALIKE = 0.5  # share of equal words from which a unit is the other one reworded
_COMPARED = 2500  # most pairs of units; with more of them the text was written anew


def partners(base: Sequence[Block], side: Sequence[Block], *, exact: bool = False) -> list[int | None]:
    """For each block of a side its position in the base, or `None` when it is new.

    Equal keys in order come first, then equal keys that moved, then rewordings between the same neighbours.

    Args:
        exact: do not look for rewordings.
    """
    keys, side_keys = ([block.key for block in blocks] for blocks in (base, side))
    matcher = compared(keys, side_keys)
    found: dict[int, int] = {}
    for block in matcher.get_matching_blocks():
        found |= {block.b + step: block.a + step for step in range(block.size)}
    gaps = list(_gaps(found, len(base), len(side)))
    _add_moved(found, keys, side_keys)
    if not exact:
        for olds, news in gaps:
            taken = set(found.values())
            old_left, new_left = [at for at in olds if at not in taken], [at for at in news if at not in found]
            found |= _reworded(base, side, old_left, new_left)
    return [found.get(at) for at in range(len(side))]


def _gaps(found: dict[int, int], size: int, side_size: int) -> Iterable[tuple[range, range]]:
    """Base and side positions between neighbouring matches."""
    marks = [(-1, -1), *sorted((base, at) for at, base in found.items()), (size, side_size)]
    for (base, at), (next_base, next_at) in pairwise(marks):
        yield range(base + 1, next_base), range(at + 1, next_at)


def _add_moved(found: dict[int, int], keys: Sequence[str], side_keys: Sequence[str]) -> None:
    """Match what is left over exactly once on both sides."""
    taken = set(found.values())
    old = Counter(key for at, key in enumerate(keys) if at not in taken)
    new = Counter(key for at, key in enumerate(side_keys) if at not in found)
    for at, key in enumerate(side_keys):
        if at not in found and old[key] == new[key] == 1:
            found[at] = next(base for base, other in enumerate(keys) if other == key and base not in taken)


def _reworded(base: Sequence[Block], side: Sequence[Block], olds: Sequence[int], news: Sequence[int]) -> dict[int, int]:
    """Most similar pairs first."""
    words = [{at: words_of(blocks[at].key) for at in ats} for blocks, ats in ((base, olds), (side, news))]
    if len(olds) * len(news) > _COMPARED or effort(*(chain(*texts.values()) for texts in words)) > MOST:
        return {}
    scores = [
        (-_similarity(words[0][old], words[1][new]), abs(old - olds[0] - new + news[0]), new, old)
        for old in olds
        for new in news
        if base[old].kind == side[new].kind
    ]
    found: dict[int, int] = {}
    for score, _, new, old in sorted(scores):
        if -score >= _ALIKE and new not in found and old not in found.values():
            found[new] = old
    return found


def _similarity(one: Sequence[str], other: Sequence[str]) -> float:
    """Share of equal words in [0, 1]; 0 when it is surely below what counts as alike."""
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _ALIKE else 0.0
