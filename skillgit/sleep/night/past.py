"""What nights before have left for a document: lessons to try again, and lessons that are settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillgit.config.sleep import Sleep
from skillgit.git.repository import Repository
from skillgit.sleep.night.lessons import once
from skillgit.sleep.night.subjects import Subject
from skillgit.sleep.proposals import rejected, states
from skillgit.sleep.proposals.record import Lesson
from skillgit.sleep.proposals.rejected import Rejected
from skillgit.sleep.proposals.states import State


@dataclass(frozen=True)
class Past:
    """The proposals and lessons of earlier nights.

    Attributes:
        open: proposals made here that nobody has touched or settled; tonight's takes their place.
        settled: lessons that are not to be tried: turned down, or waiting in a branch that a person works on.
    """

    open: tuple[State, ...]
    settled: tuple[Rejected, ...]

    @property
    def waiting(self) -> list[Lesson]:
        """Lessons of the open proposals, each once, to be tried again on the text as it is now."""
        return once(replace(one, verdict="", why="", commit="") for state in self.open for one in state.waiting)

    @property
    def nights(self) -> tuple[str, ...]:
        """Names of the nights of the open proposals."""
        return tuple(state.record.night for state in self.open)

    def stands(self, subject: Subject, lessons: Sequence[Lesson]) -> str:
        """The branches that are not to be replaced by what a night came to; blank when there is none.

        These are the one that already proposes just these lessons on this very text, as well confirmed as now; and all
        of them when the night did not get to try each of their lessons again.

        Args:
            lessons: all that were looked at, those that waited first.
        """
        if len(lessons) < len(self.waiting):
            return ", ".join(state.branch for state in self.open)
        if len(self.open) != 1 or self.open[0].record.base_object != subject.base_object:
            return ""
        before, now = self.open[0].waiting, [one for one in lessons if one.taken]
        same = [one.edit for one in before] == [one.edit for one in now]
        confirmed = any(old.verdict == "unverified" != new.verdict for old, new in zip(before, now, strict=False))
        return self.open[0].branch if same and not confirmed else ""


def past(repo: Repository, config: Sleep, subject: Subject) -> Past:
    """What is left for a document."""
    also, name = (config.auto_adopt,) if config.auto_adopt else (), subject.place.name
    undecided = [state for state in states.proposals(repo, name, also=also) if state.waiting]
    ours = tuple(state for state in undecided if state.recorded and not state.edited)
    held = [
        Rejected.of(lesson, state.record, f"it waits in {state.branch}", "person")
        for state in undecided
        if state not in ours
        for lesson in state.waiting
    ]
    return Past(ours, (*rejected.read(repo, name, also=also), *held))
