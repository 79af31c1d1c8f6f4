"""What tells who somebody is: e-mail addresses and home folders. Hidden only when asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from skillgit.skills.secrets import SecretHit

# An address in an address is written with %40, in some JSON with \\u0040.
_AT = r"(?:@|%40|\\{1,2}u0040)"
_EMAIL = re.compile(
    rf"(?<![\w.%+-])(?!git@)[\w.%+-]{{1,64}}{_AT}(?:[\w-]{{1,63}}\.){{1,8}}(?:xn--[a-z0-9-]{{2,59}}|[^\W\d_]{{2,24}})",
    re.IGNORECASE,
)
_HOME = re.compile(
    r"(?:(?<![\w.~\uffff-])|(?<=/mnt/[a-z])|(?<=[A-Za-z]:))"
    r"(?:/(?:home|Users|var/home|export/home)/|\\{1,4}Users\\{1,4}|/[a-z]/Users/)[^\s/\\\"'`:;,<>()|*?\[\]{}]+"
)
# Agents name a project's folder after its path.
_SLUG = re.compile(r"(?<![\w\uffff-])-(?:home|Users)-[^\W_]+(?=-|\b)")


def find_emails(text: str) -> Iterator[SecretHit]:
    """E-mail addresses; `git@host` is none."""
    if "@" in text or "%40" in text or "u0040" in text:
        yield from (SecretHit("e-mail", *match.span()) for match in _EMAIL.finditer(text))


def find_homes(text: str) -> Iterator[SecretHit]:
    """Home folders at the start of paths: of Linux, macOS, Windows and WSL, in folder names of agents, and this one."""
    for pattern in (_HOME, _SLUG):
        yield from (SecretHit("home", *match.span()) for match in pattern.finditer(text))
    own = str(Path.home())
    at = text.find(own) if len(own) > 3 else -1
    while at >= 0:
        end = at + len(own)
        if not text[end : end + 1].isalnum() and not text[at - 1 : at].isalnum():
            yield SecretHit("home", at, end)
        at = text.find(own, end)
