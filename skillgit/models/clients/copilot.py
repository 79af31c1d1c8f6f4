"""GitHub Copilot's command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skillgit.models.base import Reply, Usage
from skillgit.models.clients.base import BYPASSED, Call, json_lines
from skillgit.models.clients.process import Finished
from skillgit.models.clients.trace import Step, subject, summary


class Copilot:
    """`copilot` with its prompt on standard input: no servers, no instructions of the user, no tools but for work."""

    program = "copilot"
    path_variables: tuple[str, ...] = ()
    skills: tuple[str, ...] = (".agents/skills",)
    variables: tuple[str, ...] = ("COPILOT_", "GH_", "GITHUB_TOKEN")
    enforces_schema = False

    def arguments(self, call: Call) -> list[str]:
        args = ["--output-format", "json", "--stream", "off", "--no-color", "--log-level", "none", "--no-auto-update"]
        args += ["--disable-builtin-mcps", "--no-custom-instructions", *_limits(call), "-C", str(call.where)]
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

    def sandbox(self, settings: Mapping[str, Any], edits: bool) -> str:
        """See `ExecTarget.sandbox`."""
        if settings.get("allow_all_tools"):
            return f"all tools ({BYPASSED})"
        return f"tools: {' '.join(_tools(edits))}"

    def read(self, done: Finished, call: Call) -> Reply | str:
        """The messages of the assistant, in order; of one at work only the last, for others tell what it will do."""
        events = list(json_lines(done.out))
        data = [event["data"] for event in events if isinstance(event.get("data"), dict)]
        kinds = [event.get("type") for event in events if isinstance(event.get("data"), dict)]
        said = [str(part.get("content") or "") for kind, part in zip(kinds, data, strict=True) if kind == _MESSAGE]
        said = [part for part in said if part.strip()]
        text = "\n".join(said[-1:] if call.workspace else said)
        if done.code or not text.strip():
            errors = [str(p.get("message") or "") for k, p in zip(kinds, data, strict=True) if "error" in str(k)]
            return next((error for error in reversed(errors) if error), done.words if done.code else "")
        used = [part.get("outputTokens") for kind, part in zip(kinds, data, strict=True) if kind == _MESSAGE]
        counts = [count for count in used if isinstance(count, int)]
        used_up = Usage(completion_tokens=sum(counts) if counts else None)
        return Reply(text, used_up, reasoning=summary(_steps(kinds, data), call.workspace))


def _tools(edits: bool) -> list[str]:
    return ["view", "glob", "grep", *(["create", "edit", "apply_patch"] if edits else [])]


def _limits(call: Call) -> list[str]:
    """The tools that there are: none, unless it works in a workspace."""
    if call.workspace is None:
        return ["--available-tools="]
    if call.settings.get("allow_all_tools"):
        return ["--no-ask-user", "--allow-all-tools"]
    args = ["--no-ask-user", "--disallow-temp-dir", f"--available-tools={','.join(_tools(call.writable))}"]
    return [*args, "--allow-tool=write"] if call.writable else args


def _steps(kinds: list[Any], data: list[dict[str, Any]]) -> Iterator[Step]:
    """The tools it used, and which of them failed."""
    told = list(zip(kinds, data, strict=True))
    failed = {part.get("toolCallId") for kind, part in told if kind == _USED and part.get("success") is False}
    for kind, part in told:
        if kind == _USES:
            yield Step(str(part.get("toolName")), subject(part.get("arguments")), part.get("toolCallId") in failed)


_USES, _USED = "tool.execution_start", "tool.execution_complete"
_MESSAGE = "assistant.message"
