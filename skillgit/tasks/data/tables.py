"""Rows of the files that data sets come in: parquet, JSON, JSON Lines and CSV."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from skillgit.errors import ConfigError
from skillgit.tasks.data.findings import Findings
from skillgit.tasks.problems import Problems
from skillgit.tasks.rows import Row, parse, read_rows

SUFFIXES = (".parquet", ".jsonl", ".json", ".csv")
_CELL = 1 << 26  # most characters of one CSV cell
_BATCH = 64  # rows with pictures are large


@dataclass(frozen=True)
class Filter:
    """Which rows are wanted: `keep` looks at the fields `fields` only, which hold the id."""

    fields: tuple[str, ...]
    keep: Callable[[Mapping[str, Any]], bool]


def read_table(path: Path, name: str, wanted: Filter, findings: Findings) -> Iterator[Row]:
    """The wanted rows of one file, one after the other; what cannot be read becomes a finding.

    Args:
        name: the file as messages name it.
    """
    try:
        yield from _READERS[path.suffix.lower()](path, name, wanted, findings)
    except UnicodeDecodeError as error:
        findings.add("unreadable", f"is not UTF-8 text ({error.reason})", where=name)
    except OSError as error:
        findings.add("unreadable", f"cannot be read ({error.strerror or error})", where=name)


def _parquet(path: Path, name: str, wanted: Filter, findings: Findings) -> Iterator[Row]:
    arrow, parquet = _arrow()
    try:
        with parquet.ParquetFile(path) as file:
            at = 0
            for group in range(file.num_row_groups):
                for number, row in _group(arrow, file, group, wanted):
                    yield Row(f"{name} row {at + number + 1}", row)
                at += file.metadata.row_group(group).num_rows
    except arrow.ArrowException as error:
        findings.add("unreadable", f"is not a sound parquet file ({str(error).splitlines()[0]})", where=name)


def _group(arrow: Any, file: Any, group: int, wanted: Filter) -> Iterator[tuple[int, Any]]:
    """The wanted rows of one row group with their numbers in it.

    Ids are read first, and groups one by one: what is not wanted may hold gigabytes of pictures.
    """
    fields = [field for field in wanted.fields if field in file.schema_arrow.names]
    kept = {n for n, row in enumerate(file.read_row_group(group, columns=fields).to_pylist()) if wanted.keep(row)}
    at = 0
    for batch in file.iter_batches(batch_size=_BATCH, row_groups=[group]) if kept else ():
        numbers = [n for n in range(at, at + batch.num_rows) if n in kept]
        rows = batch.take(arrow.array([n - at for n in numbers], arrow.int64())).to_pylist()
        yield from zip(numbers, rows, strict=True)
        at += batch.num_rows


def _arrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        fix = "pip install 'skillgit[data]', or export the data as JSON Lines"
        raise ConfigError("reading parquet files needs the package pyarrow", why=str(error), fix=fix) from error


def _lines(path: Path, name: str, wanted: Filter, findings: Findings) -> Iterator[Row]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            where = f"{name}:{number}"
            try:
                value = parse(line.decode("utf-8-sig")) if line.strip() else None
            except ValueError as error:
                findings.add("unreadable", f"is not valid JSON ({error})", where=where)
                continue
            if isinstance(value, dict) and wanted.keep(value):
                yield Row(where, value)


def _document(path: Path, name: str, wanted: Filter, findings: Findings) -> Iterator[Row]:
    problems = Problems()
    rows = read_rows(path, name, problems)
    for problem in problems.found:
        findings.add("unreadable", problem.text, where=problem.where)
    yield from (row for row in rows if isinstance(row.value, dict) and wanted.keep(row.value))


def _csv(path: Path, name: str, wanted: Filter, findings: Findings) -> Iterator[Row]:
    csv.field_size_limit(_CELL)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            yield from (Row(f"{name}:{reader.line_num}", row) for row in reader if wanted.keep(row))
        except csv.Error as error:
            findings.add("unreadable", f"is not valid CSV ({error})", where=f"{name}:{reader.line_num}")


_READERS = {".parquet": _parquet, ".jsonl": _lines, ".json": _document, ".csv": _csv}
