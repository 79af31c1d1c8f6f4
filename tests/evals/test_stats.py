from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.evals.stats import (
    Sides,
    believable_change,
    confident,
    flip_rate,
    minimum_n,
    paired_bootstrap,
    sign_test,
)

CONFIDENCE = st.floats(0.01, 0.999)


def named(scores: list[float]) -> dict[str, float]:
    return {f"t{at}": score for at, score in enumerate(scores)}


# --- sign test --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("improved", "regressed", "one", "two"),
    [
        (0, 0, 1, 1),
        (1, 0, 1 / 2, 1),
        (0, 1, 1, 1),
        (4, 0, 1 / 16, 1 / 8),
        (0, 4, 1, 1 / 8),
        (5, 1, 7 / 64, 14 / 64),
        (8, 2, 56 / 1024, 112 / 1024),
        (3, 3, 42 / 64, 1),
    ],
)
def test_sign_test_by_hand(improved: int, regressed: int, one: float, two: float) -> None:
    assert sign_test(improved, regressed, sides=1) == one
    assert sign_test(improved, regressed) == two


@given(st.integers(0, 7), st.integers(0, 7))
def test_sign_test_counts_coin_throws(improved: int, regressed: int) -> None:
    n = improved + regressed
    throws = [sum(coins) for coins in itertools.product((0, 1), repeat=n)]
    assert sign_test(improved, regressed, sides=1) == sum(heads >= improved for heads in throws) / 2**n
    far = abs(improved - regressed)
    assert sign_test(improved, regressed) == sum(abs(2 * heads - n) >= far for heads in throws) / 2**n


@given(st.integers(0, 300), st.integers(0, 300))
def test_sign_test_has_symmetry(a: int, b: int) -> None:
    p = sign_test(a, b)
    assert 0 <= p <= 1
    assert p == sign_test(b, a)
    assert sign_test(a + 1, b, sides=1) <= sign_test(a, b, sides=1) or a + b == 0


def test_sign_test_of_many_tasks() -> None:
    assert sign_test(5_000, 5_000) == 1
    assert sign_test(5_100, 4_900) == pytest.approx(0.0466, abs=0.0005)
    assert 0 < sign_test(1_000, 0) < 1e-300
    assert sign_test(5_000, 0) == 0  # less than the smallest float


@pytest.mark.parametrize(("improved", "regressed"), [(-1, 0), (0, -1)])
def test_sign_test_refuses_negative_counts(improved: int, regressed: int) -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        sign_test(improved, regressed)


# --- bootstrap --------------------------------------------------------------------------------------------------


def test_bootstrap_agrees_with_all_resamples() -> None:
    before, after = [0.2, 0.5, 0.9, 0.4], [0.5, 0.4, 1.0, 0.4]
    differences = [new - old for old, new in zip(before, after, strict=True)]
    means = sorted(math.fsum(drawn) / 4 for drawn in itertools.product(differences, repeat=4))
    found = paired_bootstrap(before, after, samples=20_000, seed=3, confidence=0.9)
    assert found.probability == pytest.approx(sum(mean > 0 for mean in means) / len(means), abs=0.01)
    assert found.low == pytest.approx(means[round(0.05 * len(means))], abs=0.03)
    assert found.high == pytest.approx(means[round(0.95 * len(means))], abs=0.03)


def test_bootstrap_is_repeatable_and_seeded() -> None:
    before, after = [0.1, 0.6, 0.3, 0.8, 0.5], [0.2, 0.4, 0.6, 0.8, 0.6]
    first = paired_bootstrap(before, after, samples=500, seed=1)
    assert first == paired_bootstrap(before, after, samples=500, seed=1)
    assert first != paired_bootstrap(before, after, samples=500, seed=2)


def test_bootstrap_without_a_difference() -> None:
    found = paired_bootstrap([0.3, 0.7], [0.3, 0.7], samples=10)
    assert (found.probability, found.low, found.high) == (0, 0, 0)


def test_bootstrap_of_equal_gains() -> None:
    found = paired_bootstrap([0.0, 0.25], [0.5, 0.75], samples=10)
    assert (found.probability, found.low, found.high) == (1, 0.5, 0.5)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8), st.integers(0, 9))
