"""The system's notices of changes below folders. All they mean is: look again.

Folders that cannot be watched so (limits of the system, network and foreign file systems) are told, with the reason:
they have to be looked at again and again.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

_MOUNTS = Path("/proc/mounts")
# Changes made on the other side are not told here.
_REMOTE = re.compile(r"9p|drvfs|cifs|smb\w*|nfs\w*|fuse\..+|fuseblk|vboxsf|prl_fs|afs|ceph|glusterfs|lustre|davfs")
_LIMITS = {
    errno.EMFILE: "too many watchers are in use (raise fs.inotify.max_user_instances)",
    errno.ENOSPC: "too many folders are watched (raise fs.inotify.max_user_watches)",
    errno.ENOTSUP: "the file system tells of no changes",
    errno.ENOSYS: "the system tells of no changes",
}


class Notices:
    """Watches what exists of some folders; `follow` may be called again and again as they come and go.

    Args:
        wake: called from another thread, on every change.
        observer: makes watchdog's observer.
    """

    def __init__(self, wake: Callable[[], None], observer: Callable[[], BaseObserver] = Observer) -> None:
        self._make, self._limit = observer, ""
        self._observer: BaseObserver | None = None
        self._handler = _Handler(wake)
        self._watches: dict[Path, tuple[ObservedWatch, tuple[int, int]]] = {}
        self.refused: dict[Path, str] = {}

    def __enter__(self) -> Notices:
        try:
            self._observer = self._make()
            self._observer.start()
        except OSError as error:
            self._observer, self._limit = None, _why(error)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._observer:
            self._observer.stop()
            self._observer.join()

    @property
    def followed(self) -> tuple[Path, ...]:
        """Folders whose changes are noticed."""
        return tuple(self._watches)

    def follow(self, roots: Iterable[Path]) -> None:
        """Watch these folders, and for files, or what is missing, the folder they are in. A folder that was replaced is
        watched anew."""
        wanted = _folders(roots)
        for folder, (watch, identity) in list(self._watches.items()):
            if folder not in wanted or identity != _identity(folder):
                del self._watches[folder]
                if self._observer:
                    self._observer.unschedule(watch)
        self.refused = {folder: why for folder, why in self.refused.items() if folder in wanted}
        for folder, deep in wanted.items():
            if folder not in self._watches and folder not in self.refused:
                self._watch(folder, deep)

    def _watch(self, folder: Path, deep: bool) -> None:
        kind = remote_kind(folder)
        if kind or self._observer is None:
            self.refused[folder] = f"changes on {kind} are not always told" if kind else self._limit
            return
        try:
            watch = self._observer.schedule(self._handler, str(folder), recursive=deep)
            self._watches[folder] = (watch, _identity(folder))
        except OSError as error:
            self.refused[folder] = _why(error)


def _why(error: OSError) -> str:
    return _LIMITS.get(error.errno or 0, str(error))


class _Handler(FileSystemEventHandler):
    """Reading is no change; all other kinds are alike."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type not in ("opened", "closed_no_write"):
            self._wake()


def _folders(roots: Iterable[Path]) -> dict[Path, bool]:
    """Folders to watch, and whether what lies deeper counts."""
    wanted: dict[Path, bool] = {}
    for root in roots:
        deep = os.path.isdir(root)  # noqa: PTH112 - false, not an error, where we may not look
        folder = root if deep else root.parent
        if deep or os.path.isdir(folder):  # noqa: PTH112
            wanted[folder] = wanted.get(folder, False) or deep
    return wanted


def _identity(folder: Path) -> tuple[int, int]:
    try:
        found = folder.stat()
    except OSError:  # gone since; the next call sees another one, or none
        return (0, 0)
    return (found.st_dev, found.st_ino)


def remote_kind(folder: Path, mounts: Path = _MOUNTS) -> str:
    """The type of a folder's file system where its changes may be made elsewhere; blank for a local one."""
    if not sys.platform.startswith("linux"):
        return ""
    kind = _kind(folder, _mounted(mounts))
    return kind if _REMOTE.fullmatch(kind) else ""


def _kind(folder: Path, mounted: Mapping[Path, str]) -> str:
    place = folder.resolve()
    return next((mounted[each] for each in (place, *place.parents) if each in mounted), "")


def _mounted(mounts: Path) -> dict[Path, str]:
    """Mount point to type; of several on one point the last is seen."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:  # a container without /proc: nothing is known, and nothing remote is likely
        return {}
    rows = [line.split(" ") for line in lines if line.count(" ") >= 2]
    return {Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), row[1])): row[2] for row in rows}
