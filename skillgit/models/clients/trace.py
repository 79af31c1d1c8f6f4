"""What an agent did, told in a few lines: its tools by name and path, never what was in the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MOST_STEPS, _MOST_CHARS = 40, 120
_SUBJECTS = ("file_path", "path", "command", "pattern", "query", "url", "skill")


@dataclass(frozen=True)
class Step:
    """One use of a tool: its name, what it was used on, and whether it failed."""

    tool: str
    subject: str = ""
    failed: bool = False


def subject(arguments: Any) -> str:
    """What a tool was used on, from its arguments: a path, command or pattern; never a content."""
    if not isinstance(arguments, Mapping):
        return ""
    return next((str(arguments[name]) for name in _SUBJECTS if isinstance(arguments.get(name), str)), "")


def summary(steps: Iterable[Step], workspace: Path | None) -> str:
    """The steps as lines, paths as seen from the workspace; blank when there is none."""
    if workspace is None:
        return ""
    lines = [_line(step, workspace) for step in steps]
    more = len(lines) - _MOST_STEPS
    return "\n".join([*lines[:_MOST_STEPS], *([f"… and {more} more"] if more > 0 else [])])


def _line(step: Step, workspace: Path) -> str:
    # The first line of a command; what follows can be the contents of a file.
    first = next(iter(step.subject.strip().splitlines()), "")
    for folder in (str(workspace.resolve()), str(workspace)):
        first = first.replace(f"{folder}/", "").replace(folder, ".")
    first = first if len(first) <= _MOST_CHARS else f"{first[:_MOST_CHARS]}…"
    return " ".join(part for part in (step.tool, first, "(failed)" if step.failed else "") if part)
