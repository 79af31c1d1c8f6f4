from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgit.config.sleep import Sleep
from skillgit.sleep.sources.pi import Pi
from tests.sleep.sources.reading import read
from tests.sleep.stores.pi import entries, header, text, write
from tests.sleep.stores.talks import Talk, talks


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "pi"


@pytest.fixture
def source(home: Path) -> Pi:
    return Pi(Sleep(pi_home=str(home)))


@pytest.fixture
def talk() -> Talk:
    return next(talk for talk in talks(50) if len(talk.exchanges) == 3)


def _asked(at: str, key: str, parent: str | None, said: str) -> dict[str, Any]:
    message = {"role": "user", "content": said}
    return {"type": "message", "id": key, "parentId": parent, "timestamp": at, "message": message}


def test_every_turn_is_read_once_with_its_folder_and_time(source: Pi, home: Path) -> None:
    made = talks(10)
    assert write(home, made) == list(source.files())
    for talk, file in zip(made, source.files(), strict=True):
        found = read(source, file)
        assert found.said("user") == [exchange.ask for exchange in talk.exchanges]
        assert found.said("assistant") == [exchange.answer for exchange in talk.exchanges]
        assert {(record.session, record.cwd) for record in found.records} == {(talk.id, talk.cwd)}
        assert found.records[0].at == talk.exchanges[0].at
        assert len(found.keys) == len(found.records)
        assert not found.damaged


def test_tools_and_written_files_are_named_and_results_and_thoughts_are_not_told(
    source: Pi, home: Path, talk: Talk
) -> None:
    (file,) = write(home, [talk])
    records = read(source, file).records
    assert [tool for record in records for tool in record.tools] == [
        tool for exchange in talk.exchanges for tool in exchange.tools
    ]
    assert {tool for record in records if record.files for tool in record.tools} <= {"edit", "write"}
    assert talk.exchanges[0].output not in repr(records)
    assert "hm" not in [record.text for record in records]


def test_a_session_that_grew_adds_only_its_new_part(source: Pi, home: Path, talk: Talk) -> None:
    write(home, [replace(talk, exchanges=talk.exchanges[:1])])
    (file,) = source.files()
    before = read(source, file)
    write(home, [talk])
    after = read(source, file, before.position)
    assert before.keys < after.keys
    new = [record.text for record in after.records if record.key not in before.keys and record.role == "user"]
    assert new == [exchange.ask for exchange in talk.exchanges[1:]]


def test_a_branch_that_was_left_is_not_read(source: Pi, home: Path, talk: Talk) -> None:
    (file,) = write(home, [talk])
    made = entries(talk)
    fork = made[1]["id"]
    summary = {"type": "branch_summary", "id": "s", "parentId": fork, "timestamp": "2026-02-01T00:00:00Z"}
    summary |= {"summary": "The other way failed."}
    last = _asked("2026-02-01T00:00:01Z", "z", "s", "Try the other way.")
    file.write_text(text([header(talk), *made, summary, last]))
    found = read(source, file)
    assert found.said("user") == [talk.exchanges[0].ask, "Try the other way."]
    assert [(record.text, record.reason) for record in found.records if record.reason] == [
        ("The other way failed.", "meta")
    ]


def test_going_back_to_the_very_start_leaves_everything_before(source: Pi, home: Path, talk: Talk) -> None:
    (file,) = write(home, [talk])
    again = _asked("2026-02-01T00:00:01Z", "z", None, "From the start.")
    file.write_text(text([header(talk), *entries(talk), again]))
    assert read(source, file).said("user") == ["From the start."]


@pytest.mark.parametrize("damage", [b"{torn\n", b"null\n", b"\xff\xfe\n", b""], ids=["torn", "null", "binary", "lost"])
def test_damage_costs_one_record_and_not_the_session(source: Pi, home: Path, talk: Talk, damage: bytes) -> None:
    (file,) = write(home, [talk])
    whole = read(source, file)
    rows = file.read_bytes().splitlines(keepends=True)
    for place in range(1, len(rows) - 1):
        file.write_bytes(b"".join([*rows[:place], damage, *rows[place + 1 :]]))
        found = read(source, file)
        assert len(found.keys ^ whole.keys) <= 1
        assert {record.cwd for record in found.records} == {talk.cwd}


