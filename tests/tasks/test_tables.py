"""Tables of items: CSV beside JSON, for benchmarks that take it."""

from __future__ import annotations

from pathlib import Path

from skillgit.tasks.base import BenchmarkContext
from skillgit.tasks.problems import Problems
from skillgit.tasks.rows import Row, read_rows
from skillgit.tasks.sources import configured


def read(folder: Path, data: bytes) -> tuple[list[Row], list[str]]:
    (folder / "items.csv").write_bytes(data)
    problems = Problems()
    rows = read_rows(folder / "items.csv", "items.csv", problems)
    return rows, [f"{problem.where} {problem.text}" for problem in problems.found]


def test_rows_of_a_table_are_objects_that_stand_where_they_begin(tmp_path: Path) -> None:
    rows, problems = read(tmp_path, b'\xef\xbb\xbfid,text\r\na,"one\r\ntwo"\r\n\r\nb,"say ""x"", y"\r\n')
    assert not problems
    assert rows == [
        Row("items.csv:2", {"id": "a", "text": "one\r\ntwo"}),
        Row("items.csv:5", {"id": "b", "text": 'say "x", y'}),
    ]


def test_faulty_rows_of_a_table_are_named_and_the_others_read(tmp_path: Path) -> None:
    rows, problems = read(tmp_path, b"id,text\na\nb,c\nd,e,f\n")
    assert [row.value["id"] for row in rows] == ["b"]
    assert problems == [
        "items.csv:2 has 1 cells, and the first line names 2",
        "items.csv:4 has 3 cells, and the first line names 2",
    ]


def test_a_table_that_is_not_text_or_not_closed_is_one_problem(tmp_path: Path) -> None:
    assert read(tmp_path, b"id\n\xff\n")[1] == ["items.csv:2 is not UTF-8 text (byte 4 is 0xff)"]
    rows, problems = read(tmp_path, b'id\na\n"b\n')
    assert [row.value for row in rows] == [{"id": "a"}]
    assert problems == ["items.csv:3 is no row of a table (unexpected end of data)"]


def test_tables_are_found_only_by_benchmarks_that_take_them(tmp_path: Path) -> None:
    for split in ("train", "val"):
        (tmp_path / split).mkdir()
        (tmp_path / split / "data.csv").write_text("id\na\n")
    ctx = BenchmarkContext(tmp_path, "s", {"split_dir": "."})
    with_tables, without = configured(ctx, tables=True), configured(ctx)
    assert with_tables
    assert set(with_tables.splits) == {"train", "val"}
    assert without
    assert not without.splits
