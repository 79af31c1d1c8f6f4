"""Synthetic stores in the neutral format. `folder` is `neutral_sessions`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.sleep.stores import START, Turns, dump, iso, write


def session_records(
    session: str, turns: Turns, *, cwd: str = "/w/shop", at: float = START, **more: Any
) -> list[dict[str, Any]]:
    """A conversation; a turn takes a minute, an answer 20 seconds. `more`: keys of every line."""
    found: list[dict[str, Any]] = []
    for index, (said, answer) in enumerate(turns):
        base = {"session": session, "cwd": cwd} | more
        found.append({"role": "user", "text": said, "at": iso(at + 60 * index)} | base)
        if answer:
            found.append({"role": "assistant", "text": answer, "at": iso(at + 60 * index + 20)} | base)
    return found


def write_session(
    folder: Path,
    session: str,
    turns: Turns,
    *,
    cwd: str = "/w/shop",
    at: float = START,
    append: bool = False,
    **more: Any,
) -> Path:
    """Write a conversation, or go on with one, and give its file."""
    records = session_records(session, turns, cwd=cwd, at=at, **more)
    return write(folder / f"{session}.jsonl", dump(records), append=append)
