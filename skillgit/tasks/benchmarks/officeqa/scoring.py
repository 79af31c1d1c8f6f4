"""OfficeQA's score of a response: SkillOpt's, which is exact match and token F1 with no tolerance for numbers."""

from __future__ import annotations

import re

from skillgit.tasks.base import Score, Task
from skillgit.tasks.form import same_but_form
from skillgit.tasks.scorers.officeqa import exact_match, normalise, token_f1
from skillgit.tasks.text import clip, last_line, quote, quote_any

VERSION = 1
"""Version of `score`."""

_OPEN, _CLOSE = (re.compile(tag, re.IGNORECASE) for tag in ("<answer>", "</answer>"))


def first_tagged(response: str) -> str | None:
    """What the first `<answer>…</answer>` holds, stripped; `None` when there is no such pair."""
    start = _OPEN.search(response)
    end = _CLOSE.search(response, start.end()) if start else None
    return response[start.end() : end.start()].strip() if start and end else None


def score(task: Task, response: str) -> Score:
    """The best match with an accepted answer. Without answer tags there is no answer, however right the words are."""
    predicted = first_tagged(response)
    if predicted is None:
        said = last_line(response)
        reason = f"officeqa: gave no answer in tags, ended with {quote(said)}, expected {quote_any(task.answers)}"
        return Score(0.0, 0.0, "", reason, float(_same_but_form(said, task.answers)))
    soft = max(token_f1(predicted, answer) for answer in task.answers)
    if any(exact_match(predicted, answer) for answer in task.answers):
        return Score(1.0, soft, clip(predicted), lenient=1.0)
    reason = f"officeqa: wrote {quote(predicted)}, expected {quote_any(task.answers)} (F1 {soft:.2f})"
    return Score(0.0, soft, clip(predicted), reason, float(_same_but_form(predicted, task.answers)))


def _same_but_form(predicted: str, answers: tuple[str, ...]) -> bool:
    """Equal in another form, with or without the words that the strict score takes away, such as "million"."""
    bare = [normalise(answer) for answer in answers]
    return same_but_form(predicted, answers) or (all(bare) and same_but_form(normalise(predicted), bare))
