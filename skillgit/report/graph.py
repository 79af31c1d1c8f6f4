"""A skill's scores as a curve of one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-=+*#@"
_WIDTH = 80  # characters of a curve; more versions than that share them


def val_scores(versions: Sequence[Mapping[str, Any]]) -> list[float | None]:
    """The gate score on val of each version, oldest first; `None` for one that is unmeasured or only has a bound."""
    parts = [version["scores"].get("val", {}) for version in reversed(versions)]
    return [None if "at_most" in part else part.get("score") for part in parts]


def sparkline(values: Sequence[float | None], signs: str = BLOCKS) -> str:
    """One character per value, lowest to highest; a blank where nothing was measured.

    More values than fit are averaged over stretches of equal length.
    """
    size = max(1, -(-len(values) // _WIDTH))
    points = [_mean(values[at : at + size]) for at in range(0, len(values), size)]
    known = [point for point in points if point is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return "".join(" " if point is None else _sign(point, low, high, signs) for point in points)


def curve(values: Sequence[float | None], encoding: str) -> str:
    """The curve with its range, in signs that `encoding` has; empty when nothing was measured."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    signs = BLOCKS if _has(encoding, BLOCKS) else ASCII
    return (
        f"val {sparkline(values, signs)}  {min(known):.3f} to {max(known):.3f}, {len(known)} of {len(values)} measured"
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _sign(value: float, low: float, high: float, signs: str) -> str:
    # Equal scores make a flat line in the middle: nothing says whether they are high or low.
    share = (value - low) / (high - low) if high > low else 0.5
    # A share that is a hair below a step only because of how floats are divided belongs to the step.
    return signs[min(int(share * len(signs) + 1e-9), len(signs) - 1)]


def _has(encoding: str, signs: str) -> bool:
    try:
        signs.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
