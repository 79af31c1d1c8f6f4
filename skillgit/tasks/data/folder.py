"""Writing a folder of data beside its place, so that it appears whole or not at all."""

from __future__ import annotations

import hashlib
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath

from filelock import FileLock, Timeout

from skillgit.errors import ConfigError, TaskError
from skillgit.git.objects import inside
from skillgit.tasks.data.digest import SEAL, read_seal
from skillgit.tasks.data.kinds.base import UnusableError
from skillgit.tasks.sources import SPLITS

_IGNORE = ".gitignore"
_OWN = {SEAL, _IGNORE, *SPLITS}


class Staging:
    """Files of a folder in the making. Nothing is written in a dry run, but everything is checked and digested.

    Attributes:
        files: path in the folder to SHA-256.
        outside: the same for files that stay elsewhere.
    """

    def __init__(self, folder: Path, *, dry_run: bool) -> None:
        self.folder, self._dry = folder, dry_run
        self.files: dict[str, str] = {}
        self.outside: dict[str, str] = {}
        self._kept: set[str] = set()

    def write(self, name: str, data: bytes) -> None:
        """A file of an item, at a path with forward slashes. Raises `UnusableError` for a path that leads out."""
        if not plain(name) or name.split("/")[0] in _OWN:
            raise UnusableError(f"{name!r} is not the name of a file in the data's folder", "file")
        known = hashlib.sha256(data).hexdigest()
        if self.files.get(name, known) != known:
            raise UnusableError(f"{name} was already written for another item, with other content", "file")
        self.put(name, data)

    def refer(self, name: str, path: Path) -> None:
        """A file that stays where it is, by its path below some folder.

        Raises `OSError` when it cannot be read, and `UnusableError` for a path that leads out.
        """
        if not plain(name):
            raise UnusableError(f"{name!r} is not the path of a file below the folder", "file")
        self.outside[name] = file_digest(path)

    def ignore(self) -> None:
        """Keep git from taking the data along with `git add --all`: most of it may not be handed on."""
        self._put(_IGNORE, b"*\n")

    def seal(self, data: bytes) -> None:
        """The seal, which is not part of the content."""
        self._put(SEAL, data)

    def put(self, name: str, data: bytes) -> None:
        """A file, written whole; one that an interrupted run left with the same content is kept."""
        self.files[name] = hashlib.sha256(data).hexdigest()
        self._put(name, data)

    def _put(self, name: str, data: bytes) -> None:
        self._kept.add(name)
        known = hashlib.sha256(data).hexdigest()
        path = self.folder / name
        if self._dry or (path.is_file() and file_digest(path) == known):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.part")
        part.write_bytes(data)
        part.replace(path)

    def sweep(self) -> None:
        """Take away what an interrupted run left and this one did not write."""
        for name in list(_names(self.folder)):
            if name not in self._kept:
                (self.folder / name).unlink()


def plain(name: str) -> bool:
    """Whether a name is a relative path that stays inside, on every system."""
    return bool(name) and inside(name) and "\\" not in name and name.isprintable() and not PureWindowsPath(name).drive


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A folder beside `folder` to write to; one run at a time. It stays when the work is interrupted.

    Raises:
        ConfigError: another process is at it, or the place cannot be written to.
    """
    staging = folder.with_name(f".{folder.name}.partial")
    lock = FileLock(staging.with_name(f"{staging.name}.lock"), timeout=0)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with lock:
            try:
                _recover(folder)
                yield staging
            finally:
                Path(lock.lock_file).unlink(missing_ok=True)
    except Timeout:
        raise ConfigError(f"another process is writing {folder}", fix="wait for it, or end it") from None
    except OSError as error:
        raise ConfigError(f"cannot write {folder}", why=str(error), fix="name another place with --out") from error


def check_place(folder: Path, *, force: bool) -> None:
    """Raise `TaskError` unless the place is free, or holds materialised data that may be replaced."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    found = read_seal(folder) if folder.is_dir() else None
    ours = {*found[0].files, SEAL, _IGNORE} if found else set()
    foreign = next((name for name in _names(folder) if name not in ours), "") if found else folder.name
    if foreign:
        raise TaskError(
            f"{folder} holds something that skillgit did not make",
            why=f"{foreign} is not among the files it wrote" if found else f"there is no {SEAL}",
            fix="name another place with --out, or move it away",
        )
    if found and not force:
        look = f"skillgit data check {found[0].name} --dir {shlex.quote(str(folder))}"
        raise TaskError(
            f"{folder} is there already",
            fix=f"`{look}` tells whether it is whole; --force makes it again",
        )


def _names(folder: Path) -> Iterator[str]:
    return (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if not path.is_dir())


def swap_in(staging: Path, folder: Path) -> None:
    """Put the finished folder in its place; what was there goes when the new one is in."""
    old = _old(folder)
    if folder.exists():
        folder.rename(old)
    staging.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _recover(folder: Path) -> None:
    """A run that was killed between the two renames left the old data beside its place."""
    old = _old(folder)
    if old.is_dir() and not folder.exists():
        old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _old(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")
