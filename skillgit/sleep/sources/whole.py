"""Reading stores whose files are read as a whole each time they change: what was there before is told by its keys."""

from __future__ import annotations

import errno
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from skillgit.sleep.base import Batch, Position, Record
from skillgit.sleep.sources.jsonl import LONGEST, Line, read_lines
from skillgit.sleep.sources.parse import parse

BATCH_RECORDS = 1000
BATCH_CHARACTERS = 4 << 20
BEGINNING = Position("")


def batches(
    records: Iterable[Record], damaged: Counter[str], after: Position, before: Position = BEGINNING
) -> Iterator[Batch]:
    """Records in parts; always at least one.

    All but the last, which alone tells the damage, leave the position where it was, so that an interrupted reading is
    done again as a whole.

    Args:
        damaged, after: what they hold when the records have ended is what counts.
    """
    part: list[Record] = []
    characters = 0
    for record in records:
        part.append(record)
        characters += len(record.text)
        if len(part) >= BATCH_RECORDS or characters >= BATCH_CHARACTERS:
            yield Batch(tuple(part), before)
            part, characters = [], 0
    yield Batch(tuple(part), after, dict(damaged))


def all_lines(file: Path, damaged: Counter[str]) -> Iterator[Line]:
    """Every object of a JSON lines file; damage is counted as `read_lines` does. Raises `OSError` likewise."""
    for part in read_lines(file, None):
        damaged.update(part.damaged)
        yield from part.lines


def document(file: Path, damaged: Counter[str]) -> dict[str, Any]:
    """The one object that a JSON file holds; empty, and counted as `read_lines` does, when it is damaged.

    Raises:
        OSError: the file cannot be read, or is no plain file: links may lead anywhere, and a pipe would be waited for.
    """
    if not stat.S_ISREG(file.lstat().st_mode):
        raise OSError(errno.EINVAL, "it is no plain file", str(file))
    with file.open("rb") as stream:
        raw = stream.read(LONGEST + 1)
    if len(raw) > LONGEST:
        damaged["too long"] += 1
        return {}
    return parse(raw, damaged) or {}
