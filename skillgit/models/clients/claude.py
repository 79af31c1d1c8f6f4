"""Claude Code's command line."""

from __future__ import annotations

import json
from typing import Any

from skillgit.models.base import Reply, Usage
from skillgit.models.clients.base import Call, json_lines
from skillgit.models.clients.process import Finished


class Claude:
    """`claude -p`: no tools, no settings, no skills, no servers, nothing saved."""

    program = "claude"
    variables: tuple[str, ...] = ("ANTHROPIC_", "CLAUDE_", "AWS_", "GOOGLE_", "CLOUD_ML_", "VERTEX_")
    enforces_schema = True

    def arguments(self, call: Call) -> list[str]:
        args = ["-p", "--output-format", "json", "--permission-mode", "dontAsk", "--tools", "", "--setting-sources", ""]
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

    def environment(self, call: Call) -> dict[str, str]:  # noqa: ARG002 - one shape for all clients
        return {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}

    def read(self, done: Finished, call: Call) -> Reply | str:
        """The last `result` event; one that is marked as an error carries the reason in place of the answer."""
        result = next((event for event in _events(done.out)[::-1] if event.get("type") == "result"), None)
        if result is None:
            return done.words
        text = str(result.get("result") or "")
        if result.get("is_error"):
            return text or str(result.get("subtype") or "an error without words")
        if call.schema is not None and result.get("structured_output") is not None:
            text = json.dumps(result["structured_output"], ensure_ascii=False)
        return Reply(text, _usage(result)) if text.strip() else ""


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
