"""What an agent made in its workspace: the files that are new, or not what they were."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

MOST_FILES = 100
MOST_BYTES = 20_000_000  # of all files together, and so of what the store of calls keeps of one answer


def listing(folder: Path) -> dict[str, str]:
    """Path to a digest of every plain file below a folder."""
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in _files(folder)}


def changed(folder: Path, before: Mapping[str, str]) -> dict[str, bytes]:
    """Path to bytes of the files that are new or changed since `before`, in the order of their names.

    What is no plain file is passed over, and so is what would be too much to keep.
    """
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for name, path in sorted(_files(folder)):
        if len(found) == MOST_FILES or path.lstat().st_size > left:
            continue
        data = path.read_bytes()
        if before.get(name) != hashlib.sha256(data).hexdigest():
            found[name] = data
            left -= len(data)
    return found


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            # A link may lead anywhere, and a pipe would be waited for.
            if stat.S_ISREG(path.lstat().st_mode):
                yield path.relative_to(folder).as_posix(), path
