"""How many requests may be under way at one server: fewer when it says that it is busy, more again as it answers."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from skillgit.models.base import Reply
from skillgit.models.retry import Failure

_COOLING = 1.0  # seconds in which further refusals, of requests sent before the cut, count as the same one


class Throttle:
    """A limit that halves when the server refuses for its rate, and grows by one for every round of answers.

    Without a refusal there is no limit. Thread-safe.
    """

    def __init__(self) -> None:
        self._limit = math.inf
        self._flying = 0
        self._cut_at = -math.inf
        self._changed = threading.Condition()

    @property
    def limit(self) -> float:
        """Requests that may be under way at once; infinite until the first refusal."""
        return self._limit

    @contextmanager
    def turn(self, seconds: float) -> Iterator[bool]:
        """The right to send one request, after waiting for at most `seconds`; false when others took all that time."""
        with self._changed:
            wait = None if math.isinf(seconds) else seconds
            granted = self._changed.wait_for(lambda: self._flying < self._limit, wait)
            self._flying += granted
        try:
            yield granted
        finally:
            with self._changed:
                self._flying -= granted
                self._changed.notify_all()

    def run(
        self, seconds: float, attempt: Callable[[], Reply | Failure], late: Callable[[], Failure]
    ) -> Reply | Failure:
        """An attempt in its turn, counted as answered or refused.

        Args:
            late: what there is when others took all of the `seconds`.
        """
        with self.turn(seconds) as granted:
            if not granted:
                return late()
            outcome = attempt()
            if isinstance(outcome, Reply):
                self.answered()
            elif outcome.busy:
                self.refused()
            return outcome

    def refused(self) -> None:
        """The server was busy: half as many from now on."""
        with self._changed:
            now = time.monotonic()
            if now - self._cut_at > _COOLING:
                self._limit = max(1.0, min(self._limit, float(self._flying)) // 2)
                self._cut_at = now

    def answered(self) -> None:
        """The server answered: one more after as many answers as the limit is."""
        with self._changed:
            self._limit += 1 / self._limit
            self._changed.notify_all()
