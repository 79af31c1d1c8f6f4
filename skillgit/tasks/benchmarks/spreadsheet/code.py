"""The program in a reply."""

from __future__ import annotations

import re

_FENCED = re.compile(r"```[^\S\n]*[\w+.-]*[^\S\n]*\n(.*?)```", re.DOTALL)
_SETS_PATH = re.compile(r"^([^\S\n]*)(?:INPUT_PATH|OUTPUT_PATH)[^\S\n]*=(?!=).*$", re.MULTILINE)


def program_in(reply: str) -> str:
    """The first fenced block, else the whole reply, without what sets the two paths; blank when there is nothing."""
    match = _FENCED.search(reply)
    code = match[1] if match else reply
    return _SETS_PATH.sub(r"\1pass", code) if code.strip() else ""
