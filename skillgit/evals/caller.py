"""One role's model as the engine sees it: every call looked up, limited, made, stored and counted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from skillgit.errors import TransientModelError
from skillgit.evals.store import Payer, Store
from skillgit.models.base import Message, Model, Reply, Request
from skillgit.models.budget import Budget
from skillgit.tasks.base import digest


class Caller:
    """Makes calls for one run.

    A call is identified by its scope (what it is for), the model with its settings, and the request itself, so a
    repeated or resumed run finds every call it already paid for, and nothing else.
    """

    def __init__(self, model: Model, store: Store, budget: Budget, run: str) -> None:
        self.model = model
        self.settings = digest(model.settings())
        self._store, self._budget, self._run = store, budget, run
        self._lock = threading.Lock()
        self._reused: dict[int, int] = {}
        self._idle = threading.Condition()
        self._flying, self._closed = 0, False
        self._restoring = False

    def call(
        self,
        request: Request,
        *,
        scope: tuple[Any, ...],
        step: int,
        stage: str,
        skill: str = "",
        timeout: float | None = None,
    ) -> Reply:
        """Answer a request from the store or the model.

        Args:
            scope: JSON values naming what the call is for.
            skill: the skill object the call measures, if any.
            timeout: seconds left, retries included.

        Raises:
            ModelError: no usable answer; nothing is stored.
            BudgetReachedError: a limit would be passed by this call.
        """
        spec = self.model.spec
        key = digest([spec.role, spec.model, self.settings, list(scope), _asked(request)])
        if found := self._store.get(key):
            reply, run, paid_step = found
            self._count_reuse(step, run, paid_step)
            return reply
        with self._in_flight():
            return self._pay(key, request, Payer(self._run, step, spec.role, stage, skill), timeout)

    def drain(self) -> None:
        """Let calls in flight finish and be stored, and make no further one.

        Ctrl-C can reach the main thread while it starts a worker, and then nothing else waits for that worker.
        """
        with self._idle:
            self._closed = True
            self._idle.wait_for(lambda: self._flying == 0)

    @contextmanager
    def _in_flight(self) -> Iterator[None]:
        with self._idle:
            if self._closed:
                raise TransientModelError("no call is made any more", why="the command is ending")
            self._flying += 1
        try:
            yield
        finally:
            with self._idle:
                self._flying -= 1
                self._idle.notify_all()

    def _pay(self, key: str, request: Request, payer: Payer, timeout: float | None) -> Reply:
        self._budget.reserve()
        try:
            reply = self.model.complete(request, timeout=timeout)
        except BaseException:
            self._budget.release()
            raise
        kept = self._store.put(key, reply, payer)
        self._budget.settle(reply.usage)
        return kept

    def reused(self, step: int) -> int:
        """Calls of `step` that an earlier step or another run had paid for."""
        return self._reused.get(step, 0)

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Within it nothing counts as reused: it only restores what a killed process knew."""
        self._restoring = True
        try:
            yield
        finally:
            self._restoring = False

    def _count_reuse(self, step: int, run: str, paid_step: int) -> None:
        # A step repeated after a crash finds its own calls; that is no saving and must not change the totals.
        if not self._restoring and (run, paid_step) != (self._run, step):
            with self._lock:
                self._reused[step] = self._reused.get(step, 0) + 1


def _asked(request: Request) -> dict[str, Any]:
    """What a request asks: a workspace counts by the skill object, which stands for the bytes of its files."""
    turns = [_said(turn) for turn in request.messages]
    asked = asdict(replace(request, messages=(), workspace=None))
    del asked["workspace"]  # so that requests without one keep the keys they had
    asked["messages"] = turns
    if work := request.workspace:
        asked["workspace"] = [work.skill, work.object, dict(work.attachments), work.writable]
    return asked


def _said(turn: Message) -> dict[str, Any]:
    """A turn without what it does not have, and its pictures by what they are known by."""
    more: dict[str, Any] = {"tool_calls": list(turn.tool_calls), "call_id": turn.call_id}
    more["images"] = [[image.sha256, image.detail] for image in turn.images]
    return {"role": turn.role, "content": turn.content, **{name: value for name, value in more.items() if value}}
