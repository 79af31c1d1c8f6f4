"""Records edited by hand are told apart from records that can be computed with."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.evals.evidence import Evidence, comparable, compare
from skillgit.evals.shapes import RECORD, count, number, sound_record, sound_results

GOOD: dict[str, Any] = {
    "id": "r",
    "skill": "a",
    "split": "val",
    "n": 2,
    "hard": 0.5,
    "soft": 0.5,
    "score": 0.5,
    "metric": "hard",
    "complete": True,
    "at": "2026-01-01T00:00:00Z",
    "gate": {"verdict": "accept", "base": "b", "base_score": 0.25, "run": "r", "step": 1},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["verdict", "hard", "x"]), inner),
    max_leaves=4,
)


def test_a_record_of_ours_is_sound_and_so_is_one_of_noise_or_with_unknown_scores() -> None:
    assert sound_record(GOOD)
    assert sound_record({"kind": "noise", "skill": "a", "hard": [0.5, 0.25]})
    assert sound_record(GOOD | {"score": None, "hard": None, "n": None, "gate": None, "of a later version": [1]})


@pytest.mark.parametrize("key", ["skill", "hard", "soft", "n"])
def test_a_record_without_its_scores_or_its_object_is_not(key: str) -> None:
    assert not sound_record({name: value for name, value in GOOD.items() if name != key})


@pytest.mark.parametrize(
    "wrong",
    [
        {"hard": "0.5"},
        {"hard": True},
        {"score": float("nan")},
        {"score": 10**400},
        {"n": -1},
        {"n": 1.5},
        {"gate": "accept"},
        {"gate": {"base_score": [0.1]}},
        {"bound": {}},
        {"complete": "yes"},
    ],
)
def test_a_record_with_values_of_another_kind_is_not(wrong: dict[str, Any]) -> None:
    assert not sound_record(GOOD | wrong)


@given(st.sampled_from(sorted(RECORD)), JSON)
def test_what_passes_can_be_compared(key: str, value: Any) -> None:
    record = GOOD | {key: value}
    if sound_record(record):
        found = compare(Evidence((GOOD,)), Evidence((record,)), "val")
        assert found is None or found.change is None or number(found.change)
        assert all(kept["split"] == "val" for kept in comparable({"a": [record]})["a"] if key != "split")


@pytest.mark.parametrize("tasks", [None, [], {"t": 1}, {"t": {"hard": 1.0}}, {"t": {"hard": 1.0, "soft": None}}])
def test_results_need_both_numbers_of_every_task(tasks: Any) -> None:
    assert not sound_results({"record": "r", "tasks": tasks})
    assert sound_results({"record": "r", "tasks": {"t": {"hard": 1.0, "soft": 0}}})


def test_counts_are_whole_and_not_truth_values() -> None:
    assert [count(value) for value in (0, 3, -1, 1.0, True, "1")] == [True, True, False, False, False, False]
