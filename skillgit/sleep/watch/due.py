"""When a night is due. Pure: what is remembered, the configuration and the clocks give the answer."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta

from skillgit.config.sleep import Sleep
from skillgit.sleep.watch.state import State

_FIRST_WAIT = 5 * 60.0
_LONGEST_WAIT = 6 * 3600.0


def started(state: State, sleep: Sleep, now: datetime) -> State:
    """The state to begin with: an hour that passed before the first start is not made up for.

    A last night in the future was recorded under a wrong clock: it counts as today's.
    """
    today = now.date()
    if not state.day:
        first = today if now.hour >= sleep.hour else today - timedelta(days=1)
        return dataclasses.replace(state, day=first.isoformat())
    if state.day > (today + timedelta(days=1)).isoformat():
        return dataclasses.replace(state, day=today.isoformat())
    return state


def at_the_hour(state: State, sleep: Sleep, now: datetime) -> bool:
    """Whether the day's set hour has come and its night was not run yet: at most once per local date.

    Clocks that are set back, or an hour that is skipped or slept through, change nothing about that.
    """
    return sleep.hour >= 0 and now.hour >= sleep.hour and now.date().isoformat() > state.day


def due(state: State, sleep: Sleep, now: datetime, waiting: int, digest: str) -> str:
    """Why a night should run now; blank when none should.

    Args:
        now: local time.
        waiting: sessions that no night has seen.
        digest: of the configuration.
    """
    if state.paused == digest or wait(state, now) > 0 or not waiting:
        return ""
    if state.failures:
        return "again, after a night that could not be finished"
    if at_the_hour(state, sleep, now):
        return "the set hour"
    plural = "" if waiting == 1 else "s"
    return f"{waiting} new session{plural}" if 0 < sleep.min_sessions <= waiting else ""


def wait(state: State, now: datetime) -> float:
    """Seconds until a night may be tried again after failures; 0 when there were none."""
    if not state.failures:
        return 0.0
    pause = backoff(state.failures)
    left = state.at + pause - now.timestamp()
    # More than all of it is left under a clock that was set back: nobody knows how long ago it was.
    return left if 0 < left <= pause else 0.0


def backoff(failures: int) -> float:
    """Seconds to wait after that many failures in a row, at least 1: they double up to six hours."""
    return float(min(_FIRST_WAIT * 2 ** min(failures - 1, 20), _LONGEST_WAIT))