def test_bootstrap_stays_in_range(pairs: list[tuple[float, float]], seed: int) -> None:
    before, after = [old for old, _ in pairs], [new for _, new in pairs]
    found = paired_bootstrap(before, after, samples=40, seed=seed)
    differences = [new - old for old, new in pairs]
    assert min(differences) - 1e-12 <= found.low <= found.high <= max(differences) + 1e-12
    assert 0 <= found.probability <= 1
    turned = paired_bootstrap(after, before, samples=40, seed=seed)
    assert found.probability + turned.probability <= 1


@pytest.mark.parametrize(
    ("before", "after", "samples", "confidence"),
    [([], [], 10, 0.9), ([1.0], [], 10, 0.9), ([1.0], [1.0], 0, 0.9), ([1.0], [1.0], 10, 1.0)],
)
def test_bootstrap_refuses(before: list[float], after: list[float], samples: int, confidence: float) -> None:
    with pytest.raises(ValueError, match=r"must be|need"):
        paired_bootstrap(before, after, samples=samples, confidence=confidence)


# --- confident and minimum n ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gained", "lost", "confidence", "wanted"),
    [
        (3, 0, 0.9, False),
        (4, 0, 0.9, True),
        (4, 0, 0.95, False),
        (5, 0, 0.95, True),
        (5, 1, 0.9, False),
        (6, 1, 0.9, True),
        (0, 9, 0.9, False),
        (0, 0, 0.5, False),
        (1, 0, 0.5, True),
    ],
)
def test_confident_in_hard_scores(gained: int, lost: int, confidence: float, wanted: bool) -> None:
    before = named([0.0] * gained + [1.0] * lost + [1.0, 0.0] * 10)
    after = named([1.0] * gained + [0.0] * lost + [1.0, 0.0] * 10)
    assert confident(before, after, confidence) is wanted


def test_only_tasks_measured_on_both_sides_count() -> None:
    before = named([0.0] * 5)
    after = named([1.0] * 4) | {"other": 1.0}
    assert confident(before, after, 0.9)
    assert not confident(before, named([1.0] * 3) | {"other": 1.0}, 0.9)
    assert not confident({}, {}, 0.9)


def test_confident_in_soft_scores() -> None:
    before = named([0.2, 0.4, 0.6, 0.1, 0.5, 0.3])
    assert confident(before, {task: score + 0.1 for task, score in before.items()}, 0.95)
    assert not confident(before, before, 0.95)
    mixed = {task: score + (0.2 if at % 2 else -0.18) for at, (task, score) in enumerate(before.items())}
    assert not confident(before, mixed, 0.95)


def test_few_soft_improvements_are_not_enough() -> None:
    before = named([0.2, 0.4, 0.6])
    after = dict.fromkeys(before, 0.9)
    assert paired_bootstrap(list(before.values()), list(after.values())).probability == 1
    assert not confident(before, after, 0.9)


def test_order_of_tasks_does_not_matter() -> None:
    random_numbers = random.Random(5)
    before, after = (named([random_numbers.random() for _ in range(9)]) for _ in range(2))
    turned = dict(reversed(before.items()))
    levels = [0.5, 0.6, 0.7, 0.8, 0.9]
    assert [confident(before, after, c) for c in levels] == [confident(turned, after, c) for c in levels]


@pytest.mark.parametrize(("confidence", "least"), [(0.4, 1), (0.5, 1), (0.75, 2), (0.9, 4), (0.95, 5), (0.99, 7)])
def test_minimum_n(confidence: float, least: int) -> None:
    assert minimum_n(confidence) == least


