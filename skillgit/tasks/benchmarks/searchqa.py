"""SearchQA: short answers to quiz questions from search snippets. Scores are SkillOpt's: hard = EM, soft = F1."""

from __future__ import annotations

import re

from skillgit.tasks.base import Ask, BenchmarkContext, Score, Splits, Task, Trajectory, digest
from skillgit.tasks.benchmarks.items import data_identity, item_source, refuse_manifest
from skillgit.tasks.benchmarks.turns import Turns, with_skill
from skillgit.tasks.dataset import SplitOptions, load_splits
from skillgit.tasks.form import same_but_form
from skillgit.tasks.metrics import exact_match, token_f1
from skillgit.tasks.problems import Problems
from skillgit.tasks.record import Record
from skillgit.tasks.rows import Row
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
        self._turns = Turns.of(ctx, least=2)
        self.requests = self._turns.most

    def load(self) -> Splits:
        """The items of `env.split_dir`, or of `env.data_path` split by `env.split_ratio` (2:1:7)."""
        source = item_source(self._ctx, "SearchQA")
        return load_splits(source, parse_item, SplitOptions.of(self._ctx, "2:1:7"), self._ctx.root)

    def judge_digest(self) -> str:
        """Covers the scorer, the prompt, the cut of contexts, further turns, and the data where it has a digest."""
        prompt = [(m.role, m.content) for m in with_skill("searchqa", "", context="", question="")]
        known = {"searchqa": _SCORER, "shown": _SHOWN, "prompt": prompt}
        return digest(known | self._turns.identity() | data_identity(self._ctx))

    def rollout(self, task: Task, skill: str, ask: Ask) -> Trajectory:
        """The question with the skill in the system turn; without a skill its section is left out."""
        messages = with_skill("searchqa", skill, context=cut_context(task.context), question=task.input)
        return self._turns.ask(messages, ask, lambda response: score(task, response))


def parse_item(row: Row, problems: Problems) -> Task | None:
    """One item `{id, question, context, answers}`; other fields are left alone. Stops at once at an id manifest."""
    record = Record.of(row, problems)
    if record is None:
        return None
    refuse_manifest(record, "searchqa", ("question", "context", "answers"))
    name, question, answers = record.id(), record.text("question"), record.texts("answers")
    if answers == ():
        record.bad("has no answers")
    context = record.optional_text("context")
    if not (name and question and answers):
        return None
    return Task(id=name, input=question, context=context, answers=answers, where=row.where)


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
        return Score(1.0, soft, clip(predicted), lenient=1.0)
    reason = f"searchqa: wrote {quote(predicted)}, expected {quote_any(task.answers)} (F1 {soft:.2f})"
    return Score(0.0, soft, clip(predicted), reason, float(same_but_form(predicted, task.answers)))
