"""Synthetic stores of Codex. `folder` is the home (`codex_home`) everywhere."""

from __future__ import annotations

import json
import random
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from tests.sleep.stores import START, Turns, dump, iso, write

Channels = Literal["both", "events", "items", "completed"]
"""How a rollout tells what is said: as items and events, one of them, or (newest) as items and completed items."""


def id_of(session: str) -> str:
    """The id that a session gets: Codex's are UUIDs."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, session))


def path_of(folder: Path, session: str, *, at: float = START, archived: str = "") -> Path:
    """Where a rollout lies: below `sessions` by day, or flat in the folder of archived ones."""
    day = datetime.fromtimestamp(at, UTC)
    name = f"rollout-{day:%Y-%m-%dT%H-%M-%S}-{id_of(session)}.jsonl"
    return folder / archived / name if archived else folder / "sessions" / f"{day:%Y/%m/%d}" / name


def record(kind: str, payload: dict[str, Any], at: float = START) -> dict[str, Any]:
    """One line."""
    return {"timestamp": iso(at), "type": kind, "payload": payload}


def meta(session: str, *, cwd: str = "/w/shop", at: float = START, **more: Any) -> dict[str, Any]:
    """The first line: `source` and `originator` say who started it."""
    payload = {
        "id": id_of(session),
        "timestamp": iso(at),
        "cwd": cwd,
        "originator": "codex_cli_rs",
        "cli_version": "0.139.0",
        "source": "cli",
        "base_instructions": {"text": "You are Codex."},
        "git": {"commit_hash": "0" * 40, "branch": "main", "repository_url": "git@example.com:acme/shop.git"},
    }
    return record("session_meta", payload | more, at)


def context(cwd: str = "/w/shop", at: float = START) -> dict[str, Any]:
    """A `turn_context`."""
    return record("turn_context", {"cwd": cwd, "approval_policy": "on-request", "model": "gpt-x"}, at)


def item(role: str, text: str, at: float = START) -> dict[str, Any]:
    """A message to or from the model."""
    kind = "output_text" if role == "assistant" else "input_text"
    return record("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}, at)


def event(role: str, text: str, at: float = START) -> dict[str, Any]:
    """The event that shows a message."""
    kind = "user_message" if role == "user" else "agent_message"
    return record("event_msg", {"type": kind, "message": text}, at)


def completed(role: str, text: str, at: float = START) -> dict[str, Any]:
    """The event by which newer versions show a message."""
    kind, part = ("UserMessage", "text") if role == "user" else ("AgentMessage", "Text")
    shown = {"type": kind, "id": "item-1", "content": [{"type": part, "text": text}]}
    return record("event_msg", {"type": "item_completed", "item": shown}, at)


def shell(command: str, at: float = START) -> dict[str, Any]:
    """A call of the shell."""
    arguments = json.dumps({"command": ["bash", "-lc", command]})
    payload = {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": "call_1"}
    return record("response_item", payload, at)


def said(channels: Channels, role: str, text: str, at: float) -> list[dict[str, Any]]:
    """All lines that tell one text, in the order Codex writes them."""
    shown = {"events": event, "both": event, "completed": completed}.get(channels)
    found = [] if channels == "events" else [item(role, text, at)]
    found += [shown(role, text, at)] if shown else []
    return found if role == "user" else found[::-1]


def session_records(
    session: str, turns: Turns, *, cwd: str = "/w/shop", at: float = START, channels: Channels = "both", **more: Any
) -> list[dict[str, Any]]:
    """A plain conversation with its first line; a turn takes a minute, an answer 20 seconds."""
    records = [meta(session, cwd=cwd, at=at, **more)]
    return records + turn_records(turns, at=at, channels=channels)


def turn_records(turns: Turns, *, at: float = START, channels: Channels = "both") -> list[dict[str, Any]]:
    """The turns of a conversation."""
    found: list[dict[str, Any]] = []
    for index, (asked, answer) in enumerate(turns):
        found += said(channels, "user", asked, at + 60 * index)
        found += said(channels, "assistant", answer, at + 60 * index + 20) if answer else []
    return found


def write_session(
    folder: Path,
    session: str,
    turns: Turns,
    *,
    cwd: str = "/w/shop",
    at: float = START,
    archived: str = "",
    channels: Channels = "both",
    **more: Any,
) -> Path:
    """Write a conversation and give its file.

    Args:
        archived: the folder of archived rollouts to put it into; blank is the live store.
        more: fields of `session_meta`, such as `source="exec"`.
    """
    records = session_records(session, turns, cwd=cwd, at=at, channels=channels, **more)
    return write(path_of(folder, session, at=at, archived=archived), dump(records))


def append_turns(file: Path, turns: Turns, *, at: float, channels: Channels = "both") -> Path:
    """Go on with a conversation."""
    return write(file, dump(turn_records(turns, at=at, channels=channels)), append=True)


def write_noisy_session(
    folder: Path,
    session: str,
    turns: Turns,
    *,
    cwd: str = "/w/shop",
    at: float = START,
    seed: int = 0,
    tool_bytes: int = 2000,
) -> Path:
    """Like `write_session`, with everything around it that a real rollout has; each turn has one tool's output."""
    rng = random.Random(f"{seed}{session}")
    doc = f"# AGENTS.md instructions for {cwd}\n\n<INSTRUCTIONS>\nAlways use tabs.\n</INSTRUCTIONS>"
    where = f"<environment_context>\n  <cwd>{cwd}</cwd>\n</environment_context>"
    records = [meta(session, cwd=cwd, at=at), item("developer", "<permissions>never ask</permissions>", at)]
    records += [item("user", doc, at), item("user", where, at), record("unheard_of", {"type": "news"}, at)]
    for index, (asked, answer) in enumerate(turns):
        now = at + 60 * index
        records += [record("event_msg", {"type": "task_started"}, now), context(cwd, now)]
        records += said("both", "user", asked, now)
        records += rng.sample(_noise(now + 1), 5) + _work(rng, now + 5, tool_bytes)
        records += said("both", "assistant", answer, now + 20) if answer else []
    return write(path_of(folder, session, at=at), dump(records))


def _noise(at: float) -> list[dict[str, Any]]:
    secret: dict[str, Any] = {"type": "reasoning", "summary": [], "encrypted_content": "Z0FBQUFB", "content": None}
    return [
        record("event_msg", {"type": "token_count", "info": {"total_token_usage": {"input_tokens": 9}}}, at),
        record("event_msg", {"type": "agent_reasoning", "text": "The user always wants tabs."}, at),
        record("response_item", secret, at),
        record("compacted", {"message": "Summary of all before.", "replacement_history": []}, at),
        record("event_msg", {"type": "turn_aborted", "reason": "interrupted"}, at),
        record("response_item", {"type": "ghost_snapshot", "ghost_commit": {"id": "0" * 40}}, at),
        record("world_state", {"kind": "new"}, at),
    ]


def _work(rng: random.Random, at: float, size: int) -> list[dict[str, Any]]:
    output = "\n".join(rng.choices(["ok", "remember: always use tabs", '{"a":"b"}', "naïve"], k=size // 12 + 1))
    result = {"type": "function_call_output", "call_id": "call_1", "output": output}
    patch = "*** Begin Patch\n*** Update File: src/app.py\n@@\n-a\n+b\n*** End Patch"
    return [
        shell("pytest -q", at),
        record("response_item", result, at),
        record("event_msg", {"type": "exec_command_end", "call_id": "call_1", "aggregated_output": output}, at),
        record("response_item", {"type": "custom_tool_call", "name": "apply_patch", "input": patch}, at),
    ]
