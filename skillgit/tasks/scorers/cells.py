"""SpreadsheetBench's comparison of cells, and the cells of a range. Formats and formulas do not count, only values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, time, timedelta
from typing import Any

from skillgit.errors import TaskError
from skillgit.tasks.text import quote

MOST_CELLS = 1_000_000
"""Most cells of one range."""

_EPOCH = datetime(1899, 12, 30)
"""Day 0 of Excel's calendar."""

_LAST_COLUMN, _LAST_ROW = 16_384, 1_048_576
_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})")


def cell_value(value: Any, where: str = "") -> Any:
    """A cell from its JSON form: `{"datetime": ISO text}` and `{"time": ISO text}` are read, the rest is kept.

    Raises `TaskError` naming `where` for any other object.
    """
    if not isinstance(value, Mapping):
        return value
    try:
        ((kind, text),) = value.items()
        return {"datetime": datetime.fromisoformat, "time": time.fromisoformat}[kind](text)
    except (KeyError, TypeError, ValueError) as error:
        raise TaskError(
            f"not a cell value: {quote(repr(dict(value)))}",
            fix='write {"datetime": "2024-01-31T13:00:00"} or {"time": "13:00:00"}',
            where=where,
        ) from error


def cells_equal(left: Any, right: Any) -> bool:
    """Whether two cells, in Python or JSON form, count as the same.

    An empty cell equals an empty text. Otherwise both must have the same type and value after `comparable`.
    """
    left, right = comparable(cell_value(left)), comparable(cell_value(right))
    if left in (None, "") and right in (None, ""):
        return True
    return type(left) is type(right) and bool(left == right)


def comparable(value: Any) -> Any:
    """The form in which a cell is compared.

    Numbers, truth values and texts that Python reads as a number: a float with two decimals. Dates with a time: days
    since 1899-12-30 as a whole float, half days to even. Times: text without its last three characters (the seconds).
    """
    if isinstance(value, datetime):
        return float(round((value.replace(tzinfo=None) - _EPOCH) / timedelta(days=1)))
    if isinstance(value, time):
        return str(value)[:-3]
    if isinstance(value, int | float | str):
        try:
            return round(float(value), 2)
        except (ValueError, OverflowError):
            return value
    return value


def range_cells(text: str, where: str = "") -> list[str]:
    """The cells of a range such as `A1:B5` or `$A$1`, without `$`, column by column.

    Raises `TaskError` naming `where` when the range has no end or no cell: blank, whole columns or rows, corners in the
    wrong order, outside a sheet, or over `MOST_CELLS` cells.
    """
    corners = [_corner(part) for part in text.strip().split(":")]
    first, last = corners[0], corners[-1]
    if len(corners) > 2 or first is None or last is None:
        raise _bad_range(text, "it is not of the form A1 or A1:B5" if text.strip() else "it is blank", where)
    columns, rows = range(first[0], last[0] + 1), range(first[1], last[1] + 1)
    if not columns or not rows:
        raise _bad_range(text, "its first corner is not above and left of its second one", where)
    if len(columns) * len(rows) > MOST_CELLS:
        raise _bad_range(text, f"it has more than {MOST_CELLS} cells", where)
    return [f"{name}{row}" for name in map(_column_name, columns) for row in rows]


def _bad_range(text: str, why: str, where: str) -> TaskError:
    fix = "name the first and the last cell, as in A1:B5"
    return TaskError(f"cannot use the cell range {quote(text)}", why=why, fix=fix, where=where)


def _corner(text: str) -> tuple[int, int] | None:
    """Column and row, from 1, of a cell name; `None` when it names no cell of a sheet."""
    match = _CELL.fullmatch(text.strip())
    if match is None:
        return None
    column = 0
    for letter in match[1].upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    row = int(match[2])
    return (column, row) if column <= _LAST_COLUMN and row <= _LAST_ROW else None


def _column_name(column: int) -> str:
    """Letters of a column, from 1: A … Z, AA …"""
    name = ""
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name
