"""What becomes of each record of a transcript: kept, redacted and clipped, or left out for a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import add
from typing import Literal

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Batch, Reason, Record, Turn
from skillgit.sleep.harvest.archive import ERROR, Archive
from skillgit.sleep.harvest.projects import Projects
from skillgit.sleep.harvest.provenance import own_folder, people_part, reason_of
from skillgit.sleep.harvest.rows import Row, key_of
from skillgit.sleep.redact import clean, clip, redact

TURN_CHARS = 8000
"""Characters of a turn that are kept."""
MOST_TURNS = 200
"""Turns of a session that are kept: half of them its first, half its last."""

_MACHINES = frozenset({"headless", "sidechain", "sub_agent"})
_WHOLE = frozenset({"own", "other_agent", "pattern"})
_NAMES = {"skills": 50, "tools": 100, "files": 200}
_NAME_CHARS = 400
_PATH_CHARS = 4096
_ID_CHARS = 200
_END_OF_TIME = 253_402_300_800.0  # the year 10000


class OvertakenError(Exception):
    """Another process read on in the same file meanwhile."""


@dataclass(frozen=True)
class Rules:
    """What one harvest goes by.

    Attributes:
        cutoff: seconds since 1970; a session that ended before is old when it is first seen.
        harvest: its number.
    """

    config: Sleep
    projects: Projects
    cutoff: float
    harvest: int
    now: float

    def redacted(self, text: str) -> str:
        """Text without secrets."""
        return redact(text, email=self.config.redact_email, home=self.config.redact_home)


class Intake:
    """Takes what is read of one file into the archive.

    Attributes:
        at: how far the file is read, as the archive has it.
    """

    def __init__(self, archive: Archive, rules: Rules, source: str, file: str, *, old: bool) -> None:
        """Begin.

        Args:
            old: the file was last written before the cutoff, so none of its sessions is younger.
        """
        self._archive, self._rows, self._rules = archive, archive.rows, rules
        self._source, self._file, self._old = source, file, old
        self._known_name = lru_cache(10_000)(self._plain_name)
        self._known = archive.damage_of(source, file)
        self._damage: Counter[str] = Counter()
        self._add: bool | None = None
        self.at = archive.position(source, file)

    def take(self, batch: Batch) -> None:
        """Make a batch durable, together with the position after it: there may be more to read.

        Raises:
            OvertakenError: the archive has another position by now; nothing is written.
            GitError: the archive cannot be written.
        """
        after = replace(batch.position, stamp="")
        with self._archive.transaction():
            self._check()
            self._records(batch.records)
            self._count_damage(batch.damaged, batch.start)
            self._archive.set_position(self._source, self._file, after)
        # As it is stored: what a source keeps in lists and tuples may differ in that alone.
        self.at = self._archive.position(self._source, self._file)

    def finish(self, stamp: str) -> None:
        """The file was read to its end: it need not be looked at before its stamp changes. Raises as `take`."""
        if self.at:
            with self._archive.transaction():
                self._check()
                self._archive.set_position(self._source, self._file, replace(self.at, stamp=stamp))

    def _check(self) -> None:
        if self._archive.position(self._source, self._file) != self.at:
            raise OvertakenError

    def _count_damage(self, damaged: Mapping[str, int], start: int | None) -> None:
        """Each once: where reading went on by bytes it is more damage; else the same may have been met again."""
        if self._add is None:
            self._add = self.at is not None and 0 < self.at.offset == start
            keep = self.at is not None and (self._add or bool(self.at.state))
            self._archive.clear_damage(self._source, self._file, errors_only=keep)
            self._known = {kind: count for kind, count in self._known.items() if keep and not kind.startswith(ERROR)}
        self._damage.update(damaged)
        together = add if self._add else max
        counts = {kind: together(self._known.get(kind, 0), count) for kind, count in self._damage.items()}
        self._archive.set_damage(self._source, self._file, counts)

    def _records(self, records: Iterable[Record]) -> None:
        rows: dict[str, Row] = {}
        folders: dict[str, str] = {}
        for record in records:
            if record.cwd:
                folders.setdefault(record.session, record.cwd)
        for record in records:
            name = _brief(record.session)
            row = rows.get(name)
            if row is None:
                row = rows[name] = self._rows.row(self._source, name)
            self._place(row, record.cwd or ("" if row.cwd else folders.get(record.session, "")))
            self._record(row, record)
        for row in rows.values():
            self._shorten(row)
            self._rows.save(row)

    def _place(self, row: Row, cwd: str) -> None:
        """Where the session is held decides whether it is ours: where it began, or the first place of ours after."""
        known = bool(row.cwd or row.reason)
        if cwd == row.cwd and known:
            return
        if known and row.reason not in ("other_project", "no_project"):
            return
        outside = self._rules.projects.in_scope(cwd, self._rules.config.scope)
        if not known or not outside:
            row.reason = "own" if cwd and own_folder(cwd) else outside
        if not row.cwd or not outside:
            row.cwd, row.project = (clip(clean(at), _PATH_CHARS) for at in (cwd, self._rules.projects.project_of(cwd)))

    def _record(self, row: Row, record: Record) -> None:
        spoken = record.role != "none" and bool(record.text.strip() or record.reason or record.failed)
        key = key_of(self._source, record.key) if spoken else b""
        if spoken and self._rows.has_seen(key):
            return
        self._judge(row, record)
        reason = row.reason or record.reason or self._reason(row, record, spoken=spoken)
        self._facts(row, record)
        if not spoken:
            return
        if not (row.humans or row.turns or row.first):
            row.first = reason
        self._rows.count(key, row.number, reason)
        if not reason:
            self._keep(row, record)

    def _judge(self, row: Row, record: Record) -> None:
        """What a record says about all of its session."""
        at = _time(record)
        late = at is not None and at >= self._rules.cutoff
        if row.reason == "old" and late:
            row.reason = ""  # it goes on: from here it is as good as a new one
        if row.reason or row.turns or row.first or not row.fresh:
            return
        if record.reason in _MACHINES:
            row.reason = record.reason
        elif self._old and not late:
            row.reason = "old"

    def _reason(self, row: Row, record: Record, *, spoken: bool) -> Reason | Literal[""]:
        if record.role != "user" or not spoken:
            return ""
        first = not row.humans
        reason = reason_of(clean(record.text), first=first, patterns=self._rules.config.exclude)
        if first and reason in _WHOLE:
            row.reason, row.turns = reason, 0
            self._rows.leave_out(row.number, reason)
        return reason

    def _facts(self, row: Row, record: Record) -> None:
        at = _time(record)
        if at is not None:
            row.started = at if row.started is None else min(row.started, at)
            row.ended = at if row.ended is None else max(row.ended, at)
        if row.reason or record.reason in _MACHINES:
            return
        row.branch = row.branch or self._name(record.branch)
        if record.skills or record.tools or record.files:
            for field, most in _NAMES.items():
                self._add_names(getattr(row, field), getattr(record, field), most)

    def _add_names(self, known: list[str], names: Iterable[str], most: int) -> None:
        for name in map(self._name, names):
            if name and name not in known and len(known) < most:
                known.append(name)

    def _name(self, text: str) -> str:
        return self._known_name(text) if len(text) <= _NAME_CHARS else self._plain_name(text)

    def _plain_name(self, text: str) -> str:
        """A name or path as it may be stored."""
        return clip(self._rules.redacted(clean(text)), _NAME_CHARS) if text else ""

    def _keep(self, row: Row, record: Record) -> None:
        role: Literal["user", "assistant"] = "user" if record.role == "user" else "assistant"
        at = _time(record)
        text = clean(record.text)
        said = people_part(text) if role == "user" else text
        turn = Turn(role, clip(self._rules.redacted(said), TURN_CHARS), at, record.failed)
        place = row.ended if at is None else at
        self._rows.add_turn(row.number, turn, place or 0.0)
        row.turns += 1
        row.humans += role == "user"
        row.harvested, row.touched = self._rules.harvest, self._rules.now

    def _shorten(self, row: Row) -> None:
        surplus = row.turns - MOST_TURNS
        if surplus > 0:
            self._rows.cut(row.number, MOST_TURNS // 2, surplus)
            row.turns, row.cut = MOST_TURNS, row.cut + surplus


def _brief(session: str) -> str:
    """A session's id, and what stands for one that is no id but a text."""
    return clean(session) if len(session) <= _ID_CHARS else key_of("", session).hex()


def _time(record: Record) -> float | None:
    """When it was, as far as that can be: a time that no calendar has counts as not recorded."""
    return record.at if record.at is not None and 0 <= record.at < _END_OF_TIME else None
