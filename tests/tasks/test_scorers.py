"""Scores of published benchmarks: every published value, and the edges around them."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from pathlib import Path

import pytest

from skillgit.errors import TaskError
from skillgit.tasks.scorers import anls, cells, livemath, officeqa

DATA = Path(__file__).parents[1] / "data"


def rows(name):
    values = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return [pytest.param(value, id=f"{name}-{number}") for number, value in enumerate(values)]


# DocVQA


@pytest.mark.parametrize("row", rows("docvqa"))
def test_docvqa(row):
    predicted = anls.answer_in(row["response"])
    assert predicted == row["predicted"]
    assert anls.anls(predicted, anls.gold_answers(row["answers"])) == row["anls"]


@pytest.mark.parametrize(
    ("response", "predicted"),
    [
        ("<answer>a</answer> or <answer>b</answer>", "b"),
        ("<answer>a <ANSWER>b</Answer>", "b"),
        ("<answer>a</answer>\nclosed <answer>", "closed <answer>"),
        ("</answer><answer>", "</answer><answer>"),
        ("<answer>é\nü</answer>", "é\nü"),
        ("one\n two \n\n", "two"),
        ("", ""),
    ],
)
def test_docvqa_extraction(response, predicted):
    assert anls.answer_in(response) == predicted


@pytest.mark.parametrize(
    ("value", "answers"),
    [
        ("7", ("7",)),
        ("", ("",)),
        ("['a', \"b's\"]", ("a", "b's")),
        ('{"answers": ["x", 7]}', ("x", "7")),
        ({"answer": "x"}, ("x",)),
        (r"['\d', 'x']", (r"\d", "x")),
        ("[sic] yes", ("[sic] yes",)),
        ("[" * 100_000, ("[" * 100_000,)),
        (1.5, ("1.5",)),
    ],
)
def test_docvqa_answers(value, answers):
    assert anls.gold_answers(value) == answers


@pytest.mark.parametrize("value", [[], None, {}, {"other": 1}, [None], [["a"]], "[]"])
def test_docvqa_without_answers(value):
    with pytest.raises(TaskError, match=r"^val\.csv:3: no usable answers"):
        anls.gold_answers(value, "val.csv:3")


@pytest.mark.parametrize(
    ("prediction", "answers", "value"),
    [
        ("ÉTÉ", ["été"], 1.0),
        ("日本語", ["日本誤"], 1 - 1 / 3),
        ("", ["a"], 0.0),
        ("x", [], 0.0),
        ("abc", ["zzz", "abd"], 1 - 1 / 3),
        ("a" * 1_000_000, ["a"], 0.0),
    ],
)
def test_anls(prediction, answers, value):
    assert anls.anls(prediction, answers) == value


@pytest.mark.parametrize(
    ("left", "right", "distance"),
    [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("flaw", "lawn", 2), ("saturday", "sunday", 3), ("ab", "ba", 2)],
)
def test_edit_distance(left, right, distance):
    assert anls.edit_distance(left, right) == distance


# OfficeQA


@pytest.mark.parametrize("row", rows("officeqa"))
def test_officeqa(row):
    assert float(officeqa.exact_match(row["prediction"], row["gold"])) == row["em"]
    assert officeqa.token_f1(row["prediction"], row["gold"]) == row["f1"]


@pytest.mark.parametrize(
    ("prediction", "gold"), [("12.0", "12"), ("5.", "5"), ("5%", "5"), ("(123)", "-123"), ("", "5"), ("5", "")]
)
def test_officeqa_has_no_tolerance(prediction, gold):
    assert not officeqa.exact_match(prediction, gold)
    assert officeqa.token_f1(prediction, gold) == 0.0


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  $1,234.50\tMillions ", "1234.50"),
        ("millionaire", "millionaire"),
        ("BILLION dollars", ""),
        ("Zürich — Été", "zürich — été"),
    ],
)
def test_officeqa_normalise(text, normal):
    assert officeqa.normalise(text) == normal


def test_officeqa_partial_f1():
    assert officeqa.token_f1("March 1945 report", "march 1945") == 0.8
    assert officeqa.token_f1("a a b", "a") == 0.5


# LiveMathematicianBench


@pytest.mark.parametrize("row", rows("livemath"))
def test_livemath(row):
    choices = {choice["label"]: choice["text"] for choice in row["choices"]}
    assert livemath.score(row["response"], choices, row["correct"]) == (row["predicted_label"], row["score"])


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("(A)", "(A"),
        ("**A**", "**A**"),
        ("$A$", "$A$"),
        ("Option A", "OPTION A"),
        (" b ", "B"),
        ("B .", "B"),
        ("B.):", "B"),
        ("∀ε>0", "B"),
        ("A", "A"),
        (".", ""),
        ("ß", "SS"),
    ],
)
def test_livemath_labels(answer, label):
    choices = {"A": "none", "B": "∀ε>0", "C": ""}
    assert livemath.predicted_label(f"<answer>{answer}</answer>", choices) == label


def test_livemath_takes_the_last_answer():
    assert livemath.score("<answer>A</answer> no, <answer>B</answer>", {"A": "x", "B": "y"}, "B") == ("B", 1.0)


# SpreadsheetBench


@pytest.mark.parametrize("row", rows("spreadsheet_cell"))
def test_spreadsheet_cell(row):
    assert cells.cells_equal(row["a"], row["b"]) is row["equal"]
    assert cells.cells_equal(row["b"], row["a"]) is row["equal"]


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (None, None, True),
        (" ", None, False),
        ("é", "é", True),
        ("é", "e\u0301", False),
        ("٣", 3, True),
        ("inf", float("inf"), True),
        (10**400, 10**400, True),
        (10**400, 1, False),
        (time(10, 30, 15), "10:30", True),
        (time(10, 30, 15), time(10, 30, 59), True),
        (datetime(2024, 1, 1, 12), 45292, True),
        (datetime(2024, 1, 2, 12), 45294, True),
        (datetime(2024, 1, 1, tzinfo=UTC), 45292, True),
        (date(2024, 1, 1), date(2024, 1, 1), True),
        (date(2024, 1, 1), 45292, False),
    ],
)
def test_cells_equal(left, right, equal):
    assert cells.cells_equal(left, right) is equal


@pytest.mark.parametrize(
    "value", [{}, {"date": "2024-01-01"}, {"time": "late"}, {"time": 5}, {"time": "10:00", "datetime": "2024-01-01"}]
)
def test_unknown_cell_values(value):
    with pytest.raises(TaskError, match=r"^t\.json:2: not a cell value"):
        cells.cell_value(value, "t.json:2")


@pytest.mark.parametrize("row", rows("spreadsheet_range"))
def test_spreadsheet_range(row):
    assert cells.range_cells(row["range"]) == row["cells"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A1", ["A1"]),
        (" b2 : c2 ", ["B2", "C2"]),
        ("ZZ9:AAA9", ["ZZ9", "AAA9"]),
        ("XFD1048576", ["XFD1048576"]),
    ],
)
def test_range_edges(text, expected):
    assert cells.range_cells(text) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "blank"),
        (" ", "blank"),
        (":", "form"),
        ("A1:", "form"),
        ("A:A", "form"),
        ("$A:$C", "form"),
        ("1:3", "form"),
        ("A0", "form"),
        ("A1:B2:C3", "form"),
        ("Sheet1!A1", "form"),
        ("XFE1", "form"),
        ("A1048577", "form"),
        ("Ａ1", "form"),
        ("A١", "form"),
        ("B1:A1", "corner"),
        ("A2:A1", "corner"),
        ("A1:XFD1048576", "more than 1000000 cells"),
    ],
)
def test_unusable_ranges(text, why):
    with pytest.raises(TaskError) as caught:
        cells.range_cells(text, "t.json:2")
    assert caught.value.where == "t.json:2"
    assert why in caught.value.why
