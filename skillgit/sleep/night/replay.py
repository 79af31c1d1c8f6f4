"""Mined tasks as a benchmark: asked as a user's own task files are, scored by checks, answers or a rubric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from skillgit.sleep.mine.base import MinedTask
from skillgit.sleep.night.rubric import Grader
from skillgit.tasks import judges
from skillgit.tasks.base import Ask, Score, Splits, Task, Trajectory, digest
from skillgit.tasks.benchmarks.files import messages
from skillgit.tasks.benchmarks.single import ask_once, trajectory

_SAID = 300  # characters of what a person said that an analyst is shown


class Replay:
    """The tasks of one night for one document.

    Args:
        limit: most tokens of an answer; `None` leaves it to the backend.
    """

    name = "sleep"

    def __init__(self, tasks: Sequence[MinedTask], grader: Grader, limit: int | None) -> None:
        self.mined: Mapping[str, MinedTask] = {mined.task.id: mined for mined in tasks}
        self._grader, self._limit = grader, limit

    def load(self) -> Splits:
        """The tasks by split."""
        of = {name: tuple(m.task for m in self.mined.values() if m.split == name) for name in ("train", "val", "test")}
        return Splits(of["train"], of["val"], of["test"])

    def judge_digest(self) -> str:
        """Covers the judges' code, and the grader where a rubric is used. A task's own settings are in its digest."""
        rubric = any(mined.task.judge.get("type") == "rubric" for mined in self.mined.values())
        return digest({"judges": judges.versions(), "grader": self._grader.digest() if rubric else ""})

    def rollout(self, task: Task, skill: str, ask: Ask) -> Trajectory:
        """One request, as a person made it; the words of those who corrected such an answer explain a failure."""
        turns, cut = ask_once(messages(task, skill), self._limit, ask)
        score = self._score(task, turns[-1].content)
        return trajectory(turns, self._explained(task, score), cut)

    def _score(self, task: Task, answer: str) -> Score:
        if task.judge["type"] == "rubric":
            return self._grader.score(task, answer)
        return judges.score(task, answer)

    def _explained(self, task: Task, score: Score) -> Score:
        said = self.mined[task.id].said if task.id in self.mined else ()
        if score.hard or not said:
            return score
        words = " ".join(said[-1].split())[:_SAID]
        return replace(score, reason=f'{score.reason}; the person who asked said: "{words}"')
