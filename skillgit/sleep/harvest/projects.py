"""Which repository a session was held in: told from the folder it recorded, without asking git."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from skillgit.errors import ConfigError
from skillgit.git.repository import Repository

_LONGEST_PATH = 4096  # bytes; of a `.git` file no more are read: it holds one path

Outside = Literal["other_project", "no_project", ""]


class Projects:
    """Folders as projects. Every folder is looked at once; symbolic links count as what they lead to.

    Args:
        repo: our repository.
        known: folders of its worktrees in the past, which may be gone by now.
    """

    def __init__(self, repo: Repository, known: Iterable[str] = ()) -> None:
        self._common = _real(repo.common_dir)
        self._base = _real(repo.top or repo.common_dir)
        self._top = _main_top(self._common, self._base)
        self._worktrees = frozenset(map(Path, known)) | _linked(self._common)
        self._found: dict[str, str] = {}
        self._scopes: dict[str, tuple[Path, ...]] = {}

    @property
    def worktrees(self) -> frozenset[str]:
        """Folders of all linked worktrees that are known."""
        return frozenset(map(str, self._worktrees))

    def project_of(self, cwd: str) -> str:
        """The top folder of the main worktree of the repository around `cwd`; `cwd` itself when there is none.

        A folder that is not absolute here (recorded on another system, say) is returned as it is.
        """
        if not _can_be(cwd):
            return cwd
        if cwd not in self._found:
            self._found[cwd] = str(self._look(_real(Path(cwd))))
        return self._found[cwd]

    def in_scope(self, cwd: str, scope: str) -> Outside:
        """Why a session held in `cwd` is none of ours; blank when it is.

        Args:
            scope: `repository`, `all`, or folders separated by commas (`sleep.scope`).

        Raises:
            ConfigError: the scope names no folder.
        """
        if scope == "all":
            return ""
        if scope not in self._scopes:
            self._scopes[scope] = () if scope == "repository" else self._folders(scope)
        if not _can_be(cwd):
            return "other_project" if cwd else "no_project"
        project = Path(self.project_of(cwd))
        if scope == "repository":
            return "" if project == self._top else "other_project"
        places = (_real(Path(cwd)), project)
        inside = any(place.is_relative_to(folder) for place in places for folder in self._scopes[scope])
        return "" if inside else "other_project"

    def _folders(self, scope: str) -> tuple[Path, ...]:
        """The folders of a scope; relative ones start from the repository."""
        names = [Path(name.strip()).expanduser() for name in scope.split(",") if name.strip()]
        fix = "give repository, all, or folders separated by commas"
        if not names:
            raise ConfigError("sleep.scope is blank", fix=fix)
        for name in names:
            if not (name.is_absolute() or (self._base / name).is_dir()):
                raise ConfigError(f"sleep.scope has no folder {name}", why=f"looked in {self._base}", fix=fix)
        return tuple(_real(self._base / name) for name in names)

    def _look(self, folder: Path) -> Path:
        """The nearest folder at or above that is, or was, a worktree decides."""
        for place in (folder, *folder.parents):
            common = _common_dir(place)
            if common:
                return self._project(common, place)
            if place in self._worktrees:
                return self._top
        return folder

    def _project(self, common: Path, place: Path) -> Path:
        # Some file systems do not tell upper from lower case: names may differ where the folder is the same.
        if common == self._common or _is_same(common, self._common):
            return self._top
        return _main_top(common, place)


def common_dir_around(folder: Path) -> Path | None:
    """The git folder shared by all worktrees of the repository around a folder; `None` outside of any."""
    if not _can_be(str(folder.absolute())):
        return None
    place = _real(folder)
    return next((common for each in (place, *place.parents) if (common := _common_dir(each))), None)


def _main_top(common: Path, place: Path) -> Path:
    """The main worktree of a repository, given its shared git folder and the top of any of its worktrees.

    Worktrees of a bare repository have no main one: the repository itself stands for it.
    """
    if common.name == ".git":
        return common.parent
    return common if common == place or _is_file(_git_dir(place) / "commondir") else place


def _linked(common: Path) -> frozenset[Path]:
    """Folders of the linked worktrees that git has on record, those that are gone but were not pruned included."""
    try:
        entries = list((common / "worktrees").iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()
    links = {entry: _read_link(entry / "gitdir") for entry in entries}
    return frozenset(_real(entry / link).parent for entry, link in links.items() if link)


def _common_dir(top: Path) -> Path | None:
    """The git folder shared by all worktrees of the repository whose top this is; `None` when it is no top."""
    own = _git_dir(top)
    if not _is_file(own / "HEAD"):
        return None
    return _real(own / _read_link(own / "commondir"))


def _git_dir(top: Path) -> Path:
    git = top / ".git"
    return _real(top / _read_link(git).removeprefix("gitdir:").strip()) if _is_file(git) else git


def _read_link(file: Path) -> str:
    """The path that a small file holds; blank when there is none."""
    if not _is_file(file):  # opening a named pipe would wait for a writer
        return ""
    try:
        with file.open("rb") as stream:
            return os.fsdecode(stream.read(_LONGEST_PATH)).replace("\0", "").strip()
    except OSError:  # not ours to read, so it says nothing
        return ""


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a folder that we may not look into, or a name that is too long
        return False


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # gone, or not ours to look at
        return False


def _can_be(cwd: str) -> bool:
    """Whether this system can have such a folder. What a transcript says may be anything, of any length."""
    try:
        raw = os.fsencode(cwd[: _LONGEST_PATH + 1])
    except UnicodeEncodeError:
        return False
    return len(raw) <= _LONGEST_PATH and b"\0" not in raw and Path(cwd).is_absolute()


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
