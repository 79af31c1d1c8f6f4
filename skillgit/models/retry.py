"""One place that tries again: one counter, one deadline.

The SDK's own retry stays off. It knows no deadline (it sleeps up to two minutes when a server asks for it), it cannot
see an answer that is empty or cut short, and two layers of retries multiply.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from skillgit.errors import ModelError, TransientModelError
from skillgit.models.base import Reply

LONGEST_WAIT = 120.0
"""Seconds; a server that asks for more is not waited for (the SDK draws the same line)."""

_FIRST_BACKOFF, _LAST_BACKOFF = 0.5, 8.0


@dataclass(frozen=True)
class Failure:
    """An attempt that gave no answer.

    Attributes:
        error: what to raise when nobody tries again.
        retry: whether the same request may succeed later.
        wait: seconds the server asked to wait, if it did.
        rejects: the request field the server does not know: `response_format`, `max_tokens` or blank.
        busy: the server refused for its rate.
        empty: all went well, but there was no text.
    """

    error: ModelError
    retry: bool = False
    wait: float | None = None
    rejects: str = ""
    busy: bool = False
    empty: bool = False


class Clock:
    """Seconds left for a call.

    Args:
        attempt: most seconds of one attempt.
        total: seconds for all attempts and the waits between them; `None` sets no bound.
    """

    def __init__(self, attempt: float, total: float | None) -> None:
        self._attempt = attempt
        self._start = time.monotonic()
        self._end = math.inf if total is None else self._start + total

    def left(self) -> float:
        """Seconds until the deadline, never negative; infinite without one."""
        return max(0.0, self._end - time.monotonic())

    def attempt(self) -> float:
        """Seconds the next attempt may take."""
        return min(self._attempt, self.left())

    def spent(self) -> float:
        """Seconds since the call began."""
        return time.monotonic() - self._start


def persist(send: Callable[[], Reply | Failure], clock: Clock, retries: int) -> Reply:
    """The first answer of at most `retries + 1` attempts.

    Raises:
        ModelError: the last failure; at once when another attempt cannot help or does not fit in the deadline.
    """
    attempt = 1
    while True:
        outcome = send()
        if isinstance(outcome, Reply):
            return outcome
        wait = _backoff(attempt) if outcome.wait is None else outcome.wait
        if not outcome.retry or attempt > retries or wait > LONGEST_WAIT or wait >= clock.left():
            raise _final(outcome, attempt, clock)
        time.sleep(wait)
        attempt += 1


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds a response asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _seconds(headers.get(name, ""))
        if seconds is not None:
            return max(0.0, seconds * scale)
    return None


def _seconds(text: str) -> float | None:
    try:
        number = float(text)
        return number if math.isfinite(number) else None
    except ValueError:
        return _until(text)


def _until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except (TypeError, ValueError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - datetime.now(UTC)).total_seconds()


def _backoff(attempt: int) -> float:
    seconds = min(_FIRST_BACKOFF * 2.0 ** min(attempt - 1, 10), _LAST_BACKOFF)
    # Spread, so that threads that failed together do not come back together.
    return seconds * random.uniform(0.75, 1.0)  # noqa: S311 - not a secret


def _final(outcome: Failure, attempts: int, clock: Clock) -> ModelError:
    error = outcome.error
    if isinstance(error, TransientModelError):
        tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        asked = f"; the server asks to wait {outcome.wait:.0f} s" if outcome.wait else ""
        error.why = f"{error.why} ({tries} in {clock.spent():.1f} s{asked})".strip()
    return error
