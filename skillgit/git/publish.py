"""Moving refs: everything one step writes becomes visible in one transaction, or nothing does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from skillgit.errors import GitError, RefConflictError
from skillgit.git import notes
from skillgit.git.objects import Commit, write_commits
from skillgit.git.repository import Repository

_ATTEMPTS = 20
_REF_LOCK_MS = 2000  # another git command holds a ref for an instant; a lock that stays was left by a dead process

# What git says of a ref that is not where it was expected, and of a name that is taken by a folder of names.
_MOVED = re.compile(
    r"cannot lock ref '[^']*': (is at \w+ but|reference already|reference is missing|unable to resolve)"
)
_BLOCKED = re.compile(r"cannot lock ref 'refs/heads/([^']*)': 'refs/heads/([^']*)' exists; cannot create")


@dataclass(frozen=True)
class RefUpdate:
    """Move `ref` to `new`, expecting it at `old` (`None`: it must not exist)."""

    ref: str
    new: str
    old: str | None


@dataclass(frozen=True)
class Publication:
    """What becomes visible together.

    Attributes:
        refs: moves to commits that are written, each with the value the ref must still have.
        drafts: ref to the commit to be written for it; the ref must still be at its first parent.
        notes: note ref to the lines added per object; written on top of whatever is there by then.
    """

    refs: Sequence[RefUpdate] = ()
    drafts: Mapping[str, Commit] = field(default_factory=dict)
    notes: Mapping[str, notes.Additions] = field(default_factory=dict)


def publish(repo: Repository, publication: Publication) -> dict[str, str]:
    """Write drafts and notes, and move refs, in one transaction. Returns the new commit of each draft's ref.

    Raises:
        RefConflictError: a ref is not where it was expected; nothing was moved.
        GitError: a branch is checked out in a worktree, or git refused.
    """
    for update in publication.refs:
        _refuse_checked_out(repo, update.ref)
    expected = {update.ref: update.old for update in publication.refs}
    expected |= {ref: _parent(commit) for ref, commit in publication.drafts.items()}
    for _ in range(_ATTEMPTS):
        with repo.lock():
            new = _write(repo, publication)
            if _transaction(repo, [*publication.refs, *new]):
                return {update.ref: update.new for update in new if update.ref in publication.drafts}
        # The lock keeps other skillgit processes out, so only a plain `git notes` can have moved a note ref.
        _check_expected(repo, expected)
    raise RefConflictError("the notes kept moving while they were written", fix="stop the other writer and try again")


def transact(repo: Repository, plan: Callable[[], Sequence[RefUpdate]]) -> list[RefUpdate]:
    """Make the moves that `plan` works out, all or none; it is asked again when a ref moved meanwhile.

    Raises:
        RefConflictError: the refs kept moving.
    """
    for _ in range(_ATTEMPTS):
        with repo.lock():
            moves = list(plan())
            if _transaction(repo, moves):
                return moves
    raise RefConflictError("the refs kept moving while they were written", fix="stop the other writer and try again")


def refuse_blocked(repo: Repository, branch: str) -> None:
    """Raise `GitError` when no branch of this name can be made beside those that exist."""
    parts = branch.split("/")
    above = ["/".join(parts[:n]) for n in range(1, len(parts))]
    found = repo.refs(*(f"refs/heads/{name}" for name in above))
    taken = [name for name in above if f"refs/heads/{name}" in found]
    below = [ref.removeprefix("refs/heads/") for ref in repo.refs(f"refs/heads/{branch}/")]
    if taken or below:
        raise _blocked(branch, (taken or below)[0])


def _blocked(branch: str, other: str) -> GitError:
    return GitError(
        f"branch {branch} cannot be made, for there is a branch {other}",
        why="git keeps the one as a file where the other needs a folder",
        fix=f"git branch -m {other} {other.replace('/', '-')}-old",
    )


def _refuse_checked_out(repo: Repository, ref: str) -> None:
    branch = ref.removeprefix("refs/heads/")
    if branch != ref and (folder := repo.checked_out(branch)):
        raise GitError(
            f"branch {branch} is checked out in {folder}",
            why="moving it would make every file there look changed",
            fix=f"git -C {folder} switch --detach, then run the command again",
        )


def _write(repo: Repository, publication: Publication) -> list[RefUpdate]:
    """Write drafts and notes in one process; the moves that make them visible."""
    tips = repo.refs(*publication.notes) if publication.notes else {}
    commits = dict(publication.drafts)
    for ref, changed in notes.changes(repo, publication.notes, tips).items():
        commits[ref] = Commit("Notes added by skillgit", (tips[ref],) if ref in tips else (), changed)
    if not commits:
        return []
    written = write_commits(repo, list(commits.values()))
    pairs = zip(commits.items(), written, strict=True)
    return [RefUpdate(ref, new.commit, _parent(commit)) for (ref, commit), new in pairs]


def _parent(commit: Commit) -> str | None:
    return commit.parents[0] if commit.parents else None


def _transaction(repo: Repository, moves: Sequence[RefUpdate]) -> bool:
    """Move all refs or none; false when one of them is not where it was expected."""
    if not moves:
        return True
    lines = ["start"]
    lines += [f"update {move.ref} {move.new} {move.old or repo.zero}" for move in moves]
    data = "\n".join([*lines, "prepare", "commit", ""]).encode()
    wait = ("-c", f"core.filesRefLockTimeout={_REF_LOCK_MS}")
    try:
        repo.git.run(*wait, "update-ref", "--no-deref", "-m", "skillgit", "--stdin", data=data)
    except GitError as error:
        if _MOVED.search(error.why):
            return False
        if blocked := _BLOCKED.search(error.why):
            raise _blocked(blocked[1], blocked[2]) from error
        raise
    return True


def _check_expected(repo: Repository, expected: Mapping[str, str | None]) -> None:
    for ref, old in expected.items():
        now = repo.resolve(ref)
        if now != old:
            raise RefConflictError(
                f"{ref} moved while this command ran",
                why=f"it was expected at {old or 'nothing'} and is at {now or 'nothing'}",
                fix="run the command again; nothing was written over",
            )
