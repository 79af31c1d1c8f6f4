"""LiveMathematicianBench's strict score, as SkillOpt defines it: hard = soft = equality of labels.

The format counts: "(A)", "**A**", "$A$" and "Option A" are not label A.
"""

from __future__ import annotations

from collections.abc import Mapping

from skillgit.tasks.text import last_line, last_tagged

_TRAILING = ".):"
"""Characters that may follow a label."""


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
