"""Reads workbooks in a process of its own, for a workbook may be made to fill the memory of whoever opens it.

Called as `reader.py JOB RESULT`, two JSON files. The job: `{"books": [{"path", "heads": bool, "areas": [[sheet or null,
[cell, …]], …]}, …]}`. The result: for each book `{"sheets": [{"name", "rows", "columns", "head"}], "areas": [[sheet,
[value, …]] or null, …], "formulas": [n, …]}` or `{"error": text}`. An area is null when its sheet is not there; its
number of formulas counts those of its cells that have a formula but no value.
"""

from __future__ import annotations

import json
import sys
import warnings
import zipfile
from datetime import datetime, time
from pathlib import Path
from typing import Any

MOST_UNPACKED = 300_000_000
MOST_TOLD = 30_000_000
_ROWS, _COLUMNS = 5, 20


def main(job: str, result: str) -> None:
    """Read every book of the job; a fault of one is told in its place."""
    warnings.simplefilter("ignore")
    books = json.loads(Path(job).read_text(encoding="utf-8"))["books"]
    Path(result).write_text(f"[{','.join(map(_told, books))}]", encoding="utf-8")


def _told(book: dict[str, Any]) -> str:
    """What was read of one book, as JSON."""
    try:
        told = json.dumps(_read(book))
    except MemoryError:
        told = ""
    return told if 0 < len(told) <= MOST_TOLD else json.dumps({"error": "holds too much text"})


def _read(book: dict[str, Any]) -> dict[str, Any]:
    try:
        _look_at_size(book["path"])
        sheets = _sheets(book["path"], values=True)
        # In this order: to look at a cell is to make it, and the sheet as large.
        heads = [_head(name, sheet) for name, sheet in sheets.items()] if book["heads"] else []
        areas = [_area(sheets, *area) for area in book["areas"]]
        return {"sheets": heads, "areas": areas, "formulas": _formulas(book["path"], areas, book["areas"])}
    except MemoryError:
        return {"error": "is too large to be opened"}
    except Exception as error:  # noqa: BLE001 - a damaged workbook may raise anything
        return {"error": f"cannot be opened ({type(error).__name__}: {str(error)[:200]})"}


def _look_at_size(path: str) -> None:
    with zipfile.ZipFile(path) as packed:
        size = sum(entry.file_size for entry in packed.infolist())
    if size > MOST_UNPACKED:
        raise ValueError(f"it unpacks to {size} bytes")


def _sheets(path: str, *, values: bool) -> dict[str, Any]:
    import openpyxl  # type: ignore[import-untyped]

    return {sheet.title: sheet for sheet in openpyxl.load_workbook(path, data_only=values).worksheets}


def _area(sheets: dict[str, Any], name: str | None, cells: list[str]) -> list[Any] | None:
    name = next(iter(sheets), "") if name is None else name
    return [name, [_plain(sheets[name][cell].value) for cell in cells]] if name in sheets else None


def _formulas(path: str, areas: list[list[Any] | None], wanted: list[list[Any]]) -> list[int]:
    """Per area, the cells that hold a formula that nothing has calculated."""
    blank = [area is not None and None in area[1] for area in areas]
    if not any(blank):
        return [0] * len(areas)
    sheets = _sheets(path, values=False)
    return [
        sum(sheets[area[0]][cell].data_type == "f" for cell, value in zip(cells, area[1], strict=True) if value is None)
        if area
        else 0
        for area, (_, cells) in zip(areas, wanted, strict=True)
    ]


def _head(name: str, sheet: Any) -> dict[str, Any]:
    rows = sheet.iter_rows(max_row=min(_ROWS, sheet.max_row), max_col=min(_COLUMNS, sheet.max_column), values_only=True)
    shown = [["" if value is None else str(value) for value in row] for row in rows]
    return {"name": name, "rows": sheet.max_row, "columns": sheet.max_column, "head": shown}


def _plain(value: Any) -> Any:
    """A cell's value in JSON, as the comparison of cells reads it."""
    if isinstance(value, datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, time):
        return {"time": value.isoformat()}
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


if __name__ == "__main__":
    # openpyxl would load it, though it is not needed to read, and that takes as long as all the rest.
    sys.modules["numpy"] = None  # type: ignore[assignment]
    main(*sys.argv[1:])
