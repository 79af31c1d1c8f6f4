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
    """Skill folders, and bare files that are named, each once, in order.

    Args:
        paths: skill folders, files in skills, or folders with skills below, seen from `cwd`; none means `cwd`. A folder
            that is named and has no skill in it counts as one: that its SKILL.md is missing is worth a finding. A
            Markdown file right below a folder `skills` that is named is a skill by itself. Of links to folders, those
            to a skill in the same repository are followed.

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
    chosen: dict[str, Path] = {}
    for place in sorted(Path(os.path.normpath(place.absolute())) for place in found):
        # Of a skill and links to it, the skill itself.
        real = os.path.realpath(place)
        if real not in chosen or chosen[real].is_symlink():
            chosen[real] = place
    return sorted(chosen.values())


def read_skill(place: Path, base: Path) -> Skill:
    """A skill with its files; symbolic links are noted and never followed.

    Args:
        place: its folder, or the file of a bare skill.
        base: what paths in findings are seen from.
    """
    home = folder_of(place)
    shown = Path(os.path.relpath(home, base)).as_posix()
    folder = "" if shown == "." else printable(shown)
    name = printable(name_of(place))
    if home != place:
        bare = next((_file(entry) for entry in _entries(home) if entry.name == place.name), SkillFile(place.name))
        return Skill(folder, name, (bare,), named=False, document=bare.path)
    files = sorted(_files(home, ""), key=lambda file: file.path)
    return Skill(folder, name, tuple(files), named=not (home / ".git").exists())


def folder_of(place: Path) -> Path:
    """Where the files of a skill lie."""
    return place if place.is_dir() else place.parent


def name_of(place: Path) -> str:
    """The name of a skill by its place."""
    return place.absolute().name if place.is_dir() else place.stem


def printable(path: str) -> str:
    """A path as text; bytes that are no UTF-8 are replaced."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _skills_at(place: Path) -> list[Path]:
    if not place.is_dir():
        owner = _owner(place.parent)
        is_bare = place.suffix.lower() == ".md" and place.absolute().parent.name == "skills"
        return [owner] if owner else [place] if is_bare else []
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
    if _is_venv(entries):
        return
    if any(entry.name.lower() == MAIN.lower() for entry in entries):
        yield folder
    if depth:
        for entry in entries:
            if entry.name not in _SKIPPED and entry.is_dir(follow_symlinks=False):
                yield from _below(Path(entry.path), depth - 1)
            elif entry.is_symlink() and _holds_main(Path(entry.path)) and _is_near(Path(entry.path)):
                yield Path(entry.path)


def _is_venv(entries: Sequence[os.DirEntry[str]]) -> bool:
    """True for an environment of Python, whose files are not the author's."""
    return any(entry.name == "pyvenv.cfg" for entry in entries)


def _is_near(link: Path) -> bool:
    """True for a link that leads to another place in its repository."""
    top = top_of(link.parent)
    real = link.resolve()
    return top is not None and real.is_relative_to(top.resolve()) and not link.absolute().is_relative_to(real)


def _files(folder: Path | str, prefix: str, *, read: bool = True) -> Iterator[SkillFile]:
    entries = _entries(folder)
    if _is_venv(entries):
        return
    for entry in entries:
        path = printable(f"{prefix}{entry.name}")
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _SKIPPED:
                # A skill inside a skill is judged by itself; its files can still be linked.
                yield from _files(entry.path, f"{path}/", read=read and not _holds_main(Path(entry.path)))
        elif entry.is_symlink() or entry.is_file():
            yield _file(entry, path, read=read)


def _file(entry: os.DirEntry[str], path: str = "", *, read: bool = True) -> SkillFile:
    path = path or printable(entry.name)
    if entry.is_symlink():
        return SkillFile(path, link=printable(str(Path(entry.path).readlink())))
    return SkillFile(path, _content(entry) if read else None)


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
