"""The folder of model files: where it is, which file can be trusted, how a new one gets in."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from skillgit.models.local.catalog import Entry

Progress = Callable[[int, int, str], None]
"""Called with bytes done, bytes in all, and what is going on (each phase counts from its own start)."""

_BLOCK = 1 << 20
_MARGIN = 64 << 20  # bytes left free on the disk


class UnavailableError(Exception):
    """One source cannot give the file; the text says why, and the next source is tried."""


def folder(environ: Mapping[str, str] = os.environ) -> Path:
    """`$SKILLGIT_HOME/models`, else `skillgit/models` in the XDG data folder."""
    home = environ.get("SKILLGIT_HOME")
    if home:
        return Path(home).expanduser() / "models"
    data = environ.get("XDG_DATA_HOME", "")
    base = Path(data) if Path(data).is_absolute() else Path.home() / ".local" / "share"
    return base / "skillgit" / "models"


def trusted(path: Path, entry: Entry) -> bool:
    """Whether `path` holds exactly the bytes of `entry`.

    The checksum of a gigabyte takes seconds, so it is taken once; a note beside the file remembers for which size
    and modification time it held.
    """
    if not path.is_file() or path.stat().st_size != entry.size:
        return False
    stamp = _stamp(path, entry)
    if _read(_note(path)) == stamp:
        return True
    if checksum(path) != entry.sha256:
        return False
    _remember(path, stamp)
    return True


def seal(temporary: Path, final: Path, entry: Entry) -> Path:
    """Give a complete file its name, or remove it.

    Raises:
        UnavailableError: the bytes are not those of `entry`.
    """
    found = checksum(temporary)
    if found != entry.sha256:
        size = temporary.stat().st_size
        temporary.unlink()
        raise UnavailableError(f"wrong content ({size} bytes, sha256 {found[:12]}…), removed")
    temporary.replace(final)
    _remember(final, _stamp(final, entry))
    return final


def discard(path: Path) -> None:
    """Remove a file that is not what its name says, and the note about it."""
    path.unlink(missing_ok=True)
    _note(path).unlink(missing_ok=True)


def need_space(place: Path, size: int) -> None:
    """Check that `size` bytes fit on the disk of `place`.

    Raises:
        UnavailableError: they do not.
    """
    free = shutil.disk_usage(place).free
    if free < size + _MARGIN:
        raise UnavailableError(f"{place} has {free / 1e9:.1f} GB free, {(size + _MARGIN) / 1e9:.1f} GB are needed")


def checksum(path: Path) -> str:
    """The sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint(path: Path) -> str:
    """A cheap identity of a large file: its size and the sha256 of its first and last MiB."""
    size = path.stat().st_size
    with path.open("rb") as file:
        ends = hashlib.sha256(file.read(_BLOCK))
        file.seek(max(0, size - _BLOCK))
        ends.update(file.read(_BLOCK))
    return f"{size}:{ends.hexdigest()}"


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".verified")


def _stamp(path: Path, entry: Entry) -> dict[str, object]:
    stat = path.stat()
    return {"sha256": entry.sha256, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}


def _read(note: Path) -> object:
    try:
        return json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _remember(path: Path, stamp: dict[str, object]) -> None:
    note = _note(path)
    fresh = note.with_name(f"{note.name}.{os.getpid()}")
    try:
        fresh.write_text(json.dumps(stamp), encoding="utf-8")
        fresh.replace(note)
    except OSError:
        # A read-only folder only means that the sum is taken again next time.
        return
