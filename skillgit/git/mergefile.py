"""git's own merge of three files by lines."""

from __future__ import annotations

from pathlib import Path

from skillgit.git.runner import Runner


def merge_file(base: Path, ours: Path, theirs: Path, marker_size: int) -> bool:
    """Merge over `ours` and say whether it went without conflict.

    Files that git holds for binary conflict and stay as they are.

    Raises:
        GitError: git could not be run.
    """
    labels = ("-L", "ours", "-L", "base", "-L", "theirs")
    places = [str(path.absolute()) for path in (ours, base, theirs)]
    size = f"--marker-size={marker_size}"
    return Runner(Path.cwd()).succeeds("merge-file", "--quiet", *labels, size, "--", *places)
