"""OfficeQA: scores and items."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import TaskError
from skillgit.tasks.base import Task
from skillgit.tasks.benchmarks.officeqa.items import parse_item
from skillgit.tasks.benchmarks.officeqa.scoring import first_tagged, score
from skillgit.tasks.problems import Problems
from skillgit.tasks.rows import Row
from tests.tasks.benchmarks.bulletins import benchmark, item, write_items

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
