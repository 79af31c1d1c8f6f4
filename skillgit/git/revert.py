"""The inverse of one commit to a skill on top of HEAD, worked out before anything is touched."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skillgit.errors import ConfigError, GitError, SkillError
from skillgit.git import history
from skillgit.git.deploy.folder import Listing, stored
from skillgit.git.lineage import brought
from skillgit.git.mergefile import merge_file
from skillgit.git.objects import Entry, object_id, read_blobs, tree_of
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place
from skillgit.skills.document import Document
from skillgit.skills.merge.documents import NotUnderstoodError, merge

_FILES = ("100644", "100755")
_MARKER = 7  # characters of a conflict marker, as git has it


@dataclass(frozen=True)
class Sides:
    """One file in the commit to undo, in HEAD, and in that commit's parent; `None` where there is none."""

    base: Entry | None
    ours: Entry | None
    theirs: Entry | None


@dataclass(frozen=True)
class Conflict:
    """A file that a person has to settle: why, and the merged text with markers when there is one."""

    path: str
    why: str
    text: str = ""


@dataclass(frozen=True)
class Inverse:
    """What undoing a commit would do.

    Attributes:
        commit: the commit to undo; `subject` is its own.
        head: the commit it would be undone on.
        object: the skill object that would result; that of HEAD when there is nothing to do.
        before: path to bytes in HEAD of the files that would change, `None` where there is none.
        after: path to mode and bytes they would have; `None` removes a file.
    """

    place: Place
    commit: str
    subject: str
    head: str
    head_object: str
    object: str
    before: Mapping[str, bytes | None]
    after: Mapping[str, Entry | None]
    conflicts: tuple[Conflict, ...] = ()


def invert(repo: Repository, place: Place, commit: str) -> Inverse:
    """Undo a commit on top of HEAD by a three-way merge of each file it changed. Writes nothing.

    Raises:
        ConfigError: it is a merge, or the commit that created the skill.
        GitError: it did not change the skill, or HEAD has no such skill.
    """
    head = repo.commit("HEAD")
    head_object = repo.resolve(f"{head}:{place.path}")
    if head_object is None:
        raise GitError(f"HEAD holds no {place.path}", fix="switch to a branch that has the skill")
    parent = _parent(repo, place, commit)
    before: dict[str, bytes | None] = {}
    after: dict[str, Entry | None] = {}
    conflicts = []
    for path, sides in _changed(repo, place, parent, commit, head).items():
        if sides.ours == sides.theirs:
            continue
        merged = _merge(repo, path, sides)
        if isinstance(merged, Conflict):
            conflicts.append(merged)
        elif _identity(repo, merged) != sides.ours:
            before[path] = _bytes(repo, [sides.ours])[0]
            after[path] = merged
    if conflicts and _undone(repo, commit, head):
        # What stands in its place by now is not the commit's any more.
        before, after, conflicts = {}, {}, []
    subject = history.messages(repo, [commit])[commit].subject
    found = _resulting(repo, place, head_object, after)
    return Inverse(place, commit, subject, head, head_object, found, before, after, tuple(conflicts))


def _undone(repo: Repository, commit: str, head: str) -> bool:
    """True when a later commit says that it reverts this one, and none says that it reverts that."""
    says = ("--fixed-strings", f"--grep=This reverts commit {commit}", f"{commit}..{head}")
    return any(not _undone(repo, later, head) for later in repo.git.text("rev-list", *says).split())


def _parent(repo: Repository, place: Place, commit: str) -> str:
    parents = history.parents(repo, commit)
    if len(parents) > 1:
        lessons = [name[:12] for name in brought(repo, place, commit)]
        raise ConfigError(
            f"{commit[:12]} is a merge",
            why=f"it brought {', '.join(lessons)}" if lessons else "it brought no commit to the skill",
            fix=f"undo one of them: skillgit revert {lessons[0] if lessons else 'COMMIT'} {place.name}",
        )
    if parents and (source := history.renames(repo, parents[0], commit).get(place.document)):
        raise ConfigError(
            f"{commit[:12]} renamed the skill",
            why=f"from {source} to {place.document}",
            fix=f"git revert {commit[:12]}",
        )
    if not parents or repo.resolve(f"{parents[0]}:{place.document}") is None:
        raise ConfigError(
            f"{commit[:12]} created the skill, so there is nothing to go back to", fix=f"git rm -r {place.path}"
        )
    return parents[0]


