"""What an agent made in its workspace: the files that are new, or not what they were."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

MOST_FILES = 100
MOST_BYTES = 20_000_000  # of all files together, and so of what the store of calls keeps of one answer


def listing(folder: Path) -> dict[str, str]:
    """Path to a digest of every plain file below a folder that can be read."""
    read = ((name, _read(path)) for name, path, _ in _files(folder))
    return {name: _digest(data) for name, data in read if data is not None}


def changed(folder: Path, before: Mapping[str, str]) -> dict[str, bytes]:
    """Path to bytes of the files that are new or changed since `before`: those nearest to the top first, by name.

    What is no plain file or cannot be read is passed over, and so is what would be too much to keep.
    """
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for name, path, size in sorted(_files(folder), key=lambda file: (file[0].count("/"), file[0])):
        if len(found) == MOST_FILES or size > left:
            continue
        data = _read(path)
        if data is not None and before.get(name) != _digest(data):
            found[name] = data
            left -= len(data)
    return found


def _files(folder: Path) -> Iterator[tuple[str, Path, int]]:
    """Path from the folder, the file itself, and its size."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            # A link may lead anywhere, and a pipe would be waited for; what is gone by now is no file either.
            with suppress(FileNotFoundError):
                known = path.lstat()
                if stat.S_ISREG(known.st_mode):
                    yield path.relative_to(folder).as_posix(), path, known.st_size


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
