"""Answers that are the only right ones: a value that a person took, not a report of work done."""

from __future__ import annotations

import re

from skillgit.skills.words import words_of
from skillgit.sleep.mine.vocabulary import REPORT_STARTS, REPORTS

MOST_CHARS = 200
"""A longer answer could have been put in many other ways."""

_VALUE_WORDS = 4  # more words with an end of a sentence are one sentence among many that would have done
_END = re.compile(r"[.!?。！？]$")
_WRAPPED = re.compile(r"(\*\*|__|`|\*)(.+)\1")


def exact_answer(answer: str, asked: str, *, corrected: bool, tools: bool) -> str:
    """The answer, bare, when any other would have been wrong; else blank.

    Args:
        answer: what the agent wrote and the person took.
        asked: all that the person asked.
        corrected: an answer in another form was turned down before.
        tools: the agent had tools, so the answer may rest on what only they could see.
    """
    text = unwrapped(answer)
    words = words_of(text)
    if not any(word.isalnum() for word in words) or "\n" in text or len(text) > MOST_CHARS or _is_report(text):
        return ""
    if not corrected and len(words) > _VALUE_WORDS and _END.search(text):
        return ""
    return "" if tools and not set(words) & set(words_of(asked)) else text


def unwrapped(text: str) -> str:
    """A text without the emphasis or code marks that stand around all of it."""
    bare = text.strip()
    while (match := _WRAPPED.fullmatch(bare)) and match[1] not in match[2]:
        bare = match[2].strip()
    return bare


def _is_report(text: str) -> bool:
    low = text.casefold().lstrip("✅✔️☑ ")
    return words_of(low)[0] in REPORTS or low.startswith(REPORT_STARTS)
