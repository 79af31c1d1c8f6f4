"""Reading and writing git objects without index, working tree or refs."""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from skillgit.errors import GitError
from skillgit.git.repository import Repository

# fast-import needs a ref to build a commit on. The stream ends by resetting it to nothing, so the ref never exists.
_SCRATCH = "refs/skillgit/scratch"
_FOLDER = "040000"


@dataclass(frozen=True)
class Entry:
    """What a tree holds at one path: a mode (`100755`), and the id of an existing object or a new file's bytes."""

    mode: str
    object: str | bytes


Change = bytes | str | Entry | None
"""A path's new content: file bytes, the id of an existing tree, an entry as it is, or `None` to remove it."""


@dataclass(frozen=True)
class Commit:
    """A commit to be written: `changes` applied to the tree of the first parent."""

    message: str
    parents: tuple[str, ...] = ()
    changes: Mapping[str, Change] = field(default_factory=dict)


@dataclass(frozen=True)
class Written:
    """Ids of a written commit and of the paths asked about."""

    commit: str
    at: Mapping[str, str]


def write_commits(repo: Repository, commits: Sequence[Commit], watch: Sequence[str] = ()) -> list[Written]:
    """Write commits (and their trees and blobs) in one process; no ref moves.

    Args:
        watch: paths whose object id in each commit is wanted.
    """
    author, committer = repo.identity("AUTHOR"), repo.identity("COMMITTER")
    stream = bytearray(b"feature done\n")
    for commit in commits:
        stream += _commit_stream(commit, author, committer, watch)
    stream += b"reset %s\nfrom %s\n\ndone\n" % (_SCRATCH.encode(), repo.zero.encode())
    told = repo.git.run("fast-import", "--quiet", "--force", data=bytes(stream)).decode("utf-8", "replace")
    lines = told.removesuffix("\n").split("\n")
    size = len(watch) + 1
    return [_written(lines[n : n + size], watch) for n in range(0, len(lines), size)]


def _commit_stream(commit: Commit, author: str, committer: str, watch: Sequence[str]) -> bytes:
    message = commit.message.encode("utf-8", "surrogateescape")
    # A reset to nothing makes the next commit a root; with a parent, `from` sets the tree to start from.
    out = bytearray()
    if not commit.parents:
        out += f"reset {_SCRATCH}\n\n".encode()
    people = f"author {author}\ncommitter {committer}\n".encode("utf-8", "surrogateescape")
    out += f"commit {_SCRATCH}\nmark :1\n".encode() + people
    out += b"data %d\n%s\n" % (len(message), message)
    for word, parent in zip(("from", *["merge"] * len(commit.parents)), commit.parents, strict=False):
        out += f"{word} {parent}\n".encode()
    for path, change in commit.changes.items():
        out += _change_stream(path, change)
    out += b"\nget-mark :1\n"
    for path in watch:
        out += b"ls :1 %s\n" % _quote(path)
    return bytes(out)


def _change_stream(path: str, change: Change) -> bytes:
    if change is None:
        return b"D %s\n" % _quote(path)
    if isinstance(change, str):
        change = Entry(_FOLDER, change)
    if isinstance(change, bytes):
        change = Entry("100644", change)
    mode, content = change.mode.encode(), change.object
    if isinstance(content, str):
        return b"M %s %s %s\n" % (mode, content.encode(), _quote(path))
    return b"M %s inline %s\ndata %d\n%s\n" % (mode, _quote(path), len(content), content)


def _quote(path: str) -> bytes:
    contained(path)
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"%s"' % escaped.encode("utf-8", "surrogateescape")


def contained(path: str) -> str:
    """`path` itself, when it stays inside its tree. Raises `GitError` otherwise."""
    if not inside(path):
        raise GitError(f"path {path!r} is not inside the repository")
    return path


def inside(path: str) -> bool:
    """True for the plain name of something in a tree: relative, without `.`, `..`, `.git` or doubled slashes."""
    outside = {".git", ".", ".."} & {part.lower() for part in path.split("/")}
    return not (outside or path.startswith("/") or "\0" in path or posixpath.normpath(path) != path)


def _written(lines: list[str], watch: Sequence[str]) -> Written:
    found = {}
    for path, line in zip(watch, lines[1:], strict=True):
        if not line.startswith("missing "):
            found[path] = line.split(" ", 2)[2].split("\t", 1)[0]
    return Written(lines[0], found)


