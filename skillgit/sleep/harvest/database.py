"""The archive's SQLite file: its tables, its transactions, and what happens to a file that cannot be used."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skillgit.errors import GitError

VERSION = 1

# Of a session: its lists are JSON; `reason` is why all of it is left out, `first` why its first record was; `fresh`:
# its age has not been judged yet; `humans` and `turns` count what was kept at some time, `cut` what had to go again.
# `seen` has each record that was ever counted, by the hash of its source and key, and why it is left out, if it is.
_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE harvests (number INTEGER PRIMARY KEY AUTOINCREMENT, started REAL NOT NULL, finished REAL);
CREATE TABLE worktrees (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE positions (
    source TEXT NOT NULL, file TEXT NOT NULL,
    stamp TEXT NOT NULL, identity TEXT NOT NULL, offset INTEGER NOT NULL, state TEXT NOT NULL,
    PRIMARY KEY (source, file)
) WITHOUT ROWID;
CREATE TABLE damage (
    source TEXT NOT NULL, file TEXT NOT NULL, kind TEXT NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (source, file, kind)
) WITHOUT ROWID;
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    source TEXT NOT NULL, id TEXT NOT NULL,
    cwd TEXT NOT NULL DEFAULT '', project TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT '',
    skills TEXT NOT NULL DEFAULT '[]', tools TEXT NOT NULL DEFAULT '[]', files TEXT NOT NULL DEFAULT '[]',
    started REAL, ended REAL, harvested INTEGER NOT NULL DEFAULT 0, touched REAL NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '', first TEXT NOT NULL DEFAULT '', fresh INTEGER NOT NULL DEFAULT 1,
    humans INTEGER NOT NULL DEFAULT 0, turns INTEGER NOT NULL DEFAULT 0, cut INTEGER NOT NULL DEFAULT 0,
    UNIQUE (source, id)
);
CREATE VIEW kept AS SELECT *, coalesce(ended, touched) AS until FROM sessions WHERE reason = '' AND humans > 0;
CREATE TABLE seen (
    key BLOB PRIMARY KEY, session INTEGER NOT NULL, reason TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE turns (
    number INTEGER PRIMARY KEY, session INTEGER NOT NULL, place REAL NOT NULL,
    role TEXT NOT NULL, text TEXT NOT NULL, at REAL, failed INTEGER NOT NULL
);
CREATE INDEX turns_of_session ON turns (session, place, number);
"""


class Database:
    """One SQLite file, which several processes may have open; each uses its `Database` in one thread.

    Only one process at a time may make one for the same path. Every method raises `GitError` when the file cannot be
    used.

    Attributes:
        note: told when there was a file that could not be used; it is kept beside the new one.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.note = path, ""
        with self._errors():
            self._db = _connect(path)
            if problem := _problem(self._db):
                self._db.close()
                aside = _set_aside(path)
                self.note = f"{path.name} {problem}: it was moved to {aside.name}, and all stores are read again"
                self._db = _connect(path)
            _prepare(self._db)

    def run(self, query: str, *values: Any) -> sqlite3.Cursor:
        """Run one statement."""
        try:
            return self._db.execute(query, values)
        except sqlite3.DatabaseError as error:
            raise _error(self.path, error) from error

    def run_named(self, query: str, values: dict[str, Any]) -> None:
        """Run one statement with values by name."""
        with self._errors():
            self._db.execute(query, values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written within it becomes durable together, or nothing does. Others wait meanwhile."""
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def copy_to(self, path: Path) -> None:
        """Write all of it, as of one moment, to a new file."""
        with self._errors():
            target = sqlite3.connect(path)
            self._db.backup(target)
            target.close()

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._db.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.DatabaseError) as error:
            raise _error(self.path, error) from error


def _error(path: Path, error: OSError | sqlite3.DatabaseError) -> GitError:
    if isinstance(error, OSError | sqlite3.OperationalError):
        return GitError(f"cannot use {path}", why=str(error))
    fix = f"delete {path}: it is made again from the sessions that agents still have"
    return GitError(f"{path} is damaged", why=str(error), fix=fix)


def _connect(path: Path) -> sqlite3.Connection:
    # SQLite gives its side files the mode of the file. What came from elsewhere, a backup say, may be open to others.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for each in (path, *_sides(path)):
        if each.stat().st_mode & 0o077:
            each.chmod(0o600)
    return sqlite3.connect(path, timeout=60, isolation_level=None)


def _prepare(db: sqlite3.Connection) -> None:
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA journal_mode=WAL")
    # Survives the death of the process at any instant; after a power cut the last moments are read again.
    db.execute("PRAGMA synchronous=NORMAL")
    # What was dropped or hidden is not left in the file.
    db.execute("PRAGMA secure_delete=ON")
    if not db.execute("PRAGMA user_version").fetchone()[0]:
        db.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")


def _problem(db: sqlite3.Connection) -> str:
    """Why the file cannot be used, as the end of a sentence; blank when it can."""
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        objects = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if version == 0 and not objects:
            return ""
        if version != VERSION:
            return f"has the layout of {'a newer' if version > VERSION else 'an older'} skillgit"
        # One page of every table: enough to see a file that was cut or overwritten, in no time.
        for query in ("SELECT * FROM kept LIMIT 1", "SELECT * FROM seen LIMIT 1", "SELECT * FROM turns LIMIT 1"):
            db.execute(query).fetchall()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "no such table" not in str(error):
            raise  # busy, or not ours to write: nothing is wrong with what is in it
        return f"is damaged ({error})"
    return ""


def _set_aside(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.unused-{number}")).exists():
        number += 1
    path.replace(aside)
    for side in _sides(path):
        side.replace(aside.with_name(side.name.replace(path.name, aside.name, 1)))
    return aside


def _sides(path: Path) -> list[Path]:
    """SQLite's files beside one, as far as they are there."""
    return [side for end in ("-wal", "-shm") if (side := path.with_name(path.name + end)).exists()]
