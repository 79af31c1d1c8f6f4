"""SpreadsheetBench: programs, turns, tools, and agents."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgit.models.base import Reply
from skillgit.tasks.base import AgentBenchmark
from skillgit.tasks.benchmarks.spreadsheet import report, work
from skillgit.tasks.benchmarks.spreadsheet.code import program_in
from skillgit.tasks.benchmarks.spreadsheet.office import office
from tests.tasks.benchmarks.sheets import AS_TEXT, FENCE, FIRST_ONLY, FORMULA, RIGHT, WRONG, workbook
from tests.tasks.benchmarks.workbooks import Target, bench, val

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
