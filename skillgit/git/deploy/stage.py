"""Writing a folder beside its place and swapping it in: at every instant the old one or the new one is there."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skillgit.errors import GitError, NeedsPersonError
from skillgit.git.deploy.folder import Listing, identities, read_folder
from skillgit.git.deploy.swap import exchange
from skillgit.git.objects import contained, read_blobs
from skillgit.git.repository import Repository


def write_beside(repo: Repository, skill_object: str, files: Listing, folder: Path) -> Path:
    """Write a skill object's files into a new folder beside `folder`, and return it.

    Raises:
        GitError: what was written is not the skill object.
    """
    staged = _beside(repo, folder, "new")
    staged.mkdir()
    blobs = read_blobs(repo, [str(entry.object) for entry in files.values()])
    for (name, entry), data in zip(files.items(), blobs, strict=True):
        if data is None:
            raise GitError(f"{name} is missing from this clone", fix="git fetch --refetch")
        path = staged / contained(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if entry.mode == "100755":
            mode = stat.S_IMODE(path.stat().st_mode)
            path.chmod(mode | (mode & 0o444) >> 2)  # whoever may read may run
    if skill_object not in identities(repo, read_folder(repo, staged, files)):
        raise GitError(
            f"what was written beside {folder} is not {skill_object[:12]}, and was removed",
            why="the file system may not tell capitals from small letters, or not keep executable bits",
        )
    return staged


def swap_in(repo: Repository, staged: Path, folder: Path, found: Listing) -> None:
    """Put a written folder in its place and remove the old one.

    Args:
        found: the files that the old folder held when it was looked at.

    Raises:
        NeedsPersonError: the old folder changed meanwhile; it stays.
    """
    if not folder.exists() or not any(folder.iterdir()):
        # Where a folder cannot be renamed onto an empty one.
        if folder.exists():
            folder.rmdir()
        staged.rename(folder)
        return
    old = _exchange(staged, folder, _beside(repo, folder, "old"))
    if not _holds(repo, old, found):
        shutil.rmtree(_exchange(old, folder, staged))
        raise NeedsPersonError(f"{folder} changed while it was exported", fix="run the command again")
    shutil.rmtree(old, ignore_errors=True)


def _holds(repo: Repository, folder: Path, files: Listing) -> bool:
    """False for a folder that cannot be read, too: then it must stay."""
    try:
        return read_folder(repo, folder, files) == files
    except GitError:
        return False


@contextmanager
def cleared(repo: Repository, folder: Path) -> Iterator[None]:
    """Remove what a killed export left, and what fails inside: a full disk must not stay full."""
    _clear(repo, folder)
    try:
        yield
    except BaseException:
        _clear(repo, folder)
        raise


def _clear(repo: Repository, folder: Path) -> None:
    """Remove what lies beside a folder; where two cannot be swapped in one step, put the old one back."""
    old = _beside(repo, folder, "old")
    if old.is_dir() and not folder.exists():
        old.rename(folder)
    for left in (_beside(repo, folder, "new"), old):
        if left.is_dir():
            shutil.rmtree(left)


def _exchange(new: Path, folder: Path, spare: Path) -> Path:
    """Put `new` at `folder`; where the old folder is then."""
    if exchange(new, folder):
        return new
    folder.rename(spare)
    new.rename(folder)
    return spare


def _beside(repo: Repository, folder: Path, word: str) -> Path:
    """A name that agents do not read, of this repository's own: another one may be installing there too."""
    own = hashlib.sha256(os.fsencode(repo.common_dir)).hexdigest()[:8]
    return folder.with_name(f".{folder.name}.skillgit-{own}-{word}")
