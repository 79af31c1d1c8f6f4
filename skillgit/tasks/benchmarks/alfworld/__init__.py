"""ALFWorld: household tasks in text games. Scores are SkillOpt's: hard = soft = 1 for a game that is won."""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial

from skillgit.errors import TaskError
from skillgit.models.base import Request
from skillgit.tasks.base import Ask, BenchmarkContext, Splits, Task, Trajectory, digest
from skillgit.tasks.benchmarks.alfworld.engine import Engine, GameFaultError, Seen
from skillgit.tasks.benchmarks.alfworld.items import DATA, data_folder, find_game, parse_item
from skillgit.tasks.benchmarks.alfworld.play import FALLBACK, Move, messages, play
from skillgit.tasks.benchmarks.alfworld.pool import Pool, cores
from skillgit.tasks.benchmarks.items import data_identity, item_source
from skillgit.tasks.benchmarks.single import max_tokens
from skillgit.tasks.benchmarks.turns import unusable
from skillgit.tasks.dataset import SplitOptions, load_splits
from skillgit.tasks.options import whole_option

_SCORER = 1
"""Version of how games are played and scored."""

_STEPS = 50

_ROOM = Seen("a place, " * 40, ("go to the place",) * 25, won=False, over=False)
"""Of about the size that rooms have."""


class AlfWorld:
    """One game per task.

    Attributes:
        requests: most actions in one game, each of which is asked for by itself.

    Args:
        engine: plays the games; by default TextWorld, in processes that start with the first game.
    """

    name = "alfworld"

    def __init__(self, ctx: BenchmarkContext, engine: Engine | None = None) -> None:
        self._ctx = ctx
        self._limit = max_tokens(ctx)
        self.requests = whole_option(ctx.options, "max_steps", _STEPS) or _STEPS
        self._folder = data_folder(os.environ)
        self._engine = engine or Pool(self._folder, cores())

    def load(self) -> Splits:
        """The items of `env.split_dir`, or of `env.data_path` split by `env.split_ratio` (2:1:7).

        Raises `TaskError` for faulty items, and when not one of the games is there. A single game that is missing
        fails by itself.
        """
        source = item_source(self._ctx, "ALFWorld")
        parse = partial(parse_item, folder=self._folder)
        splits = load_splits(source, parse, SplitOptions.of(self._ctx, "2:1:7"), self._ctx.root)
        if not any(task.data["sha256"] for task in (*splits.train, *splits.val, *splits.test)):
            raise TaskError(
                "none of the games is there",
                why=f"they are looked for below ${DATA}, which is {self._folder}",
                fix=f"fetch them with `alfworld-download`, or set {DATA} to the folder that holds them",
            )
        return splits

    def judge_digest(self) -> str:
        """Covers the scorer, the prompts, the step limit and the materialised data. A game, which holds its own rules
        and words, is in `Task.digest`."""
        shown = messages("", "", (Move("", "", named=True, possible=True, cut=False),), Seen("", (), False, False))
        prompt = [(turn.role, turn.content) for turn in shown]
        scorer = {"alfworld": _SCORER, "prompt": prompt, "steps": self.requests, "fallback": FALLBACK}
        return digest({**scorer, **data_identity(self._ctx)})

    def first(self, task: Task, skill: str) -> Request:
        """The first request without its game, which takes half a second to open: a short room stands for it."""
        return Request(messages(skill, task.input, (), _ROOM), max_tokens=self._limit)

    def rollout(self, task: Task, skill: str, ask: Ask) -> Trajectory:
        """One game, each action with the skill in its system turn. A game that cannot be played is a failed task."""
        try:
            path = find_game(task.data["gamefile"], self._folder)
            with closing(self._engine.open(path)) as game:
                return play(task, skill, game, ask, self.requests, self._limit)
        except GameFaultError as fault:
            return unusable(task, str(fault))
