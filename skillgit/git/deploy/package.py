"""A version of a skill as something to install: its folder's name, its files, and what stands in their way."""

from __future__ import annotations

import os
from dataclasses import dataclass

from skillgit.errors import GitError
from skillgit.git.deploy.folder import Listing, stored
from skillgit.git.objects import inside
from skillgit.git.repository import Repository
from skillgit.git.skillstore import PROVENANCE, Place

_MODES = {"120000": "a symbolic link", "160000": "a submodule"}
_SHOWN = 8


@dataclass(frozen=True)
class Package:
    """A version of a skill, as it is to be installed.

    Attributes:
        place: the skill in the repository.
        name: what its folder is called: the frontmatter's `name`.
        object, commit: the version; `revision` is how it was asked for.
        val: its gate score on val, when it was measured completely.
    """

    place: Place
    name: str
    object: str
    commit: str
    revision: str
    val: float | None = None


def files_of(repo: Repository, package: Package) -> Listing:
    """The version's files. Raises `GitError` for what cannot be installed."""
    files = stored(repo, package.object)
    if not files:
        raise GitError(f"{package.object} is no skill object in this repository", fix="git fetch")
    for name, entry in files.items():
        why = _MODES.get(entry.mode, "" if entry.mode in ("100644", "100755") else f"of mode {entry.mode}")
        if not inside(name) or (os.name == "nt" and set(name) & set("\\:")):
            why = "no name for a file here"
        elif name.casefold() == PROVENANCE:
            why = "the name that skillgit keeps for itself"
        if why:
            raise GitError(f"{shown([f'{package.place.path}/{name}'])} is {why}", fix="take it out of the skill")
    return files


def shown(names: list[str]) -> str:
    """File names for a message: without control characters, and not too many."""
    safe = ["".join(c if c.isprintable() else "�" for c in name) for name in names[:_SHOWN]]
    more = len(names) - _SHOWN
    return ", ".join(safe) + (f" and {more} more" if more > 0 else "")
