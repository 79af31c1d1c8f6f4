"""OfficeQA: documents, their tools, and parsed pages."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.tasks.benchmarks.officeqa.corpus import Corpus
from skillgit.tasks.benchmarks.officeqa.markdown import with_tables
from skillgit.tasks.benchmarks.officeqa.pages import ALL, PAGE, Pages, page_of
from skillgit.tasks.benchmarks.officeqa.tools import Shelf
from tests.tasks.benchmarks.bulletins import SITE, write_documents

# Documents and tools


def use(docs: Path, names: list[str] | None = None) -> Callable[..., str]:
    corpus = Corpus.build([docs])
    tools = {tool.name: tool for tool in Shelf(corpus, list(corpus.files) if names is None else names).tools()}
    return lambda name, **arguments: tools[name].call(arguments)


def test_tools_list_read_and_find(docs: Path) -> None:
    tool = use(docs)
    assert tool("glob", pattern="**/*_02*") == "bulletin_1941_02.txt"
    assert tool("glob", pattern="x*") == "no document fits"
    lines = tool("read", path="bulletin_1941_01.txt").splitlines()
    assert lines[0] == "[bulletin_1941_01.txt, lines 1 to 80 of 204]"
    assert len(lines) == 81
    assert tool("read", path="./bulletin_1941_01.txt", start=203, limit=9).endswith("| 12 |\n| Rate of interest | 5 |")
    assert tool("grep", path="bulletin_1941_01.txt", pattern="NET RECEIPTS").endswith("203: | Net receipts | 12 |")
    assert tool("grep", path="bulletin_1941_01.txt", pattern="filler").endswith("[and 180 more lines]")
    assert tool("grep", path="bulletin_1941_01.txt", pattern=".*") == "no line of bulletin_1941_01.txt holds it"
    assert tool("read", path="bulletin_1941_01.txt", start=999) == "error: bulletin_1941_01.txt has 204 lines"


def test_wide_lines_are_cut_and_long_answers_say_where_they_ended(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/wide.txt").write_text("w" * 9000 + "needle" + "w" * 9000 + "\n" + "\n".join(["x" * 99] * 100))
    tool = use(tmp_path / "d")
    assert len(tool("read", path="wide.txt")) < 4000
    assert tool("read", path="wide.txt", start=2).startswith("[wide.txt, lines 2 to 38 of 101]")
    found = tool("grep", path="wide.txt", pattern="needle")
    assert "needle" in found
    assert len(found) < 500


def test_many_documents_are_listed_up_to_fifty(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for number in range(60):
        (tmp_path / f"d/{number:02d}.txt").write_text("x")
    listed = use(tmp_path / "d")("glob", pattern="*").splitlines()
    assert (listed[0], listed[49:]) == ("00.txt", ["49.txt", "[and 10 more]"])


@pytest.mark.parametrize(
    "path",
    ["../secret.txt", "a/../../secret.txt", "..\\secret.txt", "/etc/passwd", "/x/one.txt", "", "link.txt", ".env"],
)
def test_nothing_outside_of_the_documents_can_be_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.txt").write_text("SECRET")
    (tmp_path / "d").mkdir()
    (tmp_path / "d/one.txt").write_text("one")
    (tmp_path / "d/.env").write_text("SECRET")
    (tmp_path / "d/link.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "d/folder").symlink_to(tmp_path)
    tool = use(tmp_path / "d")
    assert tool("glob", pattern="*") == "one.txt"
    for said in (tool("read", path=path), tool("grep", path=path, pattern="S")):
        assert said.startswith("error: ")
        assert "SECRET" not in said


def test_a_document_that_becomes_a_link_later_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("SECRET")
    (tmp_path / "d").mkdir()
    (tmp_path / "d/one.txt").write_text("one")
    tool = use(tmp_path / "d")
    (tmp_path / "d/one.txt").unlink()
    (tmp_path / "d/one.txt").symlink_to(tmp_path / "secret.txt")
    assert tool("read", path="one.txt") == "error: it is no longer a file of the collection"
    (tmp_path / "d/one.txt").unlink()
    assert tool("read", path="one.txt") == "error: No such file or directory"
    os.mkfifo(tmp_path / "d/one.txt")
    assert tool("read", path="one.txt") == "error: it is no longer a file of the collection"


def test_links_that_stay_inside_are_documents_and_binary_files_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/one.txt").write_text("one")
    (tmp_path / "d/same.txt").symlink_to("one.txt")
    (tmp_path / "d/scan.pdf").write_bytes(b"%PDF\0")
    tool = use(tmp_path / "d")
    assert tool("read", path="same.txt").endswith("\none")
    assert tool("read", path="scan.pdf") == "error: it is not text"


def test_only_the_documents_of_a_question_can_be_opened(docs: Path) -> None:
    tool = use(docs, ["bulletin_1941_01.txt"])
    assert tool("glob", pattern="*") == "bulletin_1941_01.txt"
    assert tool("read", path="bulletin_1941_02.txt").startswith("error: there is no document")


def test_several_folders_keep_their_documents_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same.txt").write_text(name)
    corpus = Corpus.build([tmp_path / "a", tmp_path / "b"])
    assert corpus.named(["x/same.txt"]) == ["1/same.txt", "2/same.txt"]
    assert corpus.text("2/same.txt") == "b"
    before = corpus.identity()
    (tmp_path / "b/same.txt").write_text("bb")
    assert Corpus.build([tmp_path / "a", tmp_path / "b"]).identity() != before


def test_the_published_layout_is_found_and_parsed_pages_are_no_documents(tmp_path: Path) -> None:
    write_documents(tmp_path / "set/treasury_bulletins_parsed")
    for folder in ("set", "set/treasury_bulletins_parsed", "set/treasury_bulletins_parsed/transformed"):
        corpus = Corpus.build([tmp_path / folder])
        assert list(corpus.files) == ["bulletin_1941_01.txt", "bulletin_1941_02.txt"]
        assert corpus.parsed == ((tmp_path / "set/treasury_bulletins_parsed/jsons").resolve(),)


# Pages


@pytest.mark.parametrize(
    ("link", "page"),
    [
        (f"{SITE}?page=18&deep=true", 18),
        ("x?pagenum=3", 3),
        ("x?page_id=0", 0),
        ("x?page=-1", None),
        ("x", None),
        ("http://[", None),
    ],
)
def test_the_page_of_a_link(link: str, page: int | None) -> None:
    assert page_of(link) == page


def test_linked_pages_are_shown_with_their_tables(docs: Path) -> None:
    pages = Pages([docs / "jsons"])
    files = ["bulletin_1941_02.txt", "bulletin_1941_01.txt"]
    shown_pages = pages.of(files, [f"{SITE}/january-1941-65?page=7", "", f"{SITE}/february-1941-66?page=1"])
    assert shown_pages == (
        "### bulletin_1941_01.txt, page 7\n\n| Item | Amount |\n| --- | --- |\n| Net receipts | 12 |\n\n"
        "### bulletin_1941_02.txt, page 1\n\nCover"
    )
    assert pages.of(files, ["x?page=1", "y?page=7"]).count("###") == 2
    assert pages.of(files, ["x?page=1"]) == ""
    assert pages.of(["none.txt"], ["x?page=7"]) == pages.of(["../bulletin_1941_01.txt/.."], ["x?page=7"]) == ""


def test_pages_are_cut_and_broken_ones_left_out(tmp_path: Path) -> None:
    elements = [{"content": "x" * 99_999, "page_id": page} for page in range(9)] + [7, {"content": 3, "page_id": 1}]
    (tmp_path / "long.json").write_text(json.dumps({"elements": elements}))
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    pages = Pages([tmp_path])
    assert pages.of(["long.txt"], ["x?page=1"]).count("x") == PAGE + 1  # and the one of "txt"
    assert pages.of(["long.txt"], [f"x?page={n}" for n in range(9)]).count("xx") * 2 == ALL
    assert pages.of(["broken.txt", "deep.txt"], ["x?page=1", "x?page=1"]) == ""


def test_tables_with_cells_over_several_rows_and_columns() -> None:
    table = """Before <table><thead><tr><th rowspan=2>Year</th><th colspan="2">Tax|es</th></tr><tr><th>in<br>come</th>
    <th>other</th></tr></thead><tr><td>1941<td>1&amp;2</table> after"""
    assert with_tables(table) == (
        "Before\n\n| Year | Tax\\|es | Tax\\|es |\n| --- | --- | --- |\n| Year | in come | other |\n"
        "| 1941 | 1&2 |  |\n\nafter"
    )
    assert with_tables(" a < b ") == "a < b"
    assert with_tables("<table></table>") == ""
    assert with_tables('<td colspan=999999999>x</td><table><td rowspan=0 colspan="-1">y').endswith("| y |\n| --- |")
