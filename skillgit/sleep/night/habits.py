"""Habits: what people correct again and again in much the same words, whatever the task was."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from skillgit.skills.words import bag, similarity
from skillgit.sleep.mine.base import MinedTask

_ALIKE = 0.6  # share of words that two corrections have in common when they ask for the same
_FACTS = re.compile(r"\w*\d[\w.,:/-]*|\"[^\"]*\"|'[^']*'|`[^`]*`")


def with_habits(tasks: Sequence[MinedTask], like: Sequence[MinedTask] = ()) -> list[MinedTask]:
    """The tasks with the habit they belong to as first tag, so that those of one kind are looked at together.

    Numbers and quoted words do not count, for they belong to the case and not to the habit. A task that nobody
    corrected has no habit of its own.

    Args:
        like: tasks that have theirs already; equal ones are called the same.
    """
    named = {mined.task.tags[0]: _words(mined) for mined in reversed(like) if mined.said}
    kinds = [(words, name) for name, words in named.items()]
    return [_tagged(mined, _habit(mined, kinds)) for mined in sorted(tasks, key=lambda mined: mined.task.id)]


def _habit(mined: MinedTask, kinds: list[tuple[Counter[str], str]]) -> str:
    if not mined.said:
        return "uncorrected"
    words = _words(mined)
    near = max(kinds, key=lambda kind: similarity(words, kind[0]), default=None)
    if near is not None and similarity(words, near[0]) >= _ALIKE:
        return near[1]
    kinds.append((words, f"habit-{len(kinds) + 1}"))
    return kinds[-1][1]


def _words(mined: MinedTask) -> Counter[str]:
    return bag(_FACTS.sub(" ", mined.said[0]).casefold())


def _tagged(mined: MinedTask, habit: str) -> MinedTask:
    return replace(mined, task=replace(mined.task, tags=(habit, *mined.task.tags)))
