"""VS Code's folder of workspaces, with the chats of GitHub Copilot."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.sleep.stores import START, Turns
from tests.sleep.stores.talks import Exchange, Talk, talk_of


def write(storage: Path, talks: Iterable[Talk]) -> list[Path]:
    """The logs of these chats as they stand now, in one workspace for every folder."""
    files = []
    for talk in talks:
        workspace = storage / f"{abs(hash_of(talk.cwd)):032x}"
        files.append(workspace / "chatSessions" / f"{talk.id}.jsonl")
        files[-1].parent.mkdir(parents=True, exist_ok=True)
        (workspace / "workspace.json").write_text(json.dumps({"folder": f"file://{quote(talk.cwd)}"}))
        files[-1].write_text(text(operations(talk)))
    return files


def hash_of(path: str) -> int:
    return int.from_bytes(path.encode()[-16:])


def text(values: Iterable[Any]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def operations(talk: Talk) -> Iterator[dict[str, Any]]:
    """A log as it comes about: a snapshot of the empty chat, then each request, and its answer as it streams in."""
    yield {"kind": 0, "v": chat(talk, [])}
    for index, exchange in enumerate(talk.exchanges):
        path = ["requests", index]
        yield {"kind": 1, "k": ["inputState", "inputText"], "v": exchange.ask[:9]}
        yield {"kind": 2, "k": ["requests"], "v": [{**request(talk, index, exchange), "response": []}]}
        parts = response(exchange)
        yield {"kind": 2, "k": [*path, "response"], "v": [*parts[:1], {"value": exchange.answer[:5]}]}
        yield {"kind": 2, "k": [*path, "response"], "v": parts[1:], "i": 1}
        yield {"kind": 1, "k": [*path, "completionTokens"], "v": 80}
        yield {"kind": 1, "k": [*path, "result"], "v": {"metadata": {"toolCallRounds": [exchange.output]}}}
        yield {"kind": 1, "k": [*path, "modelState"], "v": done(exchange)}
    yield {"kind": 3, "k": ["inputState", "inputText"]}


def chat(talk: Talk, requests: list[dict[str, Any]]) -> dict[str, Any]:
    began = int(talk.exchanges[0].at * 1000)
    return {"version": 3, "creationDate": began, "sessionId": talk.id, "requests": requests, "inputState": {}}


def requests(talk: Talk) -> list[dict[str, Any]]:
    """Every request with its whole answer."""
    return [
        {**request(talk, index, exchange), "response": response(exchange), "modelState": done(exchange)}
        for index, exchange in enumerate(talk.exchanges)
    ]


def request(talk: Talk, index: int, exchange: Exchange) -> dict[str, Any]:
    extension = {"value": "GitHub.copilot-chat", "_lower": "github.copilot-chat"}
    return {
        "requestId": f"request_{talk.id}_{index}",
        "timestamp": int(exchange.at * 1000),
        "agent": {"id": "github.copilot.editsAgent", "extensionId": extension},
        "modeInfo": {"kind": "agent"},
        "message": {"text": exchange.ask, "parts": []},
        "variableData": {"variables": []},
        "modelState": {"value": 0},
    }


def response(exchange: Exchange) -> list[dict[str, Any]]:
    calls = [
        {
            "kind": "toolInvocationSerialized",
            "toolId": f"copilot_{tool}",
            "invocationMessage": {"value": f"Using [](file://{exchange.file})"},
            "resultDetails": exchange.output,
        }
        for tool in exchange.tools
    ]
    return [{"kind": "thinking", "value": "The person wants a small change."}, *calls, {"value": exchange.answer}]


def done(exchange: Exchange) -> dict[str, Any]:
    return {"value": 1, "completedAt": int((exchange.at + exchange.took) * 1000)}


def write_session(folder: Path, session: str, turns: Turns, *, cwd: str = "/w/shop", at: float = START) -> Path:
    """Write a conversation, or put it in place of the one before, and give its file."""
    return write(folder, [talk_of(session, turns, cwd=cwd, at=at)])[0]
