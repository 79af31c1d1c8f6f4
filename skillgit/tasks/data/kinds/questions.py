"""SearchQA, OfficeQA and LiveMathematicianBench: one row, one item, no files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from skillgit.tasks.data.kinds.base import TABLES, Found, Kind, Sink, UnusableError, agree, first_of, text, texts


def _searchqa(wanted: Mapping[str, Any], found: Found, sink: Sink) -> dict[str, Any]:  # noqa: ARG001 - no files
    row = found.value
    return {
        "id": str(wanted["id"]),
        "question": text(row, "question"),
        "context": text(row, "context"),
        "answers": texts(row, "answers"),
    }


def _officeqa(wanted: Mapping[str, Any], found: Found, sink: Sink) -> dict[str, Any]:  # noqa: ARG001 - no files
    row = found.value
    files = _several(row.get("source_files"))
    if "source_files" in wanted and sorted(files) != sorted(_several(wanted["source_files"])):
        raise UnusableError("has other source_files than the manifest says", "mismatch")
    return {
        "id": str(wanted["id"]),
        "question": text(row, "question"),
        "ground_truth": _answer(row),
        "category": str(wanted.get("category") or row.get("difficulty") or ""),
        "source_files": files,
        "source_docs": _several(row.get("source_docs")),
    }


def _answer(row: Mapping[str, Any]) -> str:
    """Tables hold texts; what was exported from them may hold numbers."""
    value = row.get("answer", row.get("ground_truth"))
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return json.dumps(value) if number else text(row, "answer", "ground_truth")


def _several(value: Any) -> list[str]:
    """One text with a name on each line, or a list."""
    if isinstance(value, list):
        return [str(item) for item in value]
    parts = re.split(r"[\r\n]+", value) if isinstance(value, str) else []
    return [part.strip() for part in parts if part.strip()]


def _livemath(wanted: Mapping[str, Any], found: Found, sink: Sink) -> dict[str, Any]:  # noqa: ARG001 - no files
    row = found.value
    agree(wanted, row, "paper_link")
    mcq = row["mcq"] if isinstance(row.get("mcq"), dict) else row
    for name in ("choices", "correct_choice"):
        if not mcq.get(name):
            raise UnusableError(f'has no "{name}"')
    return {
        **{name: wanted[name] for name in ("id", "month", "no", "paper_link") if name in wanted},
        "question": text(mcq, "question"),
        **{name: mcq[name] for name in ("choices", "correct_choice")},
        **{name: row[name] for name in ("theorem", "sketch", "theorem_type") if row.get(name)},
    }


def _livemath_id(row: Mapping[str, Any], file: str) -> str:
    """`<month>:<no>`; the monthly files have the month in their names."""
    if isinstance(row.get("id"), str):
        return str(row["id"])
    month = row.get("month") or next(iter(re.findall(r"(?<!\d)\d{6}(?!\d)", file)), "")
    return f"{month}:{row['no']}" if month and row.get("no") is not None else ""


SEARCHQA = Kind(
    name="searchqa",
    title="SearchQA",
    folder="data/searchqa_split",
    released=(400, 200, 1400),
    repo="lucadiliello/searchqa",
    hub=("**/*.parquet", "*.parquet"),
    patterns=TABLES,
    id_fields=("key", "id"),
    row_id=first_of("key", "id"),
    build=_searchqa,
)

OFFICEQA = Kind(
    name="officeqa",
    title="OfficeQA",
    folder="data/officeqa_split",
    released=(50, 24, 172),
    repo="databricks/officeqa",
    hub=("officeqa_full.csv",),
    patterns=("**/officeqa_full.csv", "**/officeqa.csv", "*.csv", *TABLES),
    id_fields=("uid", "id"),
    row_id=first_of("uid", "id"),
    build=_officeqa,
    also="set env.data_dirs to the folders with the documents",
)

LIVEMATH = Kind(
    name="livemathematicianbench",
    title="LiveMathematicianBench",
    folder="data/livemathematicianbench_split",
    released=(35, 17, 125),
    repo="LiveMathematicianBench/LiveMathematicianBench",
    hub=("data/*/qa_*_final.json",),
    patterns=("**/qa_*_final.json", *TABLES),
    id_fields=("id", "month", "no"),
    row_id=_livemath_id,
    build=_livemath,
)
