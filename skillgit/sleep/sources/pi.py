"""Pi's sessions: `agent/sessions/**/*.jsonl` of its home.

A file is a tree, since a person may go back and ask again: only the branch that ends at its last entry is read, from
its start each time it changes. Older files have no tree and are one branch. Copies that forks of a session begin with
keep their entries' ids and times, by which they are known.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Batch, Position, Reason, Record
from skillgit.sleep.sources.claude_texts import said
from skillgit.sleep.sources.fields import absolute, items, mapping, name, seconds, skill_files, string
from skillgit.sleep.sources.jsonl import Line, stamp
from skillgit.sleep.sources.places import chosen
from skillgit.sleep.sources.walk import walk
from skillgit.sleep.sources.whole import all_lines, batches

_NOT_SAID: dict[str, Reason] = {"branch_summary": "meta", "compaction": "meta", "custom_message": "synthetic"}
_SKILL = re.compile(r'<skill name="([^"]{1,80})"[^>]{0,4096}>')
_SKILL_END = "</skill>"
_WRITES = frozenset({"edit", "write"})


class Pi:
    """`sleep.pi_home`, else the folders `PI_CODING_AGENT_SESSION_DIR` or `PI_CODING_AGENT_DIR`, else `~/.pi`."""

    name = "pi"

    def __init__(self, config: Sleep) -> None:
        self._sessions = _sessions(chosen(config.pi_home))

    def roots(self) -> tuple[Path, ...]:
        """The folder of sessions."""
        return (self._sessions,)

    def files(self) -> Iterator[Path]:
        """Every session."""
        return walk(self._sessions, ".jsonl")

    def stamp(self, file: Path) -> str:
        """See `Source.stamp`."""
        return stamp(file)

    def read(self, file: Path, since: Position | None) -> Iterator[Batch]:  # noqa: ARG002
        """See `Source.read`."""
        after = Position(stamp(file))
        damaged: Counter[str] = Counter()
        header, branch = _branch(all_lines(file, damaged))
        base = Record(string(header.get("id")) or file.stem.rpartition("_")[2], "", cwd=absolute(header.get("cwd")))
        lines = (line for line in all_lines(file, Counter()) if line.offset in branch)
        return batches((record for line in lines if (record := _record(base, line))), damaged, after)


def _sessions(home: Path | None) -> Path:
    if home:
        return home / "agent" / "sessions"
    if folder := chosen(os.environ.get("PI_CODING_AGENT_SESSION_DIR")):
        return folder
    return (chosen(os.environ.get("PI_CODING_AGENT_DIR")) or Path.home() / ".pi" / "agent") / "sessions"


def _branch(lines: Iterable[Line]) -> tuple[dict[str, Any], frozenset[int]]:
    """The header, and offsets of the entries from which the last one descends.

    An entry follows the one before it when it names no parent, or one that damage has taken.
    """
    header: dict[str, Any] = {}
    offsets: list[int] = []
    parents: list[int] = []
    places: dict[str, int] = {}
    for line in lines:
        if line.value.get("type") == "session":
            header = header or line.value
            continue
        key, parent = line.value.get("id"), line.value.get("parentId")
        root = isinstance(key, str) and "parentId" in line.value and parent is None
        parents.append(-1 if root else places.get(string(parent), len(offsets) - 1))
        if isinstance(key, str):
            places[key] = len(offsets)
        offsets.append(line.offset)
    return header, frozenset(_ancestors(offsets, parents))


def _ancestors(offsets: list[int], parents: list[int]) -> Iterator[int]:
    place = len(offsets) - 1
    while place >= 0:
        yield offsets[place]
        place = parents[place]


def _record(base: Record, line: Line) -> Record | None:
    value = line.value
    message = mapping(value.get("message"))
    at = seconds(value.get("timestamp")) or seconds(message.get("timestamp"))
    key = string(value.get("id"))
    base = replace(base, key=f"{key}:{at}" if key else line.key(base.session, timed=at is not None), at=at)
    if reason := _NOT_SAID.get(string(value.get("type"))):
        return replace(base, role="user", text=said(value.get("content") or value.get("summary")), reason=reason)
    if value.get("type") != "message":
        return None
    return {"user": _user, "assistant": _assistant}.get(string(message.get("role")), _nothing)(base, message)


def _nothing(_base: Record, _message: Mapping[str, Any]) -> Record | None:
    return None


def _user(base: Record, message: Mapping[str, Any]) -> Record | None:
    text = said(message.get("content"))
    opening = _SKILL.match(text)
    if opening is None:
        return replace(base, role="user", text=text) if text else None
    asked = text.partition(_SKILL_END)[2].strip()
    skills = (name(opening[1]),)
    return replace(base, role="user", text=asked or text, skills=skills, reason="" if asked else "command")


def _assistant(base: Record, message: Mapping[str, Any]) -> Record | None:
    text, failed = said(message.get("content")), message.get("stopReason") == "error"
    calls = [mapping(part) for part in items(message.get("content")) if mapping(part).get("type") == "toolCall"]
    if not (text or calls or failed):
        return None
    return replace(
        base,
        role="assistant" if text or failed else "none",
        text=text,
        skills=tuple(dict.fromkeys(skill for call in calls for skill in _skills(call))),
        tools=tuple(dict.fromkeys(tool for call in calls if (tool := name(call.get("name"))))),
        files=tuple(dict.fromkeys(path for call in calls if call.get("name") in _WRITES and (path := _path(call)))),
        failed=failed,
    )


def _path(call: Mapping[str, Any]) -> str:
    return string(mapping(call.get("arguments")).get("path"))


def _skills(call: Mapping[str, Any]) -> tuple[str, ...]:
    path = _path(call)
    return skill_files(path) if call.get("name") == "read" and path.endswith("SKILL.md") else ()
