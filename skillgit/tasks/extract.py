"""The setting `extract`: which part of a response is the answer."""

from __future__ import annotations

from skillgit.tasks.judge import one_of
from skillgit.tasks.text import last_line, last_tagged, quote

EXTRACT = one_of("auto", "whole", "answer", "last_line")


def answer_in(response: str, how: str) -> str | None:
    """The answer in a response; `None` when `how` is `answer` and there is no pair of tags.

    `auto` takes the last `<answer>…</answer>`, else everything; `whole` everything; `answer` only the tags;
    `last_line` the last line that is not blank.
    """
    if how == "last_line":
        return last_line(response)
    tagged = None if how == "whole" else last_tagged(response)
    return response.strip() if tagged is None and how != "answer" else tagged


def describe(predicted: str | None) -> str:
    """What the target wrote, for a reason."""
    if predicted is None:
        return "no <answer>…</answer> found"
    return f"wrote {quote(predicted)}" if predicted else "wrote nothing"
