"""Devin's folder of transcripts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.sleep.stores import START, Turns, iso
from tests.sleep.stores.talks import Talk, talk_of


def write(folder: Path, talks: Iterable[Talk]) -> list[Path]:
    """The documents of these sessions as they stand now."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for talk in talks:
        files.append(folder / f"{talk.id}.json")
        files[-1].write_text(json.dumps(transcript(talk), indent=2, ensure_ascii=False))
    return files


def transcript(talk: Talk) -> dict[str, Any]:
    agent = {"name": "devin", "version": "2026.1", "model_name": "m", "extra": {"cwd": talk.cwd}}
    steps: list[dict[str, Any]] = [{"source": "system", "message": "You are Devin."}]
    for exchange in talk.exchanges:
        steps.append({"source": "user", "message": exchange.ask, "timestamp": iso(exchange.at)})
        calls = [
            {"tool_call_id": f"c{index}", "function_name": tool, "arguments": {"file_path": exchange.file}}
            for index, tool in enumerate(exchange.tools)
        ]
        observation = {"results": [{"source_call_id": "c0", "content": exchange.output}]}
        working = {"source": "agent", "message": "", "reasoning_content": "A small change.", "tool_calls": calls}
        steps.append({**working, "observation": observation, "timestamp": iso(exchange.at + 1)})
        steps.append({"source": "agent", "message": exchange.answer, "timestamp": iso(exchange.at + exchange.took)})
    numbered = [{"step_id": index + 1, **step} for index, step in enumerate(steps)]
    return {"schema_version": "ATIF-v1.7", "session_id": talk.id, "agent": agent, "steps": numbered}


def write_session(folder: Path, session: str, turns: Turns, *, cwd: str = "/w/shop", at: float = START) -> Path:
    """Write a conversation, or put it in place of the one before, and give its file."""
    return write(folder, [talk_of(session, turns, cwd=cwd, at=at)])[0]
