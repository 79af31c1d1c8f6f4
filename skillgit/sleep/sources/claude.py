"""Claude Code's transcripts: `projects/**/*.jsonl` of its folder.

A record belongs to the session it names, whichever file it lies in, and is known by its `uuid`, which forks share. The
folder's name is never decoded, since it stands for several paths: the place of a session is what its records say.
What an agent said to an agent belongs to a session of its own, `<session>/<agent>`, so that it says nothing about the
session that started it. `history.jsonl`, the list of prompts that was typed in all projects, is no source: it has no
answers, and the prompts are in the transcripts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Batch, Position, Reason, Record
from skillgit.sleep.sources import claude_texts as texts
from skillgit.sleep.sources.fields import absolute, items, mapping, name, seconds, skill_files, string
from skillgit.sleep.sources.jsonl import Line, read_records, stamp
from skillgit.sleep.sources.walk import walk

_PEOPLE = frozenset({"", "cli", "claude-vscode", "claude-jetbrains", "claude-desktop"})
"""Values of `entrypoint` behind which a person types; older versions do not record it."""
_WRITES = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_FILES = 20
"""Files that are taken from one snapshot."""
_AT_ONCE = 1.0
"""Seconds within which a record after a slash command is what it expands to: nobody types that fast."""


class Claude:
    """Claude Code's store."""

    name = "claude"

    def __init__(self, config: Sleep) -> None:
        self._homes = _homes(config.claude_home)

    def roots(self) -> tuple[Path, ...]:
        """The folders of transcripts."""
        return tuple(home / "projects" for home in self._homes)

    def files(self) -> Iterator[Path]:
        """Every transcript, those of sub-agents as well: they are counted as such."""
        for root in self.roots():
            yield from walk(root, ".jsonl")

    def stamp(self, file: Path) -> str:
        """See `Source.stamp`."""
        return stamp(file)

    def read(self, file: Path, since: Position | None) -> Iterator[Batch]:
        """See `Source.read`."""
        return read_records(file, since, _Transcript(file.stem, _of_agent(file)).records)


def _homes(configured: str) -> tuple[Path, ...]:
    if home := configured or os.environ.get("CLAUDE_CONFIG_DIR", ""):
        return (Path(home).expanduser(),)
    return (Path.home() / ".claude", Path.home() / ".config" / "claude")


def _of_agent(file: Path) -> bool:
    return "subagents" in file.parts or file.name.startswith("agent-")


@dataclass(frozen=True)
class _Transcript:
    """One file: the id of its session where a record names none, and whether it is a sub-agent's."""

    stem: str
    of_agent: bool

    def records(self, line: Line, state: dict[str, Any]) -> Iterator[Record]:
        value = line.value
        base = self._base(line)
        kind = string(value.get("type"))
        role = string(_message(value).get("role")) or kind
        if kind in ("summary", "system"):
            yield replace(base, reason=base.reason or "meta")
        elif kind == "file-history-snapshot":
            yield replace(base, files=_snapshot(value))
        elif kind == "attachment":
            yield from _queued(base, mapping(value.get("attachment")))
        elif role == "user":
            yield from _user(base, value, state)
        elif role == "assistant":
            yield from _assistant(base, value)

    def _base(self, line: Line) -> Record:
        value = line.value
        session = string(value.get("sessionId")) or self.stem
        at = seconds(value.get("timestamp"))
        timed = at is not None or "content" not in _message(value)  # what nobody says need not be told from its like
        reason = self._reason(value)
        agent = reason in ("sidechain", "sub_agent")
        return Record(
            session=f"{session}/{string(value.get('agentId')) or 'agent'}" if agent else session,
            key=string(value.get("uuid")) or line.key(session, timed=timed),
            at=at,
            cwd=absolute(value.get("cwd")),
            branch=string(value.get("gitBranch")),
            reason=reason,
        )

    def _reason(self, value: Mapping[str, Any]) -> Reason | Literal[""]:
        if value.get("isSidechain") is True:
            return "sidechain"
        if self.of_agent or value.get("agentId"):
            return "sub_agent"
        return "" if string(value.get("entrypoint")) in _PEOPLE else "headless"


def _message(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Who says what; some versions wrote that into the record itself."""
    return mapping(value.get("message")) or value


def _user(base: Record, value: Mapping[str, Any], state: dict[str, Any]) -> Iterator[Record]:
    said = texts.said(_message(value).get("content"))
    if not said:  # the result of a tool, or pictures alone
        return
    text = texts.typed(said)
    reason = base.reason or _mark(value) or texts.reason_of(said) or ("" if text else "meta")
    if not reason and _expanded(base, value, state):
        reason = "command"
    if reason == "command":
        state.update(command=base.key, at=base.at)
    skills = (named,) if (named := texts.command(said)) else ()
    yield replace(base, role="user", text=text or said, skills=skills, reason=reason)


def _mark(value: Mapping[str, Any]) -> Reason | Literal[""]:
    if any(value.get(flag) is True for flag in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")):
        return "meta"
    return "" if string(mapping(value.get("origin")).get("kind")) in ("", "human") else "synthetic"


def _expanded(base: Record, value: Mapping[str, Any], state: Mapping[str, Any]) -> bool:
    """Whether it is the text of the slash command before it, which some versions do not mark."""
    if base.at is None or not state.get("command") or value.get("parentUuid") != state["command"]:
        return False
    return state["at"] is not None and base.at - float(state["at"]) < _AT_ONCE


def _queued(base: Record, attachment: Mapping[str, Any]) -> Iterator[Record]:
    """What a person typed while the agent was at work is written as an attachment, and as nothing else."""
    if attachment.get("type") != "queued_command" or string(attachment.get("commandMode")) not in ("", "prompt"):
        return
    said = texts.said(attachment.get("prompt"))
    if said:
        text = texts.typed(said)
        reason = base.reason or _mark(attachment) or texts.reason_of(said) or ("" if text else "meta")
        yield replace(base, role="user", text=text or said, reason=reason)


def _assistant(base: Record, value: Mapping[str, Any]) -> Iterator[Record]:
    content = _message(value).get("content")
    calls = [mapping(block) for block in items(content) if mapping(block).get("type") == "tool_use"]
    text = texts.said(content)
    if not text and not calls:  # thoughts
        return
    yield replace(
        base,
        role="assistant" if text else "none",
        text=text,
        skills=tuple(dict.fromkeys(skill for call in calls for skill in _skills(call))),
        tools=tuple(dict.fromkeys(tool for call in calls if (tool := name(call.get("name"))))),
        files=tuple(dict.fromkeys(file for call in calls for file in _written(call))),
        failed=value.get("isApiErrorMessage") is True,
    )


def _skills(call: Mapping[str, Any]) -> tuple[str, ...]:
    given = mapping(call.get("input"))
    if call.get("name") == "Skill" and (skill := name(given.get("skill"))):
        return (skill,)
    path = string(given.get("file_path")).rstrip()
    return skill_files(path) if call.get("name") == "Read" and path.endswith("SKILL.md") else ()


def _written(call: Mapping[str, Any]) -> tuple[str, ...]:
    given = mapping(call.get("input"))
    path = string(given.get("file_path")) or string(given.get("notebook_path"))
    return (path,) if path and call.get("name") in _WRITES else ()


def _snapshot(value: Mapping[str, Any]) -> tuple[str, ...]:
    snapshot = mapping(value.get("snapshot"))
    tracked = snapshot.get("trackedFileBackups", value.get("files"))
    if tracked is None:
        tracked = {path: None for path in snapshot if path not in ("messageId", "timestamp")}
    return tuple(mapping(tracked))[:_FILES]
