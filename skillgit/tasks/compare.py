"""The judges that compare text: exact, f1, contains, choice and regex."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from skillgit.tasks.base import Score, Task
from skillgit.tasks.extract import EXTRACT, answer_in, describe
from skillgit.tasks.judge import (
    Judge,
    Setting,
    Settings,
    any_answers,
    failed,
    flag,
    is_text_list,
    no_answers,
    number,
    one_of,
    passed,
    twice,
)
from skillgit.tasks.metrics import exact_match, token_f1
from skillgit.tasks.patterns import flags_problem, found, pattern_problem
from skillgit.tasks.text import clip, plain, quote, quote_any


def _exact(task: Task, response: str) -> Score:
    predicted = answer_in(response, task.judge["extract"])
    text = clip(predicted or "")
    if predicted is not None and _same(predicted, task.answers, task.judge["normalise"]):
        return passed(text)
    expected = f"expected {quote_any(task.answers)}{_near(predicted or '', task.answers)}"
    return failed(text, f"exact: {describe(predicted)}, {expected}")


def _same(predicted: str, answers: tuple[str, ...], how: str) -> bool:
    if how == "loose":
        return exact_match(predicted, answers)
    return plain(predicted) in {plain(answer) for answer in answers}


def _near(predicted: str, answers: tuple[str, ...]) -> str:
    """Whether only the form is wrong: the most useful thing a learner can hear."""
    if exact_match(predicted, answers):
        return " (differs only in case, punctuation or articles)"
    text = plain(predicted)
    return " (right, but with other text around it)" if any(plain(a) in text for a in answers) else ""


def _f1(task: Task, response: str) -> Score:
    predicted = answer_in(response, task.judge["extract"])
    soft = 0.0 if predicted is None else token_f1(predicted, task.answers)
    if soft >= task.judge["threshold"]:
        return passed(clip(predicted or ""), soft)
    reason = f"f1: {soft:.2f}, {describe(predicted)}, expected {quote_any(task.answers)}"
    return failed(clip(predicted or ""), reason, soft)


def _contains(task: Task, response: str) -> Score:
    text = _fold(response, task.judge["case"])
    missing = [answer for answer in task.answers if _fold(answer, task.judge["case"]) not in text]
    if not missing or (len(missing) < len(task.answers) and not task.judge["all"]):
        return passed("")
    which = "all of" if task.judge["all"] and len(task.answers) > 1 else "one of" if len(missing) > 1 else ""
    return failed("", f"contains: missing {which} {quote_any(missing)}".replace("  ", " "))


def _fold(text: str, case: bool) -> str:
    composed = unicodedata.normalize("NFC", text)
    return composed if case else composed.casefold()


def _regex(task: Task, response: str) -> Score:
    if found(task.judge["pattern"], response, task.judge["flags"]):
        return passed("")
    # The pattern stays unsaid: analysts read this line, and it would tell them the test.
    return failed("", "regex: the response does not have the required form")


def _choice(task: Task, response: str) -> Score:
    predicted = answer_in(response, task.judge["extract"])
    chosen = _chosen(predicted or "", task.judge["choices"])
    if chosen is None:
        reason = f"choice: {describe(predicted)}, expected one of {quote_any(task.judge['choices'])}"
        return failed(clip(predicted or ""), reason)
    if chosen.casefold() in {plain(answer).casefold() for answer in task.answers}:
        return passed(chosen)
    return failed(chosen, f"choice: chose {quote(chosen)}, expected {quote_any(task.answers)}")


_LEAD = re.compile(r"^(?:final |the |correct )*(?:option|choice|answer)\b(?: is\b)?\s*:?\s*")
_LABELLED = re.compile(r"\(?([^\s().:]{1,40})[).:]\s")


def _chosen(predicted: str, choices: list[str]) -> str | None:
    """The choice a text names: bare, in emphasis or brackets, after `Option`, or as a label before its text."""
    by_text = {plain(choice).casefold(): choice for choice in choices}
    text = plain(predicted).casefold()
    bare = text.replace("*", "").replace("`", "")
    rest = _LEAD.sub("", bare)
    label = _LABELLED.match(rest)
    for form in (text, bare, rest, rest.strip("()[]{}.:_\"' "), label[1] if label else ""):
        if form in by_text:
            return by_text[form]
    return None


def _choices_problem(choices: Any) -> str:
    if not is_text_list(choices):
        return "must be a list of texts"
    same = twice(plain(choice).casefold() for choice in choices)
    return f"must differ in more than case ({quote(same)} occurs twice)" if same else ""


def _among_choices(answers: tuple[str, ...], settings: Settings) -> list[str]:
    known = {plain(choice).casefold() for choice in settings["choices"]}
    wrong = [answer for answer in answers if plain(answer).casefold() not in known]
    return any_answers(answers, settings) + [f"answer {quote(answer)} is not among the choices" for answer in wrong]


EXACT = Judge(1, _exact, {"extract": EXTRACT, "normalise": one_of("strict", "loose")})
F1 = Judge(1, _f1, {"extract": EXTRACT, "threshold": number(1.0, 0.01, 1)})
CONTAINS = Judge(1, _contains, {"case": flag(), "all": flag()})
REGEX = Judge(1, _regex, {"pattern": Setting(None, pattern_problem), "flags": Setting("", flags_problem)}, no_answers)
CHOICE = Judge(1, _choice, {"extract": EXTRACT, "choices": Setting(None, _choices_problem)}, _among_choices)
