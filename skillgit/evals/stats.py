"""How much of a score change is more than luck. Pure: numbers in, numbers out.

Scores are in [0, 1]. Two measurements are compared task by task; a task whose score did not change says nothing about
which text is better. Arguments out of range raise `ValueError`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Literal

Sides = Literal[1, 2]

EXACT_TASKS = 2000
"""Up to this many tasks `believable_change` is exact; above, it uses the normal approximation."""
_SEED = 42


@dataclass(frozen=True)
class Bootstrap:
    """What resampling says about a mean difference (after minus before).

    Attributes:
        probability: share of resamples whose mean difference is above zero, in [0, 1].
        low, high: percentile confidence interval of the mean difference, each in [-1, 1] for scores in [0, 1].
    """

    probability: float
    low: float
    high: float


def sign_test(improved: int, regressed: int, *, sides: Sides = 2) -> float:
    """Exact p-value of the sign test (Conover, Practical Nonparametric Statistics, §3.4; McNemar's test, exact form).

    Without an effect each of the n = improved + regressed changed tasks went up or down with probability 1/2.
    One-sided: P(X >= improved) with X ~ Binomial(n, 1/2). Two-sided: twice the smaller tail, at most 1.

    Args:
        improved, regressed: tasks that got better and that got worse, 0 or more; unchanged ones are left out.
        sides: 1 asks "is it better?", 2 asks "is it different?".

    Returns:
        A probability in [0, 1]; 1 when nothing changed.
    """
    _require(improved >= 0 and regressed >= 0, "counts must not be negative")
    changed = improved + regressed
    if sides == 1:
        return _upper_tail(changed, improved)
    return min(1.0, 2 * _upper_tail(changed, max(improved, regressed)))


def paired_bootstrap(
    before: Sequence[float],
    after: Sequence[float],
    *,
    samples: int = 10_000,
    seed: int = _SEED,
    confidence: float = 0.95,
) -> Bootstrap:
    """Percentile bootstrap of the mean paired difference (Efron and Tibshirani, An Introduction to the Bootstrap, §13).

    Tasks are drawn with replacement, each with both of its scores. The same arguments give the same result.

    Args:
        before, after: scores of the same tasks in the same order, at least one.
        samples: resamples, 1 or more. The probability has a standard error of at most 0.5 / sqrt(samples).
        seed: start of the random numbers.
        confidence: coverage of the interval, between 0 and 1.
    """
    _require(len(before) == len(after) > 0, "both measurements need the same tasks, at least one")
    _require(samples >= 1, "samples must be 1 or more")
    _require_confidence(confidence)
    differences = [new - old for old, new in zip(before, after, strict=True)]
    draw, n = random.Random(seed).choices, len(differences)  # noqa: S311 - statistics, not secrets
    means = sorted(math.fsum(draw(differences, k=n)) / n for _ in range(samples))
    above = sum(mean > 0 for mean in means)
    cut = math.floor((1 - confidence) / 2 * samples)
    return Bootstrap(above / samples, means[cut], means[-1 - cut])


def confident(before: Mapping[str, float], after: Mapping[str, float], confidence: float, *, seed: int = _SEED) -> bool:
    """Whether `after` is better than `before` by more than luck, judged on the tasks measured on both sides.

    With scores that are all 0 or 1: one-sided sign test, p <= 1 - confidence. With any other score: paired bootstrap,
    probability of a positive mean difference >= confidence. In both cases at least `minimum_n(confidence)` tasks must
    have changed, since resampling two improvements can only ever show improvement. The sign test is exact and so errs
    on the safe side; the bootstrap accepts texts without an effect slightly more often than 1 - confidence says.

    Args:
        before, after: task id to score in [0, 1].
        confidence: between 0 and 1, such as 0.9.
        seed: start of the random numbers of the bootstrap.
    """
    least = minimum_n(confidence)
    common = sorted(before.keys() & after.keys())
    improved = sum(after[task] > before[task] for task in common)
    regressed = sum(after[task] < before[task] for task in common)
    if improved + regressed < least:
        return False
    old, new = [before[task] for task in common], [after[task] for task in common]
    if {*old, *new} <= {0, 1}:
        return sign_test(improved, regressed, sides=1) <= 1 - confidence
    return paired_bootstrap(old, new, seed=seed).probability >= confidence


def minimum_n(confidence: float) -> int:
    """Fewest changed tasks that reach the confidence when all of them improve.

    The smallest n with 2^-n <= 1 - confidence. With fewer tasks than this no candidate can be accepted, however good:
    the comparison is underpowered.

    Args:
        confidence: between 0 and 1.

    Returns:
        1 or more; 4 for 0.9, 5 for 0.95, 7 for 0.99.
    """
    _require_confidence(confidence)
    n = 1
    while math.ldexp(1.0, -n) > 1 - confidence:
        n += 1
    return n


def flip_rate(first: Mapping[str, float], second: Mapping[str, float]) -> float | None:
    """Share of tasks, in [0, 1], whose hard score differs between two measurements of the same text (A/A).

    Args:
        first, second: task id to hard score; tasks measured once are left out.

    Returns:
        `None` when no task was measured twice, which is not zero.
    """
    common = first.keys() & second.keys()
    return sum(first[task] != second[task] for task in common) / len(common) if common else None


def believable_change(n: int, flip_rate: float, confidence: float, *, sides: Sides = 2) -> float:
    """Smallest change of the mean hard score that luck alone reaches with a probability below 1 - confidence.

    Without an effect a task flips with probability `flip_rate`, up or down alike, so the change of the mean is
    (X - Y)/n with X + Y ~ Binomial(n, flip_rate) and X given X + Y ~ Binomial(X + Y, 1/2). Its distribution is the
    n-th power of the polynomial f/2 + (1-f)x + (f/2)x², computed in whole numbers.

    Args:
        n: tasks, 1 or more.
        flip_rate: A/A flip rate in [0, 1].
        confidence: between 0 and 1.
        sides: 2 counts changes in either direction, 1 only gains.

    Returns:
        A multiple of 1/n above zero; infinity when even a change of all tasks is not rare enough.
    """
    _require(n >= 1, "n must be 1 or more")
    _require(0 <= flip_rate <= 1, "the flip rate must be in 0 to 1")
    _require_confidence(confidence)
    if n > EXACT_TASKS:
        return _normal_change(n, flip_rate, confidence, sides)
    rare = 1 - Fraction(confidence)
    weights, total = _largest_first(n, Fraction(flip_rate))
    limit = rare * total / sides
    reached = 0
    for change, weight in zip(range(n, 0, -1), weights, strict=True):
        reached += weight
        if reached >= limit:
            return (change + 1) / n if change < n else math.inf
    return 1 / n


def _largest_first(n: int, rate: Fraction) -> tuple[list[int], int]:
    """Weights of the changes n, n-1, …, 1 (out of n tasks), and the sum of the weights of all changes.

    By the recurrence for powers of a polynomial: all terms are positive and every division is exact.
    """
    flip, same = rate.numerator, 2 * (rate.denominator - rate.numerator)
    total = (2 * rate.denominator) ** n
    if flip == 0:
        return [0] * n, total
    weights = [0, flip**n]
    for k in range(1, n):
        terms = (n - k + 1) * same * weights[-1] + (2 * n - k + 2) * flip * weights[-2]
        weights.append(terms // (k * flip))
    return weights[1:], total


def _normal_change(n: int, rate: float, confidence: float, sides: Sides) -> float:
    wanted = NormalDist().inv_cdf(1 - (1 - confidence) / sides) * math.sqrt(n * rate)
    # The change moves in whole tasks, so its boundary lies half a task below.
    steps = max(1, math.ceil(wanted + 0.5))
    return steps / n if steps <= n else math.inf


def _upper_tail(n: int, least: int) -> float:
    """P(X >= least) for X ~ Binomial(n, 1/2)."""
    term = tail = math.comb(n, least)
    for k in range(least, n):
        term = term * (n - k) // (k + 1)
        tail += term
    return tail / (1 << n)


def _require_confidence(confidence: float) -> None:
    _require(0 < confidence < 1, "confidence must be between 0 and 1")


def _require(fine: bool, problem: str) -> None:
    if not fine:
        raise ValueError(problem)
