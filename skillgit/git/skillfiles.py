"""Skill folders as they lie in the working tree, read into memory. No git is run, so that none is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from skillgit.errors import ConfigError
from skillgit.skills.lint.case import MAIN, Skill, SkillFile

_SKIPPED = frozenset((".git", "node_modules", "__pycache__"))
_DEPTH = 6
_LARGEST = 1_000_000  # bytes; what is longer is data


def top_of(folder: Path) -> Path | None:
    """The nearest folder, from `folder` up, that is a repository or a linked worktree."""
    folder = folder.absolute()
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)


def find_skills(cwd: Path, paths: Sequence[str]) -> list[Path]:
    """Skill folders, each once, in order.

    Args:
        paths: skill folders, files in skills, or folders with skills below, seen from `cwd`; none means `cwd`. A folder
            that is named and has no skill in it counts as one: that its SKILL.md is missing is worth a finding.

    Raises:
        ConfigError: a path that is not there.
    """
    found: list[Path] = []
    for path in paths:
        place = cwd / path
        if not os.path.lexists(place):
            raise ConfigError(f"no file or folder {path}", fix="give a skill's folder, or a file in it")
        found += _skills_at(place)
    found += () if paths else _below(cwd, _DEPTH)
    return sorted(dict.fromkeys(Path(os.path.normpath(folder.absolute())) for folder in found))


def read_skill(folder: Path, base: Path) -> Skill:
    """A skill with its files; symbolic links are noted and never followed.

    Args:
        base: what paths in findings are seen from.
    """
    shown = Path(os.path.relpath(folder, base)).as_posix()
    files = sorted(_files(folder, ""), key=lambda file: file.path)
    name = printable(folder.absolute().name)
    return Skill("" if shown == "." else printable(shown), name, tuple(files), named=not (folder / ".git").exists())


def printable(path: str) -> str:
    """A path as text; bytes that are no UTF-8 are replaced."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _skills_at(place: Path) -> list[Path]:
    if not place.is_dir():
        owner = _owner(place.parent)
        return [owner] if owner else []
    if _holds_main(place):
        return [place]
    return list(_below(place, _DEPTH)) or [_owner(place) or place]


def _owner(folder: Path) -> Path | None:
    """The nearest folder upwards that is a skill, within the repository."""
    top = top_of(folder)
    for place in (folder, *folder.absolute().parents):
        if _holds_main(place):
            return place
        if place.absolute() == top:
            break
    return None


def _holds_main(folder: Path) -> bool:
    try:
        return any(name.lower() == MAIN.lower() for name in os.listdir(folder))  # noqa: PTH208 - names alone are faster
    except OSError:
        return False


def _below(folder: Path, depth: int) -> Iterator[Path]:
    entries = _entries(folder)
    names = {entry.name for entry in entries}
    if "pyvenv.cfg" in names:
        return
    if any(name.lower() == MAIN.lower() for name in names):
        yield folder
    if depth:
        for entry in entries:
            if entry.name not in _SKIPPED and entry.is_dir(follow_symlinks=False):
                yield from _below(Path(entry.path), depth - 1)


def _files(folder: Path | str, prefix: str, *, read: bool = True) -> Iterator[SkillFile]:
    for entry in _entries(folder):
        path = printable(f"{prefix}{entry.name}")
        if entry.is_symlink():
            yield SkillFile(path, link=printable(str(Path(entry.path).readlink())))
        elif entry.is_dir():
            if entry.name not in _SKIPPED:
                # A skill inside a skill is judged by itself; its files can still be linked.
                yield from _files(entry.path, f"{path}/", read=read and not _holds_main(Path(entry.path)))
        elif entry.is_file():
            yield SkillFile(path, _content(entry) if read else None)


def _content(entry: os.DirEntry[str]) -> bytes | None:
    try:
        return Path(entry.path).read_bytes() if entry.stat().st_size <= _LARGEST else None
    except OSError:
        return None


def _entries(folder: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []
