"""SpreadsheetBench: items, positions and the comparison of cells."""

from __future__ import annotations

import json
from datetime import datetime, time
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ConfigError, TaskError
from skillgit.tasks.benchmarks.spreadsheet import reader
from skillgit.tasks.benchmarks.spreadsheet.books import Area, Book
from skillgit.tasks.benchmarks.spreadsheet.cases import find_cases
from skillgit.tasks.benchmarks.spreadsheet.compare import areas_of, compare, same_value
from tests.tasks.benchmarks.sheets import RIGHT, item, workbook
from tests.tasks.benchmarks.workbooks import Conformance, Target, bench, val, write

# Loading


def test_tasks_show_the_question_and_keep_the_answer_to_the_judge(root: Path) -> None:
    splits = bench(root).load()
    (task,) = splits.val
    assert (task.input, task.tags) == ("Write the total amount to D2 (b).", ("Cell-Level Manipulation",))
    assert task.context == "Position of the answer: 'My Data'!D2"
    assert list(task.data["workbooks"]) == ["1", "2"]
    assert "answer.xlsx" not in json.dumps(task.content())
    assert "feedback" not in task.data
    assert splits.train[0].data["feedback"] is True
    before = task.digest()
    write(root, {"spreadsheet/b/2_b_answer.xlsx": workbook([], D2=1)})
    assert bench(root).load().val[0].digest() != before


@pytest.mark.parametrize(
    ("names", "cases"),
    [
        (["1_b_input", "1_b_answer", "10_b_input", "10_b_answer", "2_b_input"], ["1", "10"]),
        (["1_b_init", "1_b_golden", "2_b_input", "2_b_answer"], ["1", "2"]),
        (["1_b c_input", "1_b c_answer", "notes"], ["1"]),
        (["initial", "golden"], ["1"]),
    ],
)
def test_test_cases_are_found_by_their_names(tmp_path: Path, names: list[str], cases: list[str]) -> None:
    write(tmp_path, {f"f/{name}.xlsx": b"" for name in names})
    assert [case.number for case in find_cases(tmp_path, "f")] == cases


def test_every_faulty_row_is_named(root: Path) -> None:
    rows = [item("b"), {"id": "c", "instruction": "x"}, item("b"), {**item("d"), "answer_sheet": 5}, 7]
    write(root, {"val/items.json": rows})
    with pytest.raises(TaskError) as caught:
        bench(root).load()
    assert caught.value.what.startswith("4 problems")
    for problem in ('has no "answer_position"', '"b" is already used', '"answer_sheet" must be text', "not an object"):
        assert problem in (caught.value.why or "")


def test_what_is_missing_is_said(root: Path) -> None:
    with pytest.raises(TaskError, match="needs its data"):
        bench(root, split_dir="").load()
    with pytest.raises(ConfigError, match="no such folder"):
        bench(root, data_root="nowhere").load()
    (root / "empty").mkdir()
    with pytest.raises(TaskError, match="none of the tasks has its workbooks") as caught:
        bench(root, data_root="empty").load()
    assert "env.data_root" in caught.value.fix
    with pytest.raises(ConfigError, match='"mulit"; did you mean "multi"'):
        bench(root, mode="mulit")
    write(root, {"val/items.json": [{"id": "b", "spreadsheet_path": "spreadsheet/b"}]})
    with pytest.raises(TaskError) as caught:
        bench(root).load()
    assert "skillgit data materialize spreadsheetbench --manifest DIR --source PATH" in caught.value.fix


# Comparing


@pytest.mark.parametrize(
    ("position", "sheet", "areas"),
    [
        ("A1:A2", "", [(None, ("A1", "A2"))]),
        ("'My, Data'!B1, Two!C3", "", [("My, Data", ("B1",)), ("Two", ("C3",))]),
        ("A1,B2", " Two ", [("Two", ("A1",)), ("Two", ("B2",))]),
        ("One!$A$1,B2", "Two", [("One", ("A1",)), (None, ("B2",))]),
        ("Sheet1!'A1:A1'", "", [("Sheet1", ("A1",))]),
    ],
)
def test_positions(position: str, sheet: str, areas: list[Any]) -> None:
    assert [(area.sheet, area.cells) for area in areas_of(position, sheet)] == areas


@pytest.mark.parametrize("position", ["A:A", "My Data!", " , ", "B2:A1", "x"])
def test_a_position_without_cells_fails_its_task_and_asks_nobody(root: Path, position: str) -> None:
    ask = Target(RIGHT)
    got = bench(root).rollout(val(root, answer_position=position), "", ask)
    assert (got.score.hard, got.score.reason[:7], ask.requests) == (0.0, "setup: ", [])


def test_cells_are_read_as_they_are_compared(tmp_path: Path, conformance: Conformance) -> None:
    cells = [row["a"] for row in conformance("spreadsheet_cell")]
    values = {f"A{n}": cell for n, cell in enumerate(cells, 1) if not isinstance(cell, dict)}
    values |= {"B1": datetime(2024, 1, 31, 13), "B2": time(13, 30, 5), "B3": True}
    (tmp_path / "x.xlsx").write_bytes(workbook([], **values))
    job = {
        "books": [{"path": str(tmp_path / "x.xlsx"), "heads": False, "areas": [[None, list(values)], ["No", ["A1"]]]}]
    }
    (tmp_path / "job").write_text(json.dumps(job))
    reader.main(str(tmp_path / "job"), str(tmp_path / "result"))
    (found,) = json.loads((tmp_path / "result").read_text())
    wanted = [None if value == "" else value for value in values.values()]
    wanted[-3:-1] = [{"datetime": "2024-01-31T13:00:00"}, {"time": "13:30:05"}]
    assert found["areas"] == [["My Data", wanted], None]


def test_the_published_comparison_decides(conformance: Conformance) -> None:
    for row in conformance("spreadsheet_cell"):
        left, right = (Book(areas=(("S", (row[side],)),)) for side in "ab")
        verdict = compare("1", (Area("S", ("A1",)),), left, right)
        assert verdict.passed is row["equal"], row
        assert verdict.passed_but_form or not verdict.passed


@pytest.mark.parametrize(
    ("got", "wanted", "same"),
    [
        ("12 ", 12, True),
        ("$1,200.00", 1200, True),
        ("New  York", "new york", True),
        ({"datetime": "2024-01-31T00:00:00"}, "2024-01-31", True),
        (None, "", True),
        (12.1, 12, False),
        (None, 0, False),
        ("York", "New York", False),
    ],
)
def test_form_is_forgiven_and_values_are_not(got: Any, wanted: Any, same: bool) -> None:
    assert same_value(got, wanted) is same
