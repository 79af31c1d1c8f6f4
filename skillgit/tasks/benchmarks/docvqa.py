"""DocVQA: questions about the picture of a page. Scores are SkillOpt's: soft = ANLS, hard = ANLS of 0.999."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from skillgit.errors import TaskError
from skillgit.tasks.base import Ask, BenchmarkContext, Score, Splits, Task, Trajectory, digest
from skillgit.tasks.benchmarks.items import data_identity, item_source, refuse_manifest
from skillgit.tasks.benchmarks.turns import Turns, unusable, with_skill
from skillgit.tasks.dataset import SplitOptions, load_splits
from skillgit.tasks.form import same_but_form
from skillgit.tasks.images import Pictures
from skillgit.tasks.options import text_option
from skillgit.tasks.problems import Problems
from skillgit.tasks.record import Record
from skillgit.tasks.rows import Row
from skillgit.tasks.scorers import anls
from skillgit.tasks.text import clip, quote, quote_any

_SCORER = 1
"""Version of `score`."""

_PATH = re.compile(r"\bdocument_path:", re.IGNORECASE)
"""What a question may end with: the mark before the name of its picture."""

_NAMES = (("id", "questionId"), ("topic", "category"), ("answers", "answer"), ("answers", "ground_truth"))
"""Our names of fields, and others for the same."""


class DocVQA:
    """One question with one page per task."""

    name = "docvqa"

    def __init__(self, ctx: BenchmarkContext) -> None:
        self._ctx = ctx
        self._turns = Turns.of(ctx)
        self.requests = self._turns.most
        self._detail = text_option(ctx.options, "image_detail") or "auto"
        self._pictures = Pictures([ctx.root], self._detail)

    def load(self) -> Splits:
        """The rows of `env.split_dir`, or of `env.data_path` split by `env.split_ratio` (2:1:7).

        Pictures lie in the folder of the data, or where their names lead from the repository's top. Their digests are
        part of the tasks; one that cannot be shown is the failure of its task alone.
        """
        source = item_source(self._ctx, "DocVQA", tables=True)
        root, above = self._ctx.root, source.folder.parent
        near = [above] if above.resolve().is_relative_to(root.resolve()) else []
        self._pictures = Pictures([source.folder, *near, root], self._detail)
        return load_splits(source, self._parse, SplitOptions.of(self._ctx, "2:1:7"), self._ctx.root)

    def _parse(self, row: Row, problems: Problems) -> Task | None:
        task = parse_row(row, problems)
        return task and replace(task, data={**task.data, "sha256": self._pictures.sha256(task.data["image"])})

    def judge_digest(self) -> str:
        """Covers the scorer, the prompt, how closely pictures are looked at, and the data where it has a digest."""
        prompt = [(m.role, m.content) for m in with_skill("docvqa", "", question="")]
        known = {"docvqa": _SCORER, "prompt": prompt, "detail": self._detail}
        return digest(known | self._turns.identity() | data_identity(self._ctx))

    def rollout(self, task: Task, skill: str, ask: Ask) -> Trajectory:
        """The question with its page; without a skill its section is left out."""
        try:
            image = self._pictures.image(task.data["image"])
        except TaskError as error:
            return unusable(task, error.what)
        system, user = with_skill("docvqa", skill, question=task.input)
        return self._turns.ask((system, replace(user, images=(image,))), ask, lambda response: score(task, response))


def parse_row(row: Row, problems: Problems) -> Task | None:
    """One row of the published table, or the same as JSON. Stops at once at an id manifest."""
    record = Record.of(row, problems)
    if record is None:
        return None
    refuse_manifest(record, "docvqa", ("question", "answer", "answers", "ground_truth"))
    record = replace(record, value=_renamed(record.value))
    name, asked, answers = record.id(), record.text("question"), _answers(record)
    question, image = _image(record, asked or "")
    if not (name and question and answers and image):
        return None
    tags = tuple(tag.strip() for tag in record.optional_text("topic").split("|") if tag.strip())
    return Task(name, question, answers=answers, tags=tags, where=row.where, data={"image": image})


def _renamed(value: Mapping[str, Any]) -> dict[str, Any]:
    """A row under one set of names; where it has both of two names, the published reader's choice counts."""
    renamed = dict(value)
    for ours, theirs in _NAMES:
        other = renamed.pop(theirs, None)
        if other not in (None, "") and (ours == "id" or renamed.get(ours) in (None, "", [])):
            renamed[ours] = other
    return renamed


def _answers(record: Record) -> tuple[str, ...]:
    if record.value.get("answers") in (None, "", []):
        record.bad('has no "answer"')
        return ()
    try:
        return anls.gold_answers(record.value["answers"])
    except TaskError as error:
        record.bad(error.what)
        return ()


def _image(record: Record, asked: str) -> tuple[str, str]:
    """The question by itself, and the name of its picture: a field of its own, or at the question's end."""
    mark = next(_PATH.finditer(asked), None)
    question, after = (asked[: mark.start()].strip(), asked[mark.end() :].strip()) if mark else (asked.strip(), "")
    if asked.strip() and not question:
        record.bad("has a picture, but no question")
    paths = record.value.get("image_paths")
    first = paths[0] if isinstance(paths, list) and paths else ""
    name = record.value.get("image_path") or first or after
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        record.bad('has no "image_path"' if not name else '"image_path" must be the name of one file')
        return question, ""
    return question, name.strip()


def score(task: Task, response: str) -> Score:
    """The best similarity to an accepted answer."""
    predicted = anls.answer_in(response)
    soft = anls.anls(predicted, task.answers)
    if soft >= anls.HARD:
        return Score(1.0, soft, clip(predicted), lenient=1.0)
    reason = f"docvqa: wrote {quote(predicted)}, expected {quote_any(task.answers)} (ANLS {soft:.2f})"
    return Score(0.0, soft, clip(predicted), reason, float(same_but_form(predicted, task.answers)))