def read_blob(repo: Repository, revision: str) -> bytes | None:
    """Bytes of one blob (`main:skills/x/SKILL.md` or an id), or `None` when there is none."""
    return read_blobs(repo, [revision])[0]


def read_blobs(repo: Repository, revisions: Sequence[str]) -> list[bytes | None]:
    """Bytes of many blobs in one process; `None` for each that does not exist or is no blob."""
    if not revisions:
        return []
    out = repo.git.run("cat-file", "--batch", "--buffer", data=_questions(revisions))
    names = [revision.encode("utf-8", "surrogateescape") for revision in revisions]
    blobs: list[bytes | None] = []
    at = 0
    for name in names:
        end = out.index(b"\n", at)
        header = out[at:end]
        words = header.split(b" ")
        at = end + 1
        if len(words) < 3 or header == name + b" missing" or not words[-1].isdigit():
            blobs.append(None)
            continue
        size = int(words[-1])
        blobs.append(out[at : at + size] if words[-2] == b"blob" else None)
        at += size + 1
    return blobs


def list_tree(repo: Repository, treeish: str) -> dict[str, str]:
    """Path to blob id of every file below a tree, subfolders included."""
    out = repo.git.run("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", treeish)
    entries = {}
    for entry in out.decode("utf-8", "surrogateescape").split("\0"):
        if entry:
            meta, path = entry.split("\t", 1)
            entries[path] = meta.split(" ")[2]
    return entries


def object_id(repo: Repository, kind: str, data: bytes) -> str:
    """The id git gives an object of `kind` (`blob`, `tree`) with this content, in this repository's object format."""
    name = "sha256" if len(repo.zero) == 64 else "sha1"
    return hashlib.new(name, b"%s %d\0" % (kind.encode(), len(data)) + data, usedforsecurity=False).hexdigest()


@lru_cache(maxsize=256)
def tree_entries(repo: Repository, tree: str) -> Mapping[str, Entry]:
    """Name to entry of one folder, in git's order."""
    out = repo.git.run("ls-tree", "-z", "--full-tree", "--end-of-options", tree).decode("utf-8", "surrogateescape")
    rows = [row.split("\t", 1) for row in out.split("\0") if row]
    return {name: Entry(meta.split(" ")[0], meta.split(" ")[2]) for meta, name in rows}


def tree_id(repo: Repository, entries: Mapping[str, Entry]) -> str:
    """The id of the tree that holds these entries, given in git's order."""
    data = bytearray()
    for name, entry in entries.items():
        assert isinstance(entry.object, str)
        data += f"{entry.mode.lstrip('0')} {name}\0".encode("utf-8", "surrogateescape") + bytes.fromhex(entry.object)
    return object_id(repo, "tree", bytes(data))


def tree_of(repo: Repository, files: Mapping[str, Entry]) -> str:
    """The id of the tree that git would make of these files; each has its path in it and the id of an object."""
    entries: dict[str, Entry] = {}
    below: dict[str, dict[str, Entry]] = {}
    for path, entry in files.items():
        name, _, rest = path.partition("/")
        if rest:
            below.setdefault(name, {})[rest] = entry
        else:
            entries[name] = entry
    entries |= {name: Entry(_FOLDER, tree_of(repo, inner)) for name, inner in below.items()}
    # git sorts a folder as if its name ended with a slash.
    ordered = sorted(entries, key=lambda name: os.fsencode(f"{name}/" if name in below else name))
    return tree_id(repo, {name: entries[name] for name in ordered})


def resolve_many(repo: Repository, revisions: Sequence[str]) -> list[str | None]:
    """Object id of each revision in one process; `None` for each that does not exist."""
    if not revisions:
        return []
    out = repo.git.run("cat-file", "--buffer", "--batch-check=%(objectname)", data=_questions(revisions))
    lines = out.removesuffix(b"\n").split(b"\n")
    return [None if line.endswith((b" missing", b" ambiguous")) else line.decode() for line in lines]


def _questions(revisions: Sequence[str]) -> bytes:
    """One line per revision, as `cat-file` takes them; it drops a carriage return at a line's end."""
    if any("\n" in revision or revision.endswith("\r") for revision in revisions):
        raise GitError("a path with a line break cannot be read")
    try:
        return "".join(f"{revision}\n" for revision in revisions).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise GitError("a path that is no text cannot be read") from error
