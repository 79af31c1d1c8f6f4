"""By what sessions are chosen, and when another choice means that the stores must be read again."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass

from skillgit.config.sleep import Sleep


@dataclass(frozen=True)
class Selection:
    """What `Archive.forget_unchosen` goes by: sessions left out for these reasons may be kept under another choice."""

    scope: str
    hours: float
    days: int
    exclude: tuple[str, ...]

    @classmethod
    def of(cls, config: Sleep) -> Selection:
        """The choice of a configuration."""
        return cls(config.scope, config.lookback_hours or math.inf, config.keep_days, config.exclude)

    @classmethod
    def parse(cls, text: str) -> Selection:
        """Inverse of `str`."""
        values = json.loads(text)
        return cls(**values | {"exclude": tuple(values["exclude"])})

    def __str__(self) -> str:
        return json.dumps(asdict(self))

    def may_add_to(self, before: Selection) -> bool:
        """Whether it may choose sessions that `before` did not."""
        return (
            (self.scope != before.scope and before.scope != "all")
            or self.hours > before.hours
            or self.days > before.days
            or bool(set(before.exclude) - set(self.exclude))
        )
