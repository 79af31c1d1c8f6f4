"""Rewriting whole notes, and what commits changed: for renderings and repairs, which take lines away too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from skillgit.errors import GitError
from skillgit.git import notes
from skillgit.git.objects import Change, Commit, read_blobs, write_commits
from skillgit.git.publish import RefUpdate, transact
from skillgit.git.repository import Repository

Lines = Mapping[str, Sequence[str]]
"""Object id to all lines of its note; no lines remove the note."""


def rewrite(repo: Repository, message: str, plan: Callable[[], Mapping[str, Lines]]) -> None:
    """Replace notes, all refs in one transaction. `plan` gives the new notes per ref, and is asked under the lock.

    Raises:
        RefConflictError: other writers kept moving the refs.
    """
    transact(repo, lambda: moves(repo, message, plan()))


def moves(repo: Repository, message: str, changed: Mapping[str, Lines]) -> list[RefUpdate]:
    """Write commits that replace notes, and the moves that make them visible."""
    tips = repo.refs(*changed) if changed else {}
    drafts = {ref: _draft(repo, message, tips.get(ref), lines) for ref, lines in changed.items() if lines}
    if not drafts:
        return []
    written = write_commits(repo, list(drafts.values()))
    return [RefUpdate(ref, new.commit, tips.get(ref)) for ref, new in zip(drafts, written, strict=True)]


def _draft(repo: Repository, message: str, tip: str | None, lines: Lines) -> Commit:
    table = notes.table(repo, tip) if tip else {}
    changes: dict[str, Change] = {}
    for name, kept in lines.items():
        first, *others = table.get(name) or [f"{name[:2]}/{name[2:]}"]
        changes |= {first: notes.encode(kept) if kept else None, **dict.fromkeys(others)}
    return Commit(f"{message}\n", (tip,) if tip else (), changes)


def read_all(repo: Repository, revision: str | None) -> dict[str, list[str]]:
    """Lines of every note of a note ref or commit; none when it does not exist."""
    table = notes.table(repo, revision) if revision else {}
    lines = notes.contents(repo, [blob for paths in table.values() for blob in paths.values()])
    return {name: notes.joined([lines[blob] for blob in paths.values()]) for name, paths in table.items()}


def read_texts(repo: Repository, revision: str | None) -> dict[str, bytes]:
    """The notes of a ref or commit as they are; a note that git left at two depths as one text."""
    table = notes.table(repo, revision) if revision else {}
    places = [(name, blob) for name, paths in table.items() for blob in paths.values()]
    found: dict[str, bytes] = {}
    for (name, _), blob in zip(places, read_blobs(repo, [blob for _, blob in places]), strict=True):
        found[name] = (found[name].rstrip(b"\n") + b"\n" if name in found else b"") + (blob or b"")
    return found


def unreachable(repo: Repository, ref: str) -> list[str]:
    """Objects with a note in `ref` that no ref leads to: the note is kept, and what it tells of may be pruned."""
    table = notes.table(repo, ref) if repo.refs(ref) else {}
    if not table:
        return []
    out = repo.git.run("rev-list", "--objects", "--no-object-names", "--all", timeout=600)
    held = set(out.decode().split("\n"))
    return [name for name in table if name not in held]


def commits_of(repo: Repository, revisions: Sequence[str]) -> list[str]:
    """Commits of revisions and ranges, as `git log` takes them; by default the history of HEAD and of every branch.

    Raises:
        GitError: nothing is called so.
    """
    given = ["--end-of-options", *revisions] if revisions else ["--branches", *(["HEAD"] if repo.head() else [])]
    try:
        return repo.git.run("rev-list", *given, "--", timeout=600).decode().split()
    except GitError as error:
        fix = "git log --oneline --all shows what there is"
        raise GitError(f"no commits are called {' '.join(revisions)!r}", why=error.why, fix=fix) from error


def changed_objects(repo: Repository, commits: Sequence[str]) -> dict[str, list[str]]:
    """Commit id to the ids of all files and folders it changed, as they are after it.

    Of a merge, only what differs from every parent.
    """
    how = ("--stdin", "-r", "-t", "-c", "--root", "--no-renames", "-z")
    out = repo.git.run("diff-tree", *how, data="".join(f"{name}\n" for name in commits).encode(), timeout=600)
    found: dict[str, list[str]] = {name: [] for name in commits}
    fields, commit = iter(out.decode("utf-8", "surrogateescape").split("\0")), ""
    for field in fields:
        if field.startswith(":"):
            found[commit].append(_after(field))
            next(fields)  # the path
        elif field.strip():
            commit = field.strip()
    return found


def _after(entry: str) -> str:
    """Id after the change: `:OLDMODE MODE OLDID ID STATUS`, with one colon and one old side more for each parent."""
    parents = len(entry) - len(entry.lstrip(":"))
    return entry.split(" ")[2 * parents + 1]


def held_objects(repo: Repository, commit: str) -> set[str]:
    """Ids of every file and folder of a commit."""
    out = repo.git.run("ls-tree", "-r", "-t", "-z", "--full-tree", "--end-of-options", commit)
    rows = out.decode("utf-8", "surrogateescape").split("\0")
    return {row.split("\t", 1)[0].split(" ")[2] for row in rows if row}
