"""Reading SQLite databases of other programs, which may be writing to them at the same moment."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from skillgit.sleep.base import Batch, Position, Record
from skillgit.sleep.sources.whole import batches

_WAIT = 2.0
"""Seconds that a lock of the database's owner is waited for."""
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR)
_NOT_WITHOUT_WRITING = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_COPIED = ("", "-wal", "-journal")
_COLUMNS = """
SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c
WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'
"""


@dataclass(frozen=True)
class Database:
    """A database at one moment.

    Attributes:
        columns: names of tables to those of their columns.
        damaged: kind of damage to how often it was met; whoever reads adds to it.
    """

    connection: sqlite3.Connection
    columns: Mapping[str, frozenset[str]]
    damaged: Counter[str] = field(default_factory=Counter)

    def optional(self, table: str, *columns: str, alias: str) -> str:
        """SQL that gives these columns, NULL for those that this version of the store does not have."""
        known = self.columns.get(table, frozenset())
        return ", ".join(f"{alias}.{name}" if name in known else f"NULL AS {name}" for name in columns)


def stamp(file: Path) -> str:
    """`Source.stamp` of a database: of the file and of its write-ahead log, where what is newest stands."""
    status = file.stat()
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}:{status.st_ctime_ns}{_log_stamp(file)}"


def _log_stamp(file: Path) -> str:
    try:
        status = _beside(file, "-wal").stat()
    except OSError:
        return ""
    return f"+{status.st_size}:{status.st_mtime_ns}" if status.st_size else ""


def read_database(
    file: Path,
    since: Position | None,
    needs: Mapping[str, frozenset[str]],
    understand: Callable[[Database, dict[str, Any]], Iterable[Record]],
) -> Iterator[Batch]:
    """`Source.read` for a database: all that is new stands in one snapshot of it.

    Until the last batch the position is the one before, so that an interrupted reading is done again as a whole;
    records that are met twice have the same key. Damage: `schema` (a table or column is missing), `database` (no
    database, or a broken one), and what `understand` counts.

    Args:
        needs: columns without which nothing can be read.
        understand: gives the records after a state and changes the state to the one after them.

    Raises:
        OSError: the database is gone, locked, or cannot be read.
    """
    now = stamp(file)
    before = dict(since.state) if since else {}
    state = dict(before)
    try:
        with _snapshot(file) as database:
            records = _checked(database, needs, understand, state)
            yield from batches(records, database.damaged, Position(now, state=state), Position("", state=before))
    except sqlite3.DatabaseError as error:
        if _code(error) not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise OSError(errno.EBUSY if _code(error) in _BUSY else errno.EIO, str(error), str(file)) from error
        yield Batch((), Position(now, state=before), {"database": 1})


def _checked(
    database: Database,
    needs: Mapping[str, frozenset[str]],
    understand: Callable[[Database, dict[str, Any]], Iterable[Record]],
    state: dict[str, Any],
) -> Iterator[Record]:
    if any(not columns <= database.columns.get(table, frozenset()) for table, columns in needs.items()):
        database.damaged["schema"] += 1
    else:
        yield from understand(database, state)


@contextmanager
def _snapshot(file: Path) -> Iterator[Database]:
    """The database with its log, neither of them changed by it (though SQLite may leave an empty log of its own).

    What cannot be read without writing, because its folder is read-only or a transaction in it has to be undone first,
    is read from a copy.
    """
    try:
        database = _open(f"{file.absolute().as_uri()}?mode=ro")
    except sqlite3.OperationalError as error:
        if _code(error) not in _NOT_WITHOUT_WRITING:
            raise
        with TemporaryDirectory(prefix="skillgit-") as folder:
            copied = _open(_copy(file, Path(folder)).as_uri())
            with closing(copied.connection):
                yield copied
        return
    with closing(database.connection):
        yield database


def _open(uri: str) -> Database:
    connection = sqlite3.connect(uri, uri=True, timeout=_WAIT, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.text_factory = lambda raw: raw.decode(errors="replace")
        connection.execute("PRAGMA query_only = 1")
        connection.execute("BEGIN")
        return Database(connection, _columns(connection))
    except sqlite3.Error:
        connection.close()
        raise


def _columns(connection: sqlite3.Connection) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for table, column in connection.execute(_COLUMNS):
        found.setdefault(table, set()).add(column)
    return {table: frozenset(columns) for table, columns in found.items()}


def _copy(file: Path, folder: Path) -> Path:
    for _ in range(3):
        before = stamp(file)
        for suffix in _COPIED:
            _copy_file(_beside(file, suffix), folder / f"copy.db{suffix}")
        if stamp(file) == before:
            return folder / "copy.db"
    raise OSError(errno.EBUSY, "the database is being written to", str(file))


def _copy_file(file: Path, to: Path) -> None:
    to.unlink(missing_ok=True)
    if file.exists():
        shutil.copyfile(file, to)


def _beside(file: Path, suffix: str) -> Path:
    return file.with_name(f"{file.name}{suffix}")


def _code(error: sqlite3.Error) -> int:
    """The primary code of an SQLite error; 0 when it is Python's own."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
