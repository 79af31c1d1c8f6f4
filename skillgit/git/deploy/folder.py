"""A folder on disk seen as git would store it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from skillgit.errors import GitError
from skillgit.git.history import listing
from skillgit.git.objects import Entry, object_id, tree_of
from skillgit.git.repository import Repository
from skillgit.git.skillstore import PROVENANCE

_OWN = (PROVENANCE, f"{PROVENANCE}.new")
DOCUMENT = "SKILL.md"

Listing = Mapping[str, Entry]
"""Path inside the folder to the mode and blob id of a file."""

LINK, _FOLDER, _STRANGE = "120000", "040000", "000000"
_MOST_FILES = 10_000
_BY_PRODUCT = re.compile(r"(^|/)(__pycache__/|\.DS_Store$)|\.pyc$")


def read_folder(repo: Repository, folder: Path, known: Listing) -> dict[str, Entry]:
    """The files below `folder`; links are not followed, and what running a skill leaves behind is left out.

    Args:
        known: the version it was made from; a by-product's name in it is no by-product, and where the system has
            no executable bit its modes count.

    Raises:
        GitError: there are too many files, or one cannot be read.
    """
    found: dict[str, Entry] = {}
    try:
        for path in _walk(folder):
            name = path.relative_to(folder).as_posix()
            if name not in _OWN and (name in known or not _BY_PRODUCT.search(name)):
                found[name] = _entry(repo, path, known.get(name))
            if len(found) > _MOST_FILES:
                raise GitError(f"{folder} holds more than {_MOST_FILES:,} files", fix="that is no skill; look into it")
    except OSError as error:
        raise GitError(f"cannot read {folder}", why=str(error)) from error
    return found


def _walk(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise error

    for here, folders, files in os.walk(folder, onerror=refuse):
        yield from (Path(here, name) for name in files)
        yield from (path for name in folders if (path := Path(here, name)).is_symlink())


def _entry(repo: Repository, path: Path, known: Entry | None) -> Entry:
    info = path.lstat()
    if stat.S_ISLNK(info.st_mode):
        return Entry(LINK, object_id(repo, "blob", os.fsencode(path.readlink())))
    if not stat.S_ISREG(info.st_mode):
        return Entry(_STRANGE, repo.zero)
    mode = "100755" if info.st_mode & stat.S_IXUSR else "100644"
    if os.name == "nt" and known is not None:
        mode = known.mode
    return Entry(mode, object_id(repo, "blob", path.read_bytes()))


def stored(repo: Repository, skill_object: str) -> dict[str, Entry] | None:
    """The files of a skill object, those of a bare file as a folder's; `None` when this clone has no such object."""
    kind = repo.git.run("cat-file", "--batch-check=%(objecttype)", data=f"{skill_object}\n".encode()).strip()
    if kind == b"blob":
        return {DOCUMENT: Entry("100644", skill_object)}
    if kind != b"tree":
        return None
    return {path: entry for path, entry in listing(repo, skill_object).items() if entry.mode != _FOLDER}


def identities(repo: Repository, files: Listing) -> set[str]:
    """The skill objects that a folder with these files can be: its tree, and its one file when there is one."""
    bare = {str(files[DOCUMENT].object)} if list(files) == [DOCUMENT] else set()
    return bare | {tree_of(repo, files)}


def changed(before: Listing, after: Listing) -> list[str]:
    """Paths at which two listings differ, sorted."""
    return sorted(path for path in {**before, **after} if before.get(path) != after.get(path))
