"""Edit budgets over a run: the learning rate schedules of SkillOpt."""

from __future__ import annotations

import math


def edit_budget(scheduler: str, step: int, total: int, highest: int, lowest: int) -> int:
    """Most edits that step `step` (1-based) of `total` may apply.

    `constant` keeps `highest`. `linear` and `cosine` fall to `lowest` at the last step, over t = step / total, rounded
    half to even; with one step, or when `lowest` is not below `highest`, there is nothing to fall to.
    """
    if scheduler == "constant" or total <= 1:
        return highest
    t = min(step, total) / total
    span = highest - lowest
    value = highest - span * t if scheduler == "linear" else lowest + 0.5 * span * (1 + math.cos(math.pi * t))
    return max(lowest, round(value))
