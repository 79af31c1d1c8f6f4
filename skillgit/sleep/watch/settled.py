"""Which files of a store changed, and whether they have come to rest. Holds one stamp per file, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """What one look at the stores found.

    Attributes:
        rested: some file changed since it was last read, and rests, or is gone.
        next: seconds until the next file may rest; `None` when none is changing.
    """

    rested: bool
    next: float | None


class Settled:
    """Follows the stamps of files by a clock that only goes on: time zones and set clocks do not matter.

    Args:
        quiet: seconds without a change after which a file rests.
    """

    def __init__(self, quiet: float) -> None:
        self.quiet = quiet
        self._read: dict[str, str] = {}
        self._moving: dict[str, tuple[str, float]] = {}

    def look(self, stamps: Mapping[str, str], now: float) -> Look:
        """Take the stamps of all files at a moment, in seconds."""
        moving = {}
        for name, stamp in stamps.items():
            if self._read.get(name) != stamp:
                before = self._moving.get(name)
                moving[name] = before if before and before[0] == stamp else (stamp, now)
        self._moving = moving
        left = [since + self.quiet - now for _, since in moving.values()]
        gone = any(name not in stamps for name in self._read)
        return Look(gone or any(each <= 0 for each in left), min((each for each in left if each > 0), default=None))

    def read(self, stamps: Mapping[str, str]) -> None:
        """Files with these stamps have been read as they were then."""
        self._read = dict(stamps)
        self._moving = {name: known for name, known in self._moving.items() if stamps.get(name) != known[0]}
