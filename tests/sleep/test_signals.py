"""What a person's turn says about the answer before it: blame, praise, or neither."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.sleep.base import Turn
from skillgit.sleep.mine.signals import accepted, corrections, feedback, outcome, restates, settled

NEGATIVE = [
    "no",
    "No, use the other one.",
    "nope",
    "No that's not it",
    "wrong",
    "That's wrong.",
    "this is incorrect",
    "It's still broken",
    "still failing",
    "It doesn't work",
    "that didn’t help",
    "doesn't compile",
    "not fixed",
    "not quite",
    "It is not working.",
    "The test still fails with the same error",
    "I get an error: KeyError",
    "now it crashes",
    "you forgot the header",
    "you didn't run the tests",
    "You should have used the helper.",
    "That's not what I asked for",
    "I said two decimals",
    "I asked for a table",
    "why didn't you use the cache?",
    "try again",
    "undo that",
    "revert your change",
    "fix it",
    "the answer is wrong",
    "your output looks off",
    "that's too long",
    "way too verbose",
    "you made that up",
    "wrong file",
    "Thanks, but it's still broken",
    "Great, but the date is wrong.",
    "still not fixed, thanks",
    "looks good, except that it doesn't work on Windows",
    "close, but the total is wrong",
    "Nein, das ist falsch",
    "das funktioniert immer noch nicht",
    "stimmt nicht",
    "non, c'est faux",
    "ça ne marche toujours pas",
    "No, está mal",
    "eso no funciona",
    "不对，应该是两位小数",
    "还是不行",
    "違います",
    "まだエラーが出ます",
    "动不了，报错了",
    "нет, неверно",
    "всё ещё не работает",
    "Hmm, that's not working for me",
    "The output has the wrong units, it should be in km",
    "Still getting 404s",
    "You changed the wrong function",
    "This isn't what I meant",
    "no i want the other file",
    "That broke the build",
    "the tests are failing now",
    "I don't like this, the names are confusing",
    "Nope, still red",
    "that is not the right format",
    "You missed the second question",
    "Please redo it with two decimals",
    "It's missing the currency sign",
    "that didn't do it",
    "Not what I asked.",
    "This doesn't match the spec",
    "your answer ignores the table",
    "I'm still seeing the old header",
    "ok but it does not handle empty input",
    "thank you but that's incorrect",
    "bad answer",
    "it's not sorted",
    "the result is off by one",
    "leider falsch",
    "das klappt nicht",
    "Ce n'est pas ce que j'ai demandé",
    "No es lo que pedí",
    "это не то что я просил",
    "这不对",
    "それは違います",
]
POSITIVE = [
    "Thanks!",
    "thank you",
    "thx",
    "perfect",
    "Perfect, thanks. Now add a test.",
    "Great!",
    "great work",
    "It works now",
    "works",
    "that works, thanks",
    "lgtm",
    "Looks good to me",
    "looks great",
    "that's right",
    "That is correct.",
    "exactly",
    "exactly what I wanted",
    "nice one",
    "much better",
    "That fixed it.",
    "well done",
    "no, that's all. Thanks!",
    "It was broken before, now it works",
    "No wait, that's correct, perfect!",
    "danke, passt so",
    "perfekt",
    "funktioniert jetzt",
    "merci, c'est parfait",
    "ça marche",
    "gracias, perfecto",
    "谢谢",
    "很好，没问题",
    "ありがとう、完璧です",
    "спасибо, теперь работает",
    "отлично",
    "Awesome, thanks",
    "Yep that works",
    "Good job",
    "Sweet, that's exactly it",
    "Great. Next, add a login page",
    "Fantastic work, merge it",
    "ok perfect",
    "yes, that's what I wanted",
    "Tests pass now, thanks",
    "It's working now",
    "Nice, looks good!",
    "Much better, thank you",
    "That solved it",
    "Wonderful",
    "brilliant :)",
    "super, danke",
    "c'est bon, merci",
    "genial, gracias",
    "完美",
    "ありがとうございます",
]
NEITHER = [
    "",
    "Fix the login page",
    "Add a footer",
    "revert the last commit",
    "fix it in file x.py",
    "Write a test for the incorrect parser",
    "Venice is the capital of which region?",
    "no, nothing else",
    "no problem",
    "No tests are needed for this.",
    "No need to change the docs",
    "didn't you say it was on page two?",
    "What's wrong with this code?",
    "what went wrong in the build?",
    "Is this right?",
    "does it look good?",
    "how does it work?",
    "make sure it works on Windows",
    "check that it works",
    "it would be great if it had a title",
    "The nice thing about cats?",
    "What is the price of a perfect diamond?",
    "Great Britain has how many islands?",
    "correct the spelling in a.md",
    "Use a fixed width",
    "Please explain how undo works in vim",
    "Can you fix the tests? Thanks",
    "Thanks in advance for a list of broken links",
    "if it doesn't work, tell me",
    "yes",
    "ok",
    "continue",
    "A note on knowledge and nobody",
    "nothing is broken",
    "it is no longer broken",
    "the function that doesn't work on Windows is in a.py; explain it",
    "```\nit doesn't work\n```\nExplain this log",
    "> that's wrong\nWho said this?",
    "nicht nur heute",
    "La ciudad de Nonantola",
    "错误代码 404 是什么意思？",
    "Why is the sky blue?",
    "Explain the wrong-way risk in finance",
    "Write a function that returns the correct answer",
    "Remove the broken link in README",
    "Add error handling so it doesn't crash",
    'What does "still life" mean?',
    "Refactor the undo stack",
    "Now do the same for b.py",
    "The user gets an error when clicking on login. Please investigate.",
    "My test fails with KeyError, why?",
    "How do I know it's working?",
    "Make it work with Python 3.12",
    "Can you check the numbers?",
    "Let's revert to the old design",
    "What is a good name for this?",
    "Is that the correct way?",
    "Not now, first the docs",
    "Next: no duplicates in the list",
    "Nothing else",
    "Thank the user in the message",
    "Translate 'thanks' to French",
    "List all perfect numbers below 100",
    'Create a page titled "It works"',
    "never mind",
    "Do not deploy yet",
    "Please fix the failing tests",
    "run it again",
    "Start the server again",
    "that is all for today",
]


@pytest.mark.parametrize("text", NEGATIVE)
def test_blame_is_heard(text: str) -> None:
    assert feedback(text) == "negative"


@pytest.mark.parametrize("text", POSITIVE)
def test_praise_is_heard(text: str) -> None:
    assert feedback(text) == "positive"


@pytest.mark.parametrize("text", NEITHER)
def test_requests_and_questions_are_neither(text: str) -> None:
    assert feedback(text) == ""


@pytest.mark.parametrize("text", NEGATIVE + POSITIVE)
def test_case_and_marks_do_not_matter(text: str) -> None:
    assert feedback(f"  {text.upper()}!!") == feedback(text)


def test_further_phrases_count_as_whole_words() -> None:
    assert feedback("bof, whatever", negative=("Bof",)) == "negative"
    assert feedback("bofrost", negative=("bof",)) == ""
    assert feedback("das ist ja mal knorke", positive=("knorke",)) == "positive"
    assert feedback("x", negative=("",), positive=(" ",)) == ""
    assert feedback("c++ again", negative=("c++",)) == "negative"


@pytest.mark.parametrize(
    "text",
    [
        "Always use two decimals.",
        "please never commit the lock file",
        "use tabs instead",
        "use tabs instead of spaces",
        "not miles but kilometres",
        "it should be in euros",
        "the title must be in capitals",
        "write it as 12.50",
        "From now on answer in German",
        "don't add comments",
        "Stop using emojis",
        "I want it shorter",
        "Keep it under 100 characters",
        "Only the number, please",
        "without the dollar sign",
        "Good. But always run the tests first.",
        "Immer mit Komma, nicht mit Punkt",
        "toujours en français",
        "siempre en minúsculas",
        "总是用中文回答",
        "必ず日本語で",
        "всегда на русском",
    ],
)
def test_how_it_is_to_be_is_heard(text: str) -> None:
    assert restates(text)


@pytest.mark.parametrize(
    "text",
    [
        "Add a footer",
        "Should I use tabs?",
        "what should be the name?",
        "I never said that?",
        "don't worry",
        "Is it always red?",
        "yes, go on",
    ],
)
def test_a_request_or_a_question_restates_nothing(text: str) -> None:
    assert not restates(text)


def talk(*said: str) -> list[Turn]:
    """`you: …` and `it: …` in turn; `failed: …` is an answer that the agent reports as failed."""
    turns = []
    for line in said:
        who, text = line.split(": ", 1)
        turns.append(Turn("user" if who == "you" else "assistant", text, failed=who == "failed"))
    return turns


@pytest.mark.parametrize(
    ("said", "ended"),
    [
        ([], "unknown"),
        (["you: Add a footer"], "unknown"),
        (["you: This is broken, fix it"], "unknown"),
        (["you: Add a footer", "it: Done"], "unknown"),
        (["you: Add a footer", "it: Done", "you: thanks"], "success"),
        (["you: Add a footer", "it: Done", "you: wrong"], "fail"),
        (["you: Add a footer", "it: Done", "you: wrong", "it: Mended", "you: perfect"], "mixed"),
        (["you: Add a footer", "it: Done", "you: perfect", "it: Good", "you: no, it's broken"], "fail"),
        (["you: Add a footer", "it: Done", "you: use tabs instead", "it: Done"], "fail"),
        (["you: Add a footer", "failed: Oops"], "fail"),
        (["you: Add a footer", "failed: Oops", "it: Done", "you: great, thanks"], "mixed"),
        (["you: Add a footer", "it: Done", "you: Add a header", "it: Done"], "unknown"),
    ],
)
def test_a_conversation_ends_as_its_last_word_says(said: list[str], ended: str) -> None:
    assert outcome(talk(*said)) == ended


def test_corrections_are_turns_after_an_answer() -> None:
    turns = talk(
        "you: always use tabs",
        "it: Done",
        "you: no",
        "you: use spaces instead",
        "it: Done",
        "you: thanks",
        "you: Add a footer",
    )
    assert corrections(turns) == (2, 3)
    assert corrections(talk("you: x", "it: y", "you: bof"), negative=("bof",)) == (2,)


def test_accepted_answers_are_praised_and_settled_ones_only_left_alone() -> None:
    turns = talk("you: Price?", "it: 40 dollars", "you: without the unit", "it: 40", "you: perfect", "it: Good")
    assert accepted(turns) == (3,)
    assert settled(turns) == ()
    assert settled(turns[:4]) == (3,)
    assert accepted(turns[:4]) == ()
    assert settled(talk("you: Price?", "it: 40")) == ()
    assert settled(talk("you: Price?", "it: 40", "you: wrong", "failed: 41")) == ()
    assert settled([]) == ()


def test_praise_that_comes_with_a_rule_accepts_nothing() -> None:
    turns = talk("you: Price?", "it: 40", "you: Great, but always give the unit")
    assert accepted(turns) == ()
    assert corrections(turns) == (2,)


@given(st.text(max_size=300), st.sampled_from(["", *NEGATIVE, *POSITIVE]))
def test_any_text_is_judged_alike_each_time(text: str, more: str) -> None:
    assert feedback(text + more) in ("negative", "positive", "")
    assert feedback(text + more) == feedback(text + more)


@pytest.mark.parametrize(
    "piece", ["it is not ", "still ", "the the ", "no ", ",", "a ", "> ", "`", "why is ", "always ", "你", "is "]
)
def test_long_turns_take_no_longer_than_their_beginning(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    started = time.process_time()
    feedback(text)
    restates(text)
    assert time.process_time() - started < 0.5
