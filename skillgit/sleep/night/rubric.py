"""Judging an answer by a rubric: the optimizer model reads it, and what it says is checked."""

from __future__ import annotations

import math
import re
import threading
from typing import Any

from skillgit.errors import ModelError
from skillgit.evals.caller import Caller
from skillgit.models.base import Message, Request
from skillgit.models.prompt import render
from skillgit.optimizer.advisor import again
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
    """Scores answers of tasks whose judge is a rubric. Safe to call from many threads.

    Args:
        limit: most tokens of a reply, thinking included; `None` leaves it to the backend.
    """

    def __init__(self, optimizer: Caller, limit: int | None) -> None:
        self._optimizer, self._limit = optimizer, limit
        self._turns: dict[tuple[str, str], threading.Lock] = {}

    def digest(self) -> str:
        """Identity of the grading: its prompt and its model."""
        spec = self._optimizer.model.spec
        prompt = [(m.role, m.content) for m in render("rubric", asked="", rubric="", answer="")]
        return digest([prompt, spec.backend, spec.model, self._optimizer.settings, PASS])

    def score(self, task: Task, answer: str) -> Score:
        """The score of one answer; the same answer is never paid for twice.

        Raises:
            ModelError: no usable grade came back, asked twice; that is no score.
        """
        if not answer.strip():
            return Score(0.0, 0.0, "", "the answer is empty")
        # Samples of one task often come to the same answer at the same time; the second finds what the first paid for.
        with self._turns.setdefault((task.id, answer), threading.Lock()):
            return self._graded(task, answer)

    def _graded(self, task: Task, answer: str) -> Score:
        messages = render(
            "rubric", asked=_fenced(task.input), rubric=_fenced(task.judge["rubric"]), answer=_fenced(_cut(answer))
        )
        reply, value, wrong = self._ask(task, messages)
        if wrong:
            # What was paid for is kept, so a grade that is no grade would be found again, and the night be stuck.
            messages = (*messages, Message("assistant", reply[:4000]), Message("user", again(wrong)))
            _, value, wrong = self._ask(task, messages)
        if wrong:
            raise ModelError(f"the grade of task {task.id} cannot be used", why=wrong)
        score, reason = float(value["score"]), " ".join(str(value.get("reason", "")).split())[:300]
        return Score(1.0, score) if score >= PASS else Score(0.0, score, "", reason or "it misses what is asked for")

    def _ask(self, task: Task, messages: tuple[Message, ...]) -> tuple[str, dict[str, Any], str]:
        """The reply, the object in it, and why that cannot be used."""
        request = Request(messages, schema=_SCHEMA, max_tokens=self._limit)
        reply = self._optimizer.call(request, scope=("rubric", task.id), step=0, stage="judge").text
        value = extract_object(reply)
        if value is None:
            return reply, {}, "no JSON object was found"
        # NaN is neither above nor below anything, so a schema lets it pass.
        return reply, value, problem(value, _SCHEMA) or ("it is no number" if math.isnan(value["score"]) else "")


def _fenced(text: str) -> str:
    """A text that cannot end the tags it stands between."""
    return _TAGS.sub("‹", text)


def _cut(text: str) -> str:
    half = _MOST_CHARS // 2
    return text if len(text) <= _MOST_CHARS else f"{text[:half]}\n[…]\n{text[-half:]}"
