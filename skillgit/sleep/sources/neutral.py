"""Sessions of any other agent, in a format of skillgit's: JSON lines in `sleep.neutral_sessions`, which has no default.

Each line is one object, one turn of a session, oldest first:

- `session` (text; else the file's name without its suffix): lines with the same one are one session, in any file.
- `role`: `user` or `assistant`. Without it the line only tells facts.
- `text`: what was said, without tool output and thoughts.
- `at`: ISO 8601 time (UTC where it has no offset), or seconds since 1970.
- `cwd`: absolute folder the agent worked in. Without it the session belongs to no repository.
- `id`: identity of the line in the whole store; lines with the same one count once. Else a line is known by its session
  and bytes, and by its place where it has no `at`.
- `branch` (text), `skills`, `tools`, `files` (lists of texts): what was in play at that turn.
- `agent`: name of the program or agent that speaks as `user`, where that is no person: no evidence, only counted.
- `failed`: `true` where the agent reported that this turn failed.

Other keys are ignored. A line whose keys hold something else is damaged: it is skipped and counted as `format`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Batch, Position, Record, Speaker
from skillgit.sleep.sources.fields import absolute, seconds
from skillgit.sleep.sources.jsonl import Line, UnusableError, read_records, stamp
from skillgit.sleep.sources.walk import walk

_ROLES: dict[str, Speaker] = {"user": "user", "assistant": "assistant", "": "none"}


class Neutral:
    """A folder of sessions in the neutral format."""

    name = "neutral"

    def __init__(self, config: Sleep) -> None:
        self._folder = config.neutral_sessions

    def roots(self) -> tuple[Path, ...]:
        """The folder, when one is set."""
        return (Path(self._folder).expanduser(),) if self._folder else ()

    def files(self) -> Iterator[Path]:
        """Every `.jsonl` file in it and below."""
        for root in self.roots():
            yield from walk(root, ".jsonl")

    def stamp(self, file: Path) -> str:
        """See `Source.stamp`."""
        return stamp(file)

    def read(self, file: Path, since: Position | None) -> Iterator[Batch]:
        """See `Source.read`."""
        return read_records(file, since, partial(_records, file.stem))


def _records(stem: str, line: Line, _state: dict[str, Any]) -> Iterator[Record]:
    role = _ROLES.get(_text(line, "role"))
    session = _text(line, "session") or stem
    at = seconds(line.value.get("at"))
    cwd = _text(line, "cwd")
    if role is None or (at is None) != (line.value.get("at") is None) or cwd != absolute(cwd):
        raise UnusableError("format")
    yield Record(
        session=session,
        key=_text(line, "id") or line.key(session, timed=at is not None),
        role=role,
        text=_text(line, "text"),
        at=at,
        cwd=cwd,
        branch=_text(line, "branch"),
        skills=_names(line, "skills"),
        tools=_names(line, "tools"),
        files=_names(line, "files"),
        reason="sub_agent" if _text(line, "agent") else "",
        failed=line.value.get("failed") is True,
    )


def _text(line: Line, key: str) -> str:
    value = line.value.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise UnusableError("format")


def _names(line: Line, key: str) -> tuple[str, ...]:
    value = line.value.get(key)
    if value is None:
        return ()
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise UnusableError("format")
