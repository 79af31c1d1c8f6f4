"""Which rules say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.sleep.proposals.likeness import is_known

RULE = "- Write every date in a report as YYYY-MM-DD, with leading zeros."


@pytest.mark.parametrize(
    "other",
    [
        "Write every date in the report as YYYY-MM-DD, with leading zeros",
        "* Always write every date in reports as `YYYY-MM-DD`, with leading zeros!",
        "Please write every date in a weekly report as YYYY-MM-DD, with leading zeros.",
    ],
)
def test_rules_that_say_the_same(other: str) -> None:
    assert is_known(other, ["unrelated", RULE])


@pytest.mark.parametrize(
    "other",
    [
        "Write every date in a report as DD-MM-YYYY, with leading zeros.",
        "Never write every date in a report as YYYY-MM-DD, with leading zeros.",
        "Write every date in a report as YYYY-MM-DD, without leading zeros.",
        "Write every date in a report as YYYY-MM-DD, with 2 leading zeros.",
        "Write every amount in a report as YYYY-MM-DD, with leading zeros.",
        "Write dates.",
        "",
    ],
)
def test_rules_that_do_not(other: str) -> None:
    assert not is_known(other, [RULE])


@given(st.text(min_size=1), st.text(min_size=1))
def test_it_is_symmetric_and_everything_is_like_itself(one: str, other: str) -> None:
    assert is_known(one, [one])
    assert is_known(one, [other]) == is_known(other, [one])
