"""Sessions and their records, as they are written into the archive."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

from skillgit.sleep.base import Turn
from skillgit.sleep.harvest.database import Database

_SAVE = """
UPDATE sessions SET cwd = :cwd, project = :project, branch = :branch, skills = :skills, tools = :tools, files = :files,
    started = :started, ended = :ended, harvested = :harvested, touched = :touched, reason = :reason, first = :first,
    fresh = :fresh, humans = :humans, turns = :turns, cut = :cut
WHERE number = :number
"""
_RENAME = """
UPDATE sessions SET branch = :branch, skills = :skills, tools = :tools, files = :files WHERE number = :number
"""
_LISTS = ("skills", "tools", "files")


@dataclass
class Row:
    """A session while records are added to it. See the table `sessions` for the fields."""

    number: int
    source: str
    id: str
    cwd: str
    project: str
    branch: str
    skills: list[str]
    tools: list[str]
    files: list[str]
    started: float | None
    ended: float | None
    harvested: int
    touched: float
    reason: str
    first: str
    fresh: int
    humans: int
    turns: int
    cut: int


class Rows:
    """Writes within the transactions of others; raises `GitError` as these do."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def row(self, source: str, id_: str) -> Row:
        """A session, made when there is none yet."""
        self._db.run("INSERT OR IGNORE INTO sessions (source, id) VALUES (?, ?)", source, id_)
        found = dict(self._db.run("SELECT * FROM sessions WHERE source = ? AND id = ?", source, id_).fetchone())
        return Row(**found | {name: json.loads(found[name]) for name in _LISTS})

    def save(self, row: Row) -> None:
        """Write a session's row back."""
        self._db.run_named(_SAVE, _encoded(asdict(row)))

    def has_seen(self, key: bytes) -> bool:
        """Whether a record was counted before."""
        return self._db.run("SELECT 1 FROM seen WHERE key = ?", key).fetchone() is not None

    def count(self, key: bytes, session: int, reason: str) -> None:
        """Count a record, once and for all."""
        self._db.run("INSERT INTO seen VALUES (?, ?, ?)", key, session, reason)

    def add_turn(self, session: int, turn: Turn, place: float) -> None:
        """Keep what was said. `place` orders a session's turns; of equal ones the first added is first."""
        query = "INSERT INTO turns (session, place, role, text, at, failed) VALUES (?, ?, ?, ?, ?, ?)"
        self._db.run(query, session, place, turn.role, turn.text, turn.at, turn.failed)

    def cut(self, session: int, first: int, count: int) -> None:
        """Take `count` turns out after the `first` ones."""
        query = """
            DELETE FROM turns WHERE number IN
            (SELECT number FROM turns WHERE session = ? ORDER BY place, number LIMIT ? OFFSET ?)
        """
        self._db.run(query, session, count, first)

    def leave_out(self, session: int, reason: str) -> None:
        """Take out all turns of a session; it and its records count as left out from now on."""
        self._db.run("DELETE FROM turns WHERE session = ?", session)
        self._db.run("UPDATE seen SET reason = ? WHERE session = ? AND reason = ''", reason, session)
        query = "UPDATE sessions SET reason = ?, humans = 0, turns = 0, cut = 0 WHERE number = ?"
        self._db.run(query, reason, session)

    def judge_age(self, cutoff: float) -> None:
        """Leave out the sessions first seen since the last call that ended before `cutoff` (seconds since 1970)."""
        self._db.run("CREATE TEMP TABLE IF NOT EXISTS retired (number INTEGER PRIMARY KEY)")
        with self._db.transaction():
            query = "INSERT INTO retired SELECT number FROM sessions WHERE fresh AND reason = '' AND ended < ?"
            self._db.run(query, cutoff)
            self._retire()
            self._db.run("UPDATE sessions SET fresh = 0 WHERE fresh")

    def prune(self, before: float, now: float) -> None:
        """Drop what was said in sessions whose end lies before a time; where that is unrecorded, or still to come by
        `now`, their last new part does."""
        self._db.run("CREATE TEMP TABLE IF NOT EXISTS retired (number INTEGER PRIMARY KEY)")
        with self._db.transaction():
            self._db.run(
                "INSERT INTO retired SELECT number FROM sessions"
                " WHERE reason = '' AND turns > 0 AND CASE WHEN ended <= ? THEN ended ELSE touched END < ?",
                now,
                before,
            )
            self._retire()

    def _retire(self) -> None:
        if not self._db.run("SELECT 1 FROM retired").fetchone():
            return
        for query in (
            "DELETE FROM turns WHERE session IN retired",
            "UPDATE seen SET reason = 'old' WHERE reason = '' AND session IN retired",
            "UPDATE sessions SET reason = 'old', humans = 0, turns = 0, cut = 0 WHERE number IN retired",
            "DELETE FROM retired",
        ):
            self._db.run(query)

    def rewrite(self, change: Callable[[str], str]) -> None:
        """Change the text of every turn, and the names that are kept of sessions."""
        with self._db.transaction():
            for row in self._db.run("SELECT * FROM sessions").fetchall():
                lists = {name: list(dict.fromkeys(map(change, json.loads(row[name])))) for name in _LISTS}
                self._db.run_named(_RENAME, _encoded({**dict(row), **lists, "branch": change(row["branch"])}))
            for (number,) in self._db.run("SELECT number FROM turns").fetchall():
                text = self._db.run("SELECT text FROM turns WHERE number = ?", number).fetchone()[0]
                changed = change(text)
                if changed != text:
                    self._db.run("UPDATE turns SET text = ? WHERE number = ?", changed, number)


def _encoded(values: dict[str, Any]) -> dict[str, Any]:
    return values | {name: json.dumps(values[name]) for name in _LISTS}


def key_of(source: str, key: str) -> bytes:
    """What stands for a record in the archive, 16 bytes."""
    return blake2b(f"{source}\0{key}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
