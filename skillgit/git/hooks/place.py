"""Where git looks for hooks, in one worktree, and where ours may go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from skillgit.errors import GitError
from skillgit.git.repository import Repository

Kind = Literal["plain", "tracked", "husky", "outer"]

KEY = "core.hooksPath"
_MANAGED = "skillgit-hooks"


@dataclass(frozen=True)
class Setting:
    """One value of `core.hooksPath`, as git expands it, and the scope that sets it."""

    scope: str
    value: str


@dataclass(frozen=True)
class Place:
    """Where hooks lie, as one worktree sees it.

    Attributes:
        kind: `plain`, the git folder's own hooks; `tracked`, a folder inside the worktree; `husky`; `outer`, a folder
            that is not this repository's, whose hooks are run from a folder of ours instead.
        effective: where git looks now.
        folder: where our files go.
        outer: the folder whose hooks ours must run, as configured; empty when there is none.
        scope: option of `git config` for the file that must name our folder (`outer`).
    """

    kind: Kind
    effective: Path
    folder: Path
    outer: str = ""
    scope: str = "--local"


def own_folder(repo: Repository) -> Path:
    """The folder of ours that stands in for an outer one; not in `state_dir`, which is a cache that may be deleted."""
    return repo.common_dir / _MANAGED


def is_own(repo: Repository, setting: Setting) -> bool:
    """True for a value of `core.hooksPath` that we set, here or where the repository was before it moved."""
    path = Path(setting.value)
    gone = path.is_absolute() and path.name == _MANAGED and not path.exists()
    return setting.scope in ("local", "worktree") and (path == own_folder(repo) or gone)


def settings(repo: Repository) -> list[Setting]:
    """Every value of `core.hooksPath`, the one that wins last."""
    out = repo.git.text("config", "--show-scope", "--type=path", "-z", "--get-all", KEY, ok=(0, 1))
    fields = out.split("\0")[:-1]
    return [Setting(scope, value) for scope, value in zip(fields[::2], fields[1::2], strict=True)]


def find_place(repo: Repository) -> Place:
    """Where the hooks of this worktree belong.

    Raises:
        GitError: `core.hooksPath` is given for this one command, so nothing installed could last.
    """
    base = repo.top or repo.common_dir
    effective = base / repo.git.text("rev-parse", "--git-path", "hooks")
    found = [setting for setting in settings(repo) if not is_own(repo, setting)]
    if not found:
        plain = repo.common_dir / "hooks"
        if _below(plain, repo.common_dir):
            return Place("plain", effective, plain)
        return Place("outer", effective, own_folder(repo), plain.as_posix())
    last = found[-1]
    if last.scope == "command":
        raise GitError(f"{KEY} is set for this command only", fix="run it without -c or GIT_CONFIG_COUNT")
    folder = base / last.value
    if last.scope in ("local", "worktree"):
        if repo.top and _below(folder, repo.top):
            husky = folder.name == "_" and folder.parent.name == ".husky"
            return Place("husky" if husky else "tracked", effective, folder.parent if husky else folder)
        if _below(folder, repo.common_dir):
            return Place("plain", effective, folder)
    scope = "--worktree" if last.scope == "worktree" else "--local"
    return Place("outer", effective, own_folder(repo), last.value, scope)


def worktrees(repo: Repository) -> list[Path]:
    """Top folders of all worktrees that are there; the git folder of a bare repository that has none."""
    rows = repo.git.text("worktree", "list", "--porcelain").split("\n\n")
    found = [Path(row.split("\n", 1)[0].removeprefix("worktree ")) for row in rows if row and "\nbare" not in row]
    # Of a submodule git names the git folder, not the worktree.
    seen = [repo.top if repo.top and path == repo.common_dir else path for path in found]
    return [path for path in seen if path.is_dir()] or [repo.common_dir]


def _below(path: Path, folder: Path) -> bool:
    """True when a path, its links followed, lies in a folder."""
    return path.resolve().is_relative_to(folder.resolve())
