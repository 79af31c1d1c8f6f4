"""The neutral format, as documented."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Source
from skillgit.sleep.sources.neutral import Neutral
from tests.sleep.sources.reading import Reading, read
from tests.sleep.stores import START, dump, neutral, write

TURNS = [("Round VAT to 2 decimals", "Rounded."), ("No, bankers' rounding", "Done.")]
README = Path(__file__).parents[3] / "examples" / "sessions" / "README.md"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Neutral(Sleep(neutral_sessions=str(tmp_path)))


def reading(source: Source, folder: Path, *lines: Any) -> Reading:
    return read(source, write(folder / "s1.jsonl", dump(lines)))


def test_a_session_is_read_as_it_was_written(source: Source, tmp_path: Path) -> None:
    more: dict[str, Any] = {"branch": "fix", "skills": ["tax"], "tools": ["shell"], "files": ["a.py"]}
    found = read(source, neutral.write_session(tmp_path, "s9", TURNS, **more))
    assert found.said("user") == [TURNS[0][0], TURNS[1][0]]
    assert found.said("assistant") == [TURNS[0][1], TURNS[1][1]]
    first = found.records[0]
    assert (first.session, first.at, first.cwd, first.branch) == ("s9", START, "/w/shop", "fix")
    assert (first.skills, first.tools, first.files) == (("tax",), ("shell",), ("a.py",))
    assert found.damaged == {}


def test_a_line_needs_nothing_but_a_text_and_who_said_it(source: Source, tmp_path: Path) -> None:
    found = reading(source, tmp_path, {"role": "user", "text": "Fix it"}, {"role": "user", "text": "Fix it"})
    assert [(record.session, record.text, record.at) for record in found.records] == [("s1", "Fix it", None)] * 2
    assert len(found.keys) == 2


def test_lines_with_one_id_count_once(source: Source, tmp_path: Path) -> None:
    line = {"role": "user", "text": "Fix it", "id": "i1"}
    assert reading(source, tmp_path, line, line | {"session": "copy"}).keys == {"i1"}


def test_what_another_agent_said_as_user_is_no_person_s(source: Source, tmp_path: Path) -> None:
    found = reading(source, tmp_path, {"role": "user", "text": "Fix it", "agent": "planner"})
    assert found.records[0].reason == "sub_agent"


def test_failures_are_told(source: Source, tmp_path: Path) -> None:
    assert reading(source, tmp_path, {"role": "assistant", "text": "", "failed": True}).records[0].failed


@pytest.mark.parametrize(
    "line",
    [
        {"role": "tool", "text": "x"},
        {"role": 5},
        {"role": "user", "text": ["x"]},
        {"role": "user", "at": "yesterday"},
        {"role": "user", "cwd": "shop"},
        {"role": "user", "skills": "tax"},
        {"role": "user", "skills": [1]},
        {"session": {}},
    ],
)
def test_a_line_that_breaks_the_format_is_counted(source: Source, tmp_path: Path, line: dict[str, Any]) -> None:
    found = reading(source, tmp_path, line, {"role": "user", "text": "Fix it"})
    assert (found.said("user"), found.damaged) == (["Fix it"], {"format": 1})


def test_without_a_folder_there_is_no_store() -> None:
    assert (Neutral(Sleep()).roots(), list(Neutral(Sleep()).files())) == ((), [])


def test_the_example_of_the_documentation_is_read_whole(source: Source, tmp_path: Path) -> None:
    (sample,) = re.findall(r"```jsonl\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    found = read(source, write(tmp_path / "sample.jsonl", sample.encode()))
    assert len(found.records) == len(sample.splitlines())
    assert found.damaged == {}
    assert found.records[0].skills == ("invoices",)


def test_the_documentation_names_every_key() -> None:
    (sample,) = re.findall(r"```jsonl\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    named = set(re.findall(r"^\| `(\w+)`", README.read_text(encoding="utf-8"), re.MULTILINE))
    assert {key for line in sample.splitlines() for key in json.loads(line)} <= named
    assert named == set(re.findall(r'"(\w+)"\)', Path(_module()).read_text(encoding="utf-8"))) - {"format"}


def _module() -> str:
    from skillgit.sleep.sources import neutral as module

    return str(module.__file__)
