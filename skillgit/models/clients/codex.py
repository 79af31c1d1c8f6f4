"""Codex's command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from skillgit.errors import ModelConfigError
from skillgit.models.base import Reply, Usage
from skillgit.models.clients.base import BYPASSED, Call, json_lines
from skillgit.models.clients.process import Finished
from skillgit.models.clients.trace import Step, subject, summary

_DONE = "turn.completed"
_FULL, _NEVER = "danger-full-access", "never"
_TALK = ("agent_message", "reasoning", "todo_list", "error")


class Codex:
    """`codex exec`: nobody to ask, nothing saved; the user's configuration only when a profile is named.

    It is read-only, unless tasks need edits or `model.codex.sandbox` says otherwise.
    """

    program = "codex"
    path_variables: tuple[str, ...] = ("CODEX_EXEC_PATH", "CODEX_CLI_BIN", "CODEX_PATH")
    skills: tuple[str, ...] = (".agents/skills",)
    # Not all of `OPENAI_`: keys of other servers begin so as well.
    variables: tuple[str, ...] = ("CODEX_", "OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY")
    enforces_schema = True

    def arguments(self, call: Call) -> list[str]:
        settings = call.settings
        args = ["exec", "--json", "--ephemeral", "--ignore-rules", "--skip-git-repo-check", "--color", "never"]
        args += _limits(call)
        args += ["--profile", settings["profile"]] if settings.get("profile") else ["--ignore-user-config"]
        args += ["--cd", str(call.where), "--output-last-message", str(call.folder / "answer.txt")]
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

    def environment(self, call: Call) -> dict[str, str]:
        """An agent at work gets a home of its own: skills of the user must not stand beside the one under test."""
        if call.workspace is None:
            return {}
        own = Path(call.environ.get("CODEX_HOME") or Path(call.environ.get("HOME", "/")) / ".codex")
        home = call.folder / "home"
        home.mkdir()
        return {"HOME": str(home), **({"CODEX_HOME": str(own)} if own.is_dir() else {})}

    def sandbox(self, settings: Mapping[str, Any], edits: bool) -> str:
        """See `ExecTarget.sandbox`."""
        mode = _mode(settings, edits)
        if mode == "read-only" and (edits or settings.get("network_access")):
            what = "the tasks ask for changes to files" if edits else "model.codex.network_access is set"
            raise ModelConfigError(
                f"{what}, and model.codex.sandbox is read-only", fix="set model.codex.sandbox=workspace-write"
            )
        said = [f"{mode} ({BYPASSED})" if mode == _FULL else mode]
        said += ["network"] if settings.get("network_access") and mode != _FULL else []
        said += ["web search"] if settings.get("web_search") else []
        said += [f"approval {settings['approval_policy']}"] if settings.get("approval_policy", _NEVER) != _NEVER else []
        return ", ".join(said)

    def read(self, done: Finished, call: Call) -> Reply | str:
        """The file of the last message, else the last message among the events."""
        events = list(json_lines(done.out))
        if done.code:
            return _trouble(events) or done.words
        answer = call.folder / "answer.txt"
        text = answer.read_text(encoding="utf-8", errors="replace") if answer.is_file() else ""
        text = text or _last_message(events)
        if not text.strip():
            return _trouble(events)
        return Reply(text.strip("\n"), _usage(events), reasoning=summary(_steps(events), call.workspace))


def _mode(settings: Mapping[str, Any], edits: bool) -> str:
    # Only in this mode can there be a network.
    needed = "workspace-write" if edits or settings.get("network_access") else "read-only"
    return str(settings.get("sandbox") or needed)


def _limits(call: Call) -> list[str]:
    """What it may do: nothing but read, unless it works in a workspace."""
    settings = call.settings if call.workspace else {}
    search = "live" if settings.get("web_search") else "disabled"
    args = ["--sandbox", _mode(settings, call.writable)]
    args += ["-c", f"approval_policy={json.dumps(settings.get('approval_policy') or _NEVER)}"]
    args += ["-c", f"web_search={json.dumps(search)}"]
    if call.workspace:
        network = "true" if settings.get("network_access") else "false"
        args += ["-c", f"sandbox_workspace_write.network_access={network}"]
        # It would let them write into the temporary folder, where other workspaces are.
        args += ["-c", "sandbox_workspace_write.exclude_slash_tmp=true"]
        args += ["-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true"]
        # Commands of the agent need no keys.
        args += ["-c", 'shell_environment_policy.inherit="core"']
    return args


def _steps(events: list[dict[str, Any]]) -> Iterator[Step]:
    """The tools it used, by the events of finished items."""
    items = [event.get("item") for event in events if event.get("type") == "item.completed"]
    for item in items:
        kind = item.get("type") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(kind, str) or kind in _TALK:
            continue
        failed = item.get("status") in ("failed", "declined") or item.get("exit_code") not in (None, 0)
        changes = item.get("changes")
        if isinstance(changes, list):
            for change in changes:
                yield Step(kind, subject(change), failed)
        else:
            tool = f"{item.get('server')}.{item.get('tool')}" if kind == "mcp_tool_call" else kind
            yield Step(tool, _command(subject(item)), failed)


def _command(text: str) -> str:
    """A command without the shell that it is wrapped in."""
    try:
        words = shlex.split(text)
    except ValueError:
        return text
    return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else text


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
