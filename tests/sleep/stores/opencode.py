"""OpenCode's database, as the program writes it: in WAL mode, with the tables' other columns and indexes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.sleep.stores import START, Turns
from tests.sleep.stores.talks import Exchange, Talk, talk_of

_SCHEMA = """
CREATE TABLE IF NOT EXISTS project (id text PRIMARY KEY, worktree text NOT NULL);
CREATE TABLE IF NOT EXISTS session (
    id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL,
    title text NOT NULL, version text NOT NULL, agent text, metadata text,
    time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE IF NOT EXISTS message (
    id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
    data text NOT NULL);
CREATE TABLE IF NOT EXISTS part (
    id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX IF NOT EXISTS message_session_idx ON message (session_id);
CREATE INDEX IF NOT EXISTS part_message_idx ON part (message_id);
"""


class Store:
    """A database that its program holds open; what is written stands in the log until it is closed."""

    def __init__(self, file: Path, *, journal: str = "wal") -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(file)
        self.connection.execute(f"PRAGMA journal_mode = {journal}")
        self.connection.execute("PRAGMA synchronous = OFF")
        self.connection.executescript(_SCHEMA)
        self._parts = 0

    def write(self, talks: Iterable[Talk], *, parent: str | None = None) -> None:
        """Sessions, which begin with or go on with these exchanges."""
        for talk in talks:
            self.session(talk, parent=parent)
            for index, exchange in enumerate(talk.exchanges):
                self.exchange(talk, index, exchange)
        self.connection.commit()

    def session(self, talk: Talk, *, parent: str | None = None) -> None:
        began = int(talk.exchanges[0].at * 1000)
        self.connection.execute(
            "INSERT OR IGNORE INTO session VALUES (?, 'p', ?, 'slug', ?, 'A title', '1.2.0', 'build', ?, ?, ?)",
            (f"ses_{talk.id}", parent, talk.cwd, json.dumps({"gitBranch": talk.branch}), began, began),
        )

    def exchange(self, talk: Talk, index: int, exchange: Exchange) -> None:
        asked, answered = int(exchange.at * 1000), int((exchange.at + exchange.took) * 1000)
        user, agent = f"msg_{talk.id}_{index}a", f"msg_{talk.id}_{index}b"
        if self.connection.execute("SELECT 1 FROM message WHERE id = ?", (agent,)).fetchone():
            return
        self.message(talk, user, asked, {"role": "user", "time": {"created": asked}, "agent": "build"})
        self.part(talk, user, {"type": "text", "text": exchange.ask})
        done = {"created": asked + 1, "completed": answered}
        self.message(talk, agent, asked + 1, {"role": "assistant", "time": done, "path": {"cwd": talk.cwd}})
        self.part(talk, agent, {"type": "step-start"})
        self.part(talk, agent, {"type": "reasoning", "text": "The person wants a small change."})
        for tool in exchange.tools:
            self.part(talk, agent, _tool(tool, exchange))
        self.part(talk, agent, {"type": "text", "text": exchange.answer})
        self.part(talk, agent, {"type": "step-finish", "cost": 0.01, "tokens": {"input": 900, "output": 80}})

    def message(self, talk: Talk, key: str, at: int, data: dict[str, Any] | str) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        self.connection.execute(
            "INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)", (key, f"ses_{talk.id}", at, at, text)
        )

    def part(self, talk: Talk, message: str, data: dict[str, Any] | str) -> None:
        self._parts += 1
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        row = (f"{message}_{self._parts:08}", message, f"ses_{talk.id}", 0, 0, text)
        self.connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)

    def commit(self) -> None:
        self.connection.commit()

    def close(self) -> None:
        self.connection.close()


def _tool(tool: str, exchange: Exchange) -> dict[str, Any]:
    given = {"command": "make test"} if tool in ("bash", "grep") else {"filePath": exchange.file}
    state = {"status": "completed", "input": given, "output": exchange.output}
    return {"type": "tool", "callID": "call_1", "tool": tool, "state": state}


def write_session(folder: Path, session: str, turns: Turns, *, cwd: str = "/w/shop", at: float = START) -> Path:
    """Write a conversation, or go on with it: what is there stays, and give its file."""
    file = folder / "opencode.db"
    store = Store(file)
    store.write([talk_of(session, turns, cwd=cwd, at=at)])
    store.close()
    return file
