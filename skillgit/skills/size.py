"""How long a text is, in tokens."""

from __future__ import annotations

import math

_CHARS_PER_TOKEN = 4


def tokens(text: str) -> int:
    """Estimated tokens of a text, at 4 characters each: the same everywhere, whatever the model."""
    return math.ceil(len(text) / _CHARS_PER_TOKEN)
