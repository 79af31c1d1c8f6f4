"""A text that must be JSON of one form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL | re.IGNORECASE)


def checked_json(text: str, schema: Mapping[str, Any]) -> tuple[str, str]:
    """The JSON value in a text, which may stand in a fence; or what is wrong, as the end of a sentence."""
    from jsonschema import Draft202012Validator

    fenced = _FENCED.fullmatch(text.strip())
    try:
        value = json.loads(fenced[1] if fenced else text, strict=False)
    except (ValueError, RecursionError) as error:
        return "", f"is not JSON: {error}"
    wrong = next(iter(Draft202012Validator(schema).iter_errors(value)), None)
    if wrong is not None:
        return "", f"does not follow the schema: {wrong.json_path}: {wrong.message[:300]}"
    return json.dumps(value, ensure_ascii=False), ""
