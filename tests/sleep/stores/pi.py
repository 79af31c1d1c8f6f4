"""Pi's folder of sessions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.sleep.stores import START, Turns, iso
from tests.sleep.stores.talks import Exchange, Talk, talk_of

VERSION = 3


def write(home: Path, talks: Iterable[Talk]) -> list[Path]:
    """The files of these sessions as they stand now."""
    files = []
    for talk in talks:
        folder = home / "agent" / "sessions" / f"--{talk.cwd.strip('/').replace('/', '-')}--"
        folder.mkdir(parents=True, exist_ok=True)
        began = iso(talk.exchanges[0].at).replace(":", "-").replace(".", "-")
        files.append(folder / f"{began}_{talk.id}.jsonl")
        files[-1].write_text(text([header(talk), *entries(talk)]))
    return files


def text(values: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def header(talk: Talk) -> dict[str, Any]:
    at = iso(talk.exchanges[0].at)
    return {"type": "session", "version": VERSION, "id": talk.id, "timestamp": at, "cwd": talk.cwd}


def entries(talk: Talk, *, tree: bool = True) -> list[dict[str, Any]]:
    """The entries of a session; without a tree they are those of version 1."""
    made: list[dict[str, Any]] = []
    for index, (at, value) in enumerate(_values(talk)):
        place = {"id": _id(talk, index), "parentId": _id(talk, index - 1) if index else None} if tree else {}
        made.append({**value, **place, "timestamp": iso(at)})
    return made


def _values(talk: Talk) -> Iterator[tuple[float, dict[str, Any]]]:
    yield talk.exchanges[0].at, {"type": "model_change", "provider": "p", "modelId": "m"}
    for exchange in talk.exchanges:
        yield exchange.at, _message("user", [{"type": "text", "text": exchange.ask}])
        for tool in exchange.tools:
            yield (
                exchange.at + 1,
                _message("assistant", [{"type": "thinking", "thinking": "hm"}, _call(tool, exchange)]),
            )
            yield exchange.at + 2, {"type": "message", "message": _result(tool, exchange)}
        yield exchange.at + exchange.took, _message("assistant", [{"type": "text", "text": exchange.answer}])


def _message(role: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": content}}


def _call(tool: str, exchange: Exchange) -> dict[str, Any]:
    return {"type": "toolCall", "id": "call_1", "name": tool, "arguments": {"path": exchange.file}}


def _result(tool: str, exchange: Exchange) -> dict[str, Any]:
    content = [{"type": "text", "text": exchange.output}]
    return {"role": "toolResult", "toolCallId": "call_1", "toolName": tool, "content": content, "isError": False}


def _id(talk: Talk, index: int) -> str:
    return f"{talk.id[:4]}{index:04x}"


def write_session(folder: Path, session: str, turns: Turns, *, cwd: str = "/w/shop", at: float = START) -> Path:
    """Write a conversation, or put it in place of the one before, and give its file."""
    return write(folder, [talk_of(session, turns, cwd=cwd, at=at)])[0]
