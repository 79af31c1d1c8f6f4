"""Who is in train, val and test, and in which batches an epoch visits the training tasks.

Counts, seeds and orders are those of SkillOpt, so that runs are comparable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any, Literal, TypeVar

from skillgit.errors import ConfigError, TaskError
from skillgit.tasks.problems import suggest

T = TypeVar("T")
SplitName = Literal["train", "val", "test"]
Ratio = tuple[int, int, int]

_ALIASES: dict[str, SplitName] = {
    "train": "train",
    "val": "val",
    "valid_seen": "val",
    "selection": "val",
    "test": "test",
    "valid_unseen": "test",
}


def split_name(alias: str) -> SplitName:
    """Our name of a split. Raises `ConfigError` for an unknown one: a typo must not silently measure `val`."""
    if alias in _ALIASES:
        return _ALIASES[alias]
    raise ConfigError(f'there is no split "{alias}"{suggest(alias, _ALIASES)}')


def parse_ratio(text: Any) -> Ratio:
    """Weights of train, val and test from text like `2:1:7`: whole numbers, the first at least 1."""
    match = re.fullmatch(r"\s*([0-9]{1,9}):([0-9]{1,9}):([0-9]{1,9})\s*", text) if isinstance(text, str) else None
    if match and int(match[1]):
        return int(match[1]), int(match[2]), int(match[3])
    raise TaskError(
        f"{text!r} is not a split ratio",
        # YAML 1.1 reads an unquoted 2:1:7 as a number in base 60.
        why="YAML reads an unquoted 2:1:7 as a single number" if isinstance(text, int) else "",
        fix='give three whole numbers for train, val and test in quotes, such as split_ratio: "2:1:7"',
    )


def split_counts(total: int, ratio: Ratio) -> Ratio:
    """Sizes of the three splits by largest remainder; ties go to the larger weight, then to the earlier split."""
    whole = sum(ratio)
    counts = [total * weight // whole for weight in ratio]
    by_claim = sorted(range(3), key=lambda i: (-(total * ratio[i] % whole), -ratio[i], i))
    for i in by_claim[: total - sum(counts)]:
        counts[i] += 1
    return counts[0], counts[1], counts[2]


def assign(items: Sequence[T], ratio: Ratio, seed: int) -> tuple[list[T], list[T], list[T]]:
    """Shuffle with `seed` and cut into train, val and test; every item lands in exactly one of them."""
    shuffled = _shuffled(items, seed)
    train, val, _ = split_counts(len(shuffled), ratio)
    return shuffled[:train], shuffled[train : train + val], shuffled[train + val :]


def epoch_batches(items: Sequence[T], batch_size: int, accumulation: int, epoch: int, seed: int) -> list[list[T]]:
    """The batches of one epoch: one pass without replacement over `items`, which callers give in file order.

    Args:
        batch_size: tasks per batch, at least 1; the last batch of the pass may be shorter.
        accumulation: batches per step, at least 1. The number of batches is a multiple of it; a batch that the
            pass leaves empty is filled from a shuffle of its own.
        epoch: counted from 1.
    """
    base = seed + epoch * 1000
    order = _shuffled(items, base)
    steps = -(-len(order) // (batch_size * accumulation))
    batches = [order[i * batch_size : (i + 1) * batch_size] for i in range(steps * accumulation)]
    return [batch or _shuffled(items, base + i + 1)[:batch_size] for i, batch in enumerate(batches)]


def _shuffled(items: Sequence[T], seed: int) -> list[T]:
    copy = list(items)
    Random(seed).shuffle(copy)  # noqa: S311 - must be repeatable, not secret
    return copy
