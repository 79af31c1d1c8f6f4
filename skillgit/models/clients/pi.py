"""Pi's command line."""

from __future__ import annotations

from typing import Any

from skillgit.models.base import Reply, Usage
from skillgit.models.clients.base import Call, json_lines
from skillgit.models.clients.process import Finished


class Pi:
    """`pi -p`: no tools, skills, extensions, templates or context files, and no session."""

    program = "pi"
    path_variables: tuple[str, ...] = ()
    variables: tuple[str, ...] = (
        "PI_",
        "ANTHROPIC_",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "OPENROUTER_API_KEY",
        "DEEPSEEK_API_KEY",
    )
    enforces_schema = False

    def arguments(self, call: Call) -> list[str]:
        args = ["-p", "--mode", "json", "--no-session", "--no-tools", "--no-skills", "--no-context-files"]
        args += ["--no-extensions", "--no-prompt-templates", "--no-themes", "--offline"]
        (call.folder / "system.md").write_text(call.system, encoding="utf-8")
        args += ["--system-prompt", str(call.folder / "system.md")] if call.system else ["--system-prompt", ""]
        args += ["--thinking", call.effort] if call.effort else []
        return [*args, "--model", call.model] if call.model else args

    def stdin(self, call: Call) -> str:
        return call.prompt

    def environment(self, call: Call) -> dict[str, str]:  # noqa: ARG002 - one shape for all clients
        return {"PI_OFFLINE": "1"}

    def read(self, done: Finished, call: Call) -> Reply | str:  # noqa: ARG002 - one shape for all clients
        """The last message of the assistant."""
        events = list(json_lines(done.out))
        messages = [event.get("message") for event in events if event.get("type") == "message_end"]
        last = next((m for m in reversed(messages) if isinstance(m, dict) and m.get("role") == "assistant"), None)
        if last is None or done.code:
            return done.words
        if last.get("errorMessage"):
            return str(last["errorMessage"])
        parts = [part for part in last.get("content") or [] if isinstance(part, dict)]
        text = "".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")
        thought = "".join(str(part.get("thinking") or "") for part in parts if part.get("type") == "thinking")
        return Reply(text, _usage(last), reasoning=thought) if text.strip() else ""


def _usage(message: dict[str, Any]) -> Usage:
    used = message.get("usage")
    used = used if isinstance(used, dict) else {}
    counts = [used.get(name) if isinstance(used.get(name), int) else None for name in ("input", "output", "cacheRead")]
    return Usage(*counts)