@given(CONFIDENCE)
def test_minimum_n_is_where_confidence_becomes_possible(confidence: float) -> None:
    least = minimum_n(confidence)
    for n, wanted in ((least, True), (least - 1, False)):
        assert confident(named([0.0] * n), named([1.0] * n), confidence) is wanted
        assert confident(named([0.25] * n), named([0.75] * n), confidence) is wanted


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.1, 1.5, math.nan])
def test_confidence_out_of_range(confidence: float) -> None:
    for call in (minimum_n, lambda c: believable_change(10, 0.1, c), lambda c: confident({}, {}, c)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            call(confidence)


# --- noise ------------------------------------------------------------------------------------------------------


def test_flip_rate() -> None:
    assert flip_rate({"a": 1, "b": 0, "c": 1, "d": 0}, {"a": 1, "b": 1, "c": 1, "e": 0}) == 1 / 3
    assert flip_rate({"a": 1}, {"a": 1}) == 0
    assert flip_rate({"a": 1}, {"b": 1}) is None
    assert flip_rate({}, {}) is None


@pytest.mark.parametrize(
    ("n", "rate", "confidence", "sides", "wanted"),
    [
        (10, 0.0, 0.9, 2, 0.1),
        (1, 1.0, 0.9, 2, math.inf),
        (4, 1.0, 0.9, 1, 0.75),  # P(D >= 3) = P(D = 4) = 1/16, P(D >= 2) = 5/16
        (4, 1.0, 0.9, 2, math.inf),  # 1/8
        (1, 0.125, 0.9, 2, math.inf),
        (1, 0.125, 0.9, 1, 1.0),
        (1, 0.0625, 0.9, 2, 1.0),
        (2, 0.5, 0.8, 1, 1.0),  # P(D = 2) = 1/16, P(D >= 1) = 5/16
        (2, 0.5, 0.5, 1, 0.5),
        (2, 0.5, 0.875, 2, math.inf),  # exactly 1/8 is not below 1/8
    ],
)
def test_believable_change_by_hand(n: int, rate: float, confidence: float, sides: Sides, wanted: float) -> None:
    assert believable_change(n, rate, confidence, sides=sides) == wanted


def slow_change(n: int, rate: float, confidence: float, sides: int) -> float:
    """By the definition: flips are binomial, gains among flips are binomial."""
    f, chances = Fraction(rate), dict.fromkeys(range(-n, n + 1), Fraction(0))
    for flips in range(n + 1):
        weight = math.comb(n, flips) * f**flips * (1 - f) ** (n - flips)
        for gains in range(flips + 1):
            chances[2 * gains - flips] += weight * math.comb(flips, gains) / Fraction(2) ** flips
    assert sum(chances.values()) == 1
    for change in range(1, n + 1):
        reached = sum(p for d, p in chances.items() if (abs(d) if sides == 2 else d) >= change)
        if reached < 1 - Fraction(confidence):
            return change / n
    return math.inf


@given(st.integers(1, 12), st.integers(0, 20).map(lambda k: k / 20), CONFIDENCE, st.sampled_from([1, 2]))
def test_believable_change_by_definition(n: int, rate: float, confidence: float, sides: Sides) -> None:
    assert believable_change(n, rate, confidence, sides=sides) == slow_change(n, rate, confidence, sides)


@given(st.integers(1, 60), st.floats(0, 1), st.floats(0, 1), CONFIDENCE)
def test_more_noise_and_more_confidence_need_more_change(n: int, a: float, b: float, confidence: float) -> None:
    low, high = sorted((a, b))
    change = believable_change(n, low, confidence)
    assert change > 0
    assert believable_change(n, low, confidence, sides=1) <= change
    assert change <= believable_change(n, low, (1 + confidence) / 2)
    # A rate of 1 moves in steps of two tasks, so compare with one step of slack.
    assert change <= believable_change(n, high, confidence) + 1 / n


def test_believable_change_is_what_simulation_shows() -> None:
    n, rate, numbers = 50, 0.2, random.Random(7)
    change = believable_change(n, rate, 0.9)
    draws = [sum(numbers.choices((1, -1, 0), (rate / 2, rate / 2, 1 - rate), k=n)) for _ in range(4000)]
    assert sum(abs(draw) >= round(change * n) for draw in draws) / 4000 < 0.115
    assert sum(abs(draw) >= round(change * n) - 1 for draw in draws) / 4000 > 0.085


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5])
def test_the_normal_approximation_takes_over_smoothly(rate: float) -> None:
    exact, near = believable_change(2000, rate, 0.9), believable_change(2001, rate, 0.9)
    assert near == pytest.approx(exact, abs=1.5 / 2000)
    assert believable_change(5000, 0.0, 0.9) == 1 / 5000


@pytest.mark.parametrize(("n", "rate"), [(0, 0.1), (-3, 0.1), (5, -0.01), (5, 1.01), (5, math.nan)])
def test_believable_change_refuses(n: int, rate: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        believable_change(n, rate, 0.9)
