from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgit.config.sleep import Sleep
from skillgit.sleep.sources import whole
from skillgit.sleep.sources.devin import Devin
from tests.sleep.sources.reading import read
from tests.sleep.stores.devin import transcript, write
from tests.sleep.stores.talks import Talk, talks


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "transcripts"


@pytest.fixture
def source(folder: Path) -> Devin:
    return Devin(Sleep(devin_transcripts=str(folder)))


@pytest.fixture
def talk() -> Talk:
    return next(talk for talk in talks(50) if len(talk.exchanges) == 3)


def _write(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value))


def test_every_turn_is_read_once_with_its_folder_and_time(source: Devin, folder: Path) -> None:
    made = talks(10)
    assert sorted(write(folder, made)) == list(source.files())
    for talk, file in zip(sorted(made, key=lambda talk: talk.id), source.files(), strict=True):
        found = read(source, file)
        assert found.said("user") == [exchange.ask for exchange in talk.exchanges]
        assert found.said("assistant") == [exchange.answer for exchange in talk.exchanges]
        assert {(record.session, record.cwd) for record in found.records} == {(talk.id, talk.cwd)}
        assert found.records[0].at == talk.exchanges[0].at
        assert len(found.keys) == len(found.records)
        assert not found.damaged


def test_tools_are_named_and_what_they_gave_or_the_agent_thought_is_not_told(
    source: Devin, folder: Path, talk: Talk
) -> None:
    (file,) = write(folder, [talk])
    records = read(source, file).records
    assert [record.tools for record in records if record.tools] == [exchange.tools for exchange in talk.exchanges]
    assert all(bool(record.files) == bool({"edit", "write"} & set(record.tools)) for record in records)
    for hidden in (talk.exchanges[0].output.splitlines()[0], "A small change", "You are Devin"):
        assert hidden not in repr(records)


def test_a_session_that_went_on_adds_only_its_new_part(source: Devin, folder: Path, talk: Talk) -> None:
    (file,) = write(folder, [replace(talk, exchanges=talk.exchanges[:1])])
    before = read(source, file)
    assert source.stamp(file) == before.position.stamp
    write(folder, [talk])
    after = read(source, file, before.position)
    assert before.keys < after.keys
    new = [record.text for record in after.records if record.key not in before.keys and record.role == "user"]
    assert new == [exchange.ask for exchange in talk.exchanges[1:]]


def test_without_a_recorded_folder_none_is_guessed(source: Devin, folder: Path, talk: Talk) -> None:
    (file,) = write(folder, [talk])
    value = transcript(talk)
    del value["agent"]["extra"]
    value["steps"][1]["message"] = f"Work in {talk.cwd}, please."
    _write(file, value)
    assert {record.cwd for record in read(source, file).records} == {""}
    value["extra"] = {"working_directory": "/w/other"}
    value["steps"][-1]["extra"] = {"cwd": "/w/other/sub"}
    _write(file, value)
    assert [record.cwd for record in read(source, file).records][-2:] == ["/w/other", "/w/other/sub"]


def test_copied_steps_are_no_new_words_and_parts_of_messages_are_joined(
    source: Devin, folder: Path, talk: Talk
) -> None:
    (file,) = write(folder, [talk])
    value = transcript(talk)
    parts = [{"type": "text", "text": "Look:"}, {"type": "image"}, {"type": "text", "text": "!"}]
    value["steps"] = [
        {"source": "user", "message": "Said in another session.", "is_copied_context": True},
        {"source": "user", "message": parts},
        {"source": "agent", "tool_calls": [{"function_name": "read", "arguments": {"path": "/s/taxes/SKILL.md"}}]},
    ]
    _write(file, value)
    copied, asked, reading = read(source, file).records
    assert (copied.reason, asked.reason, asked.text) == ("meta", "", "Look:\n!")
    assert reading.skills == ("taxes",)


@pytest.mark.parametrize(
    ("content", "damaged"),
    [
        (b'{"schema_version": "ATIF-v1.7", "steps": [', {"json": 1}),
        (b"[1]", {"not an object": 1}),
        (b'{"mem:memories": {"1": {"title": "a", "content": "b"}}}', {"format": 1}),
        (b"[" * 100_000, {"nested": 1}),
        (b"", {}),
    ],
    ids=["torn", "list", "other", "deep", "empty"],
)
def test_a_damaged_document_is_counted(
    source: Devin, folder: Path, talk: Talk, content: bytes, damaged: dict[str, int]
) -> None:
    (file,) = write(folder, [talk])
    file.write_bytes(content)
    found = read(source, file)
    assert (found.records, found.damaged) == ([], damaged)
    assert found.position.stamp == source.stamp(file)


def test_damaged_steps_cost_themselves(source: Devin, folder: Path, talk: Talk) -> None:
    (file,) = write(folder, [talk])
    value = transcript(talk)
    value["steps"] += [None, {"source": 5}, {"source": "user", "message": {"text": "x"}, "timestamp": "never"}]
    _write(file, value)
    assert read(source, file).said("user") == [exchange.ask for exchange in talk.exchanges]


def test_a_document_that_is_too_long_is_not_held(
    source: Devin, folder: Path, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file,) = write(folder, [talk])
    monkeypatch.setattr(whole, "LONGEST", 100)
    assert read(source, file).damaged == {"too long": 1}


def test_memories_and_skills_are_no_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, talk: Talk) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "roaming"))
    roots = Devin(Sleep()).roots()
    assert roots[:2] == (
        tmp_path / "data" / "devin" / "cli" / "transcripts",
        tmp_path / "roaming" / "Devin" / "cli" / "transcripts",
    )
    (file,) = write(roots[0], [talk])
    (roots[0].parent / "standalone.json").write_text("{}")
    skill = tmp_path / "data" / "devin" / "skills" / "x" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("Rules.")
    assert list(Devin(Sleep()).files()) == [file]


def test_steps_without_a_number_are_told_by_their_place(source: Devin, folder: Path, talk: Talk) -> None:
    (file,) = write(folder, [talk])
    value = transcript(talk)
    _write(file, {**value, "steps": [{**step, "step_id": None} for step in value["steps"]]})
    found = read(source, file)
    assert len(found.keys) == len(found.records)
