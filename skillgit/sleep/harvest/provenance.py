"""Whose words a text is that a transcript gives to the user: a person's, or those of the agent's own program or a tool.

The sources judge by structure, which is sure. Here is what only the text tells. Guesses from timing or style ("short
and answered at once") are not made: they cost people's sessions.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Literal

from skillgit.sleep.base import Reason

_COMMAND_TAG = r"command-(?:name|message|args|contents)|local-command-[a-z-]+|bash-(?:input|stdout|stderr)"
_META_TAG = (
    r"system[-_][\w-]+|[\w-]+-hook|(?:task|agent)-notification|teammate-message|new-diagnostics|persisted-output|"
    r"tick|"
    r"ide_(?:opened_file|selection|diagnostics|context)|environment_(?:context|details)|user_(?:instructions|info|"
    r"rules)|"
    r"codex_[\w-]+|turn_aborted|collaboration_mode|permissions[ _-]instructions|INSTRUCTIONS|project_layout|"
    r"open_and_recently_viewed_files|attached_files|additional_data|cursor_rules[\w-]*|mcp_[\w-]+|tool_use_error|"
    r"(?:function|tool)_results?|total_tokens|skill(?:-format|_content|s_instructions)"
)
_WRAPPED = re.compile(rf"<(?P<tag>(?P<command>{_COMMAND_TAG})|{_META_TAG})(?:\s[^<>\n]{{0,300}})?>")
_SLASH = re.compile(r"/[A-Za-z][\w:.-]*(?:[ \t]+\S+){0,2}|![^\n]{1,200}")
_PASTED = re.compile(r"\[(?:Pasted text|Image|Attachment|Screenshot|File)\b[^\]\n]{0,80}\]")
_PASTED_LINES = re.compile(r"\[Pasted text\b[^\]\n+]{0,40}\+(\d{1,7}) lines?\]")
_OPENINGS: tuple[tuple[Reason, tuple[str, ...]], ...] = (
    ("command", ("# /", "Base directory for this skill:", "Launching skill:")),
    (
        "meta",
        (
            "Caveat: The messages below were generated",
            "[Request interrupted",
            "[Tool use interrupted",
            "This session is being continued from a previous conversation",
            "Your task is to create a detailed summary of the conversation",
            "# AGENTS.md instructions",
            "Stop hook feedback",
            "PreToolUse:",
            "PostToolUse:",
            "Called the ",
        ),
    ),
    (
        "other_agent",
        (
            "You are a Claude-Mem",
            "Hello memory agent",
            "You are SkillOpt-Sleep",
            "You are driving **SkillOpt-Sleep**",
            "<skillopt_sleep_internal_replay",
        ),
    ),
)
_PLACEHOLDER = re.compile(r"\$(?:\w+|\{\w+\})")
_MARKER = re.compile(r"^<!-- (system|user|assistant) -->\n", re.MULTILINE)
_OPENING = 40  # characters of a prompt's fixed opening that nobody writes by chance
_TOGETHER = 24  # characters of all its fixed parts, when they must all be there in order
_SCRATCH = re.compile(r"skillgit-[a-z0-9_]{8}")
_TEMPORARY = frozenset({"tmp", "temp", "t"})


def reason_of(text: str, *, first: bool, patterns: Sequence[str]) -> Reason | Literal[""]:
    """Why a user's text is no person's; blank when it may be.

    Args:
        first: it is the first of its session; only there do patterns count.
        patterns: the user's phrases (`sleep.exclude`), of any case.
    """
    said = text.strip()
    if is_own(said):
        return "own"
    for reason, openings in _OPENINGS:
        if said.startswith(openings):
            return reason
    rest = people_part(said)
    if not rest:
        wrapped = _WRAPPED.search(said)
        return "command" if wrapped and wrapped["command"] else "meta"
    if _SLASH.fullmatch(rest):
        return "command"
    folded = said.casefold()
    return "pattern" if first and any(one.strip() and one.casefold() in folded for one in patterns) else ""


def people_part(text: str) -> str:
    """What is left of a user's text without the blocks that programs put into it; blank when they are all of it."""
    kept, at = [], 0
    while opened := _WRAPPED.search(text, at):
        kept.append(text[at : opened.start()])
        closing = f"</{opened['tag']}>"
        closed = text.find(closing, opened.end())
        at = closed + len(closing) if closed >= 0 else len(text)
    return _PASTED.sub("", _typed("".join([*kept, text[at:]]))).strip()


def _typed(text: str) -> str:
    """The text without the lines that a mark says were pasted there."""
    kept, pasted = [], 0
    for line in text.split("\n"):
        if pasted:
            pasted -= 1
            continue
        pasted = sum(int(mark[1]) for mark in _PASTED_LINES.finditer(line))
        kept.append(_PASTED_LINES.sub("", line))
    return "\n".join(kept)


def own_folder(cwd: str) -> bool:
    """Whether a session was held in a scratch folder of skillgit's, where agents answer its prompts."""
    parts = PurePosixPath(cwd.replace("\\", "/")).parts
    places = {part.lower() for part in PurePosixPath(tempfile.gettempdir()).parts[-1:]} | _TEMPORARY
    return any(_SCRATCH.fullmatch(part) and parent.lower() in places for parent, part in pairwise(parts))


def is_own(text: str) -> bool:
    """Whether a text is one of skillgit's prompts, filled in: by the words that the prompts themselves are made of."""
    told = " ".join(text.split())
    return any(_is_from(told, starts, parts) for starts, parts in _prompts())


def _is_from(text: str, starts: bool, parts: tuple[str, ...]) -> bool:
    if starts:
        if not text.startswith(parts[0]):
            return False
        if len(parts[0]) >= _OPENING:
            return True
    elif max(map(len, parts)) < _OPENING:
        return False
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


@cache
def _prompts() -> tuple[tuple[bool, tuple[str, ...]], ...]:
    """Of each turn of each prompt: whether it begins with fixed words, and its fixed parts."""
    found = []
    for file in sorted(files("skillgit").joinpath("prompts").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".md"):
            turns = _MARKER.split(file.read_text(encoding="utf-8"))
            found += [_fixed(body) for role, body in zip(turns[1::2], turns[2::2], strict=True) if role != "assistant"]
    return tuple((starts, parts) for starts, parts in found if sum(map(len, parts)) >= _TOGETHER)


def _fixed(body: str) -> tuple[bool, tuple[str, ...]]:
    parts = [" ".join(part.split()) for part in _PLACEHOLDER.split(body)]
    return bool(parts[0]), tuple(part for part in parts if part)