def _changed(repo: Repository, place: Place, parent: str, commit: str, head: str) -> dict[str, Sides]:
    """Path to the three versions of each file of the skill that the commit changed."""
    where = ("--", f":(top,literal){place.path}")
    out = repo.git.text("diff-tree", "-r", "-z", "--no-renames", "--no-commit-id", parent, commit, *where)
    fields = out.split("\0")[:-1]
    rows = {path: row.removeprefix(":").split(" ") for row, path in zip(fields[::2], fields[1::2], strict=True)}
    if not rows:
        raise GitError(f"{commit[:12]} did not change {place.path}", fix=f"skillgit log {place.name}")
    now = _entries(repo, head, place)
    return {path: Sides(_entry(row[1], row[3]), now.get(path), _entry(row[0], row[2])) for path, row in rows.items()}


def _entries(repo: Repository, commit: str, place: Place) -> dict[str, Entry]:
    out = repo.git.text("ls-tree", "-r", "-z", "--full-tree", commit, "--", place.path)
    rows = [row.split("\t", 1) for row in out.split("\0") if row]
    return {path: Entry(meta.split(" ")[0], meta.split(" ")[2]) for meta, path in rows}


def _entry(mode: str, name: str) -> Entry | None:
    return Entry(mode, name) if mode.strip("0") else None


def _merge(repo: Repository, path: str, sides: Sides) -> Entry | Conflict | None:
    """The file after undoing, or why a person is needed."""
    present = [side for side in (sides.base, sides.ours, sides.theirs) if side is not None]
    if any(side.mode not in _FILES for side in present):
        return Conflict(path, "it is, or was, a link or a submodule")
    if sides.ours == sides.base:
        data = _bytes(repo, [sides.theirs])[0]
        return None if sides.theirs is None or data is None else Entry(sides.theirs.mode, data)
    if sides.base is None or sides.ours is None or sides.theirs is None:
        return Conflict(path, "it was added or removed by one side and changed by the other")
    mode = sides.theirs.mode if sides.ours.mode == sides.base.mode else sides.ours.mode
    base, ours, theirs = (data or b"" for data in _bytes(repo, [sides.base, sides.ours, sides.theirs]))
    if any(b"\0" in data for data in (base, ours, theirs)):
        return Conflict(path, "it is binary and has changed since")
    text, clean = merge_text(path, (base, ours, theirs))
    if not clean:
        return Conflict(path, "later edits touched the same lines", text.decode("utf-8", "replace"))
    return Entry(mode, text)


def merge_text(path: str, sides: tuple[bytes, bytes, bytes]) -> tuple[bytes, bool]:
    """Base, ours and theirs merged, and whether there was no conflict: rule by rule, or else line by line."""
    if path.lower().endswith(".md"):
        try:
            base, ours, theirs = (Document.parse(side) for side in sides)
            merged = merge(base, ours, theirs)
        except (NotUnderstoodError, SkillError):
            return _merge_lines(*sides)
        return merged.text.encode("utf-8"), not merged.conflicts
    return _merge_lines(*sides)


def _merge_lines(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bool]:
    with tempfile.TemporaryDirectory(prefix="skillgit-") as folder:
        files = [Path(folder, name) for name in ("base", "ours", "theirs")]
        for file, data in zip(files, (base, ours, theirs), strict=True):
            file.write_bytes(data)
        clean = merge_file(files[0], files[1], files[2], _MARKER)
        return files[1].read_bytes(), clean


def _bytes(repo: Repository, entries: list[Entry | None]) -> list[bytes | None]:
    names = [str(entry.object) for entry in entries if entry]
    found = iter(read_blobs(repo, names))
    return [next(found) if entry else None for entry in entries]


def _identity(repo: Repository, entry: Entry | None) -> Entry | None:
    """An entry with bytes as one with the id that they will have."""
    if entry is None or isinstance(entry.object, str):
        return entry
    return Entry(entry.mode, object_id(repo, "blob", entry.object))


def _resulting(repo: Repository, place: Place, head_object: str, after: Mapping[str, Entry | None]) -> str:
    """The skill object with some files changed."""
    new = {path: _identity(repo, entry) for path, entry in after.items()}
    if place.path == place.document:
        entry = new.get(place.path)
        return str(entry.object) if entry else head_object
    files: Listing = stored(repo, head_object) or {}
    inner = {path.removeprefix(f"{place.path}/"): entry for path, entry in new.items()}
    return tree_of(repo, {path: entry for path, entry in {**files, **inner}.items() if entry is not None})
