"""Codex's command line."""

from __future__ import annotations

import json
from typing import Any

from skillgit.models.base import Reply, Usage
from skillgit.models.clients.base import Call, json_lines
from skillgit.models.clients.process import Finished

_DONE = "turn.completed"


class Codex:
    """`codex exec`: read-only, nobody to ask, nothing saved; the user's configuration only when a profile is named."""

    program = "codex"
    variables: tuple[str, ...] = ("CODEX_", "OPENAI_", "AZURE_OPENAI_")
    enforces_schema = True

    def arguments(self, call: Call) -> list[str]:
        settings = call.settings
        args = ["exec", "--json", "--ephemeral", "--ignore-rules", "--skip-git-repo-check", "--color", "never"]
        args += ["--sandbox", "read-only", "-c", 'approval_policy="never"', "-c", 'web_search="disabled"']
        args += ["--profile", settings["profile"]] if settings.get("profile") else ["--ignore-user-config"]
        args += ["--cd", str(call.folder), "--output-last-message", str(call.folder / "answer.txt")]
        if call.model:
            args += ["--model", call.model]
        if call.effort:
            args += ["-c", f"model_reasoning_effort={json.dumps(call.effort)}"]
        if call.schema is not None:
            (call.folder / "schema.json").write_text(json.dumps(dict(call.schema)), encoding="utf-8")
            args += ["--output-schema", str(call.folder / "schema.json")]
        return [*args, "-"]

    def stdin(self, call: Call) -> str:
        return call.whole

    def environment(self, call: Call) -> dict[str, str]:  # noqa: ARG002 - one shape for all clients
        return {}

    def read(self, done: Finished, call: Call) -> Reply | str:
        """The file of the last message, else the last message among the events."""
        events = list(json_lines(done.out))
        if done.code:
            return _trouble(events) or done.words
        answer = call.folder / "answer.txt"
        text = answer.read_text(encoding="utf-8", errors="replace") if answer.is_file() else ""
        text = text or _last_message(events)
        return Reply(text.strip("\n"), _usage(events)) if text.strip() else _trouble(events)


def _trouble(events: list[dict[str, Any]]) -> str:
    """What went wrong, by the last event that says so."""
    for event in reversed(events):
        if event.get("type") in ("turn.failed", "error"):
            error = event.get("error")
            said = error.get("message") if isinstance(error, dict) else event.get("message")
            return str(said or "")
    return ""


def _last_message(events: list[dict[str, Any]]) -> str:
    items = [event["item"] for event in events if isinstance(event.get("item"), dict)]
    texts = [str(item.get("text") or "") for item in items if item.get("type") == "agent_message"]
    return texts[-1] if texts else ""


def _usage(events: list[dict[str, Any]]) -> Usage:
    used: object = next((event.get("usage") for event in reversed(events) if event.get("type") == _DONE), None)
    names = ("input_tokens", "output_tokens", "cached_input_tokens")
    counts = [used.get(name) if isinstance(used, dict) else None for name in names]
    return Usage(*(count if isinstance(count, int) else None for count in counts))
