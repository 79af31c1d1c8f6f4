"""Writing task files, and loading them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgit.tasks.base import BenchmarkContext, Splits
from skillgit.tasks.benchmarks.files import TaskFiles

DATA = Path(__file__).parents[1] / "data"

Load = Callable[..., Splits]


@pytest.fixture
def conformance() -> Callable[[str], list[dict[str, Any]]]:
    return lambda name: json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write files (name in `evals/s/` to bytes, text or rows) and load them."""

    def write(files: Mapping[str, Any], **options: Any) -> Splits:
        for name, content in files.items():
            path = tmp_path / "evals" / "s" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, list):
                content = "".join(json.dumps(row) + "\n" for row in content)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return TaskFiles(BenchmarkContext(tmp_path, "s", options)).load()

    return write


@pytest.fixture
def load_train(load: Load) -> Load:
    """Write `train.jsonl` beside a sound `val.jsonl`, and load both."""
    val = [{"id": "v1", "input": "validate?", "answers": ["yes"]}]
    return lambda train, more=None, **options: load({"train.jsonl": train, "val.jsonl": val, **(more or {})}, **options)
