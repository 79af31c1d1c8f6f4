"""Rules for the text of an answer that people said in plain words, as checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from skillgit.tasks import judges
from skillgit.tasks.base import Task

_COUNT = r"(\d{1,6}) (?:char(?:acter)?s?|letters)\b"
_MOST = re.compile(
    rf"\b(?:at most|no more than|not more than|max(?:imum)?(?: of)?|up to|within"
    rf"|(?:never|don't|don’t|do not)(?: \w{{1,20}}){{1,2}} more than) {_COUNT}",
    re.I,
)
_BELOW = re.compile(rf"\b(?:under|below|less than|fewer than|shorter than) {_COUNT}", re.I)
_LEAST = re.compile(rf"\b(?:at least|no fewer than|not fewer than|min(?:imum)?(?: of)?) {_COUNT}", re.I)
_OR_LESS = re.compile(rf"\b{_COUNT} (?:or (?:less|fewer)|at most|max(?:imum)?)\b", re.I)
_OR_MORE = re.compile(rf"\b{_COUNT} or more\b", re.I)
_QUOTED = r"(?:\"([^\"]{1,80})\"|“([^”]{1,80})”|`([^`]{1,80})`|'([^']{1,80})'(?!\w)|«([^»]{1,80})»|the word (\w{1,40}))"
_GAP = r"(?: (?:the|a|an|text|phrase|line|string|header|heading|exactly|always|it|words?)){0,3} "
_VERBS = r"(?:contain|include|mention|say|write)"
_MUST = re.compile(rf"\b(?:must|has to|have to|needs? to|should|always) (?:always )?{_VERBS}{_GAP}{_QUOTED}", re.I)
_NEVER = r"(?:never|don't|don’t|do not|must not|mustn't|should not|shouldn't|may not) (?:ever )?"
_MUST_NOT = re.compile(rf"\b{_NEVER}(?:{_VERBS}|use){_GAP}{_QUOTED}", re.I)


def checks_in(said: Iterable[str], accepted: Iterable[str]) -> list[dict[str, Any]]:
    """What people demanded of the text of an answer, each demand once.

    Args:
        said: their corrections, oldest first; of two that contradict each other the later one holds.
        accepted: answers that they took; a check that one of them fails was misunderstood, and is left out.
    """
    found: dict[str, dict[str, Any]] = {}
    for op, arg in (demand for text in said for demand in _demands(text)):
        found[arg.casefold() if isinstance(arg, str) else op] = {"op": op, "arg": arg}
    answers = list(accepted)
    return [check for check in found.values() if _holds(check, answers)]


def _demands(text: str) -> Iterator[tuple[str, str | int]]:
    line = " ".join(text.split())
    for pattern, op, step in (
        (_MOST, "max_chars", 0),
        (_BELOW, "max_chars", -1),
        (_OR_LESS, "max_chars", 0),
        (_LEAST, "min_chars", 0),
        (_OR_MORE, "min_chars", 0),
    ):
        yield from ((op, int(match[1]) + step) for match in pattern.finditer(line))
    for pattern, op in ((_MUST, "contains"), (_MUST_NOT, "not_contains")):
        yield from ((op, next(group for group in match.groups() if group)) for match in pattern.finditer(line))


def _holds(check: dict[str, Any], accepted: list[str]) -> bool:
    judge, wrong = judges.resolve({"type": "checks", "checks": [check]}, ())
    return not wrong and all(judges.score(Task("", "", judge=judge), answer).hard for answer in accepted)
