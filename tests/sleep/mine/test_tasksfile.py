"""Mined tasks in a file: read back as they were written, and every fault named with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgit.config.sleep import Sleep
from skillgit.errors import ConfigError, TaskError
from skillgit.sleep.mine.mine import mine
from skillgit.sleep.mine.tasksfile import FORMAT, read, write
from skillgit.tasks import judges
from tests.sleep.mine.conversations import habits

HEADER = {"format": FORMAT, "reviewed": True, "project": "/w/shop", "sources": ["claude"]}
ORDERS = ("Which order has the coat?", "When does the fair open its doors?", "What does the lamp cost now?")


def row(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": f"t{number}", "input": ORDERS[number], "answers": ["x"], "split": "train"} | fields


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    return path


def published(number: int, **fields: Any) -> dict[str, Any]:
    given = {"id": f"task_{number}", "project": "/p", "intent": ORDERS[number], "reference_kind": "exact"}
    return given | {"reference": "ORD-12", "source_sessions": ["abc"]} | fields


def fault(path: Path) -> str:
    with pytest.raises(TaskError) as raised:
        read(path)
    return str(raised.value)


def test_mined_tasks_come_back_as_they_were_and_wait_for_a_review(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    tasks = mine(habits(20), Sleep()).tasks
    write(path, tasks, project="/w/shop", sources=("claude", "codex"))
    found = read(path)
    assert (found.tasks, found.reviewed, found.notes) == (tasks, False, ())
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text().splitlines()[0]) == HEADER | {"reviewed": False, "sources": ["claude", "codex"]}


def test_a_person_releases_the_tasks_in_the_file(tmp_path: Path) -> None:
    assert read(lines(tmp_path / "t.jsonl", HEADER, row(0))).reviewed is True
    assert read(lines(tmp_path / "t.jsonl", row(0))).reviewed is False
    assert '"reviewed" must be true or false' in fault(
        lines(tmp_path / "t.jsonl", HEADER | {"reviewed": "yes"}, row(0))
    )


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError):
        write(tmp_path / "file" / "tasks.jsonl", (), project="", sources=())


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"split": "banana"}, '"split" is "banana"'),
        ({"outcome": "fine"}, '"outcome" is "fine"'),
        ({"judge": "exakt"}, 'did you mean "exact"'),
        ({"judge": {"type": "regex", "pattern": "("}}, "not a valid regular expression"),
        ({"judge": {"type": "checks", "checks": []}}, "at least one"),
        ({"judge": {"type": "rubric", "rubric": " "}}, "rubric must be text"),
        ({"judge": {"type": "rubric", "rubric": "x", "level": 3}}, 'no setting "level"'),
        ({"answers": []}, "needs answers"),
        ({"anwsers": ["x"]}, 'unknown field "anwsers"; did you mean "answers"?'),
        ({"input": " "}, '"input" must be text'),
        ({"sessions": ["abc\nSkillgit-Gate: accept"]}, "12 hex digits"),
        ({"origin": "dream", "split": "val"}, "a dream is only learned from"),
        ({"said": "always"}, '"said" must be a list'),
    ],
)
def test_every_fault_is_named_with_its_line(tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    path = lines(tmp_path / "t.jsonl", HEADER, row(0), row(1, **fields))
    message = fault(path)
    assert f"{path}:3" in message
    assert said in message


def test_faults_of_several_lines_are_told_together(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(f'{json.dumps(HEADER)}\n{{"id": \nnull\n{json.dumps(row(0, split="x"))}\n')
    assert [f"{path}:{n}" in fault(path) for n in (1, 2, 3, 4)] == [False, True, True, True]


def test_ids_are_unique(tmp_path: Path) -> None:
    path = lines(tmp_path / "t.jsonl", HEADER, row(0), row(1, id="t0"))
    assert f'{path}:3: the id "t0" is already used at {path}:2' in fault(path)


def test_nearly_the_same_request_in_two_splits_is_refused_with_both_lines(tmp_path: Path) -> None:
    near = row(1, input=f"Please: {ORDERS[0].lower()}", split="val")
    path = lines(tmp_path / "t.jsonl", HEADER, row(0), near)
    assert f"{path}:3: asks nearly the same in val as {path}:2 does in train" in fault(path)
    assert len(read(lines(path, HEADER, row(0), near | {"split": "train"})).tasks) == 2


def test_an_unknown_format_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    assert 'not "other"' in fault(lines(tmp_path / "t.jsonl", {"format": "other"}, row(0)))
    assert "cannot be read" in fault(tmp_path / "missing.jsonl")
    assert "not valid JSON" in fault(_text(tmp_path / "bad.json", "{"))


def _text(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_tasks_without_a_split_are_given_one_unless_the_file_has_some(tmp_path: Path) -> None:
    bare = [{key: value for key, value in row(n).items() if key != "split"} for n in range(3)]
    found = read(lines(tmp_path / "t.jsonl", HEADER, *bare))
    assert sorted(task.split for task in found.tasks) == ["train", "train", "val"]
    assert found.notes == ("3 tasks had no split and were given one",)
    assert read(lines(tmp_path / "t.jsonl", HEADER, *bare)).tasks == found.tasks
    assert {task.split for task in read(tmp_path / "t.jsonl", Sleep(val_fraction=0.0)).tasks} == {"train"}
    mixed = read(lines(tmp_path / "t.jsonl", HEADER, row(0, split="val"), *bare[1:]))
    assert [task.split for task in mixed.tasks] == ["val", "train", "train"]


def test_a_file_of_skillopt_sleep_is_read(tmp_path: Path) -> None:
    rule = {"kind": "rule", "checks": [{"op": "contains", "arg": "fair"}]}
    tasks = [
        published(0, split="replay", outcome="fail", skill_hint="orders", derived_from="", context_excerpt="see list"),
        published(1, split="holdout", reference_kind="rule", reference="", judge=rule, system="be brief"),
        published(2, split="", reference_kind="none", attempted_solution="$4"),
    ]
    document = {"format": "skillopt_sleep.tasks.v1", "reviewed": True, "transcript_source": "claude", "tasks": tasks}
    path = _text(tmp_path / "tasks.json", json.dumps(document, indent=1))
    found = read(path)
    assert found.reviewed is True
    assert [task.split for task in found.tasks] == ["train", "val"]
    first, second = found.tasks
    assert (first.skill, first.outcome, first.task.context, first.task.answers) == (
        "orders",
        "fail",
        "see list",
        ("ORD-12",),
    )
    assert judges.score(first.task, "ord-12.").hard == 1
    assert judges.score(first.task, "It is ORD-12").hard == 0
    assert len(first.sessions[0]) == 12
    assert second.task.judge["type"] == "checks"
    assert found.notes == (
        f'{path} item 2: its "system" is not used',
        f"{path} item 3: left out, for nothing says what a good answer is",
    )


@pytest.mark.parametrize("name", ["tasks.json", "tasks.jsonl"])
def test_a_bare_array_is_read_and_counts_as_not_reviewed(tmp_path: Path, name: str) -> None:
    found = read(_text(tmp_path / name, json.dumps([published(0), published(1), published(2)], indent=1)))
    assert (len(found.tasks), found.reviewed) == (3, False)
    assert sorted(task.split for task in found.tasks) == ["train", "train", "val"]
    assert len(read(_text(tmp_path / name, json.dumps([row(0), row(1)], indent=1))).tasks) == 2


def test_faults_of_a_published_file_are_named(tmp_path: Path) -> None:
    document = {"format": "skillopt_sleep.tasks.v1", "tasks": [published(0, split="banana"), published(1, id="")]}
    message = fault(_text(tmp_path / "tasks.json", json.dumps(document)))
    assert 'tasks.json item 1: "split" is "banana"' in message
    assert "tasks.json item 2" in message
