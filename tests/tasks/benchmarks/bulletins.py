"""A small OfficeQA data set in the real format, and a target that gives replies in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skillgit.models.base import Reply, Request
from skillgit.tasks.base import BenchmarkContext, Task
from skillgit.tasks.benchmarks.officeqa import OfficeQA
from skillgit.tasks.benchmarks.officeqa.items import parse_item
from skillgit.tasks.problems import Problems
from skillgit.tasks.rows import Row

SITE = "https://docs.example.org/title/bulletin-407"


# A small data set in the real format: text as it is read, pages as they were parsed.


def write_documents(folder: Path) -> Path:
    """Two issues of a bulletin, as text and as parsed pages."""
    (folder / "transformed").mkdir(parents=True)
    (folder / "jsons").mkdir()
    for month, receipts, rate in ((1, 12, 5), (2, 34, 6)):
        name = f"bulletin_1941_{month:02d}"
        lines = [f"Bulletin of 1941-{month:02d}", "Millions of dollars", *[f"filler {n}" for n in range(200)]]
        lines.append(f"| Net receipts | {receipts} |\n| Rate of interest | {rate} |")
        (folder / f"transformed/{name}.txt").write_text("\n".join(lines) + "\n")
        table = f"<table><tr><th>Item</th><th>Amount</th></tr><tr><td>Net receipts</td><td>{receipts}</td></tr></table>"
        elements = [
            {"type": "title", "content": "Cover", "bbox": [{"page_id": 1}]},
            {"type": "table", "content": table, "bbox": [{"coord": [0, 0, 1, 1], "page_id": 7}]},
        ]
        (folder / f"jsons/{name}.json").write_text(json.dumps({"document": {"elements": elements}}))
    return folder


def item(number: int, kind: str = "amount", month: int = 1, **more: Any) -> dict[str, Any]:
    what = "net receipts" if kind == "amount" else "rate of interest"
    answers = {("amount", 1): "12", ("amount", 2): "34", ("rate", 1): "5", ("rate", 2): "6"}
    return {
        "uid": f"UID/{number}: x",
        "question": f"Question {number}: what was the {what} in month {month} of 1941?",
        "ground_truth": answers[kind, month],
        "category": "easy",
        "source_files": f"bulletin_1941_{month:02d}.txt",
        "source_docs": f"{SITE}/{('january', 'february')[month - 1]}-1941-65?page=7&deep=true",
        **more,
    }


def write_items(folder: Path) -> None:
    kinds = [(kind, month) for kind in ("amount", "rate") for month in (1, 2)]
    for start, split, count in ((0, "train", 4), (10, "val", 4), (20, "test", 2)):
        rows = [item(start + n, *kinds[n]) for n in range(count)]
        (folder / split).mkdir(parents=True)
        (folder / split / "items.json").write_text(json.dumps(rows))


def benchmark(root: Path, **options: Any) -> OfficeQA:
    return OfficeQA(BenchmarkContext(root, "s", {"data_dirs": ("docs",), **options}))


def task(**more: Any) -> Task:
    problems = Problems()
    parsed = parse_item(Row("x:1", item(1, **more)), problems)
    assert parsed
    assert not problems.found
    return parsed


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


class Target:
    """Gives replies in order and keeps what it was asked."""

    def __init__(self, *replies: Reply | str) -> None:
        self.replies = [Reply(reply) if isinstance(reply, str) else reply for reply in replies]
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        return self.replies.pop(0)
