from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import ConfigError, TaskError
from skillgit.tasks.splits import assign, epoch_batches, parse_ratio, split_counts, split_name

RATIOS = st.tuples(st.integers(1, 20), st.integers(0, 20), st.integers(0, 20))


def test_counts_conform(conformance):
    for row in conformance("split_counts"):
        assert list(split_counts(row["total"], parse_ratio(row["ratio"]))) == row["counts"], row


@pytest.mark.parametrize(
    ("total", "counts"),
    [(3, (1, 0, 2)), (10, (2, 1, 7)), (177, (35, 18, 124)), (246, (49, 25, 172)), (534, (107, 53, 374))],
)
def test_counts_of_the_published_sets(total, counts):
    assert split_counts(total, (2, 1, 7)) == counts


def test_assignment_conforms(conformance):
    for row in conformance("split_assignment"):
        train, val, test = assign(row["ids"], parse_ratio(row["ratio"]), row["seed"])
        assert (train, val, test) == (row["train"], row["val"], row["test"])


def test_batches_conform(conformance):
    for row in conformance("epoch_batches"):
        ids = [f"t{i}" for i in range(row["train_size"])]
        batches = epoch_batches(ids, row["batch_size"], row["accumulation"], row["epoch"], row["seed"])
        assert batches == row["batches"], row


def test_an_empty_trailing_batch_is_filled_from_its_own_shuffle():
    first, second = epoch_batches(["a", "b", "c"], 4, 2, epoch=1, seed=42)
    assert sorted(first) == sorted(second) == ["a", "b", "c"]


@given(st.integers(0, 500), RATIOS)
def test_counts_add_up_and_stay_within_one_of_the_share(total, ratio):
    counts = split_counts(total, ratio)
    assert sum(counts) == total
    assert all(abs(n - total * w / sum(ratio)) < 1 for n, w in zip(counts, ratio, strict=True))


@given(st.lists(st.integers()), RATIOS, st.integers(0, 100))
def test_every_item_lands_once(items, ratio, seed):
    parts = assign(items, ratio, seed)
    assert sorted(item for part in parts for item in part) == sorted(items)
    assert parts == assign(items, ratio, seed)


@given(st.integers(0, 60), st.integers(1, 9), st.integers(1, 4), st.integers(1, 5), st.integers(0, 99))
def test_an_epoch_visits_everything_in_full_steps(size, batch, accumulation, epoch, seed):
    batches = epoch_batches(range(size), batch, accumulation, epoch, seed)
    assert len(batches) % accumulation == 0
    assert all(0 < len(b) <= batch for b in batches)
    assert {i for b in batches for i in b} == set(range(size))
    full = -(-size // batch)
    assert sorted(i for b in batches[:full] for i in b) == list(range(size))


@pytest.mark.parametrize("bad", ["", "2:1", "a:b:c", "0:1:1", "-1:2:3", "1:1:1:1", None, "1.5:1:1"])
def test_a_bad_ratio_is_refused(bad):
    with pytest.raises(TaskError, match="not a split ratio"):
        parse_ratio(bad)


def test_the_unquoted_yaml_ratio_is_explained():
    with pytest.raises(TaskError, match="unquoted"):
        parse_ratio(7267)


@pytest.mark.parametrize(
    ("alias", "name"),
    [("train", "train"), ("val", "val"), ("valid_seen", "val"), ("selection", "val"), ("valid_unseen", "test")],
)
def test_split_aliases(alias, name):
    assert split_name(alias) == name


def test_an_unknown_split_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match='"tset"; did you mean "test"'):
        split_name("tset")
