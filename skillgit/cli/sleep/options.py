"""Options that several `sleep` commands share: each sets a key of the `sleep` section."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

# Option to key of the `sleep` section; the names are those of SkillOpt-Sleep.
STORES = {
    "claude_home": "Claude Code's folder (default ~/.claude).",
    "codex_home": "Codex's folder (default $CODEX_HOME or ~/.codex).",
    "cursor_home": "Cursor's folder (default ~/.cursor).",
    "pi_home": "Pi's folder (default ~/.pi).",
    "opencode_db": "OpenCode's database.",
    "copilot_cli_session_store": "Copilot CLI's session database.",
    "vscode_workspace_storage": "VS Code's workspaceStorage folder.",
    "devin_transcripts": "Folder of Devin's transcripts.",
    "neutral_sessions": "Folder of sessions in skillgit's neutral format.",
}
_SCOPE = "Whose sessions: repository, all, or folders separated by commas."


def session_options(function: F) -> F:
    """Which sessions are read: `--source`, `--scope`, `--lookback-hours`, `--max-sessions`, `--max-tasks`, stores."""
    for name, text in reversed(STORES.items()):
        function = click.option(f"--{name.replace('_', '-')}", metavar="PATH", help=text)(function)
    function = click.option("--max-tasks", type=click.IntRange(1), help="Most tasks to mine.")(function)
    function = click.option("--max-sessions", type=click.IntRange(1), help="Mine the newest sessions only.")(function)
    function = click.option(
        "--lookback-hours", type=click.FloatRange(0), help="How old a session may be when first read; 0: any."
    )(function)
    function = click.option("--scope", metavar="SCOPE", help=_SCOPE)(function)
    return click.option("--source", metavar="NAMES", help="Agents to read, separated by commas; auto: all.")(function)


_WORDS = ("repository", "all", "")  # of a scope that names no folders
_KEYS = (*STORES, "source", "scope", "lookback_hours", "max_sessions", "max_tasks")


def overrides(options: Mapping[str, Any], folder: Path) -> list[str]:
    """What was given of them, as `sleep.key=value` overrides.

    Args:
        folder: where relative paths start from.
    """
    given = {key: options[key] for key in _KEYS if options.get(key) is not None}
    for key in (*STORES, "scope"):
        if key in given and given[key] not in _WORDS:
            given[key] = ",".join(str((folder / Path(part).expanduser()).absolute()) for part in given[key].split(","))
    return [f"sleep.{key}={json.dumps(value)}" for key, value in given.items()]
