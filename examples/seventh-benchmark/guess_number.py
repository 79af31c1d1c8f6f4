"""Guess the number: a benchmark in one file. After each guess the target is told where the number still can be."""

from __future__ import annotations

import re
from typing import Any

from skillgit.models.base import Message, Request
from skillgit.tasks.base import Ask, BenchmarkContext, Score, Splits, Task, Trajectory, digest
from skillgit.tasks.dataset import SplitOptions, load_splits
from skillgit.tasks.options import whole_option
from skillgit.tasks.problems import Problems
from skillgit.tasks.record import Record
from skillgit.tasks.rows import Row
from skillgit.tasks.sources import configured, eval_folder

ASKED = "I think of a whole number from {low} to {high}. Which one? Answer with one number."
VERSION = 1  # raise it when the rules change, and old scores are never compared with new ones


class GuessNumber:
    """`env.options.guesses` (3) guesses per task. Hard: found. Soft: how much of the range was ruled out."""

    name = "guess-number"

    def __init__(self, ctx: BenchmarkContext) -> None:
        self._ctx = ctx
        self.requests = whole_option(ctx.options.get("options") or {}, "guesses", 3) or 3

    def load(self) -> Splits:
        """The tasks of `env.split_dir` or `env.data_path`, else of `evals/<skill>/`."""
        source = configured(self._ctx) or eval_folder(self._ctx)
        return load_splits(source, parse_item, SplitOptions.of(self._ctx, "2:1:7"), self._ctx.root)

    def judge_digest(self) -> str:
        """Everything that changes what is asked or how it is scored, and is no part of a task."""
        return digest({"guess-number": VERSION, "asked": ASKED, "guesses": self.requests})

    def rollout(self, task: Task, skill: str, ask: Ask) -> Trajectory:
        """One conversation. An error of the model passes through: it is no wrong answer."""
        low, high, secret = task.data["low"], task.data["high"], task.data["secret"]
        first = high - low + 1
        head = [Message("system", f"## Skill\n\n{skill}")] if skill.strip() else []
        turns: list[Message] = []
        for _ in range(self.requests):
            turns.append(Message("user", ASKED.format(low=low, high=high)))
            reply = ask(Request(messages=(*head, *turns)))
            turns.append(Message("assistant", reply.text))
            found = re.search(r"\d{1,9}", reply.text)
            guess = int(found[0]) if found else low - 1  # no number rules nothing out
            if guess == secret:
                return Trajectory(tuple(turns), reply.text, Score(1.0, 1.0, str(guess)))
            low, high = (max(low, guess + 1), high) if guess < secret else (low, min(high, guess - 1))
        reason = f"it was {secret}; {low} to {high} was left"
        return Trajectory(tuple(turns), reply.text, Score(0.0, 1 - (high - low + 1) / first, str(guess), reason))


def parse_item(row: Row, problems: Problems) -> Task | None:
    """One item `{id, low, high, secret}`; every fault is noted with its file and line."""
    record = Record.of(row, problems)
    if record is None:
        return None
    name = record.id()
    numbers: list[Any] = [record.value.get(field) for field in ("low", "secret", "high")]
    if not all(type(number) is int for number in numbers) or not 0 <= numbers[0] <= numbers[1] <= numbers[2]:
        record.bad('"low", "secret" and "high" must be whole numbers, none of them smaller than the one before')
        return None
    if name is None:
        return None
    low, secret, high = numbers
    data = {"low": low, "high": high, "secret": secret}
    return Task(id=name, input=ASKED.format(low=low, high=high), answers=(str(secret),), where=row.where, data=data)
