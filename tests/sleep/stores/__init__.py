"""Makers of synthetic stores: one module per agent, each with `write_session`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Turns = Sequence[tuple[str, str]]
"""What the person said and what the agent answered; a blank answer is none."""

START = 1_927_000_000.0
"""When sessions begin that say nothing else: 2031-01-24 05:46:40 UTC."""


def iso(at: float) -> str:
    """A time as most agents write it."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def dump(records: Iterable[Any]) -> bytes:
    """JSON lines, as compact as the agents write them."""
    return b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records)


def write(file: Path, data: bytes, *, append: bool = False) -> Path:
    """Write a file of a store, with its folders."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab" if append else "wb") as stream:
        stream.write(data)
    return file
