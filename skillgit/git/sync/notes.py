"""Exchanging notes with a remote: fetch, unite lines, push; no side's line is ever lost, nothing is forced."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from skillgit.errors import GitError, RefConflictError
from skillgit.git import notes
from skillgit.git.objects import Commit, write_commits
from skillgit.git.publish import RefUpdate, transact
from skillgit.git.repository import Repository
from skillgit.git.sync.transport import fetch, push, remote_refs
from skillgit.git.sync.union import difference, united_tree

NOTES = (notes.EVALS, notes.RESULTS, notes.GATES)

_ATTEMPTS = 20
_STALLED = 8  # attempts at a remote that stands still: another push may hold a lock there for an instant
_LOCK_SECONDS = 600

Say = Callable[[str], None]


@dataclass(frozen=True)
class RefReport:
    """What happened to one ref.

    Attributes:
        received: lines that came from the remote.
        sent: lines that the remote did not have and now has (or would get).
        removed: lines that one side took away since the other had them, and that are gone on both now.
        pushed: whether the remote's ref was moved.
        refused: why the remote did not take it; what is here is kept.
    """

    ref: str
    received: int = 0
    sent: int = 0
    removed: int = 0
    pushed: bool = False
    refused: str = ""


@dataclass(frozen=True)
class Move:
    """Lines that one side of a note ref gets, and that it gives up."""

    added: int = 0
    removed: int = 0


@dataclass
class Exchange:
    """One sync of notes under way.

    Attributes:
        tips: what the remote has, by ref.
        unsent: by ref, what a push brings to the remote as it was when it was last looked at.
        reports: by ref.
    """

    repo: Repository
    remote: str
    say: Say
    tips: dict[str, str] = field(default_factory=dict)
    unsent: dict[str, Move] = field(default_factory=dict)
    reports: dict[str, RefReport] = field(default_factory=lambda: {ref: RefReport(ref) for ref in NOTES})


def side_ref(remote: str, ref: str) -> str:
    """Where we remember what a remote had: `refs/notes/remotes/<remote>/skillgit/<kind>`."""
    return f"refs/notes/remotes/{remote}/{ref.removeprefix('refs/notes/')}"


def sync_notes(repo: Repository, remote: str, say: Say, *, dry_run: bool = False) -> list[RefReport]:
    """Unite our notes with the remote's, on both sides.

    Raises:
        GitError: the remote cannot be used. What was united here stays.
        RefConflictError: the remote kept moving, or did not take a push although it stood still.
    """
    exchange, stalled = Exchange(repo, remote, say), 0
    with repo.lock("sync", seconds=_LOCK_SECONDS):
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(random.uniform(0, min(2.0, 0.05 * 2**attempt)))  # noqa: S311 - no secret, only spreads out
            before = exchange.tips
            _receive(exchange, dry_run)
            stalled = stalled + 1 if attempt and exchange.tips == before else 0
            if stalled == _STALLED:
                raise _stalled(remote)
            if dry_run:
                return [_with_sent(exchange, ref) for ref in NOTES]
            if not _send(exchange):
                return list(exchange.reports.values())
            say(f"{remote} did not take it as it was; fetching again")
    raise RefConflictError(
        f"{remote} kept moving while notes were pushed", why="everything fetched is united here", fix="skillgit sync"
    )


def _stalled(remote: str) -> RefConflictError:
    return RefConflictError(
        f"{remote} does not take notes, though nobody else moves them there",
        why="a killed push may have left a .lock file there, or it is fetched from one place and pushed to another",
        fix=f"git remote get-url --push {remote} shows where it is pushed to; nothing of yours is lost",
    )


def _receive(exchange: Exchange, dry_run: bool) -> None:
    """Fetch, and move our refs and side refs, in one transaction."""
    repo, remote = exchange.repo, exchange.remote
    exchange.say(f"fetching from {remote}")
    found = remote_refs(repo, remote, NOTES)
    exchange.tips = {ref: found[ref] for ref in NOTES if ref in found}
    fetch(repo, remote, exchange.tips)
    ours = repo.refs(*NOTES)
    for ref in NOTES:
        (here, exchange.unsent[ref]), report = _due(repo, ours.get(ref), exchange.tips.get(ref)), exchange.reports[ref]
        received, removed = report.received + here.added, report.removed + here.removed
        exchange.reports[ref] = replace(report, received=received, removed=removed)
    if not dry_run:
        transact(repo, lambda: [*_unions(repo, exchange.tips), *_remembered(repo, remote, exchange.tips)])


def _due(repo: Repository, mine: str | None, theirs: str | None) -> tuple[Move, Move]:
    """What uniting two note commits does here, and there. A side that has the other's whole history just goes on."""
    lines = difference(repo, mine, theirs)
    if mine and theirs and is_ancestor(repo, mine, theirs):
        return Move(lines.theirs, lines.ours), Move()
    if mine and theirs and is_ancestor(repo, theirs, mine):
        return Move(), Move(lines.ours, lines.theirs)
    return Move(lines.theirs), Move(lines.ours)


