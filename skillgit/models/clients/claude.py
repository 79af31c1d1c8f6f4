"""Claude Code's command line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from skillgit.errors import ModelConfigError
from skillgit.models.base import Reply, Usage
from skillgit.models.clients.base import BYPASSED, Call, json_lines
from skillgit.models.clients.process import Finished
from skillgit.models.clients.trace import Step, subject, summary

_BYPASS = "bypassPermissions"


class Claude:
    """`claude -p`: no settings, no skills, no servers, nothing saved; no tools but those that work needs."""

    program = "claude"
    path_variables: tuple[str, ...] = ("CLAUDE_CLI_BIN",)
    skills: tuple[str, ...] = (".agents/skills", ".claude/skills")
    variables: tuple[str, ...] = ("ANTHROPIC_", "CLAUDE_", "AWS_", "GOOGLE_", "CLOUD_ML_", "VERTEX_")
    enforces_schema = True

    def arguments(self, call: Call) -> list[str]:
        args = ["-p", *_limits(call), "--setting-sources", ""]
        args += ["--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence"]
        if call.system:
            (call.folder / "system.md").write_text(call.system, encoding="utf-8")
            args += ["--system-prompt-file", str(call.folder / "system.md")]
        if call.model:
            args += ["--model", call.model]
        if call.effort:
            args += ["--effort", call.effort]
        if call.schema is not None:
            args += ["--json-schema", json.dumps(dict(call.schema))]
        return args

    def stdin(self, call: Call) -> str:
        return call.prompt

    def environment(self, call: Call) -> dict[str, str]:
        thoughts = call.settings.get("max_thinking_tokens")
        own = {"MAX_THINKING_TOKENS": str(thoughts)} if thoughts else {}
        return {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", **own}

    def sandbox(self, settings: Mapping[str, Any], edits: bool) -> str:
        """See `ExecTarget.sandbox`. It has none but its permissions; its commands run as the user."""
        mode = _mode(settings, edits)
        if edits and mode == "dontAsk":
            raise ModelConfigError(
                "the tasks ask for changes to files, and model.claude.permission_mode is dontAsk",
                fix="set model.claude.permission_mode=acceptEdits, or leave it blank",
            )
        tools = _tools(settings, edits)
        free = mode == _BYPASS or "Bash" in tools
        return f"{mode}: {' '.join(tools)}{f' ({BYPASSED})' if free else ''}"

    def read(self, done: Finished, call: Call) -> Reply | str:
        """The last `result` event; one that is marked as an error carries the reason in place of the answer."""
        result = next((event for event in _events(done.out)[::-1] if event.get("type") == "result"), None)
        if result is None:
            return done.words
        text = str(result.get("result") or "")
        if result.get("is_error") or done.code:
            return text or str(result.get("subtype") or "an error without words")
        if call.schema is not None and result.get("structured_output") is not None:
            text = json.dumps(result["structured_output"], ensure_ascii=False)
        if not text.strip():
            return ""
        return Reply(text, _usage(result), reasoning=summary(_steps(_events(done.out)), call.workspace))


def _mode(settings: Mapping[str, Any], edits: bool) -> str:
    return str(settings.get("permission_mode") or ("acceptEdits" if edits else "dontAsk"))


def _tools(settings: Mapping[str, Any], edits: bool) -> list[str]:
    changing = ["Edit", "Write", *(["Bash"] if settings.get("bash") else [])]
    return ["Read", "Glob", "Grep", *(changing if edits else [])]


def _limits(call: Call) -> list[str]:
    """How it answers, and what it may do: nothing, unless it works in a workspace."""
    if call.workspace is None:
        return ["--output-format", "json", "--permission-mode", "dontAsk", "--tools", ""]
    tools = _tools(call.settings, call.writable)
    args = ["--output-format", "stream-json", "--verbose"]
    args += ["--permission-mode", _mode(call.settings, call.writable), "--tools", ",".join(tools)]
    args += ["--allowedTools", "Bash"] if "Bash" in tools else []
    profile = call.settings.get("profile")
    return [*args, "--append-system-prompt", f"Profile: {profile}"] if profile else args


def _steps(events: list[dict[str, Any]]) -> Iterator[Step]:
    """The tools it used, and which of them told of an error."""
    parts = [part for event in events for part in _parts(event)]
    failed = {part.get("tool_use_id") for part in parts if part.get("type") == "tool_result" and part.get("is_error")}
    for part in parts:
        if part.get("type") == "tool_use":
            yield Step(str(part.get("name")), subject(part.get("input")), part.get("id") in failed)


def _parts(event: dict[str, Any]) -> list[dict[str, Any]]:
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _events(text: str) -> list[dict[str, Any]]:
    """The events of an output that is one JSON list, one object, or an object a line."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return list(json_lines(text))
    return [event for event in (value if isinstance(value, list) else [value]) if isinstance(event, dict)]


def _usage(result: dict[str, Any]) -> Usage:
    used = result.get("usage")
    used = used if isinstance(used, dict) else {}
    cached = used.get("cache_read_input_tokens")
    # What was read from or written to the cache is not among the input tokens.
    parts = [used.get(name) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")]
    counts = [part for part in parts if isinstance(part, int)]
    cost = result.get("total_cost_usd")
    return Usage(
        sum(counts) if counts else None,
        used.get("output_tokens") if isinstance(used.get("output_tokens"), int) else None,
        cached if isinstance(cached, int) else None,
        float(cost) if isinstance(cost, int | float) else None,
    )
