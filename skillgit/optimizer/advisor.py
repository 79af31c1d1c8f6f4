"""Asking the optimizer for JSON: checked, repaired, asked again once with the error, else dropped and recorded."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from skillgit.errors import ModelConfigError, ModelError, TransientModelError
from skillgit.evals.caller import Caller
from skillgit.models.base import Message, Request
from skillgit.optimizer.replies import extract_object, problem


@dataclass(frozen=True)
class Drop:
    """A reply (or call) that could not be used, and why. `failed` when no reply came at all."""

    stage: str
    index: int
    reason: str
    failed: bool = False

    @property
    def told(self) -> str:
        """The reason without a word of the reply, which may repeat what the model was shown."""
        return self.reason if self.failed else "unusable reply"


class Advisor:
    """The optimizer model, bound to one run.

    Args:
        max_tokens: most tokens of a reply; `None` keeps the backend's default.
        document_tokens: the same for replies that hold a whole document.
        document_effort: how much to think about these; blank keeps the model's setting.
    """

    def __init__(
        self,
        caller: Caller,
        run: str,
        seed: int,
        max_tokens: int | None,
        document_tokens: int | None = None,
        document_effort: str = "",
    ) -> None:
        self._caller, self._run, self._seed = caller, run, seed
        self._max_tokens, self._document_tokens = max_tokens, document_tokens
        self._document_effort = document_effort
        self._lock = threading.Lock()
        self._drops: list[Drop] = []

    def ask(
        self,
        messages: tuple[Message, ...],
        schema: Mapping[str, Any],
        *,
        stage: str,
        step: int,
        index: int = 0,
        accept: Mapping[str, Any] | None = None,
        spare: bool = False,
        document: bool = False,
    ) -> dict[str, Any] | None:
        """An object that follows `accept`, or `None` (see `take_drops`).

        Args:
            schema: what the model is asked to follow.
            accept: what is checked, where that is less; by default `schema`.
            index: which of the stage's calls in this step this is; gives each its own seed and its own place in the
                store, so that equal requests are still separate samples.
            spare: the stage can do without this one answer, so an endpoint that fails costs no more than it.
            document: the reply holds a whole document.

        Raises:
            ModelConfigError: the optimizer cannot be reached as configured.
            TransientModelError: it did not answer; what it would have said must not be replaced by a guess.
        """
        why = ""
        limit = self._document_tokens if document else self._max_tokens
        for attempt in range(2):
            try:
                effort = self._document_effort if document else ""
                request = Request(messages, schema=schema, max_tokens=limit, effort=effort)
                reply = self._call(request, stage, step, index, attempt)
            except ModelConfigError:
                raise
            except ModelError as error:
                if isinstance(error, TransientModelError) and not spare:
                    raise
                self.drop(Drop(stage, index, str(error), failed=True))
                return None
            value = extract_object(reply)
            why = "no JSON object was found" if value is None else problem(value, accept or schema)
            if not why:
                return value
            messages = (*messages, Message("assistant", reply[:4000]), Message("user", again(why)))
        self.drop(Drop(stage, index, f"unusable reply: {why}"))
        return None

    def drop(self, drop: Drop) -> None:
        """Record a reply that could not be used."""
        with self._lock:
            self._drops.append(drop)

    def take_drops(self) -> list[Drop]:
        """What was dropped since the last call of this method, in the order of stage and index."""
        with self._lock:
            drops, self._drops = self._drops, []
        return sorted(drops, key=lambda drop: (drop.stage, drop.index))

    def _call(self, request: Request, stage: str, step: int, index: int, attempt: int) -> str:
        request = replace(request, seed=self._seed + 10_000 * step + 10 * index + attempt)
        scope = (self._run, step, stage, index, attempt)
        return self._caller.call(request, scope=scope, step=step, stage=stage).text


def again(why: str) -> str:
    """What a model is told whose reply could not be used."""
    return f"That reply could not be used: {why}. Answer again with one JSON object of the required form, nothing else."
