from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from skillgit.sleep.base import Position, Record
from skillgit.sleep.sources import sqlite, whole
from skillgit.sleep.sources.sqlite import Database, read_database, stamp

_WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=30)
connection.execute("PRAGMA wal_autocheckpoint = 5")
connection.execute("PRAGMA synchronous = OFF")
for _ in range(300):
    connection.execute("INSERT INTO notes (text) VALUES (?)", ("z" * 900,))
    connection.commit()
"""
NEEDS = {"notes": frozenset({"id", "text"})}


def _news(database: Database, state: dict[str, Any]) -> Iterator[Record]:
    rows = database.connection.execute("SELECT id, text FROM notes WHERE id > ? ORDER BY id", (state.get("id", 0),))
    for key, text in rows:
        yield Record("s", str(key), "user", text)
        state["id"] = key


def _write(file: Path, count: int, *, journal: str = "wal", text: str = "hello") -> sqlite3.Connection:
    connection = sqlite3.connect(file)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT)")
    connection.executemany("INSERT INTO notes (text) VALUES (?)", [(text,)] * count)
    connection.commit()
    return connection


def _keys(file: Path, since: Position | None = None) -> list[str]:
    return [record.key for batch in read_database(file, since, NEEDS, _news) for record in batch.records]


def _hashes(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if not file.name.endswith("-shm")
    }


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_what_only_the_log_holds_is_read_and_no_byte_of_the_store_changes(tmp_path: Path, journal: str) -> None:
    writer = _write(tmp_path / "a b?#%.db", 3, journal=journal)
    before = _hashes(tmp_path)
    assert _keys(tmp_path / "a b?#%.db") == ["1", "2", "3"]
    assert _hashes(tmp_path) == before
    writer.close()


def test_reading_a_database_that_nobody_has_open_does_not_change_its_stamp(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    _write(file, 3).close()
    before, content = stamp(file), file.read_bytes()
    assert _keys(file) == ["1", "2", "3"]
    assert stamp(file) == before
    assert file.read_bytes() == content


def test_the_stamp_changes_when_only_the_log_does(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    writer = _write(file, 1)
    before, content = stamp(file), file.read_bytes()
    writer.execute("INSERT INTO notes (text) VALUES ('more')")
    writer.commit()
    assert file.read_bytes() == content
    assert stamp(file) != before
    writer.close()


@pytest.fixture
def without_rights(tmp_path: Path) -> Iterator[None]:
    """Root may write anywhere, so that its rights are given up for a while."""
    if os.geteuid() != 0:
        yield
        return
    own = Path(tempfile.gettempdir())
    for folder in (tmp_path, *tmp_path.parents):
        if folder == own:
            break
        folder.chmod(0o755)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_read_only_folder_is_read_from_a_copy(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    writer = _write(tmp_path / "a.db", 2)
    for name in ("a.db", "a.db-wal"):
        shutil.copyfile(tmp_path / name, kept / name)
        (kept / name).chmod(0o444)
    writer.close()
    before = _hashes(kept)
    kept.chmod(0o555)
    request.getfixturevalue("without_rights")
    assert _keys(kept / "a.db") == ["1", "2"]
    assert _hashes(kept) == before
    assert sorted(file.name for file in kept.iterdir()) == ["a.db", "a.db-wal"]


def test_an_interrupted_transaction_is_undone_in_a_copy_only(tmp_path: Path) -> None:
    writer = _write(tmp_path / "a.db", 2, journal="delete")
    writer.execute("PRAGMA cache_size = 1")
    writer.executemany("INSERT INTO notes (text) VALUES (?)", [("x" * 4000,)] * 50)
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name in ("a.db", "a.db-journal"):
        shutil.copyfile(tmp_path / name, crashed / name)
    writer.rollback()
    writer.close()
    before = _hashes(crashed)
    assert _keys(crashed / "a.db") == ["1", "2"]
    assert _hashes(crashed) == before


def test_a_locked_database_is_an_error_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_WAIT", 0.05)
    file = tmp_path / "a.db"
    writer = _write(file, 1, journal="delete")
    writer.execute("BEGIN EXCLUSIVE")
    with pytest.raises(OSError, match="locked") as raised:
        _keys(file)
    assert raised.value.filename == str(file)
    writer.rollback()
    writer.close()
    assert _keys(file) == ["1"]


def test_a_missing_database_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        _keys(tmp_path / "a.db")
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_while_reading_is_read_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "BATCH_RECORDS", 2)
    file = tmp_path / "a.db"
    writer = _write(file, 5)
    keys, position = [], None
    for batch in read_database(file, None, NEEDS, _news):
        writer.execute("INSERT INTO notes (text) VALUES ('late')")
        writer.commit()
        keys += [record.key for record in batch.records]
        position = batch.position
    assert keys == ["1", "2", "3", "4", "5"]
    assert position is not None
    assert position.stamp != stamp(file)
    assert _keys(file, position) == ["6", "7", "8"]
    writer.close()


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_beside_a_busy_writer_every_row_is_read_once(tmp_path: Path, journal: str) -> None:
    file = tmp_path / "a.db"
    _write(file, 1, journal=journal).close()
    keys: list[str] = []
    position: Position | None = None
    with subprocess.Popen([sys.executable, "-c", _WRITER, str(file)]) as writer:
        ended = False
        while not ended:
            ended = writer.poll() is not None
            with suppress(OSError):  # locked: the next time will do
                for batch in read_database(file, position, NEEDS, _news):
                    keys += [record.key for record in batch.records]
                    position = batch.position
    assert writer.returncode == 0
    assert keys == [str(key) for key in range(1, 302)]


def test_until_the_last_batch_the_position_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "BATCH_CHARACTERS", 10)
    file = tmp_path / "a.db"
    _write(file, 5).close()
    batches = list(read_database(file, Position("old", state={"id": 1}), NEEDS, _news))
    assert [batch.position for batch in batches[:-1]] == [Position("", state={"id": 1})] * 2
    assert batches[-1].position == Position(stamp(file), state={"id": 5})


@pytest.mark.parametrize(
    ("content", "damaged"),
    [(b"no database at all, but long enough" * 40, {"database": 1}), (b"", {"schema": 1})],
    ids=["text", "empty"],
)
def test_what_is_no_database_is_counted_and_left_alone_until_it_changes(
    tmp_path: Path, content: bytes, damaged: dict[str, int]
) -> None:
    file = tmp_path / "a.db"
    file.write_bytes(content)
    (batch,) = read_database(file, Position("x", state={"id": 7}), NEEDS, _news)
    assert batch.damaged == damaged
    assert batch.position == Position(stamp(file), state={"id": 7})


def test_a_broken_page_costs_what_is_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "BATCH_RECORDS", 10)
    file = tmp_path / "a.db"
    _write(file, 200, journal="delete", text="y" * 500).close()
    content = bytearray(file.read_bytes())
    content[-8192:] = b"\xff" * 8192
    file.write_bytes(bytes(content))
    batches = list(read_database(file, None, NEEDS, _news))
    assert sum(len(batch.records) for batch in batches) >= 100
    assert batches[-1].damaged == {"database": 1}
    assert batches[-1].position == Position(stamp(file))


def test_a_missing_column_is_one_damage(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)")
    connection.close()
    (batch,) = read_database(file, None, NEEDS, _news)
    assert batch.damaged == {"schema": 1}


def test_tables_of_unknown_modules_and_text_that_is_no_utf8_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    writer = _write(file, 0)
    writer.execute("INSERT INTO notes (text) VALUES (CAST(x'61ff62' AS TEXT))")
    writer.execute("PRAGMA writable_schema = 1")
    writer.execute("INSERT INTO sqlite_master VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING nowhere(a)')")
    writer.commit()
    writer.close()
    (batch,) = read_database(file, None, NEEDS, _news)
    assert [record.text for record in batch.records] == ["a\ufffdb"]
