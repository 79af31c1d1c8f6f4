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
    left = [(os.fspath(root), True)]
    while left:  # no recursion: folders may lie deeper than Python can call
        path, is_folder = left.pop()
        if not is_folder:
            yield Path(path)
            continue
        try:
            with os.scandir(path) as found:
                entries = sorted(found, key=lambda entry: entry.name, reverse=True)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            yield Path(path)
            continue
        for entry in entries:
            folder = entry.is_dir(follow_symlinks=False)
            if folder or (entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False)):
                left.append((entry.path, folder))
