"""LiveMathematicianBench's strict score, as SkillOpt defines it: hard = soft = equality of labels.

The format counts: "(A)", "**A**", "$A$" and "Option A" are not label A.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from skillgit.tasks.form import same_but_form, unwrapped
from skillgit.tasks.text import last_line, last_tagged

_TRAILING = ".):"
"""Characters that may follow a label."""

_NAMED = re.compile(
    r"(?:the )?(?:correct |right |final )?(?:option|choice|answer|label|letter|statement)(?: is|:)?\s+", re.IGNORECASE
)
_BEFORE = re.compile(r"([A-Za-z]{1,2})\s*[.:)]\s")
_LINES = 200
"""Lines at the end of a response without tags that are looked at."""

_BRACKETS = re.compile(r"[(\[{]\s*([A-Za-z]{1,2})\s*[)\]}]")


def predicted_label(response: str, choices: Mapping[str, str]) -> str:
    """The label that a response picks; `choices` maps labels (upper case) to texts.

    The answer is in the last `<answer>…</answer>`, else on the last line that is not blank. It is read as a label in
    either case, else as the exact text of a choice, else its first word is read as a label. An answer that fits none
    is returned in upper case.
    """
    tagged = last_tagged(response)
    answer = last_line(response) if tagged is None else tagged
    label = answer.upper().rstrip(_TRAILING)
    if label in choices:
        return label
    for name, text in choices.items():
        if answer and text.strip() == answer:
            return name
    first = label.split(maxsplit=1)[0] if label.strip() else ""
    return first if first in choices else label


def score(response: str, choices: Mapping[str, str], correct: str) -> tuple[str, float]:
    """The predicted label, and 1.0 when it is the correct one, else 0.0."""
    label = predicted_label(response, choices)
    return label, float(label == correct)


def lenient_label(response: str, choices: Mapping[str, str]) -> str:
    """The label that a response means, however it is written; blank when it means none, or could mean several.

    Beyond `predicted_label`, labels may stand in brackets, emphasis or TeX, after "Option" and the like, the text of a
    choice may differ in form, and without tags one choice may be written out on a line anywhere.
    """
    strict = predicted_label(response, choices)
    if strict in choices:
        return strict
    tagged = last_tagged(response)
    answer = unwrapped(last_line(response) if tagged is None else tagged)
    bare = unwrapped(_NAMED.sub("", answer, count=1) if _NAMED.match(answer) else answer)
    before = _BEFORE.match(bare)
    lines = response.splitlines()[-_LINES:] if tagged is None else []
    meant = (
        {predicted_label(bare, choices)},
        {before[1].upper()} if before else set(),
        {label.upper() for label in _BRACKETS.findall(answer)},
        {name for name, text in choices.items() if same_but_form(answer, [text])},
        {name for name, text in choices.items() if any(same_but_form(line, [f"{name}. {text}"]) for line in lines)},
    )
    return next((kept.pop() for labels in meant if len(kept := labels & choices.keys()) == 1), "")
