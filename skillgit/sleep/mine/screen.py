"""Checks that a model wrote: only what is sound, safe to run, and true of the answers that people took."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from skillgit.tasks import judges

MOST_CHECKS = 6
"""Most checks of one task; further ones are left out."""

_PATTERN_CHARS = 120
_TEXT_CHARS = 200
_WIDE = 8  # a repetition with more room than this counts as endless
_TOOL = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<open>\((?:\?(?:P<\w+>|[:=!]|<[=!]))?)|(?P<close>\))"
    r"|(?P<repeat>[*+?]|\{(?P<low>\d*)(?P<comma>,?)(?P<high>\d*)\})[?+]?|.",
    re.DOTALL,
)


def sound_checks(checks: Iterable[Any]) -> tuple[dict[str, Any] | None, int]:
    """A judge of the usable checks, `None` when there are none; and how many were left out."""
    given = list(checks)
    kept = [check for check in map(_cleaned, given) if check and not _problem(check)][:MOST_CHECKS]
    judge, wrong = judges.resolve({"type": "checks", "checks": kept}, ())
    return (None if wrong else judge), len(given) - len(kept)


def pattern_problem(pattern: str) -> str:
    """Why a pattern could take long to search with; empty when it cannot.

    Allowed are one endless repetition, or two after `^`; no repetition or choice inside a repeated group, and no
    reference back to a group.
    """
    if len(pattern) > _PATTERN_CHARS:
        return f"it has more than {_PATTERN_CHARS} characters"
    if re.search(r"\\[1-9]|\(\?P=|\(\?\(", pattern):
        return "it refers back to a group"
    groups, endless, closed = [False], 0, False  # per open group: whether it has a repetition or a choice inside
    for token in _TOKEN.finditer(pattern):
        if token["open"]:
            groups.append(False)
        elif token["close"] and len(groups) > 1:
            closed = groups.pop()
            groups[-1] |= closed
            continue
        elif token["repeat"]:
            if closed and token["repeat"] != "?":
                return "it repeats a group with a repetition or a choice inside"
            groups[-1] = True
            endless += _is_endless(token)
        elif token[0] == "|":
            groups[-1] = True
        closed = False
    return "it has too many endless repetitions" if endless > (2 if pattern.startswith("^") else 1) else ""


def _is_endless(repeat: re.Match[str]) -> bool:
    if repeat["low"] is None:
        return repeat["repeat"][0] in "*+"
    if not repeat["comma"]:
        return False
    return not repeat["high"] or int(repeat["high"]) - int(repeat["low"] or 0) > _WIDE


def _cleaned(check: Any) -> dict[str, Any] | None:
    """A check as judges want it; `None` when it is nothing like one."""
    if not isinstance(check, Mapping) or not isinstance(check.get("op"), str):
        return None
    op, arg = check["op"], check.get("arg")
    if op == "no_refusal":
        return {"op": op}
    if op in ("max_chars", "min_chars") and isinstance(arg, str) and re.fullmatch(r"[0-9]{1,6}", arg.strip()):
        return {"op": op, "arg": int(arg)}
    return {"op": op, "arg": arg if op == "regex" or not isinstance(arg, str) else arg.strip()}


def _problem(check: Mapping[str, Any]) -> str:
    op, arg = check["op"], check.get("arg")
    if wrong := judges.resolve({"type": "checks", "checks": [check]}, ())[1]:
        return wrong[0]
    if not isinstance(arg, str):
        return ""
    if op == "regex":
        return pattern_problem(arg)
    if op == "tool_called" and not _TOOL.fullmatch(arg):
        return "a tool's name has only letters, digits and _.-"
    return f"it has more than {_TEXT_CHARS} characters" if len(arg) > _TEXT_CHARS else ""
