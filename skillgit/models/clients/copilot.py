"""GitHub Copilot's command line."""

from __future__ import annotations

from skillgit.models.base import Reply, Usage
from skillgit.models.clients.base import Call, json_lines
from skillgit.models.clients.process import Finished


class Copilot:
    """`copilot` with its prompt on standard input: no tools, no servers, no instructions of the user."""

    program = "copilot"
    variables: tuple[str, ...] = ("COPILOT_", "GH_", "GITHUB_TOKEN")
    enforces_schema = False

    def arguments(self, call: Call) -> list[str]:
        args = ["--output-format", "json", "--stream", "off", "--no-color", "--log-level", "none", "--no-auto-update"]
        args += ["--disable-builtin-mcps", "--no-custom-instructions", "--available-tools=", "-C", str(call.folder)]
        if call.model:
            args += ["--model", call.model]
        if call.effort:
            args += ["--reasoning-effort", call.effort]
        return args

    def stdin(self, call: Call) -> str:
        return call.whole

    def environment(self, call: Call) -> dict[str, str]:
        home = call.settings.get("home")
        return {"COPILOT_ALLOW_ALL": "false", **({"COPILOT_HOME": str(home)} if home else {})}

    def read(self, done: Finished, call: Call) -> Reply | str:  # noqa: ARG002 - one shape for all clients
        """The messages of the assistant, in order."""
        events = list(json_lines(done.out))
        data = [event["data"] for event in events if isinstance(event.get("data"), dict)]
        kinds = [event.get("type") for event in events if isinstance(event.get("data"), dict)]
        said = [str(part.get("content") or "") for kind, part in zip(kinds, data, strict=True) if kind == _MESSAGE]
        text = "\n".join(part for part in said if part)
        if done.code or not text.strip():
            errors = [str(p.get("message") or "") for k, p in zip(kinds, data, strict=True) if "error" in str(k)]
            return next((error for error in reversed(errors) if error), done.words if done.code else "")
        used = [part.get("outputTokens") for kind, part in zip(kinds, data, strict=True) if kind == _MESSAGE]
        counts = [count for count in used if isinstance(count, int)]
        return Reply(text, Usage(completion_tokens=sum(counts) if counts else None))


_MESSAGE = "assistant.message"
