"""The tasks that users write for their own skills, in `evals/<skill>/`."""

from __future__ import annotations

from skillgit.models.base import Message
from skillgit.models.prompt import render
from skillgit.tasks import judges
from skillgit.tasks.base import Ask, BenchmarkContext, Splits, Task, Trajectory, digest
from skillgit.tasks.benchmarks.single import ask_once, max_tokens, trajectory
from skillgit.tasks.dataset import SplitOptions, load_splits
from skillgit.tasks.fields import TaskParser, default_judge
from skillgit.tasks.problems import Problems
from skillgit.tasks.sources import configured, eval_folder

_LAYOUT = 1
"""Version of `task_text`."""

DEFAULT_RATIO = "4:3:3"
"""Hand-written sets are small, and a gate on one or two validation tasks decides nothing: val gets a third."""


class TaskFiles:
    """Single-turn tasks, each scored by the judge it names."""

    name = "tasks"

    def __init__(self, ctx: BenchmarkContext) -> None:
        self._ctx = ctx
        self._limit = max_tokens(ctx)

    def load(self) -> Splits:
        """The tasks of `env.split_dir`, else `env.data_path`, else `evals/<skill>/`.

        Raises `TaskError` that names every fault of every file.
        """
        source = configured(self._ctx) or eval_folder(self._ctx)
        problems = Problems()
        parse = TaskParser(source, default_judge(source, self._ctx.root, problems))
        options = SplitOptions.of(self._ctx, DEFAULT_RATIO)
        return load_splits(source, parse, options, self._ctx.root, problems)

    def judge_digest(self) -> str:
        """Covers the judges' code, the prompt and its layout. The settings of a task are in `Task.digest`."""
        prompt = [(m.role, m.content) for m in render("target", skill="", task="")]
        return digest({"judges": judges.versions(), "layout": _LAYOUT, "prompt": prompt})

    def rollout(self, task: Task, skill: str, ask: Ask) -> Trajectory:
        """One request. Without a skill there is no system turn, for it does nothing but introduce the skill."""
        turns, cut = ask_once(messages(task, skill), self._limit, ask)
        return trajectory(turns, judges.score(task, turns[-1].content), cut)


def messages(task: Task, skill: str) -> tuple[Message, ...]:
    """What the target is sent: the skill, when there is one, then the task."""
    turns = render("target", skill=skill, task=task_text(task))
    return turns if skill.strip() else tuple(turn for turn in turns if turn.role != "system")


def task_text(task: Task) -> str:
    """What the target reads: each file in `<file name="…">`, the context in `<context>`, then the input.

    What tasks tend to share comes first, so that prompt caches can serve it; a bare input stands alone.
    """
    parts = [f'<file name="{name}">\n{text}\n</file>' for name, text in task.files.items()]
    if task.context:
        parts.append(f"<context>\n{task.context}\n</context>")
    return "\n\n".join([*parts, task.input])
