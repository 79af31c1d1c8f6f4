"""Where programs keep their files, when nothing says otherwise."""

from __future__ import annotations

import os
from pathlib import Path


def chosen(*values: str | None) -> Path | None:
    """The first that is not blank, as a path; `~` is the home folder."""
    return next((Path(value).expanduser() for value in values if value and value.strip()), None)


def data_homes() -> tuple[Path, ...]:
    """Folders in which a program's data folder may lie, on any system; those that have nothing to do with this one are
    not there."""
    unix = chosen(os.environ.get("XDG_DATA_HOME")) or Path.home() / ".local" / "share"
    return (unix, *windows_homes("LOCALAPPDATA", "APPDATA"), mac_home())


def windows_homes(*names: str) -> tuple[Path, ...]:
    """The folders that these variables of Windows name, where they are set."""
    return tuple(Path(value) for name in names if (value := os.environ.get(name)))


def mac_home() -> Path:
    """The folder of programs' data on macOS."""
    return Path.home() / "Library" / "Application Support"


def is_there(place: Path) -> bool:
    """Whether something is at a place. What cannot be looked at is there: reading it tells of the error."""
    try:
        place.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def subfolders(folder: Path) -> list[Path]:
    """The folders in a folder, by name; links are not followed. One that cannot be listed is given itself, so that
    looking into it tells of the error; one that is not there has none."""
    try:
        with os.scandir(folder) as found:
            return sorted(Path(entry.path) for entry in found if entry.is_dir(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return [folder]
