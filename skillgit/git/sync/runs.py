"""Exchanging journals with a remote: forward only. One that went on differently on both sides is left to a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from skillgit.errors import GitError, NeedsPersonError, RefConflictError, SkillgitError
from skillgit.git.publish import RefUpdate, transact
from skillgit.git.repository import Repository
from skillgit.git.sync.notes import Say, is_ancestor
from skillgit.git.sync.transport import fetch, push, remote_refs

RUNS, REJECTED, NIGHTS = "refs/skillgit/runs/", "refs/skillgit/rejected/", "refs/skillgit/nights/"

Action = Literal["received", "sent", "diverged", "in use", "moved meanwhile", "refused"]


@dataclass(frozen=True)
class RunReport:
    """What happened to one journal ref; equal ones are not reported. `why` is the remote's reason to refuse it."""

    ref: str
    action: Action
    why: str = ""


def sync_runs(repo: Repository, remote: str, say: Say, *, dry_run: bool = False) -> list[RunReport]:
    """Bring journals forward on both sides; nothing is deleted, and nothing is moved back or aside.

    Raises:
        GitError: the remote cannot be used.
    """
    say(f"fetching journals from {remote}")
    theirs = {ref: tip for ref, tip in remote_refs(repo, remote, (RUNS, REJECTED, NIGHTS)).items() if _is_ours(ref)}
    ours = repo.refs(RUNS, REJECTED, NIGHTS)
    fetch(repo, remote, {ref: tip for ref, tip in theirs.items() if ours.get(ref) != tip})
    actions = {ref: action for ref in {**ours, **theirs} if (action := _action(repo, ref, ours, theirs))}
    if not dry_run:
        transact(repo, lambda: _moves(repo, remote, theirs, actions))
    sent = {ref: ours[ref] for ref, action in actions.items() if action == "sent"}
    answer = push(repo, remote, sent) if sent and not dry_run else None
    if answer:
        actions.update(dict.fromkeys(answer.raced, "moved meanwhile"))
        actions.update(dict.fromkeys(answer.refused, "refused"))
    return [RunReport(ref, action, answer.refused.get(ref, "") if answer else "") for ref, action in actions.items()]


def _is_ours(ref: str) -> bool:
    """True for `refs/skillgit/runs/<skill>/<run>`, `refs/skillgit/rejected/<skill>` and `…/nights/<skill>`."""
    return ref.count("/") == (4 if ref.startswith(RUNS) else 3)


def _action(repo: Repository, ref: str, ours: Mapping[str, str], theirs: Mapping[str, str]) -> Action | None:
    mine, tip = ours.get(ref), theirs.get(ref)
    if mine == tip:
        return None
    if tip is None or (mine is not None and is_ancestor(repo, tip, mine)):
        return "sent"
    if mine is None or is_ancestor(repo, mine, tip):
        return "in use" if mine and _in_use(repo, ref) else "received"
    return "diverged"


def _in_use(repo: Repository, ref: str) -> bool:
    """True while a process here works on the run: its next step builds on the journal as it left it."""
    if not ref.startswith(RUNS):
        return False
    try:
        with repo.lock(f"run-{'-'.join(ref.removeprefix(RUNS).split('/'))}", seconds=0):
            return False
    except GitError:
        return True


def _moves(repo: Repository, remote: str, theirs: Mapping[str, str], actions: Mapping[str, Action]) -> list[RefUpdate]:
    """Forward moves; a diverged journal's other side is kept under the remote's name, so that it can be looked at."""
    aside = {ref: f"refs/skillgit/remotes/{remote}/{ref.removeprefix('refs/skillgit/')}" for ref in actions}
    wanted = {ref: theirs[ref] for ref, action in actions.items() if action == "received"}
    wanted |= {aside[ref]: theirs[ref] for ref, action in actions.items() if action == "diverged"}
    now = repo.refs(*wanted) if wanted else {}
    return [
        RefUpdate(ref, tip, now.get(ref))
        for ref, tip in wanted.items()
        if now.get(ref) != tip and (ref not in actions or ref not in now or is_ancestor(repo, now[ref], tip))
    ]


def failure(reports: Sequence[RunReport], remote: str) -> SkillgitError | None:
    """The error to end with when journals stayed behind, or some went on differently here and there."""
    for report in reports:
        if report.action == "moved meanwhile":
            return RefConflictError(
                f"{remote} did not take {report.ref}", why="someone moves it there", fix="skillgit sync --runs"
            )
        if report.action == "refused":
            return GitError(f"{remote} did not take {report.ref}", why=report.why, fix="skillgit sync without --runs")
    found = [report.ref for report in reports if report.action == "diverged"]
    if not found:
        return None
    there = f"refs/skillgit/remotes/{remote}/{found[0].removeprefix('refs/skillgit/')}"
    return NeedsPersonError(
        f"{len(found)} journals went on differently here and on {remote}: {', '.join(found)}",
        why="both sides are as they were",
        fix=f"git log {found[0]} {there}, then keep one of them under another name",
    )
