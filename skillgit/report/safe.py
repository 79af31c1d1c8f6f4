"""Text of others, made safe to look at."""

from __future__ import annotations

import json
import re
from typing import Any

# Control characters (a terminal obeys them), halves of surrogate pairs (they cannot be written), and characters that
# turn the reading direction or take no room: text must not look like what it is not. Tab and line feed are text.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
# What JSON lets stand: a terminal may obey the first kind; the second has no UTF-8.
_UNWRITTEN = re.compile("[\x7f-\x9f\ud800-\udfff]")
_PLAIN_ASCII = re.compile(r"[\t\n\x20-\x7e]*")


def visible(text: str) -> str:
    """`text` with every such character written as its escape (`\\x1b`, `\\u202e`); CRLF becomes LF."""
    if _PLAIN_ASCII.fullmatch(text):
        return text
    return _UNSEEN.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str, width: int = 0) -> str:
    """The same with all white space as single blanks, and cut after `width` characters when that is given."""
    line = " ".join(visible(text).split())
    return f"{line[: width - 1].rstrip()}…" if width and len(line) > width else line


def json_text(value: Any) -> str:
    """A JSON document that can be printed anywhere and says the same."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _UNWRITTEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
