"""OpenCode: one SQLite database of sessions, messages and the parts that these are made of."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Batch, Position, Reason, Record, Speaker
from skillgit.sleep.sources.fields import absolute, mapping, name, seconds, skill_files, string
from skillgit.sleep.sources.jsonl import LONGEST
from skillgit.sleep.sources.parse import parse
from skillgit.sleep.sources.places import chosen, data_homes
from skillgit.sleep.sources.sqlite import Database, read_database, stamp

_NEEDS = {
    "session": frozenset({"id", "parent_id", "directory"}),
    "message": frozenset({"id", "session_id", "time_created", "data"}),
    "part": frozenset({"id", "message_id", "data"}),
}
_ROLES: dict[str, Speaker] = {"user": "user", "assistant": "assistant"}
_TEXT = "typeof(id) = 'text'"
_OVERLAP = 5000
"""Milliseconds by which a message may be written to the database later than its time says."""
_WAITING = 100
"""Most unfinished messages that are remembered, the newest."""
_WRITING = ("edit", "multiedit", "patch", "write")
_STOPPED = "MessageAbortedError"
"""The error of a message that the person stopped."""


class OpenCode:
    """`sleep.opencode_db`, else `OPENCODE_DB`, else `opencode/opencode.db` in the folders for programs' data.

    What is new is told by the times that messages were made and changed at. An answer that is still being written is
    left for the next time. Sub-agents are sessions with a parent.
    """

    name = "opencode"

    def __init__(self, config: Sleep) -> None:
        self._databases = _databases(config)

    def roots(self) -> tuple[Path, ...]:
        """The databases."""
        return self._databases

    def files(self) -> Iterator[Path]:
        """The databases that are there."""
        yield from (file for file in self._databases if file.is_file())

    def stamp(self, file: Path) -> str:
        """See `Source.stamp`."""
        return stamp(file)

    def read(self, file: Path, since: Position | None) -> Iterator[Batch]:
        """See `Source.read`."""
        return read_database(file, since, _NEEDS, _news)


def _databases(config: Sleep) -> tuple[Path, ...]:
    folders = [folder / "opencode" for folder in data_homes()]
    named = chosen(config.opencode_db, os.environ.get("OPENCODE_DB"))
    if named is None:
        return tuple(dict.fromkeys(folder / "opencode.db" for folder in folders))
    return () if str(named) == ":memory:" else (folders[0] / named,)


def _news(database: Database, state: dict[str, Any]) -> Iterator[Record]:
    """`state`: `since`, milliseconds up to which messages were read; `edge`, ids of the last ones of these, next to
    which others may still appear; `waiting`, ids of unfinished ones."""
    changed = _changed(database)
    since, edge = state.get("since", 0), frozenset(state.get("edge", ()))
    before = list(state.get("waiting", ()))
    wanted = f"{changed} >= ? OR id IN ({', '.join('?' * len(before))})"
    ids = f"SELECT id FROM message WHERE {_TEXT} AND ({wanted}) ORDER BY time_created, id"  # noqa: S608
    waiting = []
    for (key,) in database.connection.execute(ids, (since - _OVERLAP, *before)):
        if key in edge:
            continue
        row = _message(database, key)
        data = _object(database, row["data"])
        if _unfinished(database, row, data):
            waiting.append(key)
        elif data:
            yield _record(database, row, data)
    state.update(_after(database, changed, waiting[-_WAITING:]))


def _changed(database: Database) -> str:
    """SQL for the milliseconds of the last change to a message."""
    created = "CAST(time_created AS INTEGER)"
    if "time_updated" not in database.columns["message"]:
        return created
    return f"max({created}, CAST(coalesce(time_updated, 0) AS INTEGER))"


def _after(database: Database, changed: str, waiting: list[str]) -> dict[str, Any]:
    # A clock that was ahead once must not hide what comes after it.
    (newest,) = database.connection.execute(f"SELECT max({changed}) FROM message").fetchone()  # noqa: S608
    since = min(newest or 0, int(time.time() * 1000))
    recent = database.connection.execute(
        f"SELECT id FROM message WHERE {_TEXT} AND {changed} >= ? ORDER BY id",  # noqa: S608
        (since - _OVERLAP,),
    )
    return {"since": since, "edge": [key for (key,) in recent if key not in waiting], "waiting": waiting}


def _message(database: Database, key: str) -> sqlite3.Row:
    row: sqlite3.Row = database.connection.execute(
        f"""
        SELECT m.id, m.session_id, m.time_created, {_blob("m.data")}, s.parent_id, s.directory,
            {database.optional("session", "metadata", alias="s")}
        FROM message m LEFT JOIN session s ON s.id = m.session_id WHERE m.id = ?
        """,  # noqa: S608
        (key,),
    ).fetchone()
    return row


def _blob(column: str) -> str:
    return f"CASE WHEN length({column}) <= {LONGEST} THEN CAST({column} AS BLOB) END AS data"


def _object(database: Database, raw: bytes | None) -> dict[str, Any]:
    """The object that a column holds; empty, and counted, when it is damaged."""
    if raw is None:
        database.damaged["too long"] += 1
        return {}
    return parse(raw, database.damaged) or {}


def _unfinished(database: Database, row: sqlite3.Row, data: dict[str, Any]) -> bool:
    """Whether a message is still being written. One that a later message follows was given up."""
    if data.get("role") == "assistant":
        times = data.get("time")
        written = data.get("error") or not isinstance(times, dict) or times.get("completed")
    else:
        written = _exists(database, "SELECT 1 FROM part WHERE message_id = ?", row["id"])
    later = "SELECT 1 FROM message WHERE session_id = ? AND time_created > ?"
    return not (written or _exists(database, later, row["session_id"], row["time_created"]))


def _exists(database: Database, query: str, *values: Any) -> bool:
    return database.connection.execute(f"{query} LIMIT 1", values).fetchone() is not None


def _record(database: Database, row: sqlite3.Row, data: dict[str, Any]) -> Record:
    rows = database.connection.execute(
        f"SELECT {_blob('data')} FROM part WHERE message_id = ? ORDER BY id",  # noqa: S608
        (row["id"],),
    )
    parts = [_object(database, raw) for (raw,) in rows]
    texts = [part for part in parts if part.get("type") == "text" and string(part.get("text")).strip()]
    said = [part["text"] for part in texts if not (part.get("synthetic") or part.get("ignored"))]
    calls = [call for part in parts if (call := _call(part))]
    reason, failed = _reason(row, data, invented=bool(texts) and not said), _failed(data)
    return Record(
        session=str(row["session_id"]),
        key=str(row["id"]),
        role=_ROLES.get(string(data.get("role")), "none") if said or reason or failed else "none",
        text="\n\n".join(said),
        at=seconds(row["time_created"]),
        cwd=absolute(mapping(data.get("path")).get("cwd")) or absolute(row["directory"]),
        branch=_branch(database, row),
        skills=tuple(dict.fromkeys(skill for tool, given in calls for skill in _skills(tool, given))),
        tools=tuple(dict.fromkeys(tool for tool, _ in calls)),
        files=tuple(dict.fromkeys(path for tool, given in calls if tool in _WRITING and (path := _path(given)))),
        reason=reason,
        failed=failed,
    )


def _reason(row: sqlite3.Row, data: dict[str, Any], *, invented: bool) -> Reason | Literal[""]:
    if row["parent_id"]:
        return "sub_agent"
    if data.get("summary") is True:
        return "meta"
    return "synthetic" if invented and data.get("role") == "user" else ""


def _failed(data: dict[str, Any]) -> bool:
    error = data.get("error")
    return bool(error) and mapping(error).get("name") != _STOPPED


def _call(part: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The tool of a part and what it was given."""
    if part.get("type") == "tool-invocation":
        part = {"type": "tool", "tool": mapping(part.get("toolInvocation")).get("toolName")}
    tool = name(part.get("tool"))
    if part.get("type") != "tool" or not tool:
        return None
    return tool, dict(mapping(mapping(part.get("state")).get("input")))


def _path(given: dict[str, Any]) -> str:
    return string(given.get("filePath"))


def _skills(tool: str, given: dict[str, Any]) -> tuple[str, ...]:
    if tool == "skill":
        return (skill,) if (skill := name(given.get("name"))) else ()
    return skill_files(_path(given)) if tool == "read" else ()


def _branch(database: Database, row: sqlite3.Row) -> str:
    if not isinstance(row["metadata"], str):
        return ""
    return string((parse(row["metadata"].encode(), database.damaged) or {}).get("gitBranch"))
