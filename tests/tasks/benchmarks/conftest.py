"""What tests of one benchmark share over several files."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.tasks.benchmarks.spreadsheet import report, work
from tests.tasks.benchmarks.bulletins import write_documents
from tests.tasks.benchmarks.sheets import data
from tests.tasks.benchmarks.workbooks import write


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """OfficeQA's documents."""
    return write_documents(tmp_path / "docs")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with SpreadsheetBench tasks."""
    write(tmp_path, data(["a"], ["b"]))
    return tmp_path


@pytest.fixture
def single(tmp_path: Path) -> Path:
    """The same with one test case a task."""
    write(tmp_path, data(["a"], ["b"], cases=1))
    return tmp_path


@pytest.fixture
def without_office(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (work, report):
        monkeypatch.setattr(module, "office", lambda: "")
