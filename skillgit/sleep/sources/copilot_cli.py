"""GitHub Copilot CLI: the SQLite index of its sessions."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Batch, Position, Record
from skillgit.sleep.sources.fields import absolute, name, seconds, skill_files, string
from skillgit.sleep.sources.places import chosen
from skillgit.sleep.sources.sqlite import Database, read_database, stamp

_NEEDS = {
    "sessions": frozenset({"id", "cwd"}),
    "turns": frozenset({"session_id", "turn_index", "user_message", "assistant_response"}),
}
_FILES = frozenset({"session_id", "file_path", "tool_name"})
_OVERLAP = 5.0
"""Seconds by which a session may be written to the database later than its update time says."""
_READS = frozenset({"view", "read", "read_file"})


class CopilotCli:
    """`sleep.copilot_cli_session_store`, else `session-store.db` in `COPILOT_HOME` or `~/.copilot`.

    A session that was updated since is given as a whole again: its new turns, and an answer that came later, are told
    by their keys.
    """

    name = "copilot_cli"

    def __init__(self, config: Sleep) -> None:
        home = chosen(os.environ.get("COPILOT_HOME")) or Path.home() / ".copilot"
        self._database = chosen(config.copilot_cli_session_store) or home / "session-store.db"

    def roots(self) -> tuple[Path, ...]:
        """The database."""
        return (self._database,)

    def files(self) -> Iterator[Path]:
        """The database, if it is there."""
        if self._database.is_file():
            yield self._database

    def stamp(self, file: Path) -> str:
        """See `Source.stamp`."""
        return stamp(file)

    def read(self, file: Path, since: Position | None) -> Iterator[Batch]:
        """See `Source.read`."""
        return read_database(file, since, _NEEDS, _news)


def _news(database: Database, state: dict[str, Any]) -> Iterator[Record]:
    """`state`: `since`, the newest update time that was seen, in seconds since 1970."""
    since, newest = state.get("since", 0.0) - _OVERLAP, state.get("since", 0.0)
    columns = database.optional("sessions", "branch", "created_at", "updated_at", alias="s")
    for session in database.connection.execute(f"SELECT s.id, s.cwd, {columns} FROM sessions s ORDER BY s.rowid"):  # noqa: S608
        updated = seconds(session["updated_at"])
        if updated is None or updated >= since:
            yield from _session(database, session)
            newest = max(newest, updated or 0.0)
    # A clock that was ahead once must not hide what comes after it.
    state["since"] = min(newest, time.time())


def _session(database: Database, session: sqlite3.Row) -> Iterator[Record]:
    key = str(session["id"])
    base = Record(key, key, cwd=absolute(session["cwd"]), branch=string(session["branch"]))
    times = [seconds(session["created_at"]), seconds(session["updated_at"])]
    turns = database.connection.execute(
        f"""
        SELECT t.turn_index, t.user_message, t.assistant_response,
            {database.optional("turns", "timestamp", alias="t")},
            t.turn_index = (SELECT max(turn_index) FROM turns WHERE session_id = t.session_id) AS last
        FROM turns t WHERE t.session_id = ? ORDER BY t.turn_index
        """,  # noqa: S608
        (session["id"],),
    )
    for turn in turns:
        asked = seconds(turn["timestamp"]) or (None if turn["turn_index"] else times[0])
        yield from _turn(base, turn, asked, times[1] if turn["last"] else None)
    yield from _touched(database, base)


def _turn(base: Record, turn: sqlite3.Row, asked: float | None, answered: float | None) -> Iterator[Record]:
    key = f"{base.session}:{turn['turn_index']}"
    if (text := string(turn["user_message"])).strip():
        yield replace(base, key=f"{key}:user", role="user", text=text, at=asked)
    if (text := string(turn["assistant_response"])).strip():
        yield replace(base, key=f"{key}:assistant", role="assistant", text=text, at=answered or asked)


def _touched(database: Database, base: Record) -> Iterator[Record]:
    """The tools of a session and the files that these read or wrote."""
    if not database.columns.get("session_files", frozenset()) >= _FILES:
        return
    rows = database.connection.execute(
        "SELECT DISTINCT file_path, tool_name FROM session_files WHERE session_id = ? ORDER BY 1, 2", (base.session,)
    )
    for path, used in rows:
        path, tool = string(path), name(used)
        yield replace(
            base,
            key=f"{base.session}:{tool}:{path}",
            skills=skill_files(path) if tool in _READS and path.endswith("SKILL.md") else (),
            tools=(tool,) if tool else (),
            files=(path,) if path and tool not in _READS else (),
        )
