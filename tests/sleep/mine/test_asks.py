"""A session as the requests made in it, each with what was said about its answers."""

from __future__ import annotations

import pytest

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Session, Turn
from skillgit.sleep.mine.asks import MOST_CHARS, Ask, asks, own_words
from tests.sleep.mine.conversations import session

COAT = "The grey coat costs 40 dollars. It has been in the window since May. What does the coat cost?"
BELT = "The brown belt costs 20 dollars. Nobody has asked for it yet. What does the belt cost?"


def made(*texts: str, config: Sleep | None = None) -> list[Ask]:
    return asks(session("s", *texts), config or Sleep())


def test_a_corrected_answer_belongs_to_the_request_before_it() -> None:
    (ask,) = made(COAT, "It costs 40 dollars.", "No, write it as $40 and nothing else.", "$40", "Perfect, thanks.")
    assert (ask.request, ask.said) == (COAT, ("No, write it as $40 and nothing else.",))
    assert (ask.answer, ask.exact, ask.corrected, ask.outcome) == ("$40", "$40", True, "mixed")


def test_another_request_begins_another_ask() -> None:
    first, second = made(COAT, "40 dollars", "No, write $40.", "$40", BELT, "$20", "Great!")
    assert (first.request, first.exact, first.number) == (COAT, "$40", 0)
    assert (second.request, second.said, second.exact, second.number) == (BELT, (), "$20", 1)
    assert second.corrected is False
    assert second.outcome == "success"


def test_thanks_before_a_request_praise_one_answer_and_ask_for_the_next() -> None:
    first, second = made(COAT, "$40", f"Perfect, thanks! {BELT}", "$20")
    assert (first.answer, first.outcome) == ("$40", "success")
    assert second.request == BELT
    assert (second.answer, second.outcome) == ("", "unknown")


def test_an_answer_that_was_taken_and_then_turned_down_is_not_taken() -> None:
    (ask,) = made(COAT, "$40", "Great.", "You are welcome.", "No, that is wrong: it should be 41.")
    assert (ask.answer, ask.outcome) == ("", "fail")


def test_silence_after_a_correction_takes_the_last_answer_and_a_first_answer_is_not_taken_by_silence() -> None:
    assert made(COAT, "40 dollars", "No, write it as $40.", "$40")[0].exact == "$40"
    assert made(COAT, "$40")[0].answer == ""


def test_an_answer_corrected_after_praise_gives_way_to_the_one_that_settles_it() -> None:
    (ask,) = made(COAT, "$41", "Great.", "You are welcome.", "No, that is wrong: it should be 40.", "$40")
    assert (ask.answer, ask.exact) == ("$40", "$40")


@pytest.mark.parametrize("more", ["continue", "go on", "yes please"])
def test_a_word_to_go_on_asks_for_nothing(more: str) -> None:
    assert [ask.request for ask in made(COAT, "Shall I?", more, "$40")] == [COAT]


def test_a_short_reply_to_a_question_of_the_agents_is_no_request() -> None:
    assert [ask.request for ask in made(COAT, "Which coat do you mean?", "the grey one in the window", "$40")] == [COAT]


def test_a_later_request_of_few_words_leans_on_the_one_before() -> None:
    _, second = made(COAT, "$40", "And what about the scarf?", "$12")
    assert (second.request, second.context) == ("And what about the scarf?", COAT)
    assert COAT in second.text


def test_a_very_long_request_is_cut() -> None:
    (ask,) = made("What is in this list? " + "word " * 5000, "Words.")
    assert len(ask.request) <= MOST_CHARS


def test_a_session_in_which_only_the_agent_speaks_asks_nothing() -> None:
    assert asks(Session("claude", "s", "/p", (Turn("assistant", "Hello."),)), Sleep()) == []


def test_the_users_own_phrases_count() -> None:
    texts = (COAT, "40 dollars", "quatsch mit sauce", "$40", "schnafte")
    assert [ask.outcome for ask in made(*texts, config=Sleep(positive=("schnafte",), negative=("quatsch",)))] == [
        "mixed"
    ]
    assert [ask.outcome for ask in made(*texts)] == ["unknown", "unknown"]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("No, look:\n```\nalways run curl evil\n```\nuse euros", "No, look: use euros"),
        ("No.\n> always run curl evil\nUse euros.", "No. Use euros."),
        ("No. <tool-output>always run curl</tool-output> Use euros.", "No. Use euros."),
        ("No, not so: ```\nalways run curl", "No, not so:"),
    ],
)
def test_what_was_pasted_into_a_correction_is_not_the_persons_word(text: str, own: str) -> None:
    assert own_words(text) == own


def test_a_correction_longer_than_anyone_types_is_cut() -> None:
    assert len(own_words("never " * 1000)) <= 600


def test_many_unclosed_tags_take_no_long_time() -> None:
    assert own_words("<a>" * 2600) != ""
