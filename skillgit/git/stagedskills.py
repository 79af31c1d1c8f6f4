"""Skills as they are staged: the index's own bytes, and the documents that they are compared with."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillgit.errors import GitError, SkillError
from skillgit.git.hooks.indexed import Env, changed
from skillgit.git.objects import Entry, read_blobs, resolve_many, tree_of
from skillgit.git.repository import Repository
from skillgit.git.skillfiles import printable
from skillgit.skills.document import Document
from skillgit.skills.lint.case import MAIN, Before, Skill, SkillFile

_LARGEST = 1_000_000
_LINK, _MODULE = "120000", "160000"

Index = Mapping[str, Entry]
"""Path from the top to what is staged there."""


@dataclass(frozen=True)
class Staged:
    """One staged skill.

    Attributes:
        object: the id that its folder will have in the commit.
    """

    skill: Skill
    before: Before
    object: str


def staged_skills(repo: Repository, cwd: Path, paths: Sequence[str], env: Env) -> list[Staged]:
    """The skills with staged changes, or those that hold `paths`.

    Args:
        paths: as seen from `cwd`; they may be gone from the working tree.
        env: names the index; see `index_env`.

    Raises:
        GitError: a bare repository.
    """
    if repo.top is None:
        raise GitError("a bare repository has no index", fix="run it in a worktree")
    entries = _read_index(repo, env)
    touched = changed(repo, env)
    folders = {posixpath.dirname(path) for path in (*entries, *touched) if _is_main(path)}
    given = [_from_top(repo.top, cwd, path) for path in paths]
    owners = {_owner(path, folders) for path in given or touched}
    if given:
        owners |= {folder for folder in folders for path in given if _is_below(folder, path)}
    places = [_Place.of(folder, entries, folders) for folder in sorted(owner for owner in owners if owner is not None)]
    places = [place for place in places if place.mine]  # none is left of a skill that is removed
    data = _contents(repo, {place.prefix + path: entry for place in places for path, entry in place.read.items()})
    before = _before(repo, [place.prefix + place.main for place in places])
    return [
        Staged(_skill(repo.top, cwd, place, data), before[place.prefix + place.main], tree_of(repo, place.mine))
        for place in places
    ]


@dataclass(frozen=True)
class _Place:
    """A skill folder in the index.

    Attributes:
        prefix: the folder with a slash, or nothing at the top.
        mine: all entries below, seen from the folder; `read`: those that are not of a skill inside this one.
    """

    prefix: str
    mine: Index
    read: Index

    @classmethod
    def of(cls, folder: str, index: Index, folders: Iterable[str]) -> _Place:
        prefix = f"{folder}/" if folder else ""
        mine = {path.removeprefix(prefix): entry for path, entry in index.items() if path.startswith(prefix)}
        others = (other for other in folders if other != folder and other.startswith(prefix))
        nested = tuple(f"{other.removeprefix(prefix)}/" for other in others)
        return cls(prefix, mine, {path: entry for path, entry in mine.items() if not path.startswith(nested)})

    @property
    def main(self) -> str:
        """SKILL.md in the spelling that is staged."""
        return next((path for path in sorted(self.read) if path.lower() == MAIN.lower()), MAIN)


def _read_index(repo: Repository, env: Env) -> dict[str, Entry]:
    listing = repo.git.run("ls-files", "--stage", "-z", env=env).decode("utf-8", "surrogateescape")
    rows = [row.split("\t", 1) for row in listing.split("\0") if row]
    return {path: Entry(meta.split(" ")[0], meta.split(" ")[1]) for meta, path in rows if meta.endswith(" 0")}


def _is_main(path: str) -> bool:
    return posixpath.basename(path).lower() == MAIN.lower()


def _from_top(top: Path, cwd: Path, path: str) -> str:
    # Folders on the way may be reached by links; the last name is what is staged, even of a link.
    folder, name = os.path.split(os.path.normpath(cwd.absolute() / path))
    return Path(os.path.relpath(Path(os.path.realpath(folder), name), top)).as_posix()


def _is_below(folder: str, path: str) -> bool:
    return path == "." or folder == path or folder.startswith(f"{path}/")


def _owner(path: str, folders: Iterable[str]) -> str | None:
    """The nearest skill folder that holds `path`."""
    while path:
        path = posixpath.dirname(path)
        if path in folders:
            return path
    return None


def _skill(top: Path, cwd: Path, place: _Place, data: Mapping[str, bytes | None]) -> Skill:
    folder = top / place.prefix.removesuffix("/")
    shown = Path(os.path.relpath(folder, cwd)).as_posix()
    files = tuple(_file(path, place.mine[path], data.get(place.prefix + path)) for path in sorted(place.mine))
    return Skill("" if shown == "." else printable(shown), printable(folder.name), files, named=bool(place.prefix))


def _file(path: str, entry: Entry, data: bytes | None) -> SkillFile:
    if entry.mode == _LINK:
        return SkillFile(printable(path), link=(data or b"").decode("utf-8", "replace"))
    return SkillFile(printable(path), data)


def _contents(repo: Repository, entries: Index) -> dict[str, bytes | None]:
    """Bytes of the files that are not large."""
    names = {path: str(entry.object) for path, entry in entries.items() if entry.mode != _MODULE}
    asked = "".join(f"{name}\n" for name in names.values()).encode()
    sizes = repo.git.run("cat-file", "--batch-check=%(objectsize)", data=asked).split()
    small = [path for path, size in zip(names, sizes, strict=True) if int(size) <= _LARGEST]
    return dict(zip(small, read_blobs(repo, [names[path] for path in small]), strict=True))


def _before(repo: Repository, mains: Sequence[str]) -> dict[str, Before]:
    """For each SKILL.md what it was in HEAD and in every commit that is being merged, picked or reverted."""
    readable = [main for main in mains if "\n" not in main and not main.endswith("\r")]
    parents = _parents(repo)
    blobs = read_blobs(repo, [f"{parent}:{main}" for main in readable for parent in parents])
    docs = [_document(blob) for blob in blobs]
    out = {main: Before() for main in mains}
    for number, main in enumerate(readable):
        mine = docs[number * len(parents) : (number + 1) * len(parents)]
        out[main] = Before(mine[0] if mine else None, tuple(doc for doc in mine if doc))
    return out


def _parents(repo: Repository) -> list[str]:
    """HEAD first; none before the first commit. What is reverted counts with the commit before it."""
    names = ("HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REVERT_HEAD^")
    head, *others = resolve_many(repo, names)
    if head is None:
        return []
    found = [head, *(name for name in others if name)]
    if others[0]:
        # A merge of several branches names them all in this file.
        file = Path(repo.git.text("rev-parse", "--path-format=absolute", "--git-path", "MERGE_HEAD"))
        found += file.read_text(encoding="utf-8").split()
    return list(dict.fromkeys(found))


def _document(blob: bytes | None) -> Document | None:
    try:
        return None if blob is None else Document.parse(blob)
    except SkillError:
        return None  # what was no text has no region to keep
