"""Command-line agents as targets with stand-ins for their programs, and what those say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillgit.models.base import Message, ModelSpec, Reply, Request, Workspace
from skillgit.models.clients.agent import AgentModel
from skillgit.models.clients.base import Agent
from skillgit.models.clients.claude import Claude
from skillgit.models.clients.codex import Codex
from skillgit.models.clients.copilot import Copilot
from skillgit.models.clients.cursor import Cursor

from .program import Program
from .test_clients import lines

AGENTS: Mapping[str, Agent] = {
    "claude_code_exec": Claude(),
    "codex_exec": Codex(),
    "copilot_exec": Copilot(),
    "cursor_exec": Cursor(),
}
FILES = {"SKILL.md": b"Greet.\n", "references/more.md": b"More.\n", "scripts/logo.bin": b"\x00\xff"}
MESSAGES = (Message("system", "Be brief."), Message("user", "Who is it?"))
WORK = Workspace("greeter", "a1b2", FILES, attachments={"../notes of 3.txt": "Ada"})
EDITS = Workspace("greeter", "a1b2", FILES, writable=True)


def answer(backend: str, text: str, *tools: tuple[str, str, bool]) -> dict[str, Any]:
    """What the program does to answer `text` after using tools: name, subject, and whether it went well."""
    makers = {"claude_code_exec": _claude, "codex_exec": _codex, "copilot_exec": _copilot, "cursor_exec": _cursor}
    return makers[backend](text, tools)


def _claude(text: str, tools: Any) -> dict[str, Any]:
    events: list[Any] = [{"type": "system", "subtype": "init"}]
    for number, (name, what, well) in enumerate(tools):
        use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": {"file_path": what, "content": "SECRET"}}
        done = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "CONTENTS", "is_error": not well}
        events += [{"type": "assistant", "message": {"content": [{"type": "text", "text": "I look."}, use]}}]
        events += [{"type": "user", "message": {"content": [done]}}]
    usage = {"input_tokens": 10, "output_tokens": 4}
    return {"out": lines(*events, {"type": "result", "is_error": False, "result": text, "usage": usage})}


def _codex(text: str, tools: Any) -> dict[str, Any]:
    events: list[Any] = [{"type": "item.completed", "item": {"type": "agent_message", "text": "I look."}}]
    for name, what, well in tools:
        item = {
            "type": name,
            "command": f"/bin/bash -lc '{what}'",
            "aggregated_output": "CONTENTS",
            "exit_code": 0 if well else 1,
        }
        events.append({"type": "item.completed", "item": item})
    return {"out": lines(*events, {"type": "turn.completed", "usage": {"input_tokens": 10}}), "last": text}


def _copilot(text: str, tools: Any) -> dict[str, Any]:
    events: list[Any] = [{"type": "assistant.message", "data": {"content": "I look.", "outputTokens": 2}}]
    for number, (name, what, well) in enumerate(tools):
        begun = {"toolCallId": f"t{number}", "toolName": name, "arguments": {"path": what, "file_text": "SECRET"}}
        done = {"toolCallId": f"t{number}", "success": well, "result": {"content": "CONTENTS"}}
        events += [{"type": "tool.execution_start", "data": begun}, {"type": "tool.execution_complete", "data": done}]
    return {"out": lines(*events, {"type": "assistant.message", "data": {"content": text, "outputTokens": 2}})}


def _cursor(text: str, tools: Any) -> dict[str, Any]:
    events: list[Any] = []
    for name, what, well in tools:
        result = {"success": {"content": "CONTENTS"}} if well else {"rejected": {}}
        call = {f"{name}ToolCall": {"args": {"path": what, "fileText": "SECRET"}, "result": result}}
        events += [{"type": "tool_call", "subtype": step, "tool_call": call} for step in ("started", "completed")]
    return {"out": lines(*events, {"type": "result", "is_error": False, "result": text})}


class Lab:
    """One agent with a stand-in for its program."""

    def __init__(self, backend: str, folder: Path) -> None:
        self.backend, self.agent = backend, AGENTS[backend]
        self.program = Program(folder / "bin", self.agent.program)
        self.environ = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder)}

    def model(self, settings: Mapping[str, Any] | None = None, **changes: Any) -> AgentModel:
        values = {"role": "target", "backend": self.backend, "model": "m1", "timeout": 20.0, "retries": 0, **changes}
        return AgentModel(ModelSpec(**values, options={"client": settings or {}}), self.agent, self.environ)

    def ask(self, work: Workspace | None = WORK, settings: Mapping[str, Any] | None = None, **changes: Any) -> Reply:
        return self.model(settings, **changes).complete(Request(MESSAGES, workspace=work))

    def given(self, work: Workspace, **settings: Any) -> dict[str, Any]:
        """What the program got for a workspace, its folder written as DIR."""
        self.program.plan(**answer(self.backend, "Ada"))
        self.ask(work, settings)
        (given,) = self.program.given
        return {**given, "args": " ".join(given["args"]).replace(given["cwd"].removesuffix("/work"), "DIR")}
