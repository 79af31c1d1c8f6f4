"""Adopting a proposal: a merge of its branch, or chosen lessons as commits of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillgit.config.schema import Config
from skillgit.errors import CheckFailedError, GitError, NeedsPersonError
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place
from skillgit.git.usercommit import refuse_unready
from skillgit.sleep.proposals import merging, picking
from skillgit.sleep.proposals.choice import lessons_of
from skillgit.sleep.proposals.names import BRANCHES
from skillgit.sleep.proposals.record import NightRecord
from skillgit.sleep.proposals.states import LessonState, State, changed_since


@dataclass(frozen=True)
class Adoption:
    """What adopting would do.

    Attributes:
        lessons: what is adopted, in order; empty when there is nothing to do.
        whole: the branch is merged as it is; else the lessons are put on top one by one.
        onto: the branch; blank for the one that is checked out here.
        target: the commit that it would be put on.
    """

    state: State
    lessons: tuple[LessonState, ...]
    whole: bool
    onto: str
    target: str

    @property
    def place(self) -> Place:
        """Where the document lies."""
        record = self.state.record
        return Place(record.skill, record.path, record.document)


def plan(
    repo: Repository,
    state: State,
    numbers: Sequence[int] = (),
    *,
    onto: str = "",
    stale: bool = False,
    unverified: bool = False,
) -> Adoption:
    """Work out what to adopt, and refuse what should not be. Writes nothing.

    Args:
        numbers: of lessons; empty for the whole proposal but for what was turned down.
        onto: a branch that is checked out nowhere; blank for the one checked out here.
        stale: also when the skill has changed since the lessons were measured.
        unverified: also what no gate has confirmed.

    Raises:
        CheckFailedError: it is stale or not verified, and that was not asked for.
        ConfigError: a lesson has no such number.
        GitError: there is no branch to put it on, or it does not belong there.
    """
    target, onto = _target(repo, onto)
    left = _left(repo, state, lessons_of(state, numbers), onto, target)
    chosen = left if numbers else tuple(one for one in left if one.fate != "rejected")
    # A merge would bring what was turned down, too.
    adoption = Adoption(state, chosen, not numbers and chosen == left, onto, target)
    if not chosen:
        return adoption
    if not unverified:
        _refuse_unverified(state, chosen)
    if not stale:
        _refuse_stale(repo, state, target)
    if adoption.whole:
        _refuse_strange(repo, state, target)
    if not onto:
        refuse_unready(repo, adoption.place)
    return adoption


def carry_out(repo: Repository, adoption: Adoption) -> str:
    """Adopt what is planned. Returns the new commit of the branch.

    Raises:
        NeedsPersonError: there are conflicts; everything is as it was.
        GitError: git or a hook refused, or something moved meanwhile.
    """
    state, place = adoption.state, adoption.place
    if adoption.whole:
        title = f"Merge branch '{state.record.branch}'"
        if adoption.onto:
            return merging.merge_onto(repo, adoption.onto, adoption.target, state.tip, f"{title} into {adoption.onto}")
        return merging.merge_here(repo, state.tip, title, state.branch or state.tip)
    picks = picking.picked(repo, state, place, adoption.lessons, adoption.target)
    if adoption.onto:
        return picking.put_onto(repo, place, picks, adoption.onto, adoption.target)
    return picking.put_here(repo, place, picks, adoption.target)


def auto_adopt(repo: Repository, config: Config, record: NightRecord, merged: list[str]) -> str:
    """Merge a verified proposal onto `sleep.auto_adopt`. Returns what was done, or why it was not; blank if not asked.

    Args:
        merged: merges that this very night has made there, of other documents; grows.
    """
    branch = config.sleep.auto_adopt
    if not branch or not record.tip:
        return ""
    name = f"{record.skill}/{record.night}"
    target = repo.resolve(f"refs/heads/{branch}^{{commit}}")
    if record.verdict != "verified" or any(one.verdict == "unverified" for one in record.taken):
        why = "it is not verified"
    elif target is None:
        why = f"there is no branch {branch}"
    elif target not in (record.base, *merged[-1:]):
        why = f"{branch} has moved since the night began"
    elif folder := repo.checked_out(branch):
        why = f"{branch} is checked out in {folder}"
    else:
        title = f"Merge branch '{record.branch}' into {branch}"
        try:
            made = merging.merge_onto(repo, branch, target, record.tip, title, sign=config.git.sign == "auto")
        except (GitError, NeedsPersonError) as error:
            # The proposal is there, and the other documents of the night are still to be worked on.
            why = error.what
        else:
            merged.append(made)
            return f"{name} was merged onto {branch} ({made[:12]})"
    return f"{name} was not merged by itself: {why}"


def _target(repo: Repository, onto: str) -> tuple[str, str]:
    """The commit to start from, and the branch unless it is checked out here."""
    here = repo.git.text("symbolic-ref", "--quiet", "--short", "HEAD", ok=(0, 1))
    if onto and (onto != here or repo.top is None):
        found = repo.resolve(f"refs/heads/{onto}^{{commit}}")
        if found is None:
            raise GitError(f"there is no branch {onto!r}", fix="git branch --list")
        if folder := repo.checked_out(onto):
            raise GitError(f"branch {onto} is checked out in {folder}", fix=f"run it there: skillgit -C {folder} …")
        return found, onto
    if repo.top is None:
        raise GitError("a bare repository has nothing checked out", fix="name the branch: --onto BRANCH")
    if not here:
        raise GitError(
            "HEAD is on no branch", why="what is merged here is lost", fix="git switch BRANCH, or --onto BRANCH"
        )
    if here.startswith(f"{BRANCHES}/"):
        raise GitError(f"{here} is a proposal itself", fix="git switch to the branch that it is to come into")
    return repo.commit("HEAD"), ""


def _left(
    repo: Repository, state: State, chosen: Sequence[LessonState], onto: str, target: str
) -> tuple[LessonState, ...]:
    """The lessons that are not there yet."""
    if onto:
        # What became of them is told of HEAD and the main branches only.
        return () if repo.git.succeeds("merge-base", "--is-ancestor", state.tip, target) else tuple(chosen)
    return tuple(one for one in chosen if one.fate not in ("adopted", "reverted"))


def _refuse_unverified(state: State, chosen: Sequence[LessonState]) -> None:
    if weak := [str(one.number) for one in chosen if one.lesson.verdict == "unverified"]:
        raise CheckFailedError(
            f"{state.name} is not verified: lesson {', '.join(weak)}",
            why="too few tasks were there to measure on, so nothing says that it helps",
            fix=f"read it (skillgit sleep show {state.name} --patch), then add --unverified",
        )


def _refuse_stale(repo: Repository, state: State, target: str) -> None:
    record = state.record
    if changed_since(repo, record.path, state.tip, target, record.base):
        raise CheckFailedError(
            f"{state.name} is stale: {record.path} has changed since it was measured",
            why="its scores are of another text",
            fix="skillgit sleep run tries its lessons again on the present text; or add --stale",
        )


def _refuse_strange(repo: Repository, state: State, target: str) -> None:
    """Refuse a merge that would bring more than the proposal: commits that the branch began on."""
    base = state.record.base
    more = repo.git.text("rev-list", "--count", f"{target}..{base}", "--") if repo.resolve(base) else "0"
    if more != "0":
        raise GitError(
            f"merging {state.name} here would also bring {more} other commits",
            why=f"it begins at {base[:12]}, which is not in this branch's history",
            fix=f"switch to the branch it began on, or take its lessons only: --lesson {state.lessons[0].number}",
        )
