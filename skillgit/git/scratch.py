"""A copy of the index to work on, so that the user's own stays as it is."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from skillgit.git.repository import Repository


@contextmanager
def index_copy(repo: Repository) -> Iterator[Mapping[str, str]]:
    """The environment in which git reads and writes a copy of the worktree's index; it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="skillgit-") as folder:
        copy = Path(folder, "index")
        index = Path(repo.git.text("rev-parse", "--path-format=absolute", "--git-path", "index"))
        if index.is_file():
            shutil.copy2(index, copy)  # its time stamp tells git which files to reread
        yield {"GIT_INDEX_FILE": str(copy)}
