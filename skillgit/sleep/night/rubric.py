"""Judging an answer by a rubric: the optimizer model reads it, and what it says is checked."""

from __future__ import annotations

import math
import re
from typing import Any

from skillgit.errors import TransientModelError
from skillgit.evals.caller import Caller
from skillgit.models.base import Request
from skillgit.models.prompt import render
from skillgit.optimizer.replies import extract_object, problem
from skillgit.tasks.base import Score, Task, digest

PASS = 0.8
"""A score from which on an answer counts as right, as in SkillOpt-Sleep."""

_MOST_CHARS = 12_000  # of an answer; a longer one is judged by its beginning and end
_TAGS = re.compile(r"<(?=/?\s*(answer|asked|cares-about)\b)", re.IGNORECASE)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "number", "minimum": 0, "maximum": 1}},
    "required": ["score"],
}


class Grader:
    """Scores answers of tasks whose judge is a rubric. Safe to call from many threads."""

    def __init__(self, optimizer: Caller) -> None:
        self._optimizer = optimizer

    def digest(self) -> str:
        """Identity of the grading: its prompt and its model."""
        spec = self._optimizer.model.spec
        prompt = [(m.role, m.content) for m in render("rubric", asked="", rubric="", answer="")]
        return digest([prompt, spec.backend, spec.model, self._optimizer.settings, PASS])

    def score(self, task: Task, answer: str) -> Score:
        """The score of one answer; the same answer is never paid for twice.

        Raises:
            TransientModelError: no usable grade came back, which is no score.
        """
        if not answer.strip():
            return Score(0.0, 0.0, "", "the answer is empty")
        messages = render(
            "rubric", asked=_fenced(task.input), rubric=_fenced(task.judge["rubric"]), answer=_fenced(_cut(answer))
        )
        request = Request(messages, schema=_SCHEMA, max_tokens=300)
        reply = self._optimizer.call(request, scope=("rubric", task.id), step=0, stage="judge").text
        value = extract_object(reply)
        wrong = "no JSON object was found" if value is None else problem(value, _SCHEMA)
        # NaN is neither above nor below anything, so a schema lets it pass.
        if value is None or wrong or math.isnan(value["score"]):
            raise TransientModelError(f"the grade of task {task.id} cannot be used", why=wrong or "it is no number")
        score, reason = float(value["score"]), " ".join(str(value.get("reason", "")).split())[:300]
        return Score(1.0, score) if score >= PASS else Score(0.0, score, "", reason or "it misses what is asked for")


def _fenced(text: str) -> str:
    """A text that cannot end the tags it stands between."""
    return _TAGS.sub("‹", text)


def _cut(text: str) -> str:
    half = _MOST_CHARS // 2
    return text if len(text) <= _MOST_CHARS else f"{text[:half]}\n[…]\n{text[-half:]}"
