"""The decision to accept a candidate, from scores on val. Pure: nothing here runs or stores anything."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Verdict = Literal[
    "accept_new_best",
    "accept",
    "reject",
    "force_accept",
    "no_op",
    "no_headroom",
    "unverified",
    "underpowered",
    "skip_no_patches",
]
ACCEPTED = frozenset({"accept_new_best", "accept", "force_accept"})


@dataclass(frozen=True)
class Metric:
    """How a task's hard and soft score become one number: `hard`, `soft`, or `(1-w)*hard + w*soft` for `mixed`."""

    name: str = "hard"
    weight: float = 0.5

    def of(self, hard: float, soft: float) -> float:
        """Score in [0, 1]; linear, so the mean of scores is the score of means."""
        if self.name == "mixed":
            return (1 - self.weight) * hard + self.weight * soft
        return soft if self.name == "soft" else hard


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean, correctly rounded whatever the order; `None` for no values, which is not zero."""
    return math.fsum(values) / len(values) if values else None


def decide(candidate: float, current: float, best: float, *, use_gate: bool = True) -> Verdict:
    """The published rule: accept only what is strictly better than the current skill; without a gate, anything."""
    if not use_gate:
        return "force_accept"
    if candidate > current:
        return "accept_new_best" if candidate > best else "accept"
    return "reject"


def cannot_win(
    candidate: Mapping[str, float],
    current: Mapping[str, float],
    waiting: Sequence[str],
    *,
    bonus: float = 0.0,
    tie_wins: bool = False,
) -> bool:
    """True when no result of the `waiting` tasks can lift the candidate above the current skill.

    Every waiting task is granted a full 1.0. Sums are exact, so this never rejects what the full comparison accepts.

    Args:
        candidate, current: task id to score in [0, 1]; `candidate` covers the tasks measured so far.
        waiting: ids of tasks still to be measured; those also missing in `current` are granted in full.
        bonus: what the candidate's text adds to its mean score beyond what the current one's adds.
        tie_wins: being equal is enough.
    """
    more = Fraction(bonus)
    gained = sum((Fraction(s) - Fraction(current[t]) + more for t, s in candidate.items() if t in current), Fraction(0))
    # A waiting task may yet fail and drop out of both sides, so it never counts against the candidate.
    possible = sum((max(Fraction(0), 1 - Fraction(current.get(t, 0.0)) + more) for t in waiting), Fraction(0))
    total = gained + possible
    return total < 0 or (total == 0 and not tie_wins)


def flips(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids of tasks that got better and that got worse, among those measured on both sides."""
    common = [task for task in before if task in after]
    improved = tuple(task for task in common if after[task] > before[task])
    return improved, tuple(task for task in common if after[task] < before[task])
