from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Source
from skillgit.sleep.sources.copilot_cli import CopilotCli
from tests.sleep.sources.reading import read
from tests.sleep.stores.copilot_cli import Store
from tests.sleep.stores.talks import talks


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "session-store.db"


@pytest.fixture
def store(file: Path) -> Iterator[Store]:
    store = Store(file)
    yield store
    store.close()


@pytest.fixture
def source(file: Path) -> Source:
    return CopilotCli(Sleep(copilot_cli_session_store=str(file)))


def test_every_turn_is_read_once_with_its_folder_branch_and_time(source: Source, file: Path, store: Store) -> None:
    made = talks(10)
    store.write(made)
    found = read(source, file)
    exchanges = [exchange for talk in made for exchange in talk.exchanges]
    assert found.said("user") == [exchange.ask for exchange in exchanges]
    assert found.said("assistant") == [exchange.answer for exchange in exchanges]
    first = found.records[0]
    assert (first.session, first.cwd, first.branch) == (made[0].id, made[0].cwd, made[0].branch)
    assert first.at == made[0].exchanges[0].at
    assert len(found.keys) == len(found.records)
    assert not found.damaged


def test_only_sessions_that_changed_are_read_again_and_their_old_turns_keep_their_keys(
    source: Source, file: Path, store: Store
) -> None:
    first, second = talks(2)
    store.write([first, replace(second, exchanges=second.exchanges[:1])])
    before = read(source, file)
    store.write([second])
    after = read(source, file, before.position)
    assert {record.session for record in after.records} == {second.id}
    new = [record for record in after.records if record.key not in before.keys and record.role == "user"]
    assert [record.text for record in new] == [exchange.ask for exchange in second.exchanges[1:]]


def test_an_answer_that_comes_later_is_read_later(source: Source, file: Path, store: Store) -> None:
    (talk,) = talks(1)
    store.write([talk])
    store.connection.execute("UPDATE turns SET assistant_response = NULL WHERE turn_index = 0")
    store.connection.commit()
    first = read(source, file)
    assert len(first.said("assistant")) == len(talk.exchanges) - 1
    store.connection.execute("UPDATE turns SET assistant_response = 'Late.' WHERE turn_index = 0")
    store.connection.commit()
    second = read(source, file, first.position)
    assert [record.text for record in second.records if record.key not in first.keys] == ["Late."]


def test_a_clock_that_was_ahead_hides_nothing(source: Source, file: Path, store: Store) -> None:
    ahead, later = talks(2)
    store.write([ahead])
    store.connection.execute("UPDATE sessions SET updated_at = '2999-01-01T00:00:00Z'")
    store.connection.commit()
    position = read(source, file).position
    now = datetime.now(UTC).isoformat()
    store.write([later])
    store.connection.execute("UPDATE sessions SET updated_at = ? WHERE id = ?", (now, later.id))
    store.connection.commit()
    assert later.exchanges[0].ask in read(source, file, position).said("user")


def test_files_tools_and_skills_come_without_any_text(source: Source, file: Path, store: Store) -> None:
    (talk,) = talks(1)
    store.write([talk])
    path = "/w/shop/.github/skills/invoices/SKILL.md"
    store.connection.execute("INSERT INTO session_files VALUES (?, ?, 'view', 0, '')", (talk.id, path))
    store.connection.commit()
    facts = [record for record in read(source, file).records if record.role == "none"]
    assert {record.files for record in facts} == {(talk.exchanges[0].file,), ()}
    assert {record.skills for record in facts} == {("invoices",), ()}
    assert {record.tools for record in facts} == {("edit",), ("view",)}


def test_columns_and_tables_that_other_versions_lack_are_not_needed(source: Source, file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.executescript("""
        CREATE TABLE sessions (id TEXT, cwd TEXT, repository TEXT, branch TEXT, created_at TEXT, updated_at TEXT);
        CREATE TABLE turns (session_id TEXT, turn_index INTEGER, user_message TEXT, assistant_response TEXT);
        INSERT INTO sessions VALUES ('s9', NULL, 'acme/shop', NULL, '2031-02-03 10:00:00', '2031-02-03 10:12:00');
        INSERT INTO turns VALUES ('s9', 0, 'Bump the lockfile', 'Done'), ('s9', 1, '', NULL);
    """)
    connection.close()
    found = read(source, file)
    assert [(record.role, record.text, record.cwd) for record in found.records] == [
        ("user", "Bump the lockfile", ""),
        ("assistant", "Done", ""),
    ]
    assert found.records[0].at == 1927879200.0


def test_a_database_without_the_tables_is_one_damage(source: Source, file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE sessions (id TEXT)")
    connection.close()
    assert read(source, file).damaged == {"schema": 1}


def test_the_database_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "copilot"))
    source = CopilotCli(Sleep())
    assert source.roots() == (tmp_path / "copilot" / "session-store.db",)
    assert list(source.files()) == []
    Store(tmp_path / "copilot" / "session-store.db").close()
    assert list(source.files()) == list(source.roots())
    monkeypatch.delenv("COPILOT_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert CopilotCli(Sleep()).roots() == (tmp_path / ".copilot" / "session-store.db",)
