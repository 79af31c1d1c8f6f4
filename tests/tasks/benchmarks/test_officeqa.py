"""OfficeQA: documents, tools, pages, searches and scores; trained and evaluated against a server on this machine."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ConfigError, ModelConfigError, ModelError, TaskError, TransientModelError
from skillgit.models.base import Reply, Request
from skillgit.tasks import registry
from skillgit.tasks.base import AgentBenchmark, BenchmarkContext, Task
from skillgit.tasks.benchmarks.officeqa import OfficeQA
from skillgit.tasks.benchmarks.officeqa import search as searching
from skillgit.tasks.benchmarks.officeqa.corpus import Corpus
from skillgit.tasks.benchmarks.officeqa.items import parse_item
from skillgit.tasks.benchmarks.officeqa.markdown import with_tables
from skillgit.tasks.benchmarks.officeqa.pages import ALL, PAGE, Pages, page_of
from skillgit.tasks.benchmarks.officeqa.scoring import first_tagged, score
from skillgit.tasks.benchmarks.officeqa.search import Search, queries_in, shown
from skillgit.tasks.benchmarks.officeqa.tools import Shelf
from skillgit.tasks.problems import Problems
from skillgit.tasks.rows import Row
from tests.conftest import git
from tests.models.server import Handler, body, error, hang, raw, serving

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


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "docs")


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


# Scores


def test_scores_conform(conformance: Callable[[str], list[dict[str, Any]]]) -> None:
    for row in conformance("officeqa"):
        got = score(Task("t", "q", answers=(row["gold"],)), f"so <answer>{row['prediction']}</answer>")
        assert (got.hard, got.soft) == (row["em"], pytest.approx(row["f1"])), row
        assert got.lenient is not None
        assert got.lenient >= got.hard


@pytest.mark.parametrize(
    ("wrote", "gold"),
    [("12.0", "12"), ("5.", "5"), ("5%", "5"), ("(123)", "-123"), ("$12.0 million", "12"), ("**12.50**", "12.5")],
)
def test_form_alone_fails_the_strict_score_and_not_the_lenient_one(wrote: str, gold: str) -> None:
    got = score(Task("t", "q", answers=(gold,)), f"<answer>{wrote}</answer>")
    assert (got.hard, got.lenient) == (0.0, 1.0)
    assert got.reason.startswith("officeqa: wrote ")


@pytest.mark.parametrize(("wrote", "gold"), [("12.1", "12"), ("-5", "5"), ("March", "May"), ("", "5")])
def test_other_values_are_not_forgiven(wrote: str, gold: str) -> None:
    assert score(Task("t", "q", answers=(gold,)), f"<answer>{wrote}</answer>").lenient == 0.0


def test_the_first_answer_counts_and_words_without_tags_are_none() -> None:
    assert first_tagged("<ANSWER> a </answer> <answer>b</answer>") == "a"
    assert first_tagged("<answer>a") is None
    got = score(Task("t", "q", answers=("12",)), "I think:\n12")
    assert (got.hard, got.soft, got.predicted, got.lenient) == (0.0, 0.0, "", 1.0)
    assert "no answer in tags" in got.reason


# Items


def test_items_of_the_table_and_of_json_are_the_same(tmp_path: Path, docs: Path) -> None:
    rows = [item(n, source_files="bulletin_1941_01.txt\r\nbulletin_1941_02.txt") for n in range(3)]
    for split, row in zip(("train", "val", "test"), rows, strict=True):
        (tmp_path / "c" / split).mkdir(parents=True)
        (tmp_path / "j" / split).mkdir(parents=True)
        cells = ",".join(f'"{value}"' for value in row.values())
        (tmp_path / "c" / split / "a.csv").write_bytes(f"{','.join(row)}\r\n{cells}\r\n".encode())
        row["source_files"] = json.dumps(row["source_files"].split())
        (tmp_path / "j" / split / "items.json").write_text(json.dumps([row]))
    tables, lists = (benchmark(tmp_path, split_dir=name).load() for name in ("c", "j"))
    assert tables == lists
    (first,) = tables.train
    assert (first.id, first.answers, first.tags) == ("UID/0: x", ("12",), ("easy",))
    assert first.data["files"] == ["bulletin_1941_01.txt", "bulletin_1941_02.txt"]


def test_names_of_the_official_table_and_numbers_as_answers_are_understood() -> None:
    got = parse_item(Row("x", {"uid": 7, "question": "q", "answer": 12.5, "difficulty": "hard"}), Problems())
    assert got
    assert (got.id, got.answers, got.tags) == ("7", ("12.5",), ("hard",))


def test_every_faulty_item_is_named(tmp_path: Path, docs: Path) -> None:
    bad = [{**item(1), "question": " "}, {**item(2), "ground_truth": ""}, {**item(3), "source_files": [1]}, 5]
    (tmp_path / "all.json").write_text(json.dumps([item(4), *bad], indent=0))
    with pytest.raises(TaskError) as caught:
        benchmark(tmp_path, data_path="all.json").load()
    said = str(caught.value)
    for fault in ('"question" must be', 'has no "ground_truth"', '"source_files" must be a list', "is not an object"):
        assert fault in said


def test_a_list_of_ids_says_how_to_get_the_data(tmp_path: Path, docs: Path) -> None:
    rows = [{"id": "UID1", "uid": "UID1", "category": "easy", "source_files": "a.txt", "source_split": "train"}]
    (tmp_path / "ids.json").write_text(json.dumps(rows))
    with pytest.raises(TaskError) as caught:
        benchmark(tmp_path, data_path="ids.json").load()
    assert "skillgit data materialize officeqa --manifest DIR --source PATH" in str(caught.value)


def test_documents_that_are_not_there_at_all_stop_the_run_before_it_costs(tmp_path: Path, docs: Path) -> None:
    write_items(tmp_path / "items")
    with pytest.raises(TaskError, match="no such folder of documents"):
        benchmark(tmp_path, split_dir="items", data_dirs=("nowhere",)).load()
    (tmp_path / "empty").mkdir()
    with pytest.raises(TaskError, match="there are no documents"):
        benchmark(tmp_path, split_dir="items", data_dirs=("empty",)).load()
    (tmp_path / "empty/other.txt").write_text("x")
    with pytest.raises(TaskError, match="the documents that the items name are not there"):
        benchmark(tmp_path, split_dir="items", data_dirs=("empty",)).load()


def test_the_folder_may_come_from_the_environment(tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_items(tmp_path / "items")
    monkeypatch.setenv("OFFICEQA_DOCS_DIR", str(docs))
    assert len(benchmark(tmp_path, split_dir="items", data_dirs=()).load().train) == 4


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


# Rollouts


def test_the_tools_are_offered_and_used_until_there_is_an_answer(tmp_path: Path, docs: Path) -> None:
    target = Target(
        Reply("", tool_calls=(call("grep", path="bulletin_1941_01.txt", pattern="net receipts"),)),
        Reply("", tool_calls=(call("read", path="bulletin_1941_02.txt"),)),
        "It is <answer>12</answer>",
    )
    got = benchmark(tmp_path, max_completion_tokens=99).rollout(task(), "Look it up.", target)
    assert got.score.hard == 1.0
    first, last = target.requests[0], target.requests[-1]
    system, user = first.messages
    assert "## Skill\n\nLook it up." in system.content
    assert "`grep`" in system.content
    assert [tool["function"]["name"] for tool in first.tools] == ["glob", "read", "grep"]
    assert first.max_tokens == 99
    assert "### bulletin_1941_01.txt, page 7" in user.content
    assert "## Documents\n\n- bulletin_1941_01.txt\n\n## Where they come from\n\n- https" in user.content
    results = [turn.content for turn in last.messages if turn.role == "tool"]
    assert results[0].endswith("203: | Net receipts | 12 |")
    assert results[1].startswith("error: there is no document 'bulletin_1941_02.txt'")


def test_without_a_skill_its_section_is_left_out(tmp_path: Path, docs: Path) -> None:
    target = Target("<answer>12</answer>")
    benchmark(tmp_path).rollout(task(), " ", target)
    system = target.requests[0].messages[0].content
    assert "Skill" not in system
    assert system == system.rstrip()


def test_without_local_tools_it_is_one_question_about_the_pages(tmp_path: Path, docs: Path) -> None:
    target = Target("It is 12")
    got = benchmark(tmp_path, use_local_tools=False).rollout(task(), "", target)
    (request,) = target.requests
    assert not request.tools
    assert "`grep`" not in request.messages[0].content
    assert "## Pages" in request.messages[1].content
    assert "## Documents" not in request.messages[1].content
    assert (got.score.hard, got.score.lenient) == (0.0, 0.0)


def test_a_target_that_only_calls_tools_fails_with_a_reason(tmp_path: Path, docs: Path) -> None:
    looks = Reply("<answer>12</answer>", tool_calls=(call("glob", pattern="*"),))
    got = benchmark(tmp_path, max_tool_turns=3).rollout(task(), "", Target(looks, looks, looks))
    assert (got.score.hard, got.score.soft) == (0.0, 0.0)
    assert got.score.reason == "officeqa: still called tools in turn 3, its last"


def test_an_item_without_its_documents_fails_alone_and_costs_nothing(tmp_path: Path, docs: Path) -> None:
    got = benchmark(tmp_path).rollout(task(source_files="../../etc/passwd"), "", Target())
    assert got.score.hard == 0.0
    assert got.score.reason == "setup: none of its documents is in env.data_dirs: ../../etc/passwd"


def test_an_item_that_names_no_documents_may_look_into_all(tmp_path: Path, docs: Path) -> None:
    for number in range(30):
        (docs / f"transformed/more_{number:02d}.txt").write_text("x")
    target = Target("<answer>12</answer>")
    benchmark(tmp_path).rollout(task(source_files=None), "", target)
    user = target.requests[0].messages[1].content
    assert "- more_17.txt\n[and 12 more]" in user
    assert "more_18" not in user


def test_model_errors_pass_through(tmp_path: Path, docs: Path) -> None:
    def ask(request: Request) -> Reply:
        raise TransientModelError("away")

    with pytest.raises(TransientModelError):
        benchmark(tmp_path).rollout(task(), "", ask)


def test_the_digest_follows_what_is_asked_and_how(tmp_path: Path, docs: Path) -> None:
    options: list[Mapping[str, Any]] = [
        {},
        {"max_tool_turns": 3},
        {"use_local_tools": False},
        {"search_mode": "custom_search", "search_api_url": "https://s.example.org"},
        {"search_mode": "custom_search", "search_api_url": "https://s.example.org", "search_provider": "p"},
        {"search_mode": "custom_search", "search_api_url": "https://s.example.org", "max_queries_per_turn": 2},
    ]
    digests = [benchmark(tmp_path, **each).judge_digest() for each in options]
    assert len(set(digests)) == len(options)
    assert benchmark(tmp_path, workers=3).judge_digest() == digests[0]
    assert benchmark(tmp_path, use_local_tools=False, max_tool_turns=3).judge_digest() == digests[2]
    elsewhere = {"search_mode": "custom_search", "search_api_url": "https://other.example.org"}
    assert benchmark(tmp_path, **elsewhere).judge_digest() == digests[3]
    (docs / "transformed/new.txt").write_text("x")
    digests.append(benchmark(tmp_path).judge_digest())
    (docs / "jsons/new.json").write_text("{}")
    assert benchmark(tmp_path).judge_digest() not in digests
    assert digests[0] not in digests[1:]
    with pytest.raises(ConfigError, match="azure"):
        benchmark(tmp_path, search_mode="azure_search")


def test_the_registry_knows_it(tmp_path: Path) -> None:
    made = registry.build("officeqa", BenchmarkContext(tmp_path, "s", {}))
    assert isinstance(made, OfficeQA)
    assert isinstance(made, AgentBenchmark)


def test_an_agent_gets_the_documents_as_files(tmp_path: Path, docs: Path) -> None:
    bench, target = benchmark(tmp_path), Target("<answer>12</answer>")
    handed = bench.attachments(task())
    assert list(handed) == ["bulletin_1941_01.txt"]
    assert "Net receipts" in str(handed["bulletin_1941_01.txt"])
    assert bench.work(task(), target).score.hard == 1.0
    (request,) = target.requests
    assert not request.tools
    assert "files in your folder" in request.messages[0].content
    assert bench.work(task(source_files="none.txt"), Target()).score.reason.startswith("setup: ")
    (docs / "transformed/bulletin_1941_01.txt").write_bytes(b"\0")
    assert bench.work(task(), Target()).score.reason == "setup: none of its documents can be handed over"


def test_an_agent_gets_no_more_than_it_can_hold(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for number in range(25):
        (tmp_path / f"docs/{number:02d}.txt").write_text("x" * 3_000_000 if number < 5 else "x")
    bench, target = benchmark(tmp_path), Target("<answer>12</answer>")
    handed = list(bench.attachments(task(source_files="")))
    assert handed == [f"{n:02d}.txt" for n in (0, 1, 2, *range(5, 20))]
    bench.work(task(source_files=""), target)
    assert "- 19.txt\n[and 7 more]" in target.requests[0].messages[1].content


# Searches


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(searching.time, "sleep", waited.append)
    return waited


def place(url: str, **more: Any) -> dict[str, Any]:
    return {"search_mode": "custom_search", "search_api_url": url, "search_provider": "p", **more}


RESULTS = {"results": [{"title": "T", "url": "https://a", "snippet": "receipts 12"}, {"link": "b", "content": "c"}, 7]}


def test_searches_go_to_the_configured_address_with_its_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "Bearer abc")
    target = Target(
        'Hm <search_queries>["receipts 1941", "receipts 1941", "b", "c", "d"]</search_queries>',
        '<search_queries>["receipts 1941"]</search_queries>',
        "<answer>12</answer>",
    )
    with serving(body(RESULTS)) as fake:
        options = place(fake.url, search_auth_env="MY_TOKEN", max_queries_per_turn=2, search_max_num_results=4)
        bench = benchmark(tmp_path, **options)
        got = bench.rollout(task(), "", target)
        assert fake.bodies == [{"query": q, "max_num_results": 4, "provider": "p"} for q in ("receipts 1941", "b")]
        assert {headers["authorization"] for headers in fake.headers} == {"Bearer abc"}
    assert got.score.hard == 1.0
    assert [turn.role for turn in got.turns] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    sent = target.requests[1].messages[-1]
    assert sent.role == "user"
    assert "### receipts 1941\n\nT\nhttps://a\nreceipts 12\n\nb\nc\n\n### b" in sent.content
    assert "abc" not in repr(bench._search)


def test_the_last_round_must_answer(tmp_path: Path) -> None:
    asks = '<search_queries>["x"]</search_queries>'
    with serving(body([])) as fake:
        target = Target(asks, asks)
        got = benchmark(tmp_path, max_tool_turns=2, **place(fake.url)).rollout(task(), "", target)
        assert fake.calls == 1
    assert "no more searches" in target.requests[1].messages[-1].content
    assert "nothing was found" in target.requests[1].messages[-1].content
    assert "no answer in tags" in got.score.reason


def test_a_search_that_recovers_is_repeated_and_one_that_does_not_is_an_error_and_no_score(
    tmp_path: Path, no_waiting: list[float]
) -> None:
    asks = '<search_queries>["x"]</search_queries>'
    with serving(error(429), error(503), body(RESULTS)) as fake:
        target = Target(asks, "<answer>12</answer>")
        assert benchmark(tmp_path, **place(fake.url)).rollout(task(), "", target).score.hard == 1.0
        assert no_waiting == [1.0, 2.0]
    with serving(error(500)) as fake:
        with pytest.raises(TransientModelError, match="gave no answer"):
            benchmark(tmp_path, **place(fake.url)).rollout(task(), "", Target(asks))
        assert fake.calls == 5
    with pytest.raises(TransientModelError, match="gave no answer"):
        benchmark(tmp_path, **place(fake.url)).rollout(task(), "", Target(asks))


def test_a_refused_token_is_told_at_once_and_the_address_is_not_left(tmp_path: Path) -> None:
    def elsewhere(handler: Handler) -> None:
        handler.send_json(302, {}, {"Location": "http://127.0.0.1:1/x"})

    for move in (error(401), error(404), elsewhere):
        with serving(move) as fake:
            with pytest.raises(ModelConfigError, match="refused the request"):
                Search.of(place(fake.url)).find("x")
            assert fake.calls == 1


def test_a_search_has_its_own_time_and_number_of_results(no_waiting: list[float]) -> None:
    with serving(hang) as fake:
        with pytest.raises(TransientModelError, match="timed out"):
            Search.of(place(fake.url, search_timeout_seconds=0.05)).find("x")
        assert fake.calls == 5
    with serving(body(RESULTS)) as fake:
        assert Search.of(place(fake.url, search_max_num_results=1)).find("x") == "T\nhttps://a\nreceipts 12"
        assert fake.bodies[0]["max_num_results"] == 1


def test_a_query_that_the_search_refuses_is_the_error_of_one_task() -> None:
    with serving(error(422)) as fake:
        with pytest.raises(ModelError, match="refused the request") as caught:
            Search.of(place(fake.url)).find("x")
        assert not isinstance(caught.value, (ModelConfigError, TransientModelError))
        assert fake.calls == 1


@pytest.mark.parametrize(
    "url", ["", "http://search.example.org/", "ftp://x", "file:///etc/passwd", "https://", "http://["]
)
def test_only_https_addresses_are_taken(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match=r"env\.search"):
        benchmark(tmp_path, **place(url))


def test_a_token_that_is_not_set_or_cannot_be_sent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    options = place("https://s.example.org", search_auth_env="MY_TOKEN")
    with pytest.raises(ConfigError, match="MY_TOKEN is not set"):
        Search.of(options, {})
    with pytest.raises(ConfigError, match="cannot be sent") as caught:
        Search.of(options, {"MY_TOKEN": "geheim\n2"})
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "queries"),
    [
        ('["a b", " a  b ", "c"]', ["a b", "c"]),
        ('{"queries": ["a", "b"]}', ["a", "b"]),
        ("- a\n- b\n\n- c", ["a", "b", "c"]),
        ("a; b", ["a", "b"]),
        ("a, b", ["a", "b"]),
        ("just one", ["just one"]),
        ("[" * 50_000, ["[" * 400]),
        ("", []),
        ("[1, null]", []),
    ],
)
def test_queries_are_read_in_every_form(said: str, queries: list[str]) -> None:
    assert queries_in(f"x <search_queries>{said}</SEARCH_QUERIES>", 3) == queries


def test_results_in_other_forms_are_shown() -> None:
    assert shown(b"plain words", 3) == "plain words"
    assert shown(b'["a", "b"]', 1) == "a"
    assert shown(b'{"answer": 3}', 3) == '{"answer": 3}'
    assert shown(b"", 3) == shown(b"[]", 3) == "nothing was found"


def test_a_broken_answer_of_the_search_is_shown_and_ends_nothing(tmp_path: Path) -> None:
    with serving(raw(200, b"\xff{")) as fake:
        assert Search.of(place(fake.url)).find("x") == "�{"


# The whole way


ROUNDS = "- RULE_A: write amounts without decimals"
PLAIN = "- RULE_B: write rates without a percent sign"


def _said(turns: list[dict[str, Any]], role: str) -> str:
    return "\n".join(str(turn["content"]) for turn in turns if turn["role"] == role)


def _target(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """Lists, finds, reads, and then answers in the form that the skill asks for."""
    question, tools = _said(turns, "user"), [turn["content"] for turn in turns if turn["role"] == "tool"]
    name = "bulletin_1941_02.txt" if "month 2" in question else "bulletin_1941_01.txt"
    what = "Net receipts" if "net receipts" in question else "Rate of interest"
    if not tools:
        return {"tool_calls": [call("glob", pattern="bulletin*"), call("shell", command="ls")]}
    if len(tools) == 2:
        assert tools[0] == name
        assert "no tool 'shell'" in tools[1]
        return {"tool_calls": [call("grep", path=name, pattern=what)]}
    if len(tools) == 3:
        line = int(tools[2].splitlines()[1].partition(":")[0])
        return {"content": "Now the line.", "tool_calls": [call("read", path=name, start=line, limit=1)]}
    value, skill = tools[3].split("|")[2].strip(), _said(turns, "system")
    amount = what == "Net receipts"
    wrong = ".0" if amount and "RULE_A" not in skill else "%" if not amount and "RULE_B" not in skill else ""
    return {"content": f"So <answer>{value}{wrong}</answer>"}


class Server:
    """Both models; `asked` keeps what each was sent."""

    def __init__(self) -> None:
        self.asked: dict[str, list[list[dict[str, Any]]]] = {"t": [], "o": []}

    def __call__(self, handler: Handler) -> None:
        model, turns = handler.body["model"], handler.body["messages"]
        self.asked[model].append(turns)
        if model == "t":
            message = {"content": None, **_target(turns)}
        else:
            text = PLAIN if "RULE_A" in turns[-1]["content"].split("## Failed cases")[0] else ROUNDS
            edits = [{"op": "append", "content": text}]
            message = {"content": json.dumps({"reasoning": "form", "edits": edits})}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
        body({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 3}})(handler)


@pytest.fixture
def office(tmp_path: Path) -> Path:
    """A repository with the seed skill, the items and the documents."""
    folder = tmp_path / "repo"
    (folder / "skills/officeqa").mkdir(parents=True)
    seed = Path(__file__).parents[3] / "examples/benchmarks/officeqa/SKILL.md"
    (folder / "skills/officeqa/SKILL.md").write_text(seed.read_text())
    write_items(folder / "data/officeqa_split")
    write_documents(folder / "data/officeqa_docs_official")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "start")
    return folder


def settings(url: str) -> list[str]:
    values = (
        "model.backend=openai_compatible",
        f"model.base_url={url}",
        *("model.target=t", "model.optimizer=o"),
        *("train.num_epochs=2", "train.batch_size=4", "gradient.failure_only=true"),
        *("optimizer.use_slow_update=false", "optimizer.use_meta_skill=false"),
    )
    return ["--config", "officeqa", *[part for value in values for part in ("--set", value)]]


def test_it_is_trained_in_two_steps_and_evaluated_and_a_second_run_pays_nothing(office: Path, skillgit: Any) -> None:
    server = Server()
    with serving(server) as fake:
        code, out, err = skillgit(office, "train", "officeqa", *settings(fake.url), "--json")
        assert code == 0, err
        events = [json.loads(line) for line in out.splitlines()]
        steps = [e for e in events if e["event"] == "step_finished" and e["kind"] == "step"]
        assert [step["verdict"] for step in steps] == ["accept_new_best", "accept_new_best"]
        assert events[-1]["best"]["score"] == 1.0
        paid = fake.calls
        code, out, err = skillgit(office, "eval", "officeqa", *settings(fake.url), "--split", "val", "--json")
        assert code == 0, err
        record = json.loads(out)
        assert fake.calls == paid
    text = json.dumps(record)
    assert '"hard": 0.0' in text
    assert '"lenient": 1.0' in text
    cases = "\n".join(turn["content"] for turn in server.asked["o"][0])
    assert '[call] grep {"path": "bulletin_1941_0' in cases
    assert "[tool] [bulletin_1941_0" in cases
    assert "expected" in cases
    assert not any("ground_truth" in json.dumps(turns) for turns in server.asked["t"])


def test_one_item_without_its_documents_leaves_the_others_as_they_are(office: Path, skillgit: Any) -> None:
    for split in ("train", "val"):
        path = office / f"data/officeqa_split/{split}/items.json"
        rows = json.loads(path.read_text())
        rows[0]["source_files"] = "../../../../etc/passwd"
        path.write_text(json.dumps(rows))
    with serving(Server()) as fake:
        code, _, err = skillgit(office, "train", "officeqa", *settings(fake.url), "--dry-run")
        assert code == 0, err
        assert fake.calls == 0
        code, out, err = skillgit(office, "eval", "officeqa", *settings(fake.url), "--split", "val", "--json")
        assert code == 0, err
        assert fake.calls == 3 * 4
    record = json.loads(out)
    assert (record["n"], record["hard"], record["lenient"]) == (4, 0.0, 0.75)


_AGENT = """#!{python}
import json, pathlib, sys
if "--version" in sys.argv:
    print("codex-cli 1.0"); sys.exit()
