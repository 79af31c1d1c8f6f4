"""What is only form, and what is another answer."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.tasks.form import same_but_form, unwrapped

ANY = st.text(max_size=40)
NUMBERS = st.integers(-(10**6), 10**6)


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("5%", "5"),
        ("5 percent", "5%"),
        ("12.0", "12"),
        ("$1,200.00", "1200"),
        ("(5)", "-5"),
        ("\\boxed{\\text{B}}", "b"),
        ("**The answer is: New-York.**", "new york"),
        ("<answer>Paris", "paris"),
        ("twenty-one", "Twenty One"),
        ("well–known", "well known"),
        ("Café", "cafe"),
        ("R&D", "r and d"),
        ("a.m.", "AM"),
        ("St. Louis", "st louis"),
        ("the Beatles", "Beatles"),
        ("May 5, 1990", "may 5 1990"),
    ],
)
def test_form_is_forgiven_from_either_side(written: str, wanted: str) -> None:
    assert same_but_form(written, ["other", wanted])
    assert same_but_form(wanted, [written])


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("15", "1.5"),
        ("-5", "5"),
        ("1990s", "1990"),
        ("12 km", "12"),
        ("$5", "€5"),
        ("1/2", "12"),
        ("5 1/2", "51/2"),
        ("10:30", "1030"),
        ("3,5", "35"),
        ("5, 6", "56"),
        ("May 5, 1990", "May 51990"),
        ("x+1", "x-1"),
        ("-x", "x"),
        ("f(x)", "fx"),
        ("2^{10}", "210"),
        ("C++", "C"),
        ("+", "-"),
        ("a", "b"),
        ("New York City", "New York"),
        ("", "x"),
    ],
)
def test_another_value_or_word_is_never_forgiven(written: str, wanted: str) -> None:
    assert not same_but_form(written, [wanted])
    assert not same_but_form(wanted, [written])


def test_without_answers_nothing_is_right() -> None:
    assert not same_but_form("x", [])


@given(ANY)
def test_every_answer_has_its_own_form(text: str) -> None:
    assert same_but_form(text, [text])
    assert same_but_form(f"**x{text}x** ", [f"x{text}x"])


@given(ANY, ANY)
def test_it_does_not_matter_which_of_two_was_written(left: str, right: str) -> None:
    assert same_but_form(left, [right]) == same_but_form(right, [left])


@given(NUMBERS, NUMBERS)
def test_two_whole_numbers_are_the_same_only_when_they_are_equal(left: int, right: int) -> None:
    for form in ("{}", "{:,}", "{}.0", "${}", "{}%", "<answer>{}</answer>"):
        assert same_but_form(form.format(left), [str(right)]) == (left == right)


@given(ANY)
def test_what_is_unwrapped_has_nothing_around_it(text: str) -> None:
    assert unwrapped(unwrapped(text)) == unwrapped(text)


@pytest.mark.parametrize("part", ["\\text{", "<answer>", "the answer is ", "(", " ", "$", "1,111", "a-", "**"])
def test_long_texts_take_no_time(part: str) -> None:
    text = part * 9999
    start = time.monotonic()
    same_but_form(text, [text[:1990], "x"])
    same_but_form(text[:1990], [text[:1900]])
    assert time.monotonic() - start < 2
