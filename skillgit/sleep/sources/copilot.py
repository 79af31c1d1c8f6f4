"""GitHub Copilot Chat in VS Code: `chatSessions` of every workspace, and of windows without one.

A chat is a log of changes (`.jsonl`; older versions write it as one object, `.json`), which is replayed from its start
each time it changes: a request is known by its id. An answer is read once it is complete.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from skillgit.config.sleep import Sleep
from skillgit.sleep.base import Batch, Position, Reason, Record
from skillgit.sleep.sources.fields import absolute, items, mapping, name, seconds, skill_files, string
from skillgit.sleep.sources.jsonl import stamp
from skillgit.sleep.sources.oplog import Shape, reduced, replay
from skillgit.sleep.sources.places import chosen, mac_home, subfolders, windows_homes
from skillgit.sleep.sources.walk import walk
from skillgit.sleep.sources.whole import all_lines, batches, document

_EDITIONS = ("Code", "Code - Insiders")
_WORKSPACES = Path("User", "workspaceStorage")
_NO_WORKSPACE = Path("User", "globalStorage", "emptyWindowChatSessions")
_EXTENSION = "github.copilot-chat"
_AGENTS = "github.copilot"
_PART = {
    **dict.fromkeys(("kind", "value", "toolId", "invocationMessage"), True),
    "inlineReference": {"name": True},
    "uri": {"path": True},
}
_REQUEST = {
    **dict.fromkeys(("requestId", "timestamp", "isSystemInitiated", "hiddenFromTranscript", "modelState"), True),
    "agent": {"id": True, "extensionId": True},
    "message": {"text": True},
    "response": [_PART],
    "result": {"errorDetails": True},
}
_CHAT: Shape = {"sessionId": True, "requests": [_REQUEST]}
_COMPLETE, _CANCELLED, _FAILED = 1, 2, 3
_READS = frozenset({"copilot_readFile", "read_file"})


class Copilot:
    """`sleep.vscode_workspace_storage`, else the folders of VS Code and its Insiders edition."""

    name = "copilot"

    def __init__(self, config: Sleep) -> None:
        given = chosen(config.vscode_workspace_storage)
        homes = [] if given else _homes()
        self._workspaces = (given,) if given else tuple(home / _WORKSPACES for home in homes)
        self._others = tuple(home / _NO_WORKSPACE for home in homes)

    def roots(self) -> tuple[Path, ...]:
        """The folders of workspaces, and of chats without one."""
        return (*self._workspaces, *self._others)

    def files(self) -> Iterator[Path]:
        """Every chat."""
        chats = [folder / "chatSessions" for root in self._workspaces for folder in subfolders(root)]
        for folder in (*chats, *self._others):
            yield from walk(folder, ".jsonl")
            yield from walk(folder, ".json")

    def stamp(self, file: Path) -> str:
        """See `Source.stamp`."""
        return stamp(file)

    def read(self, file: Path, since: Position | None) -> Iterator[Batch]:  # noqa: ARG002
        """See `Source.read`."""
        after = Position(stamp(file))
        damaged: Counter[str] = Counter()
        chat = _chat(file, damaged)
        base = Record(string(chat.get("sessionId")) or file.stem, "", cwd=_workspace(file.parents[1]))
        return batches(_records(base, items(chat.get("requests"))), damaged, after)


def _homes() -> list[Path]:
    portable = chosen(os.environ.get("VSCODE_PORTABLE"))
    unix = chosen(os.environ.get("XDG_CONFIG_HOME")) or Path.home() / ".config"
    folders = [home / edition for home in (unix, *windows_homes("APPDATA"), mac_home()) for edition in _EDITIONS]
    return [portable / "user-data", *folders] if portable else folders


def _chat(file: Path, damaged: Counter[str]) -> dict[str, Any]:
    if file.suffix == ".json":
        return dict(reduced(document(file, damaged), _CHAT))
    return replay(all_lines(file, damaged), _CHAT, damaged)


def _workspace(folder: Path) -> str:
    """The folder of a workspace, or the one that its `.code-workspace` file is in."""
    try:
        about = document(folder / "workspace.json", Counter())
    except OSError:
        return ""
    if path := _local(about.get("folder")):
        return path
    workspace = _local(about.get("workspace") or about.get("configuration"))
    return workspace.rpartition("/")[0]


def _local(uri: Any) -> str:
    """The path that a `file:` URI names; blank for any other, such as a folder on another machine."""
    try:
        parts = urlsplit(string(uri))
    except ValueError:  # no URI
        return ""
    if parts.scheme != "file":
        return ""
    path = unquote(parts.path)
    if parts.netloc not in ("", "localhost"):
        return f"//{parts.netloc}{path}"
    drive = path[1:3]
    return absolute(path[1:] if drive[:1].isalpha() and drive[1:] == ":" else path)


def _records(base: Record, requests: list[Any]) -> Iterator[Record]:
    for index, value in enumerate(requests):
        request = mapping(value)
        key = f"{base.session}:{string(request.get('requestId')) or index}"
        common = replace(base, at=seconds(request.get("timestamp")), reason=_reason(request))
        if text := string(mapping(request.get("message")).get("text")).strip():
            yield replace(common, key=f"{key}:user", role="user", text=text)
        if _complete(request) or index + 1 < len(requests):
            yield from _answer(replace(common, key=f"{key}:assistant"), request)


def _reason(request: Mapping[str, Any]) -> Reason | Literal[""]:
    agent = mapping(request.get("agent"))
    if agent and _extension(agent.get("extensionId")) != _EXTENSION and not string(agent.get("id")).startswith(_AGENTS):
        return "other_agent"
    if request.get("isSystemInitiated") is True:
        return "synthetic"
    return "meta" if request.get("hiddenFromTranscript") is True else ""


def _extension(value: Any) -> str:
    """An extension's id, of which older versions write the text alone."""
    named = mapping(value)
    return (string(value) or string(named.get("value")) or string(named.get("_lower"))).lower()


