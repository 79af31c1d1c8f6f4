"""Private keys, also those that were cut off, indented, quoted or shown in a diff."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from skillgit.skills.secrets import SecretHit

_EDGE = re.compile(r"-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-{0,5}")
_NEWLINE = r"[ \t]{0,8}(?:\n|\\{1,2}r?\\{0,2}n)"
_MARGIN = r"[ \t>|+#*\"'`,]{0,8}"
_LINES = re.compile(
    rf"(?:{_NEWLINE}{_MARGIN}(?:(?:Proc-Type|DEK-Info|Version|Comment):[^\n]{{0,200}}(?:{_NEWLINE}{_MARGIN}(?=\n))?"
    rf"|[A-Za-z0-9+/=]{{1,4096}}(?=[ \t\"'`,+]{{0,6}}(?:[\n\\\"'`]|\Z)))|[ ][A-Za-z0-9+/=]{{40,}})*"
)
_LONGEST = 16_384  # characters; no key is longer
_MATERIAL = re.compile(r"[A-Za-z0-9+/]{8}")


def find_keys(text: str) -> Iterator[SecretHit]:
    """From a header to its footer, or without one as far as lines of key material go."""
    if "PRIVATE KEY" not in text:
        return
    edges: list[re.Match[str] | None] = [*_EDGE.finditer(text), None]
    for edge, following in pairwise(edges):
        if edge is None or edge[1] == "END":
            continue
        closed = following and following[1] == "END" and following.start() - edge.end() <= _LONGEST
        body = _LINES.match(text, edge.end())
        end = following.end() if closed and following else body.end() if body else edge.end()
        if _MATERIAL.search(text, edge.end(), end):
            yield SecretHit("private key", edge.start(), end)
