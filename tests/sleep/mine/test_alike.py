"""When two requests are one and the same, or only too alike to be on two sides of a split."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.sleep.mine.alike import Essence, Groups, content_words, near, near_pairs, same

VOCABULARY = ["red", "green", "blue", "coat", "belt", "hat", "40", "41", "price", "of", "the"]
WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=14)
TEXTS = st.lists(WORDS.map(" ".join), max_size=14)


def _both(one: str, other: str) -> tuple[bool, bool]:
    a, b = Essence.of(one), Essence.of(other)
    assert (near(a, b), near(b, a)) == (near(a, b),) * 2
    close = near(a, b)
    return close, close and same(a, b)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Summarise the weekly report for the team", "Please summarise the weekly report for the team!"),
        ("Summarise the weekly report for the team", "Summarize the weekly report for the team"),
        ("Summarise the weekly report for the team", "summarise the weekly reports for our team now"),
        ("请总结本周的团队周报", "总结本周的团队周报"),
    ],
)
def test_courtesy_spelling_and_small_words_make_no_other_task(one: str, other: str) -> None:
    assert _both(one, other) == (True, True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is the price of the coat?", "What is the price of the belt?"),
        ("What is the price of order 41 today?", "What is the price of order 42 today?"),
        ("List the orders that are paid this week", "List the orders that are not paid this week"),
        ("Convert 5 dollars to euros at noon", "Convert 5 euros to dollars at noon"),
        ("How much is 3 + 4 together then", "How much is 3 * 4 together then"),
    ],
)
def test_another_fact_is_another_task_on_the_same_side(one: str, other: str) -> None:
    assert _both(one, other) == (True, False)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fix tests", "run tests"),
        (
            "The grey coat costs 40 dollars. What does the coat cost?",
            "The red belt costs 9 dollars. What is its price?",
        ),
        ("Translate the letter", "Translate the letter into French for the board"),
    ],
)
def test_other_words_are_other_tasks_on_any_side(one: str, other: str) -> None:
    assert _both(one, other) == (False, False)


def test_a_text_of_courtesy_alone_still_has_an_essence() -> None:
    assert Essence.of("please").words == ("please",)
    assert Essence.of("").words == ()


@given(TEXTS)
def test_looking_up_rare_words_finds_every_near_pair(texts: list[str]) -> None:
    essences = [Essence.of(text) for text in texts]
    found = list(near_pairs(essences))
    assert sorted(found) == [(a, b) for a, b in combinations(range(len(texts)), 2) if near(essences[a], essences[b])]


@given(TEXTS)
def test_leaving_out_what_is_together_makes_the_same_groups(texts: list[str]) -> None:
    essences = [Essence.of(text) for text in texts]
    groups = Groups(len(texts))
    for one, other in near_pairs(essences, groups.together):
        groups.unite(one, other)
    assert groups.all() == united(len(texts), list(near_pairs(essences)))


def united(count: int, pairs: list[tuple[int, int]]) -> list[list[int]]:
    groups = Groups(count)
    for one, other in pairs:
        groups.unite(one, other)
    return groups.all()


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11))))
def test_uniting_is_the_transitive_closure_in_any_order(count: int, raw: list[tuple[int, int]]) -> None:
    pairs = [(a % count, b % count) for a, b in raw]
    groups = united(count, pairs)
    assert sorted(at for group in groups for at in group) == list(range(count))
    group_of = {at: number for number, group in enumerate(groups) for at in group}
    assert all(group_of[a] == group_of[b] for a, b in pairs)
    shuffled = random.Random(1).sample(pairs, len(pairs))
    assert united(count, [(b, a) for a, b in shuffled]) == groups
    assert len(groups) >= count - len({tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]})


def test_content_words_leave_out_what_any_request_has() -> None:
    assert content_words("Please write what the coat costs") == {"coat", "costs"}
