"""The session index of GitHub Copilot CLI."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from tests.sleep.stores import START, Turns
from tests.sleep.stores.talks import Talk, talk_of

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, cwd TEXT, repository TEXT, branch TEXT, summary TEXT, created_at TEXT, updated_at TEXT);
CREATE TABLE IF NOT EXISTS turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, turn_index INTEGER NOT NULL, user_message TEXT,
    assistant_response TEXT, timestamp TEXT, UNIQUE (session_id, turn_index));
CREATE TABLE IF NOT EXISTS session_files (
    session_id TEXT, file_path TEXT, tool_name TEXT, turn_index INTEGER, first_seen_at TEXT,
    UNIQUE (session_id, file_path));
CREATE TABLE IF NOT EXISTS checkpoints (session_id TEXT, checkpoint_number INTEGER, title TEXT, overview TEXT);
"""


class Store:
    """A database that its program holds open."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(file)
        self.connection.execute("PRAGMA journal_mode = wal")
        self.connection.execute("PRAGMA synchronous = OFF")
        self.connection.executescript(_SCHEMA)

    def write(self, talks: Iterable[Talk]) -> None:
        """Sessions, as they stand after these exchanges."""
        for talk in talks:
            first, last = talk.exchanges[0], talk.exchanges[-1]
            times = (_time(first.at), _time(last.at + last.took))
            row = (talk.id, talk.cwd, "acme/shop", talk.branch, "A title", *times)
            self.connection.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            for index, exchange in enumerate(talk.exchanges):
                turn = (talk.id, index, exchange.ask, exchange.answer, _time(exchange.at))
                self.connection.execute(
                    "INSERT OR IGNORE INTO turns VALUES (NULL, ?, ?, ?, ?, ?)",
                    turn,
                )
                touched = (talk.id, exchange.file, "edit", index, _time(exchange.at))
                self.connection.execute("INSERT OR IGNORE INTO session_files VALUES (?, ?, ?, ?, ?)", touched)
        self.connection.commit()

    def close(self) -> None:
        self.connection.close()


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def write_session(folder: Path, session: str, turns: Turns, *, cwd: str = "/w/shop", at: float = START) -> Path:
    """Write a conversation, or go on with it: what is there stays, and give its file."""
    file = folder / "session-store.db"
    store = Store(file)
    store.write([talk_of(session, turns, cwd=cwd, at=at)])
    store.close()
    return file
