"""SpreadsheetBench: one row per task in `dataset.json`, and a folder of workbooks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillgit.tasks.data.kinds.base import Found, Kind, Sink, UnusableError, agree, first_of, text


def _build(wanted: Mapping[str, Any], found: Found, sink: Sink) -> dict[str, Any]:
    row = found.value
    agree(wanted, row, "instruction_type")
    name = str(wanted.get("spreadsheet_path") or row.get("spreadsheet_path") or f"spreadsheet/{wanted['id']}")
    item = {
        "id": str(wanted["id"]),
        "instruction": text(row, "instruction"),
        "instruction_type": text(row, "instruction_type"),
        "answer_position": text(row, "answer_position"),
        **{field: str(row[field]) for field in ("answer_sheet", "data_position") if row.get(field)},
        "spreadsheet_path": name,
    }
    for path in _workbooks(found.file(name), name):
        sink.write(f"{name}/{path.name}", _read(path))
    return item


def _workbooks(folder: Path, name: str) -> list[Path]:
    if not folder.is_dir():
        raise UnusableError(f"{name} is no folder", "file")
    # Names that begin otherwise are what systems and programs leave behind.
    books = sorted(path for path in folder.glob("[0-9A-Za-z]*.xlsx") if path.is_file() and not path.is_symlink())
    wanted = any(path.stem.endswith(("answer", "golden")) for path in books)
    given = any(path.stem.endswith(("input", "init", "initial")) for path in books)
    if not (wanted and given):
        raise UnusableError(f"{name} lacks the workbook to {'change' if wanted else 'compare with'}", "file")
    return books


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnusableError(f"{path.name} cannot be read ({error.strerror})", "file") from error


SPREADSHEET = Kind(
    name="spreadsheetbench",
    title="SpreadsheetBench",
    folder="data/spreadsheetbench_split",
    released=(80, 40, 280),
    repo="KAKA22/SpreadsheetBench",
    hub=("spreadsheetbench_verified_400.tar.gz",),
    patterns=("**/dataset.json", "*.jsonl", "*.json"),
    id_fields=("id",),
    row_id=first_of("id"),
    build=_build,
    keys=("env.split_dir", "env.data_root"),
)
