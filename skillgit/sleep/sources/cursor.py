"""Cursor's transcripts: `projects/<folder>/agent-transcripts/**/*.jsonl` of its home.

A transcript has neither ids nor times, and Cursor may write it anew. So a file is read as a whole each time it changes,
a record is known by what it says and how often that was said before, and the last record was written when the file was.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Batch, Position, Record, Speaker
from skillgit.sleep.sources.claude_texts import said
from skillgit.sleep.sources.fields import absolute, items, mapping, name, skill_files, string
from skillgit.sleep.sources.jsonl import Line, stamp
from skillgit.sleep.sources.places import chosen, subfolders
from skillgit.sleep.sources.walk import walk
from skillgit.sleep.sources.whole import all_lines, batches, document

_FOLDER = "agent-transcripts"
_SUB_AGENTS = "subagents"
_TRUSTED = ".workspace-trusted"
"""The file beside a project's transcripts that names the project's folder; their own folder's name is no path."""
_OPEN, _CLOSE = "<user_query>", "</user_query>"
_ROLES: dict[str, Speaker] = {"user": "user", "assistant": "assistant"}
_READS = frozenset({"Read", "ReadFile", "read_file"})
_WRITES = frozenset({"ApplyPatch", "Edit", "StrReplace", "Write", "edit_file", "search_replace", "write"})


class Cursor:
    """`sleep.cursor_home`, else `~/.cursor`."""

    name = "cursor"

    def __init__(self, config: Sleep) -> None:
        self._projects = (chosen(config.cursor_home) or Path.home() / ".cursor") / "projects"

    def roots(self) -> tuple[Path, ...]:
        """The folder of projects."""
        return (self._projects,)

    def files(self) -> Iterator[Path]:
        """Every transcript, those of sub-agents as well: they are counted as such."""
        for project in subfolders(self._projects):
            yield from walk(project / _FOLDER, ".jsonl")

    def stamp(self, file: Path) -> str:
        """See `Source.stamp`."""
        return stamp(file)

    def read(self, file: Path, since: Position | None) -> Iterator[Batch]:  # noqa: ARG002
        """See `Source.read`."""
        after = Position(stamp(file))
        damaged: Counter[str] = Counter()
        records = _Transcript(_base(file)).records(all_lines(file, damaged), file.stat().st_mtime)
        return batches(records, damaged, after)


def _base(file: Path) -> Record:
    """What all records of a transcript share."""
    place = next((folder for folder in file.parents if folder.name == _FOLDER), file.parent)
    cwd = _workspace(place.parent / _TRUSTED)
    if file.parent.name == _SUB_AGENTS:
        return Record(f"{file.parent.parent.name}/{file.stem}", "", cwd=cwd, reason="sub_agent")
    return Record(file.stem, "", cwd=cwd)


def _workspace(file: Path) -> str:
    try:
        return absolute(document(file, Counter()).get("workspacePath"))
    except OSError:  # a project that nobody was asked about
        return ""


@dataclass
class _Transcript:
    """One file as it is read.

    Attributes:
        turn: the records since the person spoke; how the turn ended is told after them.
        met: how often each record was met.
    """

    base: Record
    turn: list[Record] = field(default_factory=list)
    met: Counter[str] = field(default_factory=Counter)

    def records(self, lines: Iterable[Line], written: float) -> Iterator[Record]:
        for line in lines:
            value = line.value
            if value.get("type") == "turn_ended":
                self._ended(value)
            elif record := self._record(line):
                if record.role == "user":
                    yield from self.turn
                    self.turn = []
                self.turn.append(record)
        yield from self.turn[:-1]
        yield from (replace(record, at=written) for record in self.turn[-1:])

    def _ended(self, value: Mapping[str, Any]) -> None:
        answers = [index for index, record in enumerate(self.turn) if record.role == "assistant"]
        if value.get("status") == "error" and answers:
            self.turn[answers[-1]] = replace(self.turn[answers[-1]], failed=True)

    def _record(self, line: Line) -> Record | None:
        message = mapping(line.value.get("message"))
        role = _ROLES.get(string(line.value.get("role")) or string(message.get("role")))
        if role is None:
            return None
        text = said(message.get("content"))
        if role == "user":
            text = _asked(text)
            return replace(self.base, key=self._key(role, text), role=role, text=text) if text else None
        calls = [mapping(part) for part in items(message.get("content")) if mapping(part).get("type") == "tool_use"]
        if not text and not calls:
            return None
        return replace(
            self.base,
            key=self._key(role, text or line.raw.decode(errors="replace")),
            role=role if text else "none",
            text=text,
            skills=tuple(dict.fromkeys(skill for call in calls for skill in _skills(call))),
            tools=tuple(dict.fromkeys(tool for call in calls if (tool := name(call.get("name"))))),
            files=tuple(dict.fromkeys(path for call in calls for path in _written(call))),
        )

    def _key(self, role: str, text: str) -> str:
        digest = hashlib.sha256(f"{role}:{text}".encode()).hexdigest()[:16]
        self.met[digest] += 1
        return f"{self.base.session}:{digest}:{self.met[digest]}"


def _asked(text: str) -> str:
    """What the person typed, without the files and rules that Cursor puts before it."""
    if text.endswith(_CLOSE) and _OPEN in text:
        return text.removesuffix(_CLOSE).rpartition(_OPEN)[2].strip()
    return text


def _path(call: Mapping[str, Any]) -> str:
    given = mapping(call.get("input"))
    return next((path for key in ("path", "file_path", "target_file") if (path := string(given.get(key)))), "")


def _skills(call: Mapping[str, Any]) -> tuple[str, ...]:
    path = _path(call)
    return skill_files(path) if call.get("name") in _READS and path.endswith("SKILL.md") else ()


def _written(call: Mapping[str, Any]) -> tuple[str, ...]:
    path = _path(call)
    return (path,) if path and call.get("name") in _WRITES else ()
