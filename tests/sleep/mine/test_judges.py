"""What judges an answer: values that people took, demands they made of the text, or their own words."""

from __future__ import annotations

from typing import Any

import pytest

from skillgit.config.sleep import Sleep
from skillgit.sleep.mine.answers import exact_answer, unwrapped
from skillgit.sleep.mine.asks import asks
from skillgit.sleep.mine.constraints import checks_in
from skillgit.sleep.mine.mine import mine
from skillgit.tasks import judges
from tests.sleep.mine.conversations import session

ASK = "The grey coat costs 40 dollars. What does the coat cost?"
SUMMARY = "Summarise the report on the sale of coats for the whole team"


def value(answer: str, *, asked: str = ASK, corrected: bool = False, tools: bool = False) -> str:
    return exact_answer(answer, asked, corrected=corrected, tools=tools)


@pytest.mark.parametrize("answer", ["$40", "ORD-123", "2026-05-03", "travel", "No", "The coat costs $40"])
def test_a_short_value_is_exact(answer: str) -> None:
    assert value(answer) == answer


@pytest.mark.parametrize(
    "answer",
    [
        "Done.",
        "Fixed the failing test.",
        "I've written it to coat.py.",
        "Here is the price: $40",
        "You're welcome!",
        "已完成",
        "one\ntwo",
        "x" * 201,
        "",
        "…",
        "The coat costs 40 dollars this week.",
    ],
)
def test_a_report_a_sentence_or_a_long_answer_is_not(answer: str) -> None:
    assert value(answer) == ""


def test_a_sentence_is_exact_when_its_form_was_demanded() -> None:
    assert value("The coat costs 40 dollars this week.", corrected=True) == "The coat costs 40 dollars this week."


def test_what_only_tools_could_know_is_not_exact() -> None:
    assert value("1.26.4", asked="Which version of numpy do we use?", tools=True) == ""
    assert value("1.26.4", asked="Which version of numpy do we use?") == "1.26.4"
    assert value("$40", tools=True) == "$40"


@pytest.mark.parametrize(("text", "bare"), [("**$40**", "$40"), ("`$40`", "$40"), ("**a** b **c**", "**a** b **c**")])
def test_emphasis_around_an_answer_is_no_part_of_it(text: str, bare: str) -> None:
    assert unwrapped(text) == bare


@pytest.mark.parametrize(
    ("said", "check"),
    [
        ("No, at most 40 characters.", ("max_chars", 40)),
        ("too long, keep it under 40 chars", ("max_chars", 39)),
        ("never write more than 12 letters", ("max_chars", 12)),
        ("60 characters or less please", ("max_chars", 60)),
        ("it needs at least 10 characters", ("min_chars", 10)),
        ('It must contain "Budget" at the top', ("contains", "Budget")),
        ("it must mention the word Budget", ("contains", "Budget")),
        ('never write "ASAP"', ("not_contains", "ASAP")),
        ("don't use the word synergy", ("not_contains", "synergy")),
    ],
)
def test_demands_on_the_text_become_checks(said: str, check: tuple[str, Any]) -> None:
    assert checks_in([said], []) == [{"op": check[0], "arg": check[1]}]


@pytest.mark.parametrize(
    "said", ["No, shorter.", "use tabs", "I have at most 40 coats", "must contain it", "under 0 chars"]
)
def test_other_words_become_none(said: str) -> None:
    assert checks_in([said], []) == []


def test_a_check_that_the_accepted_answer_fails_was_misunderstood() -> None:
    said = ["at most 5 characters", 'it must contain "coat"']
    assert checks_in(said, ["the coat sells well"]) == [{"op": "contains", "arg": "coat"}]


def test_of_two_demands_that_contradict_each_other_the_later_holds() -> None:
    said = ["at most 50 characters", 'must contain "x1"', "at most 20 characters", 'never write "X1"']
    assert checks_in(said, []) == [{"op": "max_chars", "arg": 20}, {"op": "not_contains", "arg": "X1"}]


def one(*texts: str) -> Any:
    (task,) = mine([session("s", *texts)], Sleep()).tasks
    return task


def test_a_corrected_form_must_be_met_and_a_praised_value_only_in_its_words() -> None:
    strict = one(ASK, "40 dollars", "No, write $40.", "$40", "Thanks!").task
    assert judges.score(strict, " $40\n").hard == 1
    assert [judges.score(strict, text).hard for text in ("40", "$400", "The coat costs $40")] == [0, 0, 0]
    loose = one(ASK, "40 Dollars", "Perfect, thanks.").task
    assert [judges.score(loose, text).hard for text in ("40 dollars.", "140 dollars", "no")] == [1, 0, 0]


def test_demands_are_checked_where_there_is_no_single_right_answer() -> None:
    long = "Coats sold well.\nBelts did not."
    task = one(SUMMARY, "Well. " * 40, "Wrong, at most 60 characters please.", long, "Great, thanks.")
    assert dict(task.task.judge) == {"type": "checks", "checks": [{"op": "max_chars", "arg": 60}]}
    assert task.shape_only


def test_else_a_rubric_holds_peoples_own_words() -> None:
    task = one(SUMMARY, "Coats.\nBelts.", "No, begin with what changed since last week.", "Up.\nDown.", "Great.")
    assert task.task.judge["type"] == "rubric"
    assert "No, begin with what changed since last week." in task.task.judge["rubric"]
    assert task.said[0] in task.task.judge["rubric"]


def test_with_nothing_to_judge_by_there_is_no_task() -> None:
    mined = mine([session("a", SUMMARY, "Coats.\nBelts."), session("b", "Run it"), session("c", ASK, "40")], Sleep())
    assert mined.tasks == ()
    assert mined.dropped == {"nothing_to_judge_by": 2, "too_short": 1}


def test_words_of_tools_and_agents_are_never_said_by_people() -> None:
    agent = "Remember: always write prices in euros. It should be €40, not $40."
    (ask,) = asks(session("s", ASK, agent, "No, write it as $40.", agent), Sleep())
    assert ask.said == ("No, write it as $40.",)
