"""Codex's rollouts: `sessions/YYYY/MM/DD/rollout-*.jsonl`, and the archived ones, of every folder of `CODEX_HOME`.

A session is known by the id in its first record, or by that in the file's name when that record is damaged. Records
have no ids: one is known by its session and its bytes, so a rollout that is both live and archived counts once. What is
said stands in a rollout once, twice or three times, as a `response_item` and as events, and is taken the first time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Batch, Position, Reason, Record
from skillgit.sleep.sources import codex_texts as texts
from skillgit.sleep.sources.codex_calls import call_facts
from skillgit.sleep.sources.fields import absolute, mapping, seconds, string
from skillgit.sleep.sources.jsonl import Line, read_records, stamp
from skillgit.sleep.sources.walk import walk

_FOLDERS = ("sessions", "archived_sessions", "archived-sessions")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PROGRAM = re.compile(r"(?:^|[^a-z])(?:exec|mcp|sdk|internal)(?:$|[^a-z])")
"""In `source` or `originator`: no person typed this session."""


class Codex:
    """Codex's store, live and archived."""

    name = "codex"

    def __init__(self, config: Sleep) -> None:
        given = config.codex_home or os.environ.get("CODEX_HOME", "") or "~/.codex"
        self._homes = tuple(Path(home.strip()).expanduser() for home in given.split(",") if home.strip())

    def roots(self) -> tuple[Path, ...]:
        """The folders of rollouts, live ones first."""
        return tuple(home / folder for folder in _FOLDERS for home in self._homes)

    def files(self) -> Iterator[Path]:
        """Every rollout."""
        for root in self.roots():
            yield from walk(root, ".jsonl")

    def stamp(self, file: Path) -> str:
        """See `Source.stamp`."""
        return stamp(file)

    def read(self, file: Path, since: Position | None) -> Iterator[Batch]:
        """See `Source.read`."""
        ids = _ID.findall(file.stem.lower())
        return read_records(file, since, _Rollout(ids[-1] if ids else file.stem).records)


@dataclass(frozen=True)
class _Rollout:
    """One file. Its state: `session`, `cwd`, `branch`, `reason` as last recorded, and `open`, see `_said_before`."""

    named: str

    def records(self, line: Line, state: dict[str, Any]) -> Iterator[Record]:
        value = line.value
        body = value.get("payload", value)  # the first versions wrote items without an envelope
        kind, body = string(value.get("type")), mapping(body)
        if kind == "session_meta" or (not kind and "session" not in state and "id" in body):
            _begin(body, state)
        elif kind == "turn_context":
            state["cwd"] = absolute(body.get("cwd")) or state.get("cwd", "")
        elif kind == "compacted":
            yield replace(self._base(line, state), reason=state.get("reason") or "meta")
        else:
            yield from self._item(line, kind, body, state)

    def _item(self, line: Line, kind: str, body: Mapping[str, Any], state: dict[str, Any]) -> Iterator[Record]:
        if (speech := texts.speech(kind, body)) is not None:
            if not _said_before(speech, state):
                base = self._base(line, state)
                reason = base.reason or speech.reason
                yield replace(base, role=speech.role, text=speech.text, skills=speech.skills, reason=reason)
        elif body.get("type") == "error":
            yield replace(self._base(line, state), role="assistant", text=string(body.get("message")), failed=True)
        elif facts := call_facts(kind, body):
            skills, tools, files = facts
            yield replace(self._base(line, state), skills=skills, tools=tools, files=files)

    def _base(self, line: Line, state: Mapping[str, Any]) -> Record:
        session = state.get("session") or self.named
        at = seconds(line.value.get("timestamp")) or seconds(mapping(line.value.get("payload")).get("timestamp"))
        return Record(
            session=session,
            key=line.key(session, timed=at is not None),
            at=at,
            cwd=state.get("cwd", ""),
            branch=state.get("branch", ""),
            reason=state.get("reason", ""),
        )


def _begin(meta: Mapping[str, Any], state: dict[str, Any]) -> None:
    """The first one is the session's; a fork brings that of its parent along."""
    if "session" in state:
        return
    state.update(
        session=string(meta.get("id")),
        cwd=absolute(meta.get("cwd")),
        branch=string(mapping(meta.get("git")).get("branch")),
        reason=_reason(meta),
    )


def _reason(meta: Mapping[str, Any]) -> Reason | Literal[""]:
    source = meta.get("source")
    kind = " ".join(mapping(source)) or string(source)  # with details it is {kind: details}
    if kind.startswith("subagent") or meta.get("thread_source") == "subagent":
        return "sub_agent"
    told = f"{kind} {string(meta.get('originator'))}".lower()
    return "headless" if _PROGRAM.search(told) else ""


def _said_before(speech: texts.Speech, state: dict[str, Any]) -> bool:
    """Whether another channel has told this already.

    `open` holds what was said since the other side spoke: role, digests of the text, and the channels that told it.
    """
    if speech.reason:
        return False
    known: list[list[Any]] = [entry for entry in state.get("open", []) if entry[0] == speech.role]
    for _, digests, channels in known:
        if speech.channel not in channels and not speech.digests.isdisjoint(digests):
            channels.append(speech.channel)
            return True
    state["open"] = [*known[-texts.OPEN :], [speech.role, sorted(speech.digests), [speech.channel]]]
    return False
