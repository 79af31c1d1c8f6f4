"""Cursor's command line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from skillgit.errors import ModelConfigError
from skillgit.models.base import Reply
from skillgit.models.clients.base import Call, json_lines
from skillgit.models.clients.process import Finished
from skillgit.models.clients.trace import Step, subject, summary

_READ, _WRITE, _SHELL, _SERVERS = "Read(**)", "Write(**)", "Shell(**)", "Mcp(*:*)"


class Cursor:
    """`cursor-agent -p` with a configuration folder of its own: asking mode without tools, unless it works."""

    program = "cursor-agent"
    path_variables: tuple[str, ...] = ()
    skills: tuple[str, ...] = (".agents/skills",)
    variables: tuple[str, ...] = ("CURSOR_API_KEY", "CURSOR_AUTH_TOKEN")
    enforces_schema = False

    def arguments(self, call: Call) -> list[str]:
        form = "stream-json" if call.workspace else "json"
        args = ["-p", "--output-format", form, "--trust", "--workspace", str(call.where)]
        args += ["--sandbox", call.settings.get("sandbox") or "enabled"] if call.workspace else []
        args += ["--force"] if call.writable else ["--mode", "ask"]
        return [*args, "--model", call.model] if call.model else args

    def stdin(self, call: Call) -> str:
        return call.whole

    def environment(self, call: Call) -> dict[str, str]:
        home = call.folder / "cursor"
        home.mkdir()
        config = {"version": 1, "permissions": _permissions(call)}
        (home / "cli-config.json").write_text(json.dumps(config), encoding="utf-8")
        return {"CURSOR_CONFIG_DIR": str(home), "CURSOR_DATA_DIR": str(home)}

    def sandbox(self, settings: Mapping[str, Any], edits: bool) -> str:
        """See `ExecTarget.sandbox`."""
        mode = settings.get("sandbox") or "enabled"
        if edits and mode != "enabled":
            raise ModelConfigError(
                "the tasks ask for changes to files, and model.cursor.sandbox is disabled",
                why="Cursor is then told to ask nobody, so nothing would hold its commands",
                fix="set model.cursor.sandbox=enabled",
            )
        return f"sandbox {mode}, {'edits and commands' if edits else 'reads only'}"

    def read(self, done: Finished, call: Call) -> Reply | str:
        """The last `result` event."""
        events = list(json_lines(done.out))
        result = next((event for event in events[::-1] if event.get("type") == "result"), None)
        if result is None or done.code:
            return done.words
        text = str(result.get("result") or "")
        if result.get("is_error"):
            return text or "an error without words"
        return Reply(text, reasoning=summary(_steps(events), call.workspace)) if text.strip() else ""


def _permissions(call: Call) -> dict[str, list[str]]:
    if call.workspace is None:
        return {"allow": [], "deny": [_READ, _WRITE, _SHELL, _SERVERS]}
    if call.writable:
        return {"allow": [_READ, _WRITE, _SHELL], "deny": [_SERVERS]}
    return {"allow": [_READ], "deny": [_WRITE, _SHELL, _SERVERS]}


def _steps(events: list[dict[str, Any]]) -> Iterator[Step]:
    """The tools it used, by the events of finished calls: `{"readToolCall": {"args": …, "result": …}}`."""
    for event in events:
        call = event.get("tool_call")
        if event.get("type") != "tool_call" or event.get("subtype") != "completed" or not isinstance(call, dict):
            continue
        for name, body in call.items():
            if isinstance(body, dict):
                result = body.get("result")
                failed = isinstance(result, dict) and "success" not in result
                yield Step(name.removesuffix("ToolCall"), subject(body.get("args")), failed)
