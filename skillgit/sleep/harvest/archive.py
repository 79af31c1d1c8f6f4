"""What is kept of sessions: redacted digests, what was left out and why, and how far each store has been read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from skillgit.sleep.base import Position, Session, Turn
from skillgit.sleep.harvest.database import Database
from skillgit.sleep.harvest.rows import Rows

ERROR = "error: "
"""How the kind of damage begins that is an error which kept a file from being read."""


class Archive:
    """One file, which several processes may have open; each uses its `Archive` in one thread.

    Safe to delete: the stores are then read again, as far as agents still have them. Every method raises `GitError`
    when the file cannot be used.

    Attributes:
        notes: told when there was a file that could not be used.
        rows: writes sessions.
    """

    def __init__(self, path: Path) -> None:
        self._db = Database(path)
        self.notes = (self._db.note,) if self._db.note else ()
        self.rows = Rows(self._db)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._db.close()

    def copy_to(self, path: Path) -> None:
        """Write all of it, as of one moment, to a new file."""
        self._db.copy_to(path)

    def transaction(self) -> AbstractContextManager[None]:
        """All that is written within it becomes durable together, or nothing does. Others wait meanwhile."""
        return self._db.transaction()

    # Harvests

    def begin(self, now: float) -> int:
        """Number of a new harvest."""
        self._db.run("DELETE FROM harvests WHERE number < (SELECT max(number) FROM harvests) - 1000")
        return self._db.run("INSERT INTO harvests (started) VALUES (?)", now).lastrowid or 0

    def end(self, number: int, now: float) -> None:
        """The harvest is over."""
        self._db.run("UPDATE harvests SET finished = ? WHERE number = ?", now, number)

    def last(self) -> tuple[int, float | None]:
        """Number and end (seconds since 1970) of the newest harvest that ended; 0 and `None` when none did."""
        query = "SELECT number, finished FROM harvests WHERE finished IS NOT NULL ORDER BY number DESC LIMIT 1"
        row = self._db.run(query).fetchone()
        return (row["number"], row["finished"]) if row else (0, None)

    def night(self) -> int:
        """Number of the harvest that a night was last made from; 0 when none was."""
        return int(self.get("night") or 0)

    def set_night(self, number: int) -> None:
        """A night is made from this harvest."""
        self.put("night", str(number))

    def forget_unchosen(self) -> None:
        """Forget the sessions that were left out because others were asked for; all stores are to be read again."""
        for query in (
            "DELETE FROM seen WHERE session IN (SELECT number FROM sessions"
            " WHERE reason IN ('other_project', 'no_project', 'old', 'pattern'))",
            "DELETE FROM sessions WHERE reason IN ('other_project', 'no_project', 'old', 'pattern')",
            "DELETE FROM positions",
            "DELETE FROM damage",
        ):
            self._db.run(query)

    def get(self, name: str) -> str:
        """A remembered text; blank when there is none."""
        row = self._db.run("SELECT value FROM meta WHERE name = ?", name).fetchone()
        return str(row[0]) if row else ""

    def put(self, name: str, value: str) -> None:
        """Remember a text by its name."""
        self._db.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", name, value)

    def worktrees(self) -> set[str]:
        """Folders of the repository's worktrees, those that were removed since included."""
        return {row[0] for row in self._db.run("SELECT path FROM worktrees")}

    def remember(self, worktrees: Iterable[str]) -> None:
        """Add folders of worktrees."""
        for path in worktrees:
            self._db.run("INSERT OR IGNORE INTO worktrees VALUES (?)", path)

    # Files

    def stamps(self, source: str) -> dict[str, str]:
        """File to stamp, of every file of a source that was read."""
        rows = self._db.run("SELECT file, stamp FROM positions WHERE source = ?", source)
        return {row["file"]: row["stamp"] for row in rows}

    def position(self, source: str, file: str) -> Position | None:
        """How far a file was read."""
        row = self._db.run("SELECT * FROM positions WHERE source = ? AND file = ?", source, file).fetchone()
        return Position(row["stamp"], row["identity"], row["offset"], json.loads(row["state"])) if row else None

    def set_position(self, source: str, file: str, at: Position) -> None:
        """Remember how far a file was read."""
        query = "INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?, ?, ?)"
        self._db.run(query, source, file, at.stamp, at.identity, at.offset, json.dumps(dict(at.state)))

    def damage_of(self, source: str, file: str) -> dict[str, int]:
        """Kind of damage to the number of records that it cost."""
        rows = self._db.run("SELECT kind, count FROM damage WHERE source = ? AND file = ?", source, file)
        return {row["kind"]: row["count"] for row in rows}

    def set_damage(self, source: str, file: str, damaged: Mapping[str, int]) -> None:
        """Remember damage of a file; kinds that are not named stay as they are."""
        for kind, count in damaged.items():
            self._db.run("INSERT OR REPLACE INTO damage VALUES (?, ?, ?, ?)", source, file, kind, count)

    def clear_damage(self, source: str, file: str, *, errors_only: bool = False) -> None:
        """Forget the damage of a file that is read from its start, or only that it could not be read."""
        kinds = f"{ERROR}%" if errors_only else "%"
        self._db.run("DELETE FROM damage WHERE source = ? AND file = ? AND kind LIKE ?", source, file, kinds)

    def damaged(self) -> dict[str, dict[str, int]]:
        """File to kind of damage to the number of records that it cost."""
        found: dict[str, dict[str, int]] = {}
        query = "SELECT file, kind, sum(count) FROM damage GROUP BY file, kind ORDER BY file, kind"
        for file, kind, count in self._db.run(query):
            found.setdefault(file, {})[kind] = count
        return found

    def forget_file(self, source: str, file: str) -> None:
        """A file is gone: so is what was known of it, but not what was read from it."""
        self._db.run("DELETE FROM positions WHERE source = ? AND file = ?", source, file)
        self.clear_damage(source, file)

    # What there is

    def heads(self, since: float | None = None) -> Iterator[tuple[int, Session]]:
        """Number and session, without its turns, of each kept session that ended at or after a time, newest first."""
        query = "SELECT * FROM kept WHERE ? IS NULL OR until >= ? ORDER BY until DESC, number DESC"
        for row in self._db.run(query, since, since).fetchall():
            yield row["number"], _session(row)

    def sessions(
        self, *, since: float | None = None, limit: int = 0, chosen: Callable[[Session], bool] = lambda _: True
    ) -> list[Session]:
        """The kept sessions, oldest first.

        Args:
            since: only those that ended at or after this time.
            limit: at most so many, the newest ones; 0 is no limit.
            chosen: tells from a session without its turns whether it is wanted.
        """
        wanted = [(number, head) for number, head in self.heads(since) if chosen(head)]
        wanted = wanted[: limit or None]
        return [replace(head, turns=self.turns(number)) for number, head in reversed(wanted)]

    def turns(self, session: int) -> tuple[Turn, ...]:
        """The turns of a session by its number, oldest first."""
        rows = self._db.run("SELECT * FROM turns WHERE session = ? ORDER BY place, number", session)
        return tuple(Turn(row["role"], row["text"], row["at"], bool(row["failed"])) for row in rows)

    def excluded(self) -> dict[str, int]:
        """Reason to the number of records left out for it: what was said in whole sessions, and single records."""
        found = dict(tuple(row) for row in self._db.run("SELECT reason, count(*) FROM seen GROUP BY reason"))
        alone = "SELECT count(*) FROM turns WHERE session IN (SELECT number FROM sessions WHERE humans = 0)"
        found["no_human_turn"] = self._db.run(alone).fetchone()[0]
        return {reason: count for reason, count in sorted(found.items()) if reason and count}

    def excluded_sessions(self) -> dict[str, int]:
        """Reason to the number of sessions left out as a whole; a mere copy of another session is not counted."""
        query = """
            SELECT CASE WHEN reason <> '' THEN reason WHEN first <> '' THEN first ELSE 'no_human_turn' END AS why,
                count(*)
            FROM sessions WHERE (reason <> '' OR first <> '' OR turns > 0) AND number NOT IN (SELECT number FROM kept)
            GROUP BY why ORDER BY why
        """
        return dict(tuple(row) for row in self._db.run(query))

    def shortened(self) -> int:
        """How many kept sessions were too long to keep all their turns."""
        return int(self._db.run("SELECT count(*) FROM kept WHERE cut > 0").fetchone()[0])


def _session(row: sqlite3.Row) -> Session:
    return Session(
        source=row["source"],
        id=row["id"],
        project=row["project"],
        turns=(),
        cwd=row["cwd"],
        branch=row["branch"],
        skills=tuple(json.loads(row["skills"])),
        tools=tuple(json.loads(row["tools"])),
        files=tuple(json.loads(row["files"])),
        started=row["started"],
        ended=row["ended"],
        harvested=row["harvested"],
    )
