"""Installing a version of a skill into a folder: checked against its object id, and never over anyone's work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from skillgit.errors import ConfigError, GitError, NeedsPersonError
from skillgit.git.deploy.folder import Listing, changed, identities, read_folder, stored
from skillgit.git.deploy.keep import backup_ref, keep
from skillgit.git.deploy.package import Package, files_of, shown
from skillgit.git.deploy.provenance import read_provenance, write_provenance
from skillgit.git.deploy.stage import cleared, swap_in, write_beside
from skillgit.git.objects import contained
from skillgit.git.repository import Repository


@dataclass(frozen=True)
class Target:
    """A folder to install into: `path` below `base`. No part of `path` may be a symbolic link; `base` may."""

    base: Path
    path: str

    @classmethod
    def at(cls, given: Path, name: str = "") -> Target:
        """A folder as a person names it; with a name, the folder of that name in it unless it is that one already."""
        # The last part is not resolved: that it is a link must be seen.
        folder = given if given.name not in ("", "..") else given.resolve()
        parts = [folder.name] if name in ("", folder.name) else [folder.name, name]
        return cls(folder.parent.resolve(), "/".join(part for part in parts if part))

    @property
    def folder(self) -> Path:
        return self.base / contained(self.path)


@dataclass(frozen=True)
class Outcome:
    """What was done, or would be.

    Attributes:
        action: `installed`, `updated`, `adopted` (the folder held this very version without saying so) or `unchanged`.
        files: paths of the version's files inside the folder.
        replaced: the skill object that was there.
        backup: the ref that keeps what was replaced, when it was edited or not in this clone.
    """

    action: str
    folder: Path
    files: tuple[str, ...]
    replaced: str | None = None
    backup: str | None = None


def install(
    repo: Repository, package: Package, target: Target, *, force: bool = False, dry_run: bool = False
) -> Outcome:
    """Make a folder hold a version of a skill, with a file that says which one it is.

    The folder is written beside its place, compared with the skill object, and swapped in. A kill at any instant
    leaves the old folder or the new one; what else it leaves is cleared away by the next call. A failure leaves
    nothing.

    Args:
        force: replace a folder that was edited since, or whose version is not in this clone; it is first committed to
            a ref.

    Raises:
        NeedsPersonError: the folder was edited, or not installed by skillgit, or holds a version of elsewhere.
        GitError: the version cannot be a folder here, or what was written is not the version.
    """
    files = files_of(repo, package)
    folder = target.folder
    _refuse_source(repo, package, folder)
    with _told(folder):
        _refuse_blocked(target)
        if dry_run:
            return _inspect(repo, package, files, target, force=force)[0]
        with repo.lock("export"), cleared(repo, folder):
            return _install(repo, package, files, target, force=force)


def _install(repo: Repository, package: Package, files: Listing, target: Target, *, force: bool) -> Outcome:
    folder = target.folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    outcome, found = _inspect(repo, package, files, target, force=force)
    if outcome.action == "adopted":
        write_provenance(repo, package, folder)
    if outcome.action not in ("installed", "updated"):
        return outcome
    if outcome.backup:
        keep(repo, package.place, folder, found)
    staged = write_beside(repo, package.object, files, folder)
    write_provenance(repo, package, staged)
    swap_in(repo, staged, folder, found)
    return outcome


def _inspect(
    repo: Repository, package: Package, files: Listing, target: Target, *, force: bool
) -> tuple[Outcome, Listing]:
    """What installing means for the folder as it is now, and the files in it."""
    _refuse_blocked(target)
    folder = target.folder
    outcome = Outcome("installed", folder, tuple(files))
    if not folder.exists():
        return outcome, {}
    mark = read_provenance(folder)
    before = stored(repo, mark["object"]) if mark else None
    found = read_folder(repo, folder, {**files, **(before or {})})
    if package.object in identities(repo, found):
        same = mark is not None and mark["object"] == package.object
        return replace(outcome, action="unchanged" if same else "adopted", replaced=package.object), found
    if mark is None and not any(folder.iterdir()):
        return outcome, {}
    if mark is None:
        raise _foreign(folder, changed(files, found))
    edited = mark["object"] not in identities(repo, found)
    if edited and not force:
        raise _edited(folder, changed(before, found) if before is not None else [])
    if before is None and not force:
        raise _unknown(folder, str(mark.get("remote") or "a repository without a remote"))
    backup = backup_ref(repo, package.place, found) if edited or before is None else None
    return replace(outcome, action="updated", replaced=mark["object"], backup=backup), found


def _foreign(folder: Path, differing: list[str]) -> NeedsPersonError:
    return NeedsPersonError(
        f"{folder} exists and was not exported by skillgit",
        why=f"it would change: {shown(differing)}",
        fix=f"move it away (mv {folder} ELSEWHERE), or export somewhere else with --to",
    )


def _edited(folder: Path, names: list[str]) -> NeedsPersonError:
    return NeedsPersonError(
        f"{folder} was edited since it was exported" + (f": {shown(names)}" if names else ""),
        why="exporting would replace the edits",
        fix="export again with --force: the edits are first committed to a ref of this repository",
    )


def _unknown(folder: Path, remote: str) -> NeedsPersonError:
    return NeedsPersonError(
        f"{folder} holds a version that this clone does not have",
        why=f"it was exported from {shown([remote])}",
        fix="git fetch, then export again; or add --force: the version is first committed to a ref of this repository",
    )


def _refuse_blocked(target: Target) -> None:
    place = target.base
    for part in contained(target.path).split("/"):
        place = place / part
        if place.is_symlink():
            raise GitError(
                f"{place} is a symbolic link",
                why="skillgit writes through no link",
                fix="name the folder it points to with --to",
            )
        if place.exists() and not place.is_dir():
            raise GitError(f"{place} is a file", fix="move it away, or export somewhere else with --to")


def _refuse_source(repo: Repository, package: Package, folder: Path) -> None:
    source, full = (repo.top or repo.common_dir) / package.place.path, folder.resolve()
    if repo.top and (full.is_relative_to(source.resolve()) or source.resolve().is_relative_to(full)):
        raise ConfigError(f"{folder} is where the skill itself lies", fix="export somewhere else")


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        fix = "make room or permit writing there, or export somewhere else with --to"
        raise GitError(f"cannot write {folder}", why=str(error), fix=fix) from error
