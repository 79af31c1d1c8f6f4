"""SpreadsheetBench: malice and accidents end in one failed task."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ModelError, TransientModelError
from skillgit.models.base import Reply, Request
from skillgit.tasks import registry, sandbox
from skillgit.tasks.base import BenchmarkContext
from skillgit.tasks.benchmarks.spreadsheet import work
from skillgit.tasks.benchmarks.spreadsheet.cases import UnusableError, find_cases
from skillgit.tasks.benchmarks.spreadsheet.office import office
from tests.tasks.benchmarks.sheets import FENCE, RIGHT, books, item, workbook
from tests.tasks.benchmarks.workbooks import Target, bench, val, write


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
