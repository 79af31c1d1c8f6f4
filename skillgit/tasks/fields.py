"""The fields of a task that users write.

| field | meaning |
|---|---|
| `id` | unique text or whole number |
| `input` (or `question`, `prompt`) | what is asked |
| `context` | text given beside the question |
| `files` | names of files in the folder, or an object of name to text |
| `answers` (or one `answer`) | accepted answers |
| `tags` | labels |
| `judge` | a judge's name, or an object with `type` and settings |
| `checks` | short for `{"type": "checks", "checks": […]}` |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgit.tasks.base import Task
from skillgit.tasks.judges import resolve
from skillgit.tasks.problems import Problems
from skillgit.tasks.record import Record
from skillgit.tasks.rows import Row, read_value, shown
from skillgit.tasks.sources import JUDGE_FILE, Source

_KNOWN = frozenset(
    ("id", "input", "question", "prompt", "context", "files", "answers", "answer", "tags", "judge", "checks")
)


def default_judge(source: Source, root: Path, problems: Problems) -> Any:
    """What `judge.json` beside the tasks says about tasks that name no judge; `exact` without that file."""
    path = source.folder / JUDGE_FILE
    if not path.is_file():
        return "exact"
    name = shown(path, root)
    known = len(problems.found)
    spec = read_value(path, name, problems)
    if len(problems.found) == known:
        for text in resolve(spec)[1]:
            problems.add(name, text)
    return spec if len(problems.found) == known else None


@dataclass(frozen=True)
class TaskParser:
    """Rows of one source to tasks.

    Attributes:
        judge: the default judge; `None` when it is faulty (already a problem of its own file).
    """

    source: Source
    judge: Any

    def __call__(self, row: Row, problems: Problems) -> Task | None:
        """One task, or `None` after the problems that forbid it."""
        record = Record.of(row, problems)
        if record is None:
            return None
        record.only(_KNOWN)
        name, question = record.id(), record.text("input", "question", "prompt")
        answers = _answers(record)
        return Task(
            id=name or f"\n{row.where}",  # never a real id, so that a fault is not reported twice
            input=question or f"\n{row.where}",
            context=record.optional_text("context"),
            files=self._files(record),
            answers=answers or (),
            tags=record.texts("tags") or (),
            judge={} if answers is None else self._judge(record, answers),
            where=row.where,
        )

    def _judge(self, record: Record, answers: tuple[str, ...]) -> Mapping[str, Any]:
        own, checks = record.value.get("judge"), record.value.get("checks")
        if own is not None and checks is not None:
            record.bad('has both "judge" and "checks": checks are a judge of their own')
            return {}
        if checks is not None:
            own = {"type": "checks", "checks": checks}
        if own is None and self.judge is None:
            return {}
        settings, wrong = resolve(self.judge if own is None else own, answers)
        for text in wrong:
            record.bad(text)
        return settings

    def _files(self, record: Record) -> Mapping[str, str]:
        value = record.value.get("files")
        if value is None:
            return {}
        if isinstance(value, dict):
            if all(name.strip() and isinstance(text, str) for name, text in value.items()):
                return value
            record.bad('"files" must give the text of each file')
            return {}
        return {name: self._file(record, name) for name in record.texts("files") or ()}

    def _file(self, record: Record, name: str) -> str:
        """Text of a file in the folder. The resolved path decides, so that no `..` or link leads out."""
        try:
            path = (self.source.folder / name).resolve()
            if not path.is_relative_to(self.source.folder.resolve()):
                record.bad(f'the file "{name}" is outside the folder of the tasks')
            elif path in [file.resolve() for file in self.source.files()]:
                record.bad(f'the file "{name}" holds answers or judges and cannot be shown to the target')
            else:
                return path.read_bytes().decode()
        except UnicodeDecodeError as error:
            record.bad(f'the file "{name}" is not UTF-8 text (byte {error.start + 1})')
        except (OSError, ValueError) as error:
            record.bad(f'the file "{name}" cannot be read ({getattr(error, "strerror", None) or error})')
        return ""


def _answers(record: Record) -> tuple[str, ...] | None:
    if "answer" not in record.value:
        return record.texts("answers")
    if "answers" in record.value:
        record.bad('has both "answer" and "answers": put every accepted answer in "answers"')
        return None
    answer = record.text("answer")
    return None if answer is None else (answer,)
