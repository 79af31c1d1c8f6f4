"""Making one JSON object of a line that may be damaged."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from typing import Any


def parse(raw: bytes, damaged: Counter[str]) -> dict[str, Any] | None:
    """The object of a line, or `None` when there is none; what is wrong is counted.

    `json` (no JSON), `not an object` and `nested` (too deep) lose the line. `encoding` and `nul` do not: bytes that are
    no UTF-8 are replaced, NULs removed. Halves of surrogate pairs are replaced, so that all texts can be written.
    """
    if b"\0" in raw:
        damaged["nul"] += 1
    raw = bare(raw)
    if not raw:
        return None
    value = _value(_text(raw, damaged), damaged, halves=b"\\ud" in raw or b"\\uD" in raw)
    if value is None or isinstance(value, dict):
        return value
    damaged["not an object"] += 1
    return None


def bare(raw: bytes) -> bytes:
    """A line without NULs, the mark at a file's start, and space around it."""
    return raw.replace(b"\0", b"").removeprefix(codecs.BOM_UTF8).strip()


def _text(raw: bytes, damaged: Counter[str]) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        damaged["encoding"] += 1
        return raw.decode(errors="replace")


def _value(text: str, damaged: Counter[str], *, halves: bool) -> Any:
    """`None` is a line without JSON; the JSON `null` is an empty list here, which is as little an object."""
    try:
        value = _load(text)
        value = [] if value is None else value
        return _writable(value) if halves else value
    except RecursionError:
        damaged["nested"] += 1
    except ValueError:
        damaged["json"] += 1
    return None


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # a number of more digits than Python converts
        return json.loads(text, parse_int=float)


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_writable(part) for part in value]
    if isinstance(value, dict):
        return {_writable(key): _writable(part) for key, part in value.items()}
    return value