def test_without_its_header_a_session_keeps_its_id_and_loses_its_folder(source: Pi, home: Path, talk: Talk) -> None:
    (file,) = write(home, [talk])
    file.write_text("{broken\n" + text(entries(talk)))
    found = read(source, file)
    assert found.said("user") == [exchange.ask for exchange in talk.exchanges]
    assert {(record.session, record.cwd) for record in found.records} == {(talk.id, "")}
    assert found.damaged == {"json": 1}


def test_files_of_the_first_version_have_no_tree(source: Pi, home: Path, talk: Talk) -> None:
    (file,) = write(home, [talk])
    first = {key: value for key, value in header(talk).items() if key != "version"}
    file.write_text(text([first, *entries(talk, tree=False)]))
    found = read(source, file)
    assert found.said("user") == [exchange.ask for exchange in talk.exchanges]
    assert len(found.keys) == len(found.records)


def test_what_a_fork_copied_has_the_same_keys(source: Pi, home: Path, talk: Talk) -> None:
    (file,) = write(home, [talk])
    fork = file.with_name("2026-02-01T00-00-00-000Z_fork.jsonl")
    more = _asked("2026-02-01T00:00:01Z", "z", entries(talk)[-1]["id"], "And now the rest.")
    fork.write_text(text([{**header(talk), "id": "fork", "parentSession": str(file)}, *entries(talk), more]))
    new = [record.text for record in read(source, fork).records if record.key not in read(source, file).keys]
    assert new == ["And now the rest."]


def test_skills_are_named_by_reading_their_file_and_by_their_command(source: Pi, home: Path, talk: Talk) -> None:
    (file,) = write(home, [talk])
    made = entries(talk)[:2]
    call = {"type": "toolCall", "name": "read", "arguments": {"path": "/w/shop/.pi/skills/taxes/SKILL.md"}}
    reading = {"type": "message", "id": "x", "parentId": made[1]["id"], "timestamp": "2026-02-01T00:00:00Z"}
    reading["message"] = {"role": "assistant", "content": [call]}
    opened = '<skill name="invoices" location="/s/SKILL.md">\nRules.\n</skill>'
    asked = _asked("2026-02-01T00:00:01Z", "y", "x", f"{opened}\n\nCheck invoice 7.")
    alone = _asked("2026-02-01T00:00:02Z", "z", "y", opened)
    file.write_text(text([header(talk), *made, reading, asked, alone]))
    found = read(source, file).records[-3:]
    assert [record.skills for record in found] == [("taxes",), ("invoices",), ("invoices",)]
    assert [(record.text, record.reason) for record in found[1:]] == [("Check invoice 7.", ""), (opened, "command")]


def test_texts_of_extensions_are_no_persons_words_and_errors_are_failures(source: Pi, home: Path, talk: Talk) -> None:
    (file,) = write(home, [talk])
    made = entries(talk)
    custom = {"type": "custom_message", "id": "y", "parentId": made[-1]["id"], "content": "Remember the tests."}
    error = {"type": "message", "id": "z", "parentId": "y", "timestamp": "2026-02-01T00:00:00Z"}
    error["message"] = {"role": "assistant", "content": [], "stopReason": "error"}
    file.write_text(text([header(talk), *made, custom, error]))
    last = read(source, file).records[-2:]
    assert [(record.reason, record.failed) for record in last] == [("synthetic", False), ("", True)]


def test_the_folder_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Pi(Sleep()).roots() == (tmp_path / ".pi" / "agent" / "sessions",)
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    assert Pi(Sleep()).roots() == (tmp_path / "agent" / "sessions",)
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(tmp_path / "s"))
    assert Pi(Sleep()).roots() == (tmp_path / "s",)
    assert list(Pi(Sleep()).files()) == []
    assert Pi(Sleep(pi_home="/p")).roots() == (Path("/p/agent/sessions"),)
