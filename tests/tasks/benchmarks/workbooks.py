"""A place with SpreadsheetBench tasks, and a target that gives replies in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from skillgit.models.base import Reply, Request
from skillgit.tasks.base import BenchmarkContext, Task
from skillgit.tasks.benchmarks.spreadsheet import SpreadsheetBench
from tests.tasks.benchmarks.sheets import item

Conformance = Callable[[str], list[dict[str, Any]]]


class Target:
    """Gives replies in order, the last again and again, and keeps what it was asked."""

    def __init__(self, *replies: Reply | str) -> None:
        self.replies = [Reply(reply) if isinstance(reply, str) else reply for reply in replies]
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        return self.replies[min(len(self.requests), len(self.replies)) - 1]


def write(root: Path, files: Mapping[str, Any]) -> None:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())


def bench(root: Path, **options: Any) -> SpreadsheetBench:
    return SpreadsheetBench(BenchmarkContext(root, "s", {"split_dir": ".", "mode": "single", **options}))


def val(root: Path, changes: Mapping[str, Any] | None = None, **fields: Any) -> Task:
    """The validation task after changes to its item and its workbooks."""
    write(root, {"val/items.json": [item("b", **fields)], **(changes or {})})
    return bench(root).load().val[0]
