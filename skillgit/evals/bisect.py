"""Finding the version that made a score fall, with few measurements. Pure: what measures is handed in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from skillgit.errors import CheckFailedError, ConfigError
from skillgit.git.lineage import Node

Probe = Callable[[str], float]
"""Measure one skill object: its score in [0, 1]. Raises `ModelError` when there is none; that is never a low score."""


@dataclass(frozen=True)
class Found:
    """The answer of a search.

    Attributes:
        first: number of the first bad version: it is bad, and all that it was made from are good.
        threshold: versions that score below it are bad.
        scores: skill object to score, of everything that was known or measured.
        measured: skill objects in the order in which they were measured.
    """

    first: int
    threshold: float
    scores: Mapping[str, float]
    measured: tuple[str, ...]


class Search:
    """A search among versions in topological order, of which the first should be good and the last bad.

    Sets of versions are whole numbers, one bit for each.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = tuple(nodes)

    @cached_property
    def _up_to(self) -> list[int]:
        """Per version: itself and its ancestors."""
        masks: list[int] = []
        for number, node in enumerate(self.nodes):
            mask = 1 << number
            for parent in node.parents:
                mask |= masks[parent]
            masks.append(mask)
        return masks

    def next(self, bad: Mapping[str, bool]) -> tuple[int, str | None]:
        """The first bad version as far as is known, and the object to measure next; `None` when that is settled.

        Args:
            bad: what is known of skill objects; the first version's is good, the last one's bad.
        """
        end = len(self.nodes) - 1
        while True:
            end, suspects = self._suspects(bad, end)
            if suspects.bit_count() > 1:
                return end, self.nodes[self._middle(suspects)].object
            parents = [self.nodes[parent].object for parent in self.nodes[end].parents]
            # Beside a merge a version may only be taken for good because a later one on another branch is.
            if unknown := [name for name in parents if name not in bad]:
                return end, unknown[0]
            worse = [parent for parent in self.nodes[end].parents if bad[self.nodes[parent].object]]
            if not worse:
                return end, None
            end = worse[0]

    def _suspects(self, bad: Mapping[str, bool], end: int) -> tuple[int, int]:
        """Of the history of version `end`: the first bad version that no good one follows, and what may be at fault."""
        within, good = self._up_to[end], 0
        for number in _bits(within):
            if bad.get(self.nodes[number].object) is False:
                good |= self._up_to[number]
        first = next(number for number in _bits(within & ~good) if bad.get(self.nodes[number].object))
        return first, self._up_to[first] & ~good

    def _middle(self, suspects: int) -> int:
        """The suspect that comes nearest to halving them; never the last, which is known to be bad."""
        size = suspects.bit_count()
        parts = {number: (self._up_to[number] & suspects).bit_count() for number in _bits(suspects)}
        return max(parts, key=lambda number: min(parts[number], size - parts[number]))

    def at_most(self, bad: Mapping[str, bool]) -> int:
        """The most measurements the search can still take."""
        _, name = self.next(bad)
        return 0 if name is None else 1 + max(self.at_most({**bad, name: answer}) for answer in (False, True))

    def at_most_from(self, scores: Mapping[str, float], threshold: float | None) -> int:
        """The most measurements from the beginning on, the two ends included when they are unknown."""
        ends = [self.nodes[0].object, self.nodes[-1].object]
        missing = sum(name not in scores for name in ends)
        if missing and threshold is None:
            # Where the line between good and bad lies is not known yet, so no record can be counted on.
            return missing + self.at_most(dict(zip(ends, (False, True), strict=True)))
        cut = _cut(scores[ends[0]], scores[ends[1]], threshold) if not missing else threshold
        assert cut is not None
        return missing + self.at_most(_judged(scores, cut) | dict(zip(ends, (False, True), strict=True)))

    def run(self, scores: Mapping[str, float], probe: Probe, threshold: float | None = None) -> Found:
        """Find the first bad version, measuring only what decides.

        Args:
            scores: skill object to score, of what is known.
            threshold: versions that score below it are bad; by default halfway between the first and the last.

        Raises:
            CheckFailedError: the first and the last version score the same.
            ConfigError: the first is not good, or the last is not bad.
        """
        known, measured = dict(scores), list[str]()

        def measure(name: str) -> float:
            if name not in known:
                known[name] = probe(name)
                measured.append(name)
            return known[name]

        cut = _cut(measure(self.nodes[0].object), measure(self.nodes[-1].object), threshold)
        while True:
            first, name = self.next(_judged(known, cut))
            if name is None:
                return Found(first, cut, known, tuple(measured))
            measure(name)

    def ups_and_downs(self, found: Found) -> list[tuple[int, int]]:
        """Versions known to be bad, each with the nearest later version that is good again."""
        bad = _judged(found.scores, found.threshold)
        known = [number for number, node in enumerate(self.nodes) if node.object in bad]
        pairs = []
        for number in known:
            later = [n for n in known if n > number and self._up_to[n] >> number & 1]
            again = next((n for n in later if not bad[self.nodes[n].object]), None)
            if bad[self.nodes[number].object] and again is not None:
                pairs.append((number, again))
        return pairs


def _judged(scores: Mapping[str, float], threshold: float) -> dict[str, bool]:
    return {name: score < threshold for name, score in scores.items()}


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _cut(good: float, bad: float, threshold: float | None) -> float:
    """The threshold to use, once both ends are what they were said to be."""
    scores = f"the good revision scores {good:.3f}, the bad one {bad:.3f}"
    if math.isclose(good, bad, abs_tol=1e-9):
        raise CheckFailedError("nothing to find: both revisions score the same", why=scores)
    if threshold is None and good < bad:
        raise ConfigError("the bad revision is the better one", why=scores, fix="look from a better to a worse version")
    cut = (good + bad) / 2 if threshold is None else threshold
    if not bad < cut <= good:
        raise ConfigError(
            f"the threshold {cut:g} does not lie between the two revisions",
            why=f"{scores}; a version is bad when it scores below the threshold",
            fix="leave out --threshold, or give other revisions",
        )
    return cut