def _outcome(request: Mapping[str, Any]) -> Any:
    return mapping(request.get("modelState")).get("value")


def _complete(request: Mapping[str, Any]) -> bool:
    """Whether nothing can be added to an answer; older versions only record a result."""
    if _outcome(request) in (_COMPLETE, _CANCELLED, _FAILED):
        return True
    state = mapping(request.get("modelState"))
    return bool(state.get("completedAt")) or (not state and bool("result" in request or request.get("response")))


def _answer(base: Record, request: Mapping[str, Any]) -> Iterator[Record]:
    parts = [mapping(part) for part in items(request.get("response"))]
    calls = [part for part in parts if _is_call(part)]
    told = ["".join(map(_said, group)).strip() for called, group in groupby(parts, _is_call) if not called]
    text = "\n\n".join(filter(None, told))
    files = tuple(dict.fromkeys(path for part in parts if (path := _edited(part))))
    failed = _failed(request)
    if text or calls or files or failed:
        yield replace(
            base,
            role="assistant" if text or failed else "none",
            text=text,
            at=seconds(mapping(request.get("modelState")).get("completedAt")) or base.at,
            skills=tuple(dict.fromkeys(skill for call in calls for skill in _skills(call))),
            tools=tuple(dict.fromkeys(tool for call in calls if (tool := name(call.get("toolId"))))),
            files=files,
            failed=failed,
        )


def _failed(request: Mapping[str, Any]) -> bool:
    error = mapping(request.get("result")).get("errorDetails")
    return _outcome(request) == _FAILED or (bool(error) and _outcome(request) != _CANCELLED)


def _is_call(part: Mapping[str, Any]) -> bool:
    return part.get("kind") == "toolInvocationSerialized"


def _edited(part: Mapping[str, Any]) -> str:
    """The file that a part is an edit of."""
    return string(mapping(part.get("uri")).get("path")) if part.get("kind") == "textEditGroup" else ""


def _said(part: Mapping[str, Any]) -> str:
    if part.get("kind") == "inlineReference":
        return string(mapping(part.get("inlineReference")).get("name"))
    if part.get("kind") not in (None, "markdownContent"):
        return ""
    value = part.get("value")
    return string(value) or string(mapping(value).get("value"))


def _skills(call: Mapping[str, Any]) -> tuple[str, ...]:
    message = call.get("invocationMessage")
    told = string(message) or string(mapping(message).get("value"))
    return skill_files(unquote(told)) if call.get("toolId") in _READS else ()