def _with_sent(exchange: Exchange, ref: str) -> RefReport:
    report, there = exchange.reports[ref], exchange.unsent[ref]
    return replace(report, sent=report.sent + there.added, removed=report.removed + there.removed)


def _send(exchange: Exchange) -> bool:
    """Push what the remote lacks; true when it moved meanwhile and all must be done again."""
    repo, remote = exchange.repo, exchange.remote
    ahead = {ref: tip for ref, tip in repo.refs(*NOTES).items() if tip != exchange.tips.get(ref)}
    if not ahead:
        return False
    exchange.say(f"pushing to {remote}")
    answer = push(repo, remote, ahead)
    transact(repo, lambda: _remembered(repo, remote, {ref: ahead[ref] for ref in answer.taken}))
    for ref, why in answer.refused.items():
        exchange.reports[ref] = replace(exchange.reports[ref], refused=why)
    for ref in answer.taken:
        exchange.reports[ref] = replace(_with_sent(exchange, ref), pushed=True)
    return bool(answer.raced)


def _remembered(repo: Repository, remote: str, tips: Mapping[str, str]) -> list[RefUpdate]:
    sides = {side_ref(remote, ref): tip for ref, tip in tips.items()}
    now = repo.refs(*sides) if sides else {}
    return [RefUpdate(ref, tip, now.get(ref)) for ref, tip in sides.items() if now.get(ref) != tip]


def _unions(repo: Repository, theirs: Mapping[str, str]) -> list[RefUpdate]:
    """Moves that bring our note refs to hold the lines of both sides."""
    ours = repo.refs(*NOTES)
    moves, drafts = [], {}
    for ref, tip in theirs.items():
        mine = ours.get(ref)
        if mine is None or is_ancestor(repo, mine, tip):
            moves += [] if mine == tip else [RefUpdate(ref, tip, mine)]
        elif not is_ancestor(repo, tip, mine):
            drafts[ref] = Commit("Notes united by skillgit sync\n", (mine, tip), united_tree(repo, mine, tip))
    written = write_commits(repo, list(drafts.values())) if drafts else []
    return moves + [RefUpdate(ref, new.commit, ours[ref]) for ref, new in zip(drafts, written, strict=True)]


def is_ancestor(repo: Repository, old: str, new: str) -> bool:
    """True when `new` holds the whole history of `old`."""
    return old == new or repo.git.succeeds("merge-base", "--is-ancestor", old, new)


def refused(reports: Iterable[RefReport], remote: str) -> GitError | None:
    """The error to end with when the remote did not take some refs."""
    found = [report for report in reports if report.refused]
    if not found:
        return None
    return GitError(
        f"{remote} did not take {', '.join(report.ref for report in found)}",
        why=f"{found[0].refused}; everything fetched is united here and nothing of yours is lost",
        fix=f"ask who runs {remote} to allow pushes to refs/notes/skillgit, then skillgit sync",
    )
