"""How much a process that runs takes of the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_NAME = 4096
"""Bytes that each file and folder is taken to need, however small."""


def too_much(folder: Path, process: int, most: int) -> bool:
    """Whether a folder holds more than `most` bytes, or a process has written more."""
    if _written(process) > most:
        return True
    held = 0
    for size in _sizes(str(folder)):
        held += size
        if held > most:
            return True
    return False


def _sizes(folder: str) -> Iterator[int]:
    """Bytes of everything below a folder, which may change meanwhile."""
    folders = [folder]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    known = entry.stat(follow_symlinks=False)
                    yield _NAME + (known.st_blocks * 512 if hasattr(known, "st_blocks") else known.st_size)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)


def _written(process: int) -> int:
    """Bytes that a process has written so far, which counts files that it took away again; 0 where nobody tells."""
    try:
        lines = Path(f"/proc/{process}/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    told = dict(line.split(": ") for line in lines)
    return max(int(told.get(name, 0)) for name in ("wchar", "write_bytes"))
