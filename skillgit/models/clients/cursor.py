"""Cursor's command line."""

from __future__ import annotations

import json

from skillgit.models.base import Reply
from skillgit.models.clients.base import Call, json_lines
from skillgit.models.clients.process import Finished

_DENY = {"permissions": {"allow": [], "deny": ["Read(**)", "Write(**)", "Shell(**)", "Mcp(*:*)"]}}


class Cursor:
    """`cursor-agent -p` in asking mode, with a configuration folder of its own that denies every tool."""

    program = "cursor-agent"
    variables: tuple[str, ...] = ("CURSOR_API_KEY", "CURSOR_AUTH_TOKEN")
    enforces_schema = False

    def arguments(self, call: Call) -> list[str]:
        args = ["-p", "--output-format", "json", "--trust", "--workspace", str(call.folder), "--mode", "ask"]
        return [*args, "--model", call.model] if call.model else args

    def stdin(self, call: Call) -> str:
        return call.whole

    def environment(self, call: Call) -> dict[str, str]:
        home = call.folder / "cursor"
        home.mkdir()
        (home / "cli-config.json").write_text(json.dumps({"version": 1, **_DENY}), encoding="utf-8")
        return {"CURSOR_CONFIG_DIR": str(home), "CURSOR_DATA_DIR": str(home)}

    def read(self, done: Finished, call: Call) -> Reply | str:  # noqa: ARG002 - one shape for all clients
        """The last `result` event."""
        result = next((event for event in list(json_lines(done.out))[::-1] if event.get("type") == "result"), None)
        if result is None or done.code:
            return done.words
        text = str(result.get("result") or "")
        if result.get("is_error"):
            return text or "an error without words"
        return Reply(text) if text.strip() else ""
