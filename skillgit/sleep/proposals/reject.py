"""Turning a proposal down: the reason is kept, so that later nights do not try the same again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from skillgit.errors import ConfigError
from skillgit.git.publish import Publication, RefUpdate, publish
from skillgit.git.repository import Repository
from skillgit.sleep.proposals import ledger
from skillgit.sleep.proposals.choice import lessons_of
from skillgit.sleep.proposals.names import PROPOSED
from skillgit.sleep.proposals.states import LessonState, State
from skillgit.sleep.redact import clean, redact


@dataclass(frozen=True)
class Rejection:
    """What turning down would do.

    Attributes:
        lessons: those that are turned down.
        branch: the branch that goes with them; blank when it stays.
        kept: why it stays; blank when it goes, or there is none here.
    """

    state: State
    lessons: tuple[LessonState, ...]
    why: str
    branch: str = ""
    kept: str = ""


def plan(repo: Repository, state: State, numbers: Sequence[int], why: str, *, keep_branch: bool) -> Rejection:
    """Work out what to turn down: the chosen lessons, or all that nobody has decided on.

    Raises:
        ConfigError: a lesson has no such number, or there is no reason.
    """
    if not why.strip():
        raise ConfigError("--why is blank", fix="say in a few words why: later nights are told")
    chosen = lessons_of(state, numbers)
    lessons = tuple(one for one in chosen if one.fate in ("open", "dropped", "superseded"))
    left = [one for one in state.lessons if one.fate == "open" and one not in lessons]
    kept = _kept(repo, state, keep_branch=keep_branch, left=len(left))
    branch = "" if kept or not _is_here(repo, state) else state.branch
    return Rejection(state, lessons, redact(clean(why.strip())), branch, kept)


def carry_out(repo: Repository, rejection: Rejection) -> None:
    """Write the reason down and delete the branch, both or neither.

    Raises:
        GitError: the branch is checked out, or it moved meanwhile.
    """
    record, now = rejection.state.record, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    rows = [ledger.Rejected.of(one.lesson, record, rejection.why, "person", now) for one in rejection.lessons]
    moves = []
    if rejection.branch:
        moves.append(RefUpdate(f"refs/heads/{rejection.branch}", repo.zero, rejection.state.tip))
        # From here on the reason tells what became of it.
        made_here = f"{PROPOSED}/{rejection.state.name}"
        if tip := repo.resolve(made_here):
            moves.append(RefUpdate(made_here, repo.zero, tip))
    publish(repo, Publication(moves, ledger.add(repo, record.skill, rows)))


def _is_here(repo: Repository, state: State) -> bool:
    return bool(state.branch) and repo.resolve(f"refs/heads/{state.branch}") is not None


def _kept(repo: Repository, state: State, *, keep_branch: bool, left: int) -> str:
    if not _is_here(repo, state):
        return ""
    if keep_branch:
        return "you asked to keep it"
    if left:
        return f"{left} of its lessons still wait"
    # The record of the night keeps the commits that skillgit made, not those of a person.
    return "it holds commits that are not in the night's record" if state.edited or not state.recorded else ""
