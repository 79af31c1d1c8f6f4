"""SpreadsheetBench: workbooks, programs, tools, test cases and scores."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, time
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ConfigError, ModelError, TaskError, TransientModelError
from skillgit.models.base import Reply, Request
from skillgit.tasks import registry, sandbox
from skillgit.tasks.base import AgentBenchmark, BenchmarkContext, Task
from skillgit.tasks.benchmarks.spreadsheet import SpreadsheetBench, reader, report, work
from skillgit.tasks.benchmarks.spreadsheet.books import Area, Book
from skillgit.tasks.benchmarks.spreadsheet.cases import UnusableError, find_cases
from skillgit.tasks.benchmarks.spreadsheet.code import program_in
from skillgit.tasks.benchmarks.spreadsheet.compare import areas_of, compare, same_value
from skillgit.tasks.benchmarks.spreadsheet.office import office
from tests.tasks.benchmarks.sheets import AS_TEXT, FENCE, FIRST_ONLY, FORMULA, RIGHT, WRONG, books, data, item, workbook

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


@pytest.fixture
def root(tmp_path: Path) -> Path:
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


def val(root: Path, changes: Mapping[str, Any] | None = None, **fields: Any) -> Task:
    """The validation task after changes to its item and its workbooks."""
    write(root, {"val/items.json": [item("b", **fields)], **(changes or {})})
    return bench(root).load().val[0]


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


# Programs


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("So:\n```python\nx = 1\n```\n```\ny\n```", "x = 1\n"),
        ("x = 1", "x = 1"),
        ("```\nif a:\n    OUTPUT_PATH = 'o'\nINPUT_PATH == 1\n```", "if a:\n    pass\nINPUT_PATH == 1\n"),
        ("```python\n  \n```", ""),
        ("", ""),
    ],
)
def test_the_program_in_a_reply(reply: str, code: str) -> None:
    assert program_in(reply) == code


def test_a_program_is_run_on_every_case(root: Path) -> None:
    ask = Target(RIGHT)
    got = bench(root).rollout(bench(root).load().val[0], "Write values.", ask)
    (request,) = ask.requests
    system, user = request.messages
    assert system.content.endswith("## Skill\n\nWrite values.")
    assert "Sheet 'My Data': 4 rows, 2 columns\nname | amount\nx1 | 1" in user.content
    assert "\n\nKind of task: Cell-Level Manipulation\nPosition of the answer: 'My Data'!D2\n\n" in user.content
    assert (got.score.hard, got.score.soft, got.score.lenient, got.score.reason) == (1.0, 1.0, 1.0, "")
    assert got.turns[-1].role == "tool"
    assert "Case 2: all 1 cells are right" in got.turns[-1].content
    assert got.response == RIGHT


@pytest.mark.parametrize(
    ("reply", "soft", "lenient", "reason"),
    [
        (FIRST_ONLY, 0.5, 0.0, "eval-mismatch: case 2: My Data!D2 is 6, expected 12"),
        (AS_TEXT, 1.0, 1.0, ""),  # a text that Python reads as a number is one, by the published rule
        (FENCE.format("1 / 0"), 0.0, 0.0, "exec-error: case 1: ZeroDivisionError: division by zero"),
        (FENCE.format("x = 1"), 0.0, 0.0, "output-not-found: case 1: nothing was saved to OUTPUT_PATH"),
        (FENCE.format(""), 0.0, 0.0, "no-program: case 1: there is no program for this workbook"),
        (
            FENCE.format("import openpyxl\nopenpyxl.Workbook().save(OUTPUT_PATH)"),
            *(0.0, 0.0, "eval-mismatch: case 1: the output has no sheet 'My Data'"),
        ),
        (
            FENCE.format("open(OUTPUT_PATH, 'w').write('<html>')"),
            *(0.0, 0.0, "eval-mismatch: case 1: the output cannot be opened (BadZipFile: File is not a zip file)"),
        ),
        (
            FENCE.format("import os; os.mkfifo(OUTPUT_PATH)"),
            *(0.0, 0.0, "output-not-found: case 1: nothing was saved to OUTPUT_PATH"),
        ),
    ],
)
def test_how_a_program_fails(root: Path, reply: str, soft: float, lenient: float, reason: str) -> None:
    got = bench(root).rollout(bench(root).load().val[0], "", Target(reply)).score
    assert (got.hard, got.soft, got.lenient, got.reason) == (float(soft == 1), soft, lenient, reason)


def test_form_alone_shows_in_the_lenient_score(single: Path) -> None:
    task = val(single, {"spreadsheet/b/1_b_answer.xlsx": workbook([], D2="New York")})
    code = "import openpyxl\nwb = openpyxl.Workbook()\nwb.active.title = 'My Data'\nwb.active['D2'] = 'new  york'"
    got = bench(single).rollout(task, "", Target(FENCE.format(f"{code}\nwb.save(OUTPUT_PATH)"))).score
    assert (got.hard, got.lenient) == (0.0, 1.0)


def test_formulas_without_values_fail_and_it_is_said_why(single: Path, without_office: None) -> None:
    got = bench(single).rollout(bench(single).load().val[0], "", Target(FORMULA))
    assert got.score.hard == 0.0
    assert "formulas without values: 1; LibreOffice, which would calculate them, is not installed" in got.score.reason


def test_a_libreoffice_that_does_nothing_is_told(single: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (work, report):
        monkeypatch.setattr(module, "office", lambda: "/bin/false")
    monkeypatch.setattr(work, "calculated", lambda folder, path: None)
    got = bench(single).rollout(bench(single).load().val[0], "", Target(FORMULA))
    assert got.score.reason.endswith("(formulas without values: 1)")
    assert "LibreOffice is installed, but made nothing" in got.turns[-1].content


@pytest.mark.skipif(not office(), reason="LibreOffice is not installed")
def test_formulas_are_calculated_by_libreoffice(single: Path) -> None:
    got = bench(single).rollout(bench(single).load().val[0], "", Target(FORMULA))
    assert got.score.hard == 1.0
    assert "calculated by LibreOffice" in got.turns[-1].content
    assert "LibreOffice" in bench(single).scoring


# Turns


def test_errors_are_fed_back_until_a_program_runs(single: Path) -> None:
    ask = Target(FENCE.format(" "), FENCE.format("open('/x', 'w')"), WRONG)
    got = bench(single, mode="multi").rollout(bench(single).load().val[0], "", ask)
    told = [request.messages[-1].content for request in ask.requests]
    assert "no program in your reply" in told[1]
    assert "refused to write outside the working folder" in told[2]
    assert "No such file" not in told[2]
    assert [turn.role for turn in ask.requests[2].messages] == ["system", *["user", "assistant"] * 2, "user"]
    assert len(ask.requests) == 3  # on val, a program that runs is final: the answer is not looked at
    assert got.score.hard == 0.0
    assert [turn.role for turn in got.turns] == ["user", *["assistant", "tool"] * 3]


def test_in_training_wrong_cells_are_named_and_right_values_are_not(single: Path) -> None:
    ask = Target(WRONG, RIGHT)
    got = bench(single, mode="multi").rollout(bench(single).load().train[0], "", ask)
    told = ask.requests[1].messages[-1].content
    assert "My Data!D2 is 5\n" in told
    assert "6" not in told
    assert (got.score.hard, len(ask.requests)) == (1.0, 2)


def test_turns_and_time_are_limited(single: Path) -> None:
    task = bench(single).load().val[0]
    for options in ({"max_turns": 2}, {"exec_timeout": 9.0}):
        ask = Target(FENCE.format("1 / 0"))
        assert bench(single, mode="multi", **options).rollout(task, "", ask).score.hard == 0.0
        assert len(ask.requests) == options.get("max_turns", 1)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def steps(*turns: list[dict[str, Any]]) -> Target:
    return Target(*(Reply("", tool_calls=tuple(calls), finish="tool_calls") for calls in turns), "Done.")


def test_react_looks_writes_and_tries(root: Path) -> None:
    look = "python -c 'import openpyxl, sys; print(openpyxl.load_workbook(INPUT_PATH).sheetnames, sys.argv[1:])' a b"
    program = program_in(RIGHT)
    ask = steps(
        [call("bash", command=look), call("bash", command="python3 - <<'EOF'\nprint('two\\nlines')\nEOF")],
        [call("write_file", path="solution.py", content=program), call("bash", command="python3 solution.py")],
    )
    got = bench(root, mode="react").rollout(bench(root).load().val[0], "Be careful.", ask)
    assert [tool["function"]["name"] for tool in ask.requests[0].tools] == ["bash", "write_file"]
    said = [turn.content for turn in ask.requests[-1].messages if turn.role == "tool"]
    assert said[0].strip() == "['My Data'] ['a', 'b']"
    assert said[1].strip() == "two\nlines"
    assert said[3].endswith("[check] the output was saved; My Data!D2 is 6")
    assert (got.score.hard, got.score.soft, got.response) == (1.0, 1.0, "Done.")


FAULTY_CALLS: list[tuple[str, dict[str, str], str]] = [
    ("bash", {"command": "ls -la"}, "only Python can be run"),
    ("bash", {"command": "python"}, "only Python can be run"),
    ("bash", {"command": "python 'x"}, "No closing quotation"),
    ("bash", {"command": "python -m pip install x"}, "there is no file '-m'"),
    ("bash", {"command": "python ../x.py"}, "inside the working folder"),
    ("bash", {"command": "python a\0b.py"}, "inside the working folder"),
    ("bash", {"command": "python -c 'import os; os.system(\"id\")'"}, "refused to start another program"),
    ("write_file", {"path": "../x.py", "content": ""}, "inside the working folder"),
    ("write_file", {"path": "/tmp/x.py", "content": ""}, "inside the working folder"),
    ("write_file", {"path": "input.xlsx/x.py", "content": ""}, "error: "),
    ("write_file", {"path": "x.py"}, "'content' is a required property"),
    ("rm", {}, "there is no tool 'rm'"),
    ("bash", {"command": "python \ud800.py"}, "inside the working folder"),
    ("write_file", {"path": "\ud800", "content": "\ud800"}, "inside the working folder"),
    ("write_file", {"path": "x" * 5000, "content": ""}, "File name too long"),
    ("bash", {"command": f"python -c 'print(1)' {'x' * 200_000}"}, "1"),
]


def test_calls_that_cannot_be_made_are_answered(single: Path) -> None:
    ask = steps([call(tool, **arguments) for tool, arguments, _ in FAULTY_CALLS])
    got = bench(single, mode="react").rollout(bench(single).load().val[0], "", ask)
    answers = [turn.content for turn in ask.requests[-1].messages if turn.role == "tool"]
    for answer, (_, _, said) in zip(answers, FAULTY_CALLS, strict=True):
        assert said in answer
    assert got.score.reason == "no-program: case 1: there is no program for this workbook"


def test_links_in_a_circle_lead_nowhere(single: Path) -> None:
    circle = "import ctypes\nctypes.CDLL(None).symlink(b'b', b'a')\nctypes.CDLL(None).symlink(b'a', b'b')"
    ask = steps(
        [call("write_file", path="c.py", content=circle), call("bash", command="python c.py")],
        [call("bash", command="python a"), call("write_file", path="b/x", content="x")],
    )
    bench(single, mode="react").rollout(bench(single).load().val[0], "", ask)
    said = [turn.content for turn in ask.requests[-1].messages if turn.role == "tool"]
    assert all("inside the working folder" in text for text in said[2:])


def test_a_workbook_with_more_text_than_can_be_told_fails_as_an_output(single: Path) -> None:
    task = bench(single).load().val[0]
    wide = replace(task, data={**task.data, "position": "'My Data'!D2:D1200"})
    code = (
        "import openpyxl\nwb = openpyxl.load_workbook(INPUT_PATH)\n"
        "for n in range(2, 1200):\n    wb['My Data'][f'D{n}'] = 'x' * 32_000\nwb.save(OUTPUT_PATH)"
    )
    got = bench(single).rollout(wide, "", Target(FENCE.format(code)))
    assert got.score.reason == "eval-mismatch: case 1: the output holds too much text"


def test_links_that_a_program_leaves_lead_nobody_out(single: Path, tmp_path_factory: Any) -> None:
    away = tmp_path_factory.mktemp("away")
    names = (".job.json", ".result.json", "_command.py", "x.txt", "solution.py")
    link = "import ctypes\nfor name in {}:\n    ctypes.CDLL(None).symlink(b'{}/' + name.encode(), name.encode())"
    ask = steps(
        [call("write_file", path="a.py", content=link.format(names, away)), call("bash", command="python a.py")],
        [
            call("bash", command="python -c 'print(1)'"),
            call("write_file", path="x.txt", content="x"),
            call("write_file", path="solution.py", content="x"),
        ],
        [call("bash", command=f"python -c '{program_in(RIGHT).replace(chr(39), chr(34))}'")],
    )
    got = bench(single, mode="react").rollout(bench(single).load().val[0], "", ask)
    assert list(away.iterdir()) == []
    said = [turn.content for turn in ask.requests[-1].messages if turn.role == "tool"]
    assert said[2].strip() == "1"
    assert all("inside the working folder" in text for text in said[3:5])
    assert got.score.hard == 1.0


def test_react_without_a_program_counts_for_its_own_workbook_only(root: Path) -> None:
    code = program_in(RIGHT).replace("'", '"')
    ask = steps([call("bash", command=f"python -c '{code}'")])
    got = bench(root, mode="react").rollout(bench(root).load().val[0], "", ask).score
    assert (got.soft, got.reason) == (0.5, "no-program: case 2: there is no program for this workbook")


# Agents


@pytest.mark.parametrize(
    ("reply", "soft"),
    [
        (Reply("Made it.", files={"solution.py": program_in(RIGHT).encode()}), 1.0),
        (Reply("Made it.", files={"output.xlsx": workbook([], D2=6)}), 0.5),
        (Reply("Made it.", files={"output.xlsx": workbook([], D2=5), "solution.py": program_in(RIGHT).encode()}), 0.5),
        (Reply(RIGHT), 1.0),
        (Reply("I could not."), 0.0),
    ],
)
def test_an_agent_leaves_a_program_or_a_workbook(root: Path, reply: Reply, soft: float) -> None:
    made, task = bench(root, mode="multi"), bench(root).load().val[0]
    assert isinstance(made, AgentBenchmark)
    assert made.edits
    assert made.attachments(task) == {"input.xlsx": (root / "spreadsheet/b/1_b_input.xlsx").read_bytes()}
    ask = Target(reply)
    assert made.work(task, ask).score.soft == soft
    (turn,) = ask.requests[0].messages
    assert "solution.py" in turn.content
    assert ask.requests[0].tools == ()


# Malice and accidents


def bomb() -> bytes:
    """A workbook whose one sheet unpacks to 400 MB."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook([["a"]]))) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name != "xl/worksheets/sheet1.xml":
                new.writestr(name, old.read(name))
        with new.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            for _ in range(400):
                sheet.write(b" " * 1_000_000)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("2_b_answer.xlsx", b"not a workbook", "2_b_answer.xlsx cannot be opened (BadZipFile"),
        ("1_b_input.xlsx", b"", "1_b_input.xlsx cannot be opened (BadZipFile"),
        ("1_b_answer.xlsx", None, "1_b_answer.xlsx cannot be opened (ValueError: it unpacks to 400"),
        ("1_b_answer.xlsx", workbook([], title="Other"), "the sheet of the answer is not in the workbook"),
    ],
)
def test_a_workbook_that_is_none_fails_its_task_alone(root: Path, name: str, content: bytes | None, why: str) -> None:
    ask = Target(RIGHT)
    task = val(root, {f"spreadsheet/b/{name}": bomb() if content is None else content})
    got = bench(root).rollout(task, "", ask)
    assert got.score.reason.startswith("setup: ")
    assert why in got.score.reason
    assert (got.score.hard, ask.requests) == (0.0, [])


