"""The curve of scores."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillgit.report.graph import ASCII, BLOCKS, curve, sparkline, val_scores

scores = st.lists(st.none() | st.floats(0, 1), max_size=300)


@given(scores)
def test_a_curve_fits_a_line_and_leaves_gaps(values: list[float | None]) -> None:
    line = sparkline(values)
    assert len(line) <= 80
    assert set(line) <= {*BLOCKS, " "}
    if len(values) <= 80:
        assert [sign == " " for sign in line] == [value is None for value in values]


@given(st.lists(st.floats(0, 1), min_size=2, max_size=80))
def test_a_higher_score_never_stands_lower(values: list[float]) -> None:
    heights = [BLOCKS.index(sign) for sign in sparkline(values)]
    for value, height in zip(values, heights, strict=True):
        assert all(other <= height for v, other in zip(values, heights, strict=True) if v <= value)


def test_lowest_and_highest_use_the_whole_range() -> None:
    assert sparkline([0.2, 0.3, 0.4]) == "▁▅█"
    assert sparkline([0.5, None, 0.5]) == "▅ ▅"


def test_the_range_is_told_in_signs_that_can_be_written() -> None:
    assert curve([0.0, None, 1.0], "utf-8") == "val ▁ █  0.000 to 1.000, 2 of 3 measured"
    assert curve([0.0, None, 1.0], "ascii").startswith(f"val {ASCII[0]} {ASCII[-1]}  ")
    assert curve([None], "utf-8") == ""


def test_bounds_are_no_scores() -> None:
    versions = [
        {"scores": {"val": {"score": 1.0, "at_most": 0.5}}},
        {"scores": {"val": {"score": 0.25}}},
        {"scores": {}},
    ]
    assert val_scores(versions) == [None, 0.25, None]
