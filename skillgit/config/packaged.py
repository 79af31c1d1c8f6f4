"""Data files that ship with the package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def packaged(kind: str) -> Path:
    """Folder of `configs`, `examples` or `hooks`: inside an installed package, else beside a source checkout's."""
    inside = _PACKAGE / "_data" / kind
    return inside if inside.is_dir() else _PACKAGE.parent / kind
