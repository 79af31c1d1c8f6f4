"""What the watcher reports. None of it holds text of a transcript."""

from __future__ import annotations

from dataclasses import dataclass

from skillgit.events import Event


@dataclass(frozen=True)
class WatchStarted(Event):
    """Folders that are watched, by the system's notices or by looking again and again (`why` says why)."""

    notices: tuple[str, ...]
    looking: tuple[str, ...]
    why: str
    hour: int
    min_sessions: int


@dataclass(frozen=True)
class Looked(Event):
    """A harvest: what led to it, and how many sessions wait for a night since the last one."""

    reason: str
    waiting: int
    seconds: float


@dataclass(frozen=True)
class NightBegun(Event):
    """A night was started, and why."""

    reason: str


@dataclass(frozen=True)
class NightOver(Event):
    """A night ended with an exit code of `skillgit sleep run`; `why` is what it said.

    `hopeless`: with the same configuration another try must fail, too.
    """

    code: int
    why: str
    seconds: float
    hopeless: bool = False


@dataclass(frozen=True)
class WatchTrouble(Event):
    """Something failed; it is tried again after `seconds`, or when the configuration changes (`seconds` is 0)."""

    what: str
    seconds: float


@dataclass(frozen=True)
class WatchEnded(Event):
    """The watcher ends, and why."""

    reason: str
