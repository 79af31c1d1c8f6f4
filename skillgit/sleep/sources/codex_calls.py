"""What the calls of tools in a Codex rollout tell: names, never what went in or came out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from skillgit.sleep.sources.fields import items, mapping, name, skill_files, string

_CALLS = {"function_call": "", "custom_tool_call": "", "local_shell_call": "shell", "web_search_call": "web_search"}
"""Kinds of items that are calls, and the tool's name where the item has none."""
_SHELLS = frozenset({"exec", "exec_command", "local_shell", "shell", "shell_command"})
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,1000})$", re.MULTILINE)

Facts = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Skills, tools, files."""


def call_facts(kind: str, body: Mapping[str, Any]) -> Facts | None:
    """What a call tells: skills whose `SKILL.md` its command reads, its tool, files it patches. `None`: no call."""
    told = string(body.get("type"))
    if kind not in ("response_item", told) or told not in _CALLS:
        return None
    tool = name(body.get("name")) or _CALLS[told]
    command = _command(body)
    skills = skill_files(command) if tool in _SHELLS else ()
    files = tuple(dict.fromkeys(_PATCHED.findall(command)))
    return (skills, (tool,) if tool else (), files) if tool else None


def _command(body: Mapping[str, Any]) -> str:
    """The command line, script or patch that a call runs."""
    given: Any = body.get("arguments", body.get("input"))
    if given is None:
        given = dict(mapping(body.get("action")))
    if isinstance(given, str):
        given = _decoded(given)
    if isinstance(given, str):
        return given
    parts = [mapping(given).get(key) for key in ("command", "cmd", "input")]
    return "\n".join(part if isinstance(part, str) else " ".join(map(string, items(part))) for part in parts if part)


def _decoded(text: str) -> Any:
    if not text.startswith("{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # a script, not the JSON of arguments
        return text
