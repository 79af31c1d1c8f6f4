"""Which proposal is meant by what a person typed."""

from __future__ import annotations

from collections.abc import Sequence

from skillgit.errors import ConfigError, GitError
from skillgit.git.repository import Repository
from skillgit.sleep.proposals.names import BRANCHES
from skillgit.sleep.proposals.states import LessonState, State, proposals


def choose(repo: Repository, name: str, *, also: Sequence[str] = ()) -> State:
    """The proposal called `name`: a branch, `SKILL/NIGHT`, or a skill, which means its newest one that waits.

    Raises:
        GitError: there is none, or none of the skill's waits.
    """
    path = name.removeprefix("refs/heads/").removeprefix("refs/remotes/").rstrip("/")
    parts = path.removesuffix("/SKILL.md").removesuffix(".md").split("/")
    skill, night = _skill_and_night(parts)
    found = proposals(repo, skill, also=also)
    if night:
        found = [state for state in found if state.record.night == night]
    elif found:
        found = [state for state in found if state.waiting] or _refuse_decided(skill, found)
    if not found:
        known = ", ".join(state.name for state in proposals(repo)[-10:])
        raise GitError(f"no proposal {name!r}", why=f"proposals: {known or 'none'}", fix="skillgit sleep list --all")
    return found[-1]


def lessons_of(state: State, numbers: Sequence[int]) -> list[LessonState]:
    """The chosen lessons of a proposal in their order; all of them when none is chosen.

    Raises:
        ConfigError: it has no lesson of such a number.
    """
    known = {one.number: one for one in state.lessons}
    if wrong := [number for number in numbers if number not in known]:
        raise ConfigError(
            f"{state.name} has no lesson {wrong[0]}",
            why=f"it has {len(known)}",
            fix=f"skillgit sleep show {state.name}",
        )
    return [known[number] for number in sorted(set(numbers))] if numbers else list(state.lessons)


def _skill_and_night(parts: Sequence[str]) -> tuple[str, str]:
    if BRANCHES in parts[:2] and len(parts) > 2:
        return parts[-2], parts[-1]
    return (parts[0], parts[1]) if len(parts) == 2 and parts[1][:1].isdigit() else (parts[-1], "")


def _refuse_decided(skill: str, found: Sequence[State]) -> list[State]:
    last = found[-1]
    raise GitError(
        f"no proposal for {skill} waits",
        why=f"the newest, {last.record.night}, is {last.status}",
        fix=f"skillgit sleep list {skill} --all",
    )
