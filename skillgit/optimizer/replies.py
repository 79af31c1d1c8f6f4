"""From a model's text to a checked JSON object."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_MAX_CHARS = 400_000  # a reply beyond any real one; repairing it would take minutes


def extract_object(text: str) -> dict[str, Any] | None:
    """The one JSON object in a reply, small damage repaired (trailing comma, single quotes); else `None`.

    Two objects are ambiguous and a cut-off object is incomplete: neither is guessed at.
    """
    fenced = _FENCE.search(text)
    # A fence inside a string of the object ends the match too early; then the whole text holds the object.
    candidates = [fenced.group(1), text] if fenced else [text]
    return next((value for candidate in candidates if (value := _object(candidate[:_MAX_CHARS])) is not None), None)


def _object(text: str) -> dict[str, Any] | None:
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    body = text[start : end + 1]
    value = _loads(body)
    if value is None and _is_one_object(body):
        value = _repaired(body)
    return value if isinstance(value, dict) else None


def problem(value: Any, schema: Mapping[str, Any]) -> str:
    """Why a value does not follow a JSON schema, in one sentence; empty when it does."""
    from jsonschema import Draft202012Validator

    error = next(iter(Draft202012Validator(schema).iter_errors(value)), None)
    return f"{error.json_path}: {error.message[:300]}" if error else ""


def _loads(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _repaired(text: str) -> Any:
    import json_repair

    try:
        return json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None


def _is_one_object(text: str) -> bool:
    """True when the braces outside strings open once and close once, at the end."""
    depth = 0
    quoted = escaped = False
    for at, char in enumerate(text):
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
            continue
        if char == '"':
            quoted = True
        elif char in "{}":
            depth += 1 if char == "{" else -1
            if depth == 0 and at < len(text) - 1:
                return False
    return depth == 0
