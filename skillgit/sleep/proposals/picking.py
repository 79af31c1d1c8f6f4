"""Chosen lessons of a proposal, each as a commit on top of what is there now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillgit.errors import GitError, NeedsPersonError
from skillgit.git import history, signing
from skillgit.git.objects import Entry, read_blobs
from skillgit.git.publish import Publication, RefUpdate, publish
from skillgit.git.repository import Repository
from skillgit.git.revert import merge_text
from skillgit.git.skillstore import Place, read_version, with_document
from skillgit.git.usercommit import commit_files
from skillgit.skills.document import Document
from skillgit.sleep.proposals.states import LessonState, State


@dataclass(frozen=True)
class Pick:
    """One lesson as it would be committed: the document after it, and the message."""

    number: int
    data: bytes
    message: str
    source: str


def picked(repo: Repository, state: State, place: Place, lessons: Sequence[LessonState], target: str) -> list[Pick]:
    """Put lessons on the document at `target` one after the other, rule by rule. Writes nothing.

    Raises:
        NeedsPersonError: one of them does not fit in without a person.
        GitError: the commit of a lesson is not in this clone.
    """
    document = read_blobs(repo, [f"{target}:{place.document}"])[0]
    sources = _sources(repo, state, target)
    picks = []
    for one in lessons:
        source = sources.get(one.number) or one.lesson.commit
        if not source or repo.resolve(f"{source}^{{commit}}") is None:
            raise GitError(f"the commit of lesson {one.number} of {state.name} is not here", fix="git fetch")
        merged = _put(repo, place, source, document, f"lesson {one.number} of {state.name}")
        if merged != document:
            message = repo.git.text("log", "-1", "--no-show-signature", "--encoding=UTF-8", "--format=%B", source)
            picks.append(Pick(one.number, merged, message, source))
            document = merged
    return picks


def put_here(repo: Repository, place: Place, picks: Sequence[Pick], target: str) -> str:
    """Commit in the user's worktree, with their hooks, signing and identity. Returns the last commit."""
    head = target
    for number, pick in enumerate(picks):
        mode = _mode(repo, head, place, pick.source)
        try:
            head = commit_files(repo, place, {place.document: Entry(mode, pick.data)}, pick.message, head)
        except GitError as error:
            done = f"; {number} lessons before it were committed" if number else ""
            raise GitError(f"lesson {pick.number} was not committed{done}", why=str(error), fix=error.fix) from error
    return head


def put_onto(repo: Repository, place: Place, picks: Sequence[Pick], branch: str, target: str) -> str:
    """Commit onto a branch that is checked out nowhere; hooks do not run. Returns the last commit."""
    tip = target
    for pick in picks:
        base = read_version(repo, tip, place)
        made = read_version(repo, pick.source, place)
        assert made is not None
        version = with_document(repo, base, place, Document.parse(pick.data)) if base else made
        tip = signing.commit_version(repo, place, version, pick.message, tip, sign=True)
    if tip != target:
        publish(repo, Publication([RefUpdate(f"refs/heads/{branch}", tip, target)]))
    return tip


def _sources(repo: Repository, state: State, target: str) -> dict[int, str]:
    """Number to commit of the lessons as they are on the branch by now: a person may have amended them."""
    if not state.edited:
        return {}
    commits = repo.git.text("rev-list", "--no-merges", state.tip, f"^{target}", "--").split()
    entries = history.messages(repo, commits).values()
    return {one.step: one.commit for one in entries if one.run == state.record.night and one.step}


def _put(repo: Repository, place: Place, source: str, ours: bytes | None, name: str) -> bytes:
    base, theirs = read_blobs(repo, [f"{source}^:{place.document}", f"{source}:{place.document}"])
    if theirs is None:
        raise GitError(f"{name} has no {place.document}")
    if ours is None and base is None:
        return theirs
    if ours is None or base is None:
        why = (
            "the document is not there yet, and an earlier lesson makes it"
            if ours is None
            else "the document is there already"
        )
        raise NeedsPersonError(f"{name} does not fit in: {why}", fix=f"git cherry-pick {source[:12]}")
    text, clean = merge_text(place.document, (base, ours, theirs))
    if not clean:
        raise NeedsPersonError(
            f"{name} does not fit in: other edits touched the same lines",
            why="nothing was changed",
            fix=f"git cherry-pick {source[:12]}, then settle what git marks",
        )
    return text


def _mode(repo: Repository, head: str, place: Place, source: str) -> str:
    version = read_version(repo, head, place) or read_version(repo, source, place)
    assert version is not None
    return version.mode
