"""Options that several `sleep` commands share: each sets a key of the `sleep` section."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from skillgit.errors import ConfigError

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

    Raises:
        ConfigError: the scope names a relative folder that is not there: a word misspelt, most likely.
    """
    given = {key: options[key] for key in _KEYS if options.get(key) is not None}
    if given.get("scope", "") not in _WORDS:
        _check_scope(given["scope"], folder)
    for key in (*STORES, "scope"):
        if key in given and given[key] not in _WORDS:
            given[key] = ",".join(
                str((folder / Path(part.strip()).expanduser()).absolute()) for part in given[key].split(",")
            )
    return [f"sleep.{key}={json.dumps(value)}" for key, value in given.items()]


def _check_scope(scope: str, folder: Path) -> None:
    for name in (Path(part.strip()).expanduser() for part in scope.split(",")):
        if not name.is_absolute() and not (folder / name).is_dir():
            raise ConfigError(
                f"--scope has no folder {name}",
                why=f"looked in {folder.absolute()}",
                fix="give repository, all, or folders separated by commas",
            )


def words(ctx: click.Context, parameters: Iterable[click.Parameter]) -> list[str]:
    """Those of the options that were given on the command line, as the words to give them again."""
    found: list[str] = []
    for option in parameters:
        if option.name and ctx.get_parameter_source(option.name) == ParameterSource.COMMANDLINE:
            found += _words(option, ctx.params[option.name])
    return found


def _words(option: click.Parameter, value: Any) -> list[str]:
    name = max(option.opts, key=len)
    if isinstance(option, click.Option) and option.is_flag:
        return [name if value else option.secondary_opts[0]]
    values = value if option.multiple else (value,)
    return [f"{name}={each}" for each in values]


def command(ctx: click.Context, name: str, tasks_file: str = "") -> str:
    """A `sleep` command as it can be pasted, with the choice of sessions and the configuration that were given here.

    Args:
        tasks_file: what it is to take tasks from, instead of sessions.
    """
    shared = ("config", "overrides", *(() if tasks_file else _KEYS))
    again = words(ctx, (each for each in ctx.command.params if each.name in shared))
    return shlex.join(["skillgit", "sleep", name, *again, *(["--tasks-file", tasks_file] if tasks_file else [])])
