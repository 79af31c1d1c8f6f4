"""From items to tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillgit.errors import TaskError
from skillgit.tasks.base import Splits, Task
from skillgit.tasks.benchmarks.items import refuse_manifest
from skillgit.tasks.benchmarks.spreadsheet.cases import UnusableError, find_cases, sums
from skillgit.tasks.problems import Problems
from skillgit.tasks.record import Record
from skillgit.tasks.rows import Row


def item_parser(root: Path) -> Callable[[Row, Problems], Task | None]:
    """A reader of items `{id, instruction, instruction_type, answer_position, answer_sheet?, spreadsheet_path?}`.

    A task whose workbooks cannot be used is loaded all the same, and says so in `data["unusable"]`.

    Args:
        root: folder of the workbooks.
    """

    def parse(row: Row, problems: Problems) -> Task | None:
        record = Record.of(row, problems)
        if record is None:
            return None
        refuse_manifest(record, "spreadsheetbench", ("instruction", "answer_position"))
        name, instruction = record.id(), record.text("instruction")
        position = record.text("answer_position")
        kind, sheet = record.optional_text("instruction_type"), record.optional_text("answer_sheet")
        folder = record.optional_text("spreadsheet_path") or f"spreadsheet/{name}"
        if not (name and instruction and position):
            return None
        data: dict[str, Any] = {"type": kind, "position": position}
        judge: dict[str, Any] = {"judge": "spreadsheetbench", "sheet": sheet}
        try:
            data["workbooks"], judge["workbooks"] = sums(root, find_cases(root, folder))
        except UnusableError as error:
            data |= {"folder": folder, "unusable": str(error)}
        return Task(
            id=name,
            input=instruction,
            context=_where(position, sheet),
            tags=(kind,) if kind.strip() else (),
            judge=judge,
            where=row.where,
            data=data,
        )

    return parse


def _where(position: str, sheet: str) -> str:
    """What the target is told of the place of the answer."""
    on = f" on the sheet {sheet.strip()!r}" if sheet.strip() and "!" not in position else ""
    return f"Position of the answer: {position}{on}"


def marked(splits: Splits, root: str) -> Splits:
    """The splits with the tasks to learn from marked as such.

    Raises:
        TaskError: not one task has its workbooks.
    """
    every = (*splits.train, *splits.val, *splits.test)
    if every and all("unusable" in task.data for task in every):
        raise TaskError(
            "none of the tasks has its workbooks",
            why=f"{every[0].id}: {every[0].data['unusable']}",
            fix="set env.data_root to the folder that the items' spreadsheet_path starts from",
            where=root,
        )
    return replace(splits, train=tuple(replace(t, data={**t.data, "feedback": True}) for t in splits.train))
