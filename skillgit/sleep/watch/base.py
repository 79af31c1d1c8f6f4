"""What a watcher drives, and the times it goes by."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from skillgit.config.schema import Config
from skillgit.sleep.watch.events import NightOver


@dataclass(frozen=True)
class Work:
    """What a watcher drives.

    Attributes:
        settings: the configuration as it is now. Raises `SkillgitError`.
        harvest: reads what is new; returns how many sessions no night has seen. May raise anything.
        night: runs a night, and remembers how it ended.
    """

    settings: Callable[[], Config]
    harvest: Callable[[Config], int]
    night: Callable[[], NightOver]


@dataclass(frozen=True)
class Pace:
    """How often the watcher looks, in seconds.

    Attributes:
        gap: least time between two looks, however much changes.
        idle: most time between two looks where the system tells of changes.
        poll: the same where it does not.
        settings: time between two readings of the configuration.
        signal: time between two looks at the signal where the system does not tell of it.
    """

    gap: float = 3.0
    idle: float = 60.0
    poll: float = 20.0
    settings: float = 60.0
    signal: float = 2.0


@dataclass(frozen=True)
class Clock:
    """The clocks: one that only goes on, in seconds, and the local time."""

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = datetime.now


PACE, CLOCK = Pace(), Clock()
