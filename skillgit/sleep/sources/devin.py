"""Devin's transcripts: one ATIF document (`.json`) for every session of its CLI.

A document is written anew as its session goes on, so it is read as a whole each time; a step is known by its session
and number. Where the format records no folder, the session belongs to no repository: it is never guessed from texts.
What Devin remembers, and the skills that it has, are no sessions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Batch, Position, Record, Speaker
from skillgit.sleep.sources.claude_texts import said
from skillgit.sleep.sources.fields import absolute, items, mapping, name, seconds, skill_files, string
from skillgit.sleep.sources.jsonl import stamp
from skillgit.sleep.sources.places import chosen, data_homes
from skillgit.sleep.sources.walk import walk
from skillgit.sleep.sources.whole import batches, document

_FORMAT = "ATIF"
_ROLES: dict[str, Speaker] = {"user": "user", "agent": "assistant"}
_FOLDERS = ("cwd", "working_directory", "workspace_path")
"""Keys under which what is recorded beyond the format may name a session's folder."""
_PATHS = ("file_path", "path")
_READS = frozenset({"read", "read_file"})
_WRITES = frozenset({"edit", "write"})


class Devin:
    """`sleep.devin_transcripts`, else `devin/cli/transcripts` in the folders for programs' data."""

    name = "devin"

    def __init__(self, config: Sleep) -> None:
        given = chosen(config.devin_transcripts)
        unix, *others = data_homes()
        found = (unix / "devin", *(home / "Devin" for home in others))
        self._folders = (given,) if given else tuple(home / "cli" / "transcripts" for home in found)

    def roots(self) -> tuple[Path, ...]:
        """The folders of transcripts."""
        return self._folders

    def files(self) -> Iterator[Path]:
        """Every transcript."""
        for folder in self._folders:
            yield from walk(folder, ".json")

    def stamp(self, file: Path) -> str:
        """See `Source.stamp`."""
        return stamp(file)

    def read(self, file: Path, since: Position | None) -> Iterator[Batch]:  # noqa: ARG002
        """See `Source.read`. Damage: `format`, a document that is no ATIF."""
        after = Position(stamp(file))
        damaged: Counter[str] = Counter()
        transcript = document(file, damaged)
        if transcript and not string(transcript.get("schema_version")).startswith(_FORMAT):
            damaged["format"] += 1
            transcript = {}
        base = Record(string(transcript.get("session_id")) or file.stem, "", cwd=_cwd(transcript))
        return batches(_records(base, items(transcript.get("steps"))), damaged, after)


def _cwd(about: Mapping[str, Any]) -> str:
    extras = (mapping(about.get("extra")), mapping(mapping(about.get("agent")).get("extra")))
    return next((path for extra in extras for key in _FOLDERS if (path := absolute(extra.get(key)))), "")


def _records(base: Record, steps: list[Any]) -> Iterator[Record]:
    for index, value in enumerate(steps):
        step = mapping(value)
        number = step["step_id"] if isinstance(step.get("step_id"), int) else index
        role = _ROLES.get(string(step.get("source")))
        if role:
            known = replace(base, key=f"{base.session}:{number}", at=seconds(step.get("timestamp")))
            yield from _step(replace(known, cwd=_cwd(step) or base.cwd), role, step)


def _step(base: Record, role: Speaker, step: Mapping[str, Any]) -> Iterator[Record]:
    text = said(step.get("message"))
    calls = [mapping(call) for call in items(step.get("tool_calls"))]
    if text or calls:
        yield replace(
            base,
            role=role if text else "none",
            text=text,
            skills=tuple(dict.fromkeys(skill for call in calls for skill in _skills(call))),
            tools=tuple(dict.fromkeys(tool for call in calls if (tool := name(call.get("function_name"))))),
            files=tuple(dict.fromkeys(path for call in calls if (path := _written(call)))),
            reason="meta" if step.get("is_copied_context") is True else "",
        )


def _path(call: Mapping[str, Any]) -> str:
    given = mapping(call.get("arguments"))
    return next((path for key in _PATHS if (path := string(given.get(key)))), "")


def _skills(call: Mapping[str, Any]) -> tuple[str, ...]:
    path = _path(call)
    return skill_files(path) if call.get("function_name") in _READS and path.endswith("SKILL.md") else ()


def _written(call: Mapping[str, Any]) -> str:
    return _path(call) if call.get("function_name") in _WRITES else ""
