"""A commit that is the user's own: made by `git commit` in their worktree, with their hooks, signing and identity."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skillgit.errors import GitError
from skillgit.git.objects import Entry, contained
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place

_HOOK_SECONDS = 3600
_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}


@dataclass(frozen=True)
class _File:
    """What a file on disk holds, and its permission bits."""

    data: bytes
    mode: int = 0o644


def refuse_unready(repo: Repository, place: Place) -> None:
    """Check that a commit of the skill can be made here.

    Raises:
        GitError: there is no worktree, a merge, rebase or the like is under way, or the skill has uncommitted changes.
    """
    if repo.top is None:
        raise GitError(
            "a bare repository has no files to commit", fix="git worktree add FOLDER BRANCH, and run it there"
        )
    for name, what in _UNDER_WAY.items():
        if (repo.top / repo.git.text("rev-parse", "--git-path", name)).exists():
            raise GitError(f"{what} is under way", fix="finish it, or undo it (git status says how)")
    where = ("--", f":(top,literal){place.path}")
    if repo.git.run("status", "--porcelain", "-z", "--untracked-files=no", *where):
        raise GitError(
            f"{place.path} has changes that are not committed",
            why="they would become a part of the commit",
            fix=f"commit them, or put them aside: git stash push -- {place.path}",
        )


def commit_files(repo: Repository, place: Place, files: Mapping[str, Entry | None], message: str, head: str) -> str:
    """Put files into worktree and index and commit just them, whatever else is staged. Returns the commit.

    When git, a hook or the user ends it, the files and the index are as before. Only a process that is killed between
    writing and committing leaves the files changed, as `git status` shows and `git restore` undoes.

    Args:
        files: path from the top folder to mode and bytes; `None` removes it.
        head: the commit that the files were made for.

    Raises:
        GitError: git or a hook refused, a file is in the way, or HEAD or the skill has changed meanwhile.
    """
    refuse_unready(repo, place)
    if repo.head() != head:
        raise GitError("HEAD moved while this command ran", fix="run the command again; nothing was changed")
    assert repo.top is not None
    known = set(repo.git.text("ls-files", "-z", "--", *map(_literal, files)).split("\0"))
    before = {path: _on_disk(repo.top, path, known=path in known) for path in files}
    new = [path for path, old in before.items() if old is None]
    try:
        for path, entry in files.items():
            _put(repo.top, path, None if entry is None else _checked_out(repo, path, entry, before[path]))
        if new:
            repo.git.run("add", "--intent-to-add", "--force", "--", *map(_literal, new))
        _commit(repo, list(files), message)
    except BaseException as error:
        if repo.head() != head:
            raise
        for path, old in before.items():
            _put(repo.top, path, old)
        if new:
            repo.git.run("rm", "--cached", "--quiet", "--force", "--ignore-unmatch", "--", *map(_literal, new))
        if isinstance(error, GitError):
            raise GitError(
                "nothing was committed, and all files are as before", why=f"{error.what}: {error.why}"
            ) from error
        raise
    return repo.commit("HEAD")


def _literal(path: str) -> str:
    return f":(top,literal){contained(path)}"


def _commit(repo: Repository, paths: Sequence[str], message: str) -> None:
    data = message.encode("utf-8", "surrogateescape")
    args = ("commit", "--quiet", "--only", "--cleanup=whitespace", "--file=-", "--", *map(_literal, paths))
    # git has a session of its own, so Ctrl-C ends only the wait: leaving the pool waits until git is done either way.
    with ThreadPoolExecutor(1, "commit") as pool:
        pool.submit(repo.git.run, *args, data=data, timeout=_HOOK_SECONDS).result()


def _on_disk(top: Path, path: str, *, known: bool) -> _File | None:
    """The file as it is on disk, `None` when there is none. Raises `GitError` unless that is as the index says."""
    file = top / path
    if any((top / part).is_symlink() for part in (path, *map(str, PurePosixPath(path).parents))):
        raise GitError(f"{path} is, or lies below, a symbolic link", fix="put the real folder there")
    if file.exists() != known or (known and not file.is_file()):
        why = "it is not checked out here" if known else "a file that git does not know is in its place"
        raise GitError(f"{path} cannot be written", why=why, fix=f"git status -- {path}")
    return _File(file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) if known else None


def _checked_out(repo: Repository, path: str, entry: Entry, old: _File | None) -> _File:
    """A file as a checkout would write it: with the line endings and filters of its attributes."""
    assert isinstance(entry.object, bytes)
    blob = repo.git.run("hash-object", "-w", "--stdin", data=entry.object).decode().strip()
    mode = (old or _File(b"")).mode
    runs = mode | (mode & 0o444) >> 2
    return _File(
        repo.git.run("cat-file", "--filters", f"--path={path}", blob),
        runs if entry.mode == "100755" else mode & ~0o111,
    )


def _put(top: Path, path: str, file: _File | None) -> None:
    """Write or remove one file in one step, with the folders that it needs or leaves empty."""
    place = top / path
    if file is None:
        place.unlink(missing_ok=True)
        for folder in place.parents:
            if folder == top or (folder.exists() and any(folder.iterdir())):
                return
            if folder.exists():
                folder.rmdir()
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".skillgit-", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(file.data)
        Path(name).chmod(file.mode)
        Path(name).replace(place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
