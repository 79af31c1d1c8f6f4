"""OpenCode's command line."""

from __future__ import annotations

import json
from typing import Any

from skillgit.models.base import Reply, Usage
from skillgit.models.clients.base import Call, json_lines
from skillgit.models.clients.process import Finished

_CLOSED = {"share": "disabled", "autoupdate": False, "snapshot": False, "tools": {"*": False}}


class OpenCode:
    """`opencode run`: no plugins, every tool denied, nothing shared."""

    program = "opencode"
    path_variables: tuple[str, ...] = ()
    variables: tuple[str, ...] = (
        "OPENCODE_",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "OPENROUTER_API_KEY",
    )
    enforces_schema = False

    def arguments(self, call: Call) -> list[str]:
        args = ["run", "--pure", "--format", "json", "--title", "skillgit", "--dir", str(call.folder)]
        args += ["--variant", call.effort] if call.effort else []
        return [*args, "--model", call.model] if call.model else args

    def stdin(self, call: Call) -> str:
        return call.whole

    def environment(self, call: Call) -> dict[str, str]:  # noqa: ARG002 - one shape for all clients
        return {"OPENCODE_PERMISSION": '{"*":"deny"}', "OPENCODE_CONFIG_CONTENT": json.dumps(_CLOSED)}

    def read(self, done: Finished, call: Call) -> Reply | str:  # noqa: ARG002 - one shape for all clients
        """The texts of the answer, in order."""
        events = list(json_lines(done.out))
        parts = [event["part"] for event in events if isinstance(event.get("part"), dict)]
        text = "\n".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")
        if done.code or not text.strip():
            return _trouble(events) or (done.words if done.code else "")
        return Reply(text, _usage(parts))


def _trouble(events: list[dict[str, Any]]) -> str:
    for event in reversed(events):
        if event.get("type") == "error":
            error = event.get("error")
            data = error.get("data") if isinstance(error, dict) else None
            return str((data or {}).get("message") if isinstance(data, dict) else error or event)
    return ""


def _usage(parts: list[dict[str, Any]]) -> Usage:
    steps = [part for part in parts if part.get("type") == "step-finish"]
    tokens = [step["tokens"] for step in steps if isinstance(step.get("tokens"), dict)]
    counts = [[n for each in tokens if isinstance(n := each.get(name), int)] for name in ("input", "output")]
    sums = [sum(each) if each else None for each in counts]
    costs = [step["cost"] for step in steps if isinstance(step.get("cost"), int | float)]
    return Usage(sums[0], sums[1], cost=float(sum(costs)) if costs else None)
