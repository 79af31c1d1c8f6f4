from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from skillgit.config.sleep import Sleep
from skillgit.sleep.sources.cursor import Cursor
from tests.sleep.sources.reading import read
from tests.sleep.stores.cursor import lines, write
from tests.sleep.stores.talks import Talk, talks


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "cursor"


@pytest.fixture
def source(home: Path) -> Cursor:
    return Cursor(Sleep(cursor_home=str(home)))


@pytest.fixture
def talk() -> Talk:
    return next(talk for talk in talks(50) if len(talk.exchanges) == 3)


def test_every_turn_is_read_once_without_what_cursor_puts_before_it(source: Cursor, home: Path) -> None:
    made = talks(10)
    assert sorted(write(home, made)) == list(source.files())
    for talk, file in zip(sorted(made, key=lambda talk: talk.id), source.files(), strict=True):
        found = read(source, file)
        assert found.said("user") == [exchange.ask for exchange in talk.exchanges]
        assert found.said("assistant") == [exchange.answer for exchange in talk.exchanges]
        assert {(record.session, record.cwd) for record in found.records} == {(talk.id, talk.cwd)}
        assert len(found.keys) == len(found.records)
        assert talk.exchanges[0].output not in repr(found.records)


def test_only_the_last_record_has_a_time_which_is_the_files(source: Cursor, home: Path, talk: Talk) -> None:
    (file,) = write(home, [talk])
    records = read(source, file).records
    assert [record.at for record in records[:-1]] == [None] * (len(records) - 1)
    assert records[-1].at == pytest.approx(talk.exchanges[-1].at + talk.exchanges[-1].took)


def test_a_transcript_that_grew_or_was_written_anew_adds_only_its_new_part(
    source: Cursor, home: Path, talk: Talk
) -> None:
    (file,) = write(home, [replace(talk, exchanges=talk.exchanges[:1])])
    before = read(source, file)
    assert source.stamp(file) == before.position.stamp
    write(home, [talk])
    after = read(source, file, before.position)
    assert before.keys < after.keys
    new = [record.text for record in after.records if record.key not in before.keys and record.role == "user"]
    assert new == [exchange.ask for exchange in talk.exchanges[1:]]
    file.write_text("".join(lines(talk)[-4:]))
    assert read(source, file).keys <= after.keys


def test_the_same_words_said_twice_are_two_records(source: Cursor, home: Path, talk: Talk) -> None:
    (file,) = write(home, [replace(talk, exchanges=(talk.exchanges[0],) * 2)])
    assert read(source, file).said("user") == [talk.exchanges[0].ask] * 2
    assert len(read(source, file).keys) == len(read(source, file).records)


def test_a_turn_that_ended_in_an_error_failed(source: Cursor, home: Path, talk: Talk) -> None:
    (file,) = write(home, [talk])
    file.write_text("".join(lines(talk, statuses={1: "error", 2: "aborted"})))
    answers = [record for record in read(source, file).records if record.role == "assistant"]
    assert [record.failed for record in answers] == [False, True, False]


def test_without_a_trusted_workspace_the_folder_is_not_guessed(source: Cursor, home: Path, talk: Talk) -> None:
    (file,) = write(home, [talk], trusted=False)
    trusted = file.parents[2] / ".workspace-trusted"
    assert {record.cwd for record in read(source, file).records} == {""}
    for content in ('{"workspacePath": "relative"}', "[1]", "{"):
        trusted.write_text(content)
        assert {record.cwd for record in read(source, file).records} == {""}


def test_transcripts_of_sub_agents_are_counted_as_such(source: Cursor, home: Path, talk: Talk) -> None:
    (file,) = write(home, [talk])
    child = file.parent / "subagents" / "c1.jsonl"
    child.parent.mkdir()
    child.write_bytes(file.read_bytes())
    assert list(source.files()) == [file, child]
    found = read(source, child)
    assert {record.reason for record in found.records} == {"sub_agent"}
    assert {record.session for record in found.records} == {f"{talk.id}/c1"}
    assert not found.keys & read(source, file).keys


def test_reading_a_skills_file_puts_it_in_play(source: Cursor, home: Path, talk: Talk) -> None:
    (file,) = write(home, [talk])
    call = {"type": "tool_use", "name": "Read", "input": {"path": "/w/shop/.cursor/skills/taxes/SKILL.md"}}
    other = {"type": "tool_use", "name": "Write", "input": {"path": "/w/shop/.cursor/skills/new/SKILL.md"}}
    with file.open("a") as stream:
        stream.write(json.dumps({"message": {"role": "assistant", "content": [call, other]}}) + "\n")
    last = read(source, file).records[-1]
    assert (last.role, last.skills, last.tools) == ("none", ("taxes",), ("Read", "Write"))
    assert last.files == ("/w/shop/.cursor/skills/new/SKILL.md",)


def test_damage_costs_the_line_that_it_hits(source: Cursor, home: Path, talk: Talk) -> None:
    (file,) = write(home, [talk])
    good = file.read_bytes()
    file.write_bytes(b"null\n{broken\n\xff\xfe\n" + good + b'{"role": 5, "message": []}\n{"role": "user", "mess')
    found = read(source, file)
    assert found.said("user") == [exchange.ask for exchange in talk.exchanges]
    assert found.damaged["not an object"] == 1
    assert found.damaged["json"] == 2


def test_links_out_of_the_store_are_not_followed(source: Cursor, home: Path, talk: Talk, tmp_path: Path) -> None:
    (file,) = write(tmp_path / "elsewhere", [talk])
    (home / "projects").mkdir(parents=True)
    (home / "projects" / "linked").symlink_to(file.parents[2])
    assert list(source.files()) == []


def test_the_home_is_the_users_unless_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Cursor(Sleep()).roots() == (tmp_path / ".cursor" / "projects",)
    assert Cursor(Sleep(cursor_home="~/c")).roots() == (tmp_path / "c" / "projects",)
    assert list(Cursor(Sleep()).files()) == []
    with pytest.raises(FileNotFoundError):
        read(Cursor(Sleep()), tmp_path / "gone.jsonl")


def test_a_pipe_or_a_link_in_the_place_of_a_project_s_file_names_no_folder(home: Path, source: Cursor) -> None:
    for name in ("pipe", "link"):
        file = home / "projects" / name / "agent-transcripts/a.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text('{"role": "user", "message": {"content": "hello"}}\n')
    os.mkfifo(home / "projects/pipe/.workspace-trusted")
    (home / "outside").write_text('{"workspacePath": "/elsewhere"}')
    (home / "projects/link/.workspace-trusted").symlink_to(home / "outside")
    assert [(record.text, record.cwd) for file in source.files() for record in read(source, file).records] == [
        ("hello", ""),
        ("hello", ""),
    ]
