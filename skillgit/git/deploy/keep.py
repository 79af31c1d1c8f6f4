"""Keeping local edits of an installed skill: a commit on a ref, before anything replaces them."""

from __future__ import annotations

from pathlib import Path

from skillgit.errors import GitError
from skillgit.git.deploy.folder import DOCUMENT, LINK, Listing
from skillgit.git.deploy.provenance import read_provenance
from skillgit.git.objects import Change, Commit, Entry, tree_of, write_commits
from skillgit.git.publish import Publication, RefUpdate, publish
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place

BACKUPS = "refs/skillgit/backups"


def backup_ref(repo: Repository, place: Place, found: Listing) -> str:
    """The ref that keeps a folder with these files."""
    return f"{BACKUPS}/{place.name}/{tree_of(repo, found)[:12]}"


def keep(repo: Repository, place: Place, folder: Path, found: Listing) -> None:
    """Commit a folder's files, at the ref for them, on top of the version it was exported from.

    `git cherry-pick REF` brings the edits into the repository. Edits that are kept already are not kept twice.

    Raises:
        GitError: something in the folder cannot be in a commit.
    """
    ref = backup_ref(repo, place, found)
    if repo.resolve(ref) is None:
        parent = _exported_from(repo, folder)
        changes = _changes(place, {name: _content(folder / name, entry) for name, entry in found.items()})
        message = f"skill({place.name}): keep local edits of an exported copy\n"
        (written,) = write_commits(repo, [Commit(message, (parent,) if parent else (), changes)])
        publish(repo, Publication(refs=[RefUpdate(ref, written.commit, None)]))


def _exported_from(repo: Repository, folder: Path) -> str | None:
    commit = (read_provenance(folder) or {}).get("commit")
    return repo.resolve(f"{commit}^{{commit}}") if commit else None


def _changes(place: Place, files: dict[str, Entry]) -> dict[str, Change]:
    """The skill replaced by these files, as a folder or as its one file; what it never had comes beside the file."""
    if place.path != place.document:
        return {place.path: None, **{f"{place.path}/{name}": entry for name, entry in files.items()}}
    beside = place.path.removesuffix(".md")
    paths = {name: place.path if name == DOCUMENT else f"{beside}/{name}" for name in files}
    return {place.path: None, **{paths[name]: entry for name, entry in files.items()}}


def _content(path: Path, entry: Entry) -> Entry:
    if entry.mode == LINK:
        return Entry(LINK, str(path.readlink()).encode("utf-8", "surrogateescape"))
    if not path.is_file():
        raise GitError(f"{path} is neither file nor folder", fix="move it away, then export again")
    return Entry(entry.mode, path.read_bytes())