task = pathlib.Path("task.md").read_text()
assert "RULE" in pathlib.Path(".agents/skills/officeqa/SKILL.md").read_text()
(document,) = pathlib.Path("attachments").iterdir()
what = "Net receipts" if "net receipts" in task else "Rate of interest"
(line,) = [line for line in document.read_text().splitlines() if what in line]
assert "files in your folder" in task and "`grep`" not in task
answer = "<answer>" + line.split("|")[2].strip() + "</answer>"
open(sys.argv[sys.argv.index("--output-last-message") + 1], "w").write(answer)
print(json.dumps({{"type": "turn.completed", "usage": {{"input_tokens": 50, "output_tokens": 5}}}}))
"""


def test_a_command_line_agent_answers_from_files(
    office: Path, skillgit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin/codex"
    program.parent.mkdir()
    program.write_text(_AGENT.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    skill = office / "skills/officeqa/SKILL.md"
    skill.write_text(f"{skill.read_text()}\nRULE\n")
    git(office, "commit", "--quiet", "--all", "-m", "rule")
    agent = ("--config", "officeqa", "--set", "model.target_backend=codex_exec", "--set", "model.target=m1")
    code, out, err = skillgit(office, "eval", "officeqa", *agent, "--split", "val", "--json")
    assert code == 0, err
    assert '"hard": 1.0' in out


def test_a_run_that_was_interrupted_goes_on_within_a_question(office: Path, skillgit: Any) -> None:
    server = Server()
    command = ("eval", "officeqa", "--split", "test", "--json")
    with serving(server) as fake:
        code, _, _ = skillgit(office, *command, *settings(fake.url), "--set", "budget.calls=5")
        assert code == 6
        first = len(server.asked["t"])
        code, _, err = skillgit(office, *command, *settings(fake.url))
        assert code == 0, err
    assert first == 5
    assert len(server.asked["t"]) == 8  # four turns for each of two questions
