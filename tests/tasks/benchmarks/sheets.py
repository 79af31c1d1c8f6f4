"""Workbooks in the form of SpreadsheetBench: sums to write into a cell, two test cases a task."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import openpyxl

FENCE = "```python\n{}\n```"
SUM = (
    "import openpyxl\nINPUT_PATH = 'ignored.xlsx'\nwb = openpyxl.load_workbook(INPUT_PATH)\nws = wb['My Data']\n"
    "ws['D2'] = {value}\nwb.save(OUTPUT_PATH)"
)
RIGHT = FENCE.format(SUM.format(value="sum(r[1] for r in ws.iter_rows(min_row=2, values_only=True) if r[1])"))
FORMULA = FENCE.format(SUM.format(value="'=SUM(B2:B20)'"))
FIRST_ONLY = FENCE.format(SUM.format(value="6"))
"""Right for the first test case, whose sum it knows, and for no other."""

WRONG = FENCE.format(SUM.format(value="5"))
AS_TEXT = FENCE.format(SUM.format(value="f'{sum(r[1] for r in ws.iter_rows(min_row=2, values_only=True) if r[1])} '"))


def workbook(rows: Sequence[Sequence[Any]], title: str = "My Data", **cells: Any) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = title
    for row in rows:
        sheet.append(row)
    for name, value in cells.items():
        sheet[name] = value
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def item(name: str, folder: str = "", **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "instruction": f"Write the total amount to D2 ({name}).",
        "instruction_type": "Cell-Level Manipulation",
        "answer_position": "'My Data'!D2",
        "spreadsheet_path": f"spreadsheet/{folder or name}",
        **more,
    }


def books(folder: str, cases: int = 2, kinds: tuple[str, str] = ("input", "answer")) -> dict[str, bytes]:
    """Path to bytes of the workbooks of one task; the sum of case n is 6n."""
    made = {}
    for n in range(1, cases + 1):
        rows = [["name", "amount"], *[[f"x{k}", k * n] for k in (1, 2, 3)]]
        made[f"spreadsheet/{folder}/{n}_{folder}_{kinds[0]}.xlsx"] = workbook(rows)
        made[f"spreadsheet/{folder}/{n}_{folder}_{kinds[1]}.xlsx"] = workbook(rows, D2=6 * n)
    return made


def data(train: Sequence[str], val: Sequence[str], test: Sequence[str] = (), cases: int = 2) -> Mapping[str, Any]:
    """Path to content of a whole data set."""
    found: dict[str, Any] = {}
    for split, names in (("train", train), ("val", val), ("test", test)):
        found[f"{split}/items.json"] = [item(name) for name in names]
        for name in names:
            found |= books(name, cases)
    return found