@pytest.mark.parametrize("path", ["../outside", "/etc", "spreadsheet/none", "link", "a\0b"])
def test_a_path_that_leads_out_or_nowhere_fails_its_task_alone(root: Path, tmp_path_factory: Any, path: str) -> None:
    away = tmp_path_factory.mktemp("away")
    write(away, {name.rpartition("/")[2]: content for name, content in books("b").items()})
    (root / "link").symlink_to(away)
    task = val(root, spreadsheet_path=path)
    assert "unusable" in task.data
    got = bench(root).rollout(task, "", Target(RIGHT))
    assert got.score.reason.startswith("setup: ")
    assert bench(root).attachments(task) == {}


@pytest.mark.parametrize("name", ["a/b: c", "ä'\"b"])
def test_odd_ids_work(single: Path, name: str) -> None:
    write(single, {"val/items.json": [item(name, folder="b")]})
    made = bench(single)
    assert made.rollout(made.load().val[0], "", Target(RIGHT)).score.hard == 1.0


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("while True: pass", "exec-error: case 1: it was ended, for it took longer than 1 s"),
        ("x = bytearray(10 * 2**30)", "exec-error: case 1: MemoryError"),
        ("import os; os.symlink('/etc/passwd', OUTPUT_PATH)", "exec-error: case 1: PermissionError: refused to change"),
        ("import os\nos.environ['OPENAI_API_KEY']", "exec-error: case 1: KeyError: 'OPENAI_API_KEY'"),
        ("import os\nwhile True: os.fork()", "exec-error: case 1: PermissionError: refused to start another program"),
        (
            "import ctypes\nctypes.CDLL(None).symlink(b'/etc/passwd', OUTPUT_PATH.encode())",
            "output-not-found: case 1: nothing was saved to OUTPUT_PATH",
        ),
        (
            "open(OUTPUT_PATH, 'wb').write(BOMB)",
            "eval-mismatch: case 1: the output cannot be opened (ValueError: it unp",
        ),
    ],
)
def test_malice_fails_the_task_and_nothing_else(
    single: Path, code: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-1234")
    if "while True: pass" in code:
        monkeypatch.setattr(work, "LIMITS", sandbox.Limits(seconds=1.0))
    if "BOMB" in code:
        code = f"BOMB = {bomb()!r}\n{code}"
    got = bench(single).rollout(bench(single).load().val[0], "", Target(FENCE.format(code)))
    assert got.score.reason.startswith(reason)
    assert "very-secret" not in str(got)


def test_model_errors_pass_through(single: Path) -> None:
    def ask(request: Request) -> Reply:
        raise TransientModelError("no answer")

    for mode in ("single", "multi", "react"):
        with pytest.raises(TransientModelError):
            bench(single, mode=mode).rollout(bench(single).load().val[0], "", ask)


def test_a_machine_that_cannot_read_workbooks_is_no_fault_of_the_task(
    single: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = sandbox.Ran("", "Traceback\nModuleNotFoundError: No module named 'openpyxl'")
    monkeypatch.setattr(sandbox, "run_python", lambda *args, **more: ran)
    with pytest.raises(ModelError, match="workbooks cannot be read here"):
        bench(single).rollout(bench(single).load().val[0], "", Target(RIGHT))


def test_digests_follow_what_is_asked_and_how_it_is_scored(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = bench(root).judge_digest()
    assert plain == bench(root, workers=3).judge_digest()
    assert len({plain, *(bench(root, mode=mode).judge_digest() for mode in ("multi", "react"))}) == 3
    multi = bench(root, mode="multi").judge_digest()
    for limit in ({"max_turns": 3}, {"exec_timeout": 60}):
        assert bench(root, mode="multi", **limit).judge_digest() != multi
        assert bench(root, mode="single", **limit).judge_digest() == bench(root, mode="single").judge_digest()
    from skillgit.tasks.benchmarks.spreadsheet import bench as module

    monkeypatch.setattr(module, "office", lambda: "" if office() else "/usr/bin/soffice")
    assert bench(root).judge_digest() != plain


def test_a_position_without_a_folder_of_cases_is_told() -> None:
    with pytest.raises(UnusableError, match="holds no test case"):
        find_cases(Path(__file__).parent, "none")


def test_it_is_found_by_name(root: Path) -> None:
    assert registry.build("spreadsheetbench", BenchmarkContext(root, "s", {})).name == "spreadsheetbench"
