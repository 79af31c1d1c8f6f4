"""One role's model as the engine sees it: every call looked up, limited, made, stored and counted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from skillgit.evals.store import Payer, Store
from skillgit.models.base import Model, Reply, Request
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
        key = digest([spec.role, spec.model, self.settings, list(scope), asdict(request)])
        if found := self._store.get(key):
            reply, run, paid_step = found
            self._count_reuse(step, run, paid_step)
            return reply
        self._budget.reserve()
        try:
            reply = self.model.complete(request, timeout=timeout)
        except BaseException:
            self._budget.release()
            raise
        kept = self._store.put(key, reply, Payer(self._run, step, spec.role, stage, skill))
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
