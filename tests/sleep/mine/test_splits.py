"""Splits by content: stable, near the wanted shares, and never one unit on two sides."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.config.sleep import Sleep
from skillgit.sleep.mine.base import Split
from skillgit.sleep.mine.splits import Unit, assign

KEYS = st.lists(st.text("abcdef", min_size=1, max_size=5), unique=True, max_size=25)
SPLITS = st.sampled_from(get_args(Split))


def units(count: int) -> list[Unit]:
    return [Unit(f"request {number}") for number in range(count)]


def counted(count: int, config: Sleep, seed: int = 42) -> Counter[Split]:
    return Counter(assign(units(count), config, seed))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("count", [6, 20, 200])
def test_val_comes_near_its_share(count: int, seed: int) -> None:
    assert abs(counted(count, Sleep(), seed)["val"] - 0.34 * count) <= max(1, count / 20)


def test_test_has_its_own_share_which_is_never_taken_from() -> None:
    split = counted(300, Sleep(val_fraction=0.3, test_fraction=0.3))
    assert all(split[name] >= 60 for name in get_args(Split))
    few = Sleep(val_fraction=0.01, test_fraction=0.98)
    keys = [unit for unit in units(40) if assign([unit], few, 42) == ["test"]]
    assert set(assign(keys, few, 42)) == {"test"}


def test_two_tasks_make_one_of_each_and_one_is_learned_from_or_measured() -> None:
    assert sorted(assign(units(2), Sleep(val_fraction=0.01), 42)) == ["train", "val"]
    assert sorted(assign(units(2), Sleep(val_fraction=0.99), 42)) == ["train", "val"]
    assert assign([], Sleep(), 42) == []


def test_no_val_is_made_where_none_is_wanted() -> None:
    assert set(assign(units(30), Sleep(val_fraction=0.0), 42)) == {"train"}


def test_min_val_raises_val_up_to_its_share() -> None:
    low, high = Sleep(val_fraction=0.34, min_val=1), Sleep(val_fraction=0.34, min_val=50)
    pool = [unit for unit in units(200) if assign([unit], low, 42) == ["train"]][:20]
    assert Counter(assign(pool, low, 42))["val"] == 6
    assert Counter(assign(pool, high, 42))["val"] == 7


def test_the_seed_changes_who_is_in_val() -> None:
    assert assign(units(30), Sleep(), 1) != assign(units(30), Sleep(), 2)


@given(KEYS, st.integers(0, 3), st.randoms())
def test_order_does_not_matter(keys: list[str], seed: int, random) -> None:  # type: ignore[no-untyped-def]
    given_units = [Unit(key, 1 + len(key) % 3) for key in keys]
    split = dict(zip(keys, assign(given_units, Sleep(), seed), strict=True))
    random.shuffle(given_units)
    assert assign(given_units, Sleep(), seed) == [split[unit.key] for unit in given_units]


@given(KEYS.filter(lambda keys: len(keys) > 3), st.data())
def test_what_was_decided_stays_when_tasks_come_and_go(keys: list[str], data: st.DataObject) -> None:
    first = dict(zip(keys, assign([Unit(key) for key in keys], Sleep(), 42), strict=True))
    kept = [key for key in keys if data.draw(st.booleans())]
    later = [Unit(key, known=frozenset((first[key],))) for key in kept]
    new = [Unit(f"new {number}") for number in range(data.draw(st.integers(0, 9)))]
    again = assign([*later, *new], Sleep(), 42)[: len(kept)]
    moved = [key for key, split in zip(kept, again, strict=True) if split != first[key]]
    # Only when nothing else is left to learn from.
    assert not moved or (not new and {first[key] for key in kept} == {"val"} and len(moved) == 1)


def test_a_unit_that_was_on_two_sides_is_learned_from() -> None:
    both = Unit("both", 2, frozenset[Split](("val", "train")))
    assert assign([both, *units(5)], Sleep(), 42)[0] == "train"
