"""How values are written in tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def score(part: Mapping[str, Any]) -> str:
    """A hard score, the bound that a partial measurement proves, or a dash."""
    if "at_most" in part:
        return f"≤{part['at_most']:.3f}"
    return f"{part['hard']:.3f}" if part.get("hard") is not None else "–"


def count(part: Mapping[str, Any]) -> str:
    """The number of tasks behind a score."""
    return "" if part.get("n") is None else str(part["n"])


def plain(text: str) -> str:
    """Text of others, safe to print among markup."""
    from rich.markup import escape

    return escape(text)
