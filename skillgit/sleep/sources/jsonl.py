"""Reading JSON lines that others write: from where the last reading ended, in bounded memory, whatever is in them.

A file is known again by its inode and by the bytes that were read of it, so one that grew goes on where it was, and one
that was replaced, cut or rotated is read from its start; what was read before is told apart by `Record.key`.
"""

from __future__ import annotations

import copy
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from skillgit.sleep.base import Batch, Position, Record
from skillgit.sleep.sources.parse import bare, parse

LONGEST = 16 << 20
"""Bytes of the longest line that is read; a longer one is skipped without being held."""
BATCH_LINES = 1000
BATCH_BYTES = 4 << 20
_CHUNK = 1 << 18
_HEAD, _TAIL = 1024, 256


class UnusableError(Exception):
    """A line that holds an object but no record; `kind` is the kind of damage it is counted as."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass(frozen=True)
class Line:
    """One JSON object. Its texts can all be written as UTF-8.

    Attributes:
        offset: bytes before it in the file.
        raw: the line as it stands there.
    """

    offset: int
    raw: bytes
    value: dict[str, Any]

    def key(self, session: str, *, timed: bool) -> str:
        """A `Record.key` for a line without an id: the same in every copy of the session's file.

        Args:
            timed: the line holds its own time, so that no other record has the same bytes.
        """
        digest = hashlib.sha256(bare(self.raw)).hexdigest()[:16]
        return f"{session}:{digest}" if timed else f"{session}:{self.offset}:{digest}"


@dataclass(frozen=True)
class Lines:
    """Some lines of a file, oldest first.

    Attributes:
        position: where to go on after them. Its state is that of the position from which reading went on, and empty
            where it began anew; its stamp is blank unless the file was read to its end.
        damaged: kind of damage to the number of lines it hit, in this part.
        start: bytes before this part.
    """

    lines: tuple[Line, ...]
    position: Position
    damaged: Mapping[str, int]
    start: int


def stamp(file: Path) -> str:
    """`Source.stamp` of a plain file."""
    return _stamp(file.stat())


def read_lines(file: Path, since: Position | None) -> Iterator[Lines]:
    """The objects of a JSON lines file after a position, in parts of about 4 MiB; always at least one part.

    Damage: `json` (no JSON), `not an object`, `nested` (too deep), `too long`: these lines are lost. `encoding` (not
    UTF-8) and `nul`: repaired, and lost only when counted as something else as well. A last line that is unfinished is
    left for the next time, uncounted.

    Raises:
        OSError: the file cannot be opened.
    """
    with file.open("rb", buffering=_CHUNK) as stream:
        yield from _parts(*_start(stream, since))


def read_records(
    file: Path, since: Position | None, understand: Callable[[Line, dict[str, Any]], Iterable[Record]]
) -> Iterator[Batch]:
    """`Source.read` for a format in which a line gives records.

    Args:
        understand: the records of a line. It may keep JSON values in the second argument, which begins empty and is
            kept in the position, and raises `UnusableError` for an object that is no record of the format.
    """
    state: dict[str, Any] | None = None
    for part in read_lines(file, since):
        state = copy.deepcopy(dict(part.position.state)) if state is None else state
        damaged = Counter(part.damaged)
        records: list[Record] = []
        for line in part.lines:
            try:
                records += understand(line, state)
            except UnusableError as error:
                damaged[error.kind] += 1
        yield Batch(tuple(records), replace(part.position, state=copy.deepcopy(state)), dict(damaged), part.start)


@dataclass
class _Reader:
    """A stream at the start of a line, with the first and last bytes of all that was read before: not of what the file
    holds there by now, which may have been replaced meanwhile."""

    stream: BinaryIO
    offset: int = 0
    head: bytes = b""
    tail: bytes = b""

    def line(self) -> tuple[bytes | None, int] | None:
        """The next line (`None`: too long) and its offset; `None` when there is none, or none that is finished."""
        raw = self.stream.readline(LONGEST)
        whole, rest = raw.endswith(b"\n"), b""
        size = len(raw)
        while not whole and size >= LONGEST and (rest := self.stream.readline(_CHUNK)):
            raw, size, whole = raw[:_HEAD] + raw[-_TAIL:] + rest, size + len(rest), rest.endswith(b"\n")
        if not whole and (size >= LONGEST or not _finished(raw)):
            return None
        begun, self.offset = self.offset, self.offset + size
        self.head = self.head if len(self.head) == _HEAD else (self.head + raw)[:_HEAD]
        self.tail = (self.tail + raw)[-_TAIL:] if size < _TAIL else raw[-_TAIL:]
        return (raw if size <= LONGEST else None), begun

    def position(self, start: Position, stamp: str) -> Position:
        """Where it is now."""
        return Position(stamp, _identity(self.stream, self.head, self.tail), self.offset, start.state)


def _start(stream: BinaryIO, since: Position | None) -> tuple[_Reader, Position]:
    """From where to read. The stamp is that of the file before anything is read."""
    stamp = _stamp(os.fstat(stream.fileno()))
    if since is not None:
        head = stream.read(min(since.offset, _HEAD))
        stream.seek(max(0, since.offset - _TAIL))
        tail = stream.read(min(since.offset, _TAIL))
        if stream.tell() == since.offset and since.identity == _identity(stream, head, tail):
            return _Reader(stream, since.offset, head, tail), replace(since, stamp=stamp)
    stream.seek(0)
    return _Reader(stream), Position(stamp)


def _parts(reader: _Reader, start: Position) -> Iterator[Lines]:
    lines: list[Line] = []
    damaged: Counter[str] = Counter()
    begun = reader.offset
    while (found := reader.line()) is not None:
        lines += _line(*found, damaged)
        if reader.offset - begun >= BATCH_BYTES or len(lines) >= BATCH_LINES:
            yield Lines(tuple(lines), reader.position(start, stamp=""), dict(damaged), begun)
            lines, damaged, begun = [], Counter(), reader.offset
    yield Lines(tuple(lines), reader.position(start, start.stamp), dict(damaged), begun)


def _line(raw: bytes | None, offset: int, damaged: Counter[str]) -> tuple[Line, ...]:
    if raw is None:
        damaged["too long"] += 1
        return ()
    value = parse(raw, damaged)
    return () if value is None else (Line(offset, raw, value),)


def _finished(raw: bytes) -> bool:
    """Whether a line that has no end is whole: nothing can follow a JSON object."""
    return raw.rstrip().endswith(b"}") and parse(raw, Counter()) is not None


def _identity(stream: BinaryIO, head: bytes, tail: bytes) -> str:
    """Of a file and of what was read of it: the same as long as the file only grows."""
    status = os.fstat(stream.fileno())
    return f"{status.st_dev}:{status.st_ino}:{hashlib.sha256(head + tail).hexdigest()[:16]}"


def _stamp(status: os.stat_result) -> str:
    # The last one tells of what was written in place and dated back.
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}:{status.st_ctime_ns}"
