"""Sessions in the neutral format, written as agents write: line by line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path


def turn(session: str, number: int, cwd: Path, text: str = "") -> str:
    """One line: what a person said in a session."""
    said = text or f"please do thing {number} of {session}"
    row = {"session": session, "role": "user", "text": said, "id": f"{session}-{number}", "cwd": str(cwd)}
    return json.dumps({**row, "at": now()}) + "\n"


def now() -> str:
    """This moment, as agents write it; what is half a year old is not kept."""
    return datetime.now(UTC).isoformat()


def say(file: Path, number: int, cwd: Path, text: str = "") -> None:
    """Add a turn to a session's file; the session is called like it."""
    with file.open("a") as stream:
        stream.write(turn(file.stem, number, cwd, text))
