"""JSON-like values without secrets."""

from __future__ import annotations

from typing import Any

from skillgit.sleep.redact.hiding import redact
from skillgit.sleep.redact.keys import secret_key

_DEEPEST = 100


def redact_value(value: Any, *, email: bool = False, home: bool = False) -> Any:
    """A JSON-like value with every text in it redacted, keys too, and the whole value of a key that names a secret.

    True, false and null stay; tuples become lists. What lies deeper than 100 levels becomes one mark.
    """
    return _redacted(value, email, home, _DEEPEST)


def _redacted(value: Any, email: bool, home: bool, levels: int) -> Any:
    if isinstance(value, str):
        return redact(value, email=email, home=home)
    if not isinstance(value, dict | list | tuple):
        return value
    if not levels:
        return "[redacted:nesting]"
    if isinstance(value, dict):
        return {
            _redacted(key, email, home, levels): _member(key, one, email, home, levels - 1)
            for key, one in value.items()
        }
    return [_redacted(one, email, home, levels - 1) for one in value]


def _member(key: Any, value: Any, email: bool, home: bool, levels: int) -> Any:
    """The value of one key. An empty text tells that there is no secret, and stays."""
    name = secret_key(key) if isinstance(key, str) else ""
    if name and value is not None and not isinstance(value, bool) and value != "":
        return value if isinstance(value, str) and value == f"[redacted:{name}]" else f"[redacted:{name}]"
    return _redacted(value, email, home, levels)
