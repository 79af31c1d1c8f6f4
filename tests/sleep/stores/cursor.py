"""Cursor's folder of projects."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.sleep.stores import START, Turns
from tests.sleep.stores.talks import Exchange, Talk, talk_of


def write(home: Path, talks: Iterable[Talk], *, trusted: bool = True) -> list[Path]:
    """Transcripts of these sessions as they stand now; a session's file is replaced."""
    files = []
    for talk in talks:
        project = home / "projects" / re.sub(r"[^A-Za-z0-9]+", "-", talk.cwd).strip("-")
        file = project / "agent-transcripts" / talk.id / f"{talk.id}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        if trusted:
            (project / ".workspace-trusted").write_text(json.dumps({"workspacePath": talk.cwd, "trustedAt": 1}))
        file.write_text("".join(lines(talk)))
        last = talk.exchanges[-1]
        os.utime(file, (last.at + last.took,) * 2)
        files.append(file)
    return files


def lines(talk: Talk, *, statuses: dict[int, str] | None = None) -> list[str]:
    """The lines of a transcript. `statuses`: how turns ended, those that did not end well."""
    made: list[dict[str, Any]] = []
    for index, exchange in enumerate(talk.exchanges):
        query = f"<attached_files>\n<code path='{exchange.file}'/>\n</attached_files>\n"
        query += f"<user_query>\n{exchange.ask}\n</user_query>"
        made.append({"role": "user", "message": {"content": [{"type": "text", "text": query}]}})
        made += [_call(tool, exchange) for tool in exchange.tools]
        made.append({"role": "assistant", "message": {"content": [{"type": "text", "text": exchange.answer}]}})
        made.append({"type": "turn_ended", "status": (statuses or {}).get(index, "ok")})
    return [json.dumps(line, ensure_ascii=False) + "\n" for line in made]


def _call(tool: str, exchange: Exchange) -> dict[str, Any]:
    names = {"read": "Read", "write": "Write", "edit": "StrReplace", "bash": "Shell", "grep": "Grep"}
    call = {"type": "tool_use", "name": names[tool], "input": {"path": exchange.file, "contents": exchange.output}}
    return {"role": "assistant", "message": {"content": [call]}}


def write_session(folder: Path, session: str, turns: Turns, *, cwd: str = "/w/shop", at: float = START) -> Path:
    """Write a conversation, or put it in place of the one before, and give its file."""
    return write(folder, [talk_of(session, turns, cwd=cwd, at=at)])[0]
