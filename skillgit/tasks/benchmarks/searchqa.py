"""SearchQA: short answers to quiz questions from search snippets. Scores are SkillOpt's: hard = EM, soft = F1."""

from __future__ import annotations

import re
from dataclasses import replace

from skillgit.errors import ConfigError, TaskError
from skillgit.models.base import Message
from skillgit.models.prompt import render
from skillgit.tasks.base import Ask, BenchmarkContext, Score, Splits, Task, Trajectory, digest
from skillgit.tasks.benchmarks.single import ask_once, max_tokens, trajectory
from skillgit.tasks.dataset import SplitOptions, load_splits
from skillgit.tasks.metrics import exact_match, token_f1
from skillgit.tasks.options import whole_option
from skillgit.tasks.problems import Problems
from skillgit.tasks.record import Record
from skillgit.tasks.rows import Row
from skillgit.tasks.sources import configured
from skillgit.tasks.text import clip, last_line, last_tagged, quote, quote_any

_SCORER = 1
"""Version of `score` and of what is shown of a context."""

_SHOWN = 6000
"""Most characters of context that the target sees."""

_CUT = " [cut]"


class SearchQA:
    """One question with its snippets per task."""

    name = "searchqa"

    def __init__(self, ctx: BenchmarkContext) -> None:
        self._ctx = ctx
        self._limit = max_tokens(ctx)
        if whole_option(ctx.options, "max_turns") > 1:
            raise ConfigError("SearchQA takes one turn", fix="set env.max_turns to 1, or leave it out")

    def load(self) -> Splits:
        """The items of `env.split_dir`, or of `env.data_path` split by `env.split_ratio` (2:1:7)."""
        source = configured(self._ctx)
        if source is None:
            raise TaskError(
                "SearchQA needs its data",
                why="env.split_dir and env.data_path are both blank",
                fix="set env.split_dir to a folder with train, val and test, or env.data_path to one file of items",
            )
        return load_splits(source, parse_item, SplitOptions.of(self._ctx, "2:1:7"), self._ctx.root)

    def judge_digest(self) -> str:
        """Covers the scorer, the prompt and the cut of contexts."""
        prompt = [(m.role, m.content) for m in _messages("", "", "")]
        return digest({"searchqa": _SCORER, "shown": _SHOWN, "prompt": prompt})

    def rollout(self, task: Task, skill: str, ask: Ask) -> Trajectory:
        """One request with the skill in the system turn; without a skill its section is left out."""
        messages = _messages(skill, cut_context(task.context), task.input)
        turns, cut = ask_once(messages, self._limit, ask)
        return trajectory(turns, score(task, turns[-1].content), cut)


def parse_item(row: Row, problems: Problems) -> Task | None:
    """One item `{id, question, context, answers}`; other fields are left alone. Stops at once at an id manifest."""
    record = Record.of(row, problems)
    if record is None:
        return None
    if "id" in record.value and not record.value.keys() & {"question", "context", "answers"}:
        raise TaskError(
            "the file holds ids, but no questions",
            why="it is a list of which items to take; the data itself must be materialised first",
            fix="run `skillgit data materialize` and set env.split_dir to its output",
            where=row.where,
        )
    name, question, answers = record.id(), record.text("question"), record.texts("answers")
    if answers == ():
        record.bad("has no answers")
    context = record.optional_text("context")
    if not (name and question and answers):
        return None
    return Task(id=name, input=question, context=context, answers=answers, where=row.where)


def _messages(skill: str, context: str, question: str) -> tuple[Message, ...]:
    section = f"## Skill\n\n{skill}" if skill.strip() else ""
    system, user = render("searchqa", skill_section=section, context=context, question=question)
    return replace(system, content=system.content.rstrip()), user


def cut_context(context: str) -> str:
    """The leading `[DOC]` passages that fit `_SHOWN` characters, whole and each with its marker.

    A first passage that does not fit is cut inside and ends in a mark; it is never dropped.
    """
    passages = [passage for passage in re.split(r"(?=\[DOC\])", context) if passage.strip()]
    kept = ""
    for passage in passages:
        if len(kept) + len(passage) > _SHOWN:
            break
        kept += passage
    if not kept and passages:
        kept = passages[0][: _SHOWN - len(_CUT)] + _CUT
    return kept.strip()


def answer_in(response: str) -> str:
    """The last `<answer>…</answer>`, else the last line that is not blank."""
    tagged = last_tagged(response)
    return last_line(response) if tagged is None else tagged


def score(task: Task, response: str) -> Score:
    """Exact match and token F1 against the best answer."""
    predicted = answer_in(response)
    soft = token_f1(predicted, task.answers)
    if exact_match(predicted, task.answers):
        return Score(1.0, soft, clip(predicted))
    reason = f"searchqa: wrote {quote(predicted)}, expected {quote_any(task.answers)} (F1 {soft:.2f})"
    return Score(0.0, soft, clip(predicted), reason)
