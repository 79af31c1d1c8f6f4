"""Values of workbooks, as a process apart reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgit.errors import ModelError
from skillgit.tasks import sandbox
from skillgit.tasks.benchmarks.spreadsheet.cases import UnusableError

_READER = Path(__file__).with_name("reader.py")
_LIMITS = sandbox.Limits(seconds=60.0, file_size=2**30, space=2**30)
_JOB, _RESULT = ".job.json", ".result.json"
_SHOWN = 40
"""Most characters of one cell in a preview."""


@dataclass(frozen=True)
class Area:
    """Cells of one sheet; `None` is the first sheet of the workbook that is wanted."""

    sheet: str | None
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Book:
    """What was read of one workbook.

    Attributes:
        sheets: name, size and first rows of each sheet, when asked for.
        areas: per area its sheet and values, `None` when the sheet is not there.
        formulas: cells of the areas that have a formula but no value.
        error: why it could not be read; the rest is empty then.
    """

    sheets: tuple[Mapping[str, Any], ...] = ()
    areas: tuple[tuple[str, tuple[Any, ...]] | None, ...] = ()
    formulas: int = 0
    error: str = ""


def read_books(folder: Path, paths: Sequence[Path], areas: Sequence[Area], *, heads: bool = False) -> list[Book]:
    """The same areas of several workbooks below `folder`.

    A workbook that cannot be read, for its own fault, is a `Book` with an error.

    Raises:
        ModelError: no process can be started here.
    """
    if not paths:
        return []
    wanted = [[area.sheet, list(area.cells)] for area in areas]
    books = [{"path": str(path.resolve()), "heads": heads, "areas": wanted} for path in paths]
    (folder / _JOB).write_text(json.dumps({"books": books}), encoding="utf-8")
    (folder / _RESULT).unlink(missing_ok=True)
    ran = sandbox.run_python(_READER, folder, arguments=(_JOB, _RESULT), limits=_LIMITS)
    if ran.ok:
        return [_book(value) for value in json.loads((folder / _RESULT).read_text(encoding="utf-8"))]
    if not ran.problem.startswith(sandbox.ENDED):
        raise ModelError("workbooks cannot be read here", why=ran.problem.splitlines()[-1])
    if len(paths) > 1:  # one of them is at fault: find out which
        return [book for path in paths for book in read_books(folder, [path], areas, heads=heads)]
    return [Book(error=f"cannot be opened ({ran.problem.splitlines()[-1]})")]


def _book(value: Mapping[str, Any]) -> Book:
    if "error" in value:
        return Book(error=str(value["error"]))
    areas = tuple((area[0], tuple(area[1])) if area else None for area in value["areas"])
    return Book(tuple(value["sheets"]), areas, sum(value["formulas"]))


def preview(book: Book) -> str:
    """Every sheet's size and first rows, as the target is shown them."""
    return "\n\n".join(_sheet(sheet) for sheet in book.sheets)


def _sheet(sheet: Mapping[str, Any]) -> str:
    lines = [f"Sheet {sheet['name']!r}: {sheet['rows']} rows, {sheet['columns']} columns"]
    lines += [" | ".join(_cut(value) for value in row) for row in sheet["head"]]
    left = sheet["rows"] - len(sheet["head"])
    return "\n".join([*lines, f"({left} more rows)"] if left > 0 else lines)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def whole(book: Book, name: str) -> Book:
    """The book, or `UnusableError` when it could not be read."""
    if book.error:
        raise UnusableError(f"{name} {book.error}")
    return book
