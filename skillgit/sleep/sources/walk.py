"""Finding the files of a store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def walk(root: Path, suffix: str) -> Iterator[Path]:
    """Every plain file below a folder whose name ends so, by name. Links are not followed, so nothing outside is read.

    A folder that cannot be listed is given as if it were a file, so that reading it tells of the error; one that is not
    there holds nothing.
    """
    try:
        with os.scandir(root) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        yield root
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from walk(Path(entry.path), suffix)
        elif entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
            yield Path(entry.path)
