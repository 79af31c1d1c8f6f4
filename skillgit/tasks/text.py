"""Finding the answer in a response, and quoting text in messages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

CLIP = 200
"""Most characters of one quoted text."""

_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE)


def plain(text: str) -> str:
    """Composed Unicode form with single spaces and bare ends; nothing a reader can see is changed."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def last_tagged(response: str) -> str | None:
    """What the last `<answer>…</answer>` holds, stripped; `None` when there is no such pair.

    A pair runs from the first opening tag after the previous pair to the next closing tag. Tags are walked one by
    one because a lazy regular expression needs quadratic time on many unclosed tags.
    """
    start: int | None = None
    found: str | None = None
    for tag in _TAG.finditer(response):
        if not tag[1]:
            start = tag.end() if start is None else start
        elif start is not None:
            found, start = response[start : tag.start()].strip(), None
    return found


def last_line(response: str) -> str:
    """The last line that is not blank, stripped."""
    lines = response.strip().splitlines()
    return lines[-1].strip() if lines else ""


def clip(text: str) -> str:
    """At most `CLIP` characters, with an ellipsis when something was cut."""
    return text if len(text) <= CLIP else text[: CLIP - 1] + "…"


def quote(text: str) -> str:
    """One clipped line in double quotes, free of control characters."""
    line = " ".join(text[: CLIP * 4].split())
    return '"' + clip("".join(c if c.isprintable() else "�" for c in line)) + '"'


def quote_any(texts: Iterable[str]) -> str:
    """Several texts as `"a", "b"`, clipped together."""
    shown = ", ".join(quote(text) for text in texts)
    return shown if len(shown) <= CLIP + 2 else shown[: CLIP + 1] + "…"
