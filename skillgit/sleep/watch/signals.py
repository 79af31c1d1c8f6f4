"""The file by which an agent's session-end hook wakes the watcher. Quick to import: an agent waits for it."""

from __future__ import annotations

from pathlib import Path


def signal_file(common_dir: Path) -> Path:
    """The file of a repository, by its common git folder. It has a folder of its own, in which nothing else changes."""
    return common_dir / "skillgit" / "signals" / "session-end"


def touch(common_dir: Path) -> bool:
    """Wake the watcher, if there is one. False where no watcher ever was. Raises `OSError`."""
    path = signal_file(common_dir)
    if not path.parent.is_dir():
        return False
    path.touch(mode=0o600)
    return True


def touched(common_dir: Path) -> int:
    """When the watcher was last woken, in nanoseconds; 0 for never."""
    try:
        return signal_file(common_dir).stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return 0
