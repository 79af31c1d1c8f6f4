"""An optimizer that answers from a list, and trajectories to show it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from skillgit.evals.rollouts import Outcome
from skillgit.models.base import Message, Reply, Request
from skillgit.optimizer.advisor import Advisor
from skillgit.tasks.base import Score, Task, Trajectory
from tests.evals.fakes import Memory, caller


class Optimizer:
    """Replies in order, the last one again and again; an exception is raised. Keeps what it was asked."""

    def __init__(self, *replies: Any) -> None:
        self.replies, self.requests = replies, []
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply | str:
        with self._lock:
            self.requests.append(request)
            reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply


def advisor(respond: Callable[[Request], Any], *, limit: int | None = None) -> Advisor:
    return Advisor(caller(respond, Memory(), role="optimizer", limit=limit), "run", 42, None)


def outcome(name: str, hard: float, *tags: str, response: str = "said", thought: str = "") -> Outcome:
    task = Task(name, f"question {name}", answers=("right",), tags=tags)
    thoughts = (Message("reasoning", thought),) if thought else ()
    turns = (Message("user", task.input), *thoughts, Message("assistant", response))
    return Outcome(task, Trajectory(turns, response, Score(hard, hard)))
