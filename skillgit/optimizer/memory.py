"""What the optimizer remembers: the steps of this epoch, and its own advice from earlier epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

_TASKS_SHOWN = 6


@dataclass(frozen=True)
class BufferEntry:
    """One evaluated step, as later analysts of the same epoch see it.

    Attributes:
        edits: one line per edit of a step that was not accepted.
        patterns: what went wrong in the rollouts, as the analysts put it.
    """

    step: int
    verdict: str
    failed: int
    total: int
    patterns: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()
    score_before: float | None = None
    score_after: float | None = None

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> BufferEntry:
        """Inverse of `to_json`."""
        return cls(**{**value, "patterns": tuple(value["patterns"]), "edits": tuple(value["edits"])})

    def to_json(self) -> dict[str, Any]:
        """The entry as JSON values."""
        return asdict(self)


def buffer_text(buffer: Sequence[BufferEntry]) -> str:
    """The step buffer as prompt text; empty when there is nothing to tell."""
    if not buffer:
        return ""
    return "## Earlier steps of this epoch\n\n" + "\n".join(_entry(entry) for entry in buffer)


def meta_text(meta_skill: str) -> str:
    """The optimizer's own advice as prompt text; empty when there is none."""
    if not meta_skill:
        return ""
    return (
        "## Your own advice from earlier epochs\n\n"
        f"Follow it where the evidence leaves room, not against the evidence.\n\n{meta_skill}"
    )


def context_text(buffer: Sequence[BufferEntry], meta_skill: str) -> str:
    """Both memories together, as analysts get them."""
    return "\n\n".join(part for part in (meta_text(meta_skill), buffer_text(buffer)) if part)


def _entry(entry: BufferEntry) -> str:
    lines = [f"- step {entry.step}: {entry.verdict}; {entry.failed} of {entry.total} tasks failed before it"]
    lines += [f"  - seen: {pattern}" for pattern in entry.patterns[:_TASKS_SHOWN]]
    if entry.edits:
        after = "not measured in full" if entry.score_after is None else f"{entry.score_after:.3f}"
        lines.append(f"  - these edits did not help (score {entry.score_before:.3f} before, {after} after):")
        lines += [f"    - {edit}" for edit in entry.edits]
    return "\n".join(lines)
