"""Which tasks are learned from and which are kept for measuring: by content, so that it stays the same every night."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from skillgit.config.sleep import Sleep
from skillgit.sleep.mine.base import Split

_ROOM = 20  # val may miss its fraction by one task in so many, or by one


@dataclass(frozen=True)
class Unit:
    """Tasks that share a split because their texts are near.

    Attributes:
        key: content that stands for them; equal for equal content.
        size: number of tasks.
        known: splits that earlier nights gave them.
    """

    key: str
    size: int = 1
    known: frozenset[Split] = frozenset()


def assign(units: Sequence[Unit], config: Sleep, seed: int) -> list[Split]:
    """The split of each unit.

    What earlier nights decided stays; where they decided differently for what is one unit now, it is learned from,
    because some of it already was. New units go by the hash of seed and key: of a hundred buckets the first
    `val_fraction` are val, the next `test_fraction` test, the rest train. With few units that can miss the fraction by
    far; then new units move between train and val, those nearest to the border between the two first. Of several
    units one at least is val, unless `val_fraction` is 0 or all are known; and one is train, even if it has to be one
    that was val. Nothing is taken from test.
    """
    if len(units) < 2 or not config.val_fraction:
        return [_decided(unit, config, seed) for unit in units]
    decided = [_decided(unit, config, seed) for unit in units]
    val = sum(unit.size for unit, split in zip(units, decided, strict=True) if split == "val")
    sides = _Sides(units, decided, val)
    new = [at for at, unit in enumerate(units) if not unit.known]
    order = sorted(new, key=lambda at: (_hash(units[at], seed) % 100, _hash(units[at], seed), at))
    total = sum(unit.size for unit in units)
    target, room = config.val_fraction * total, max(1.0, total / _ROOM)
    least = max(1.0, min(config.min_val, round(target)), target - room)
    for at in order:
        if sides.val < least:
            sides.move(at, "train", "val", target)
    for at in reversed(order):
        if sides.val > target + room:
            sides.move(at, "val", "train", target)
    sides.fill("val", "train", order)
    sides.fill("train", "val", [*reversed(order), *range(len(units))])
    return sides.splits


@dataclass
class _Sides:
    """Splits that are being decided; `val` is the number of tasks there."""

    units: Sequence[Unit]
    splits: list[Split]
    val: int

    def move(self, at: int, here: Split, there: Split, target: float) -> None:
        """Move a unit, if it is on this side, not the last there, and val comes nearer to its target."""
        after = self.val + (self.units[at].size if there == "val" else -self.units[at].size)
        nearer = abs(after - target) < abs(self.val - target)
        if self.splits[at] == here and nearer and self.splits.count(here) > 1:
            self.splits[at], self.val = there, after

    def fill(self, here: Split, there: Split, choices: Sequence[int]) -> None:
        """Give an empty side the first choice that stands on the other one, if something is left there then."""
        usable = [at for at in choices if self.splits[at] == there]
        if here not in self.splits and usable and self.splits.count(there) > 1:
            self.splits[usable[0]] = here


def _decided(unit: Unit, config: Sleep, seed: int) -> Split:
    if unit.known:
        return next(iter(unit.known)) if len(unit.known) == 1 else "train"
    bucket, val = _hash(unit, seed) % 100, round(100 * config.val_fraction)
    return "val" if bucket < val else "test" if bucket < val + round(100 * config.test_fraction) else "train"


def _hash(unit: Unit, seed: int) -> int:
    return int(hashlib.sha256(f"{seed}{unit.key}".encode()).hexdigest(), 16)
