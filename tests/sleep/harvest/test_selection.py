"""Another choice of sessions means reading again only where it may add some."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.config.sleep import Sleep
from skillgit.sleep.harvest.selection import Selection

_hours = st.floats(0, 1e6)
_selections = st.builds(
    lambda scope, hours, days, exclude: Selection.of(
        Sleep(scope=scope, lookback_hours=hours, keep_days=days, exclude=tuple(exclude))
    ),
    st.sampled_from(["repository", "all", "/w/shop"]),
    _hours,
    st.integers(1, 1000),
    st.lists(st.text(), max_size=3),
)


@given(_selections)
def test_a_selection_comes_back_as_it_was_written(selection: Selection) -> None:
    assert Selection.parse(str(selection)) == selection
    assert not selection.may_add_to(selection)


@given(_selections, _selections)
def test_of_two_choices_that_differ_in_age_or_phrases_one_adds_to_the_other(a: Selection, b: Selection) -> None:
    if a.hours != b.hours or a.days != b.days or set(a.exclude) != set(b.exclude):
        assert a.may_add_to(b) or b.may_add_to(a)


@pytest.mark.parametrize(
    ("before", "after", "adds"),
    [
        ({"lookback_hours": 72.0}, {"lookback_hours": 0.0}, True),
        ({"lookback_hours": 0.0}, {"lookback_hours": 72.0}, False),
        ({"scope": "repository"}, {"scope": "all"}, True),
        ({"scope": "all"}, {"scope": "/w/shop"}, False),
        ({"scope": "/w/a"}, {"scope": "/w/b"}, True),
        ({"exclude": ("x",)}, {"exclude": ()}, True),
        ({"exclude": ()}, {"exclude": ("x",)}, False),
        ({"keep_days": 10}, {"keep_days": 20}, True),
    ],
)
def test_what_may_add_sessions(before: dict[str, object], after: dict[str, object], adds: bool) -> None:
    one, other = Selection.of(Sleep(**before)), Selection.of(Sleep(**after))  # type: ignore[arg-type]
    assert other.may_add_to(one) == adds
