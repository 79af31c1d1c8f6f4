"""OfficeQA's items: the published table, or the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from skillgit.tasks.base import Task
from skillgit.tasks.benchmarks.items import refuse_manifest
from skillgit.tasks.problems import Problems
from skillgit.tasks.record import Record
from skillgit.tasks.rows import Row

_OTHER_NAMES = {
    "uid": "id",
    "ground_truth": "answers",
    "answer": "answers",
    "difficulty": "category",
    "task_type": "category",
}


def parse_item(row: Row, problems: Problems) -> Task | None:
    """One item `{uid, question, ground_truth, category, source_files, source_docs}`; other fields are left alone.

    Stops at once at an id manifest.
    """
    record = Record.of(row, problems)
    if record is None:
        return None
    record = replace(record, value=_renamed(record.value))
    refuse_manifest(record, "officeqa", ("question", "answers"))
    name, question, answers = record.id(), record.text("question"), _answers(record)
    files, links = _several(record, "source_files"), _several(record, "source_docs")
    category = record.optional_text("category").strip()
    if not (name and question and answers):
        return None
    data = {"files": files, "links": links}
    return Task(name, question, answers=answers, tags=(category,) if category else (), where=row.where, data=data)


def _renamed(value: Mapping[str, Any]) -> dict[str, Any]:
    """An item under one set of names; what is there under the first of two names counts."""
    renamed = {name: field for name, field in value.items() if name not in _OTHER_NAMES}
    for theirs, ours in _OTHER_NAMES.items():
        if value.get(theirs) not in (None, "", []) and renamed.get(ours) in (None, "", []):
            renamed[ours] = value[theirs]
    return renamed


def _answers(record: Record) -> tuple[str, ...]:
    value = record.value.get("answers")
    given = value if isinstance(value, list) else [value]
    answers = tuple(_said(answer) for answer in given)
    if all(answers) and answers:
        return answers
    record.bad('"ground_truth" must be text or a number' if value not in (None, "", []) else 'has no "ground_truth"')
    return ()


def _said(answer: object) -> str:
    if isinstance(answer, str):
        return answer.strip()
    number = isinstance(answer, int | float) and not isinstance(answer, bool)
    return json.dumps(answer) if number else ""


def _several(record: Record, name: str) -> list[str]:
    """A list of names: a list, or text that is one as JSON, or has one on each line, or commas between them."""
    value = record.value.get(name)
    if isinstance(value, str):
        value = _split(value)
    if value is None or (isinstance(value, list) and all(isinstance(part, str) for part in value)):
        return list(dict.fromkeys(part.strip() for part in value or () if part.strip()))
    record.bad(f'"{name}" must be a list of texts, or text with one on each line')
    return []


def _split(text: str) -> Any:
    if text.strip().startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text  # which is no list, and is told as that
    lines = text.splitlines()
    return lines if len(lines) > 1 else text.split(",")
