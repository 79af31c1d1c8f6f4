"""How values are written in tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from skillgit.report.safe import visible

_STYLES: Mapping[str, dict[str, Any]] = {
    "title": {"bold": True},
    "added": {"fg": "green"},
    "removed": {"fg": "red"},
    "moved": {"fg": "cyan"},
    "faint": {"dim": True},
}


def score(part: Mapping[str, Any]) -> str:
    """The gate score (hard where only that is told), the bound that a partial measurement proves, or a dash."""
    if "at_most" in part:
        return f"≤{part['at_most']:.3f}"
    value = part.get("score", part.get("hard"))
    return "–" if value is None else f"{value:.3f}"


def change(value: float | None) -> str:
    """A change of score with its sign, or a dash."""
    return "–" if value is None else f"{value:+.3f}"


def count(part: Mapping[str, Any]) -> str:
    """The number of tasks behind a score."""
    return "" if part.get("n") is None else str(part["n"])


def plain(text: str) -> str:
    """Text of others, safe to print among markup."""
    from rich.markup import escape

    return escape(visible(text))


def tell(lines: Iterable[str], *, quiet: bool) -> None:
    """What a person should know beside the result, on standard error."""
    for line in () if quiet else lines:
        click.echo(f"note: {line}", err=True)


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines with aligned columns, two blanks apart; the last column is as long as it is.

    rich's tables measure every cell several times, which takes seconds for thousands of rows.
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)][:-1]
    form = "".join(f"{{:{width}}}  " for width in widths) + "{}"
    return [form.format(*row).rstrip() for row in rows]


def faint(text: str) -> str:
    """Dimmed where colours are wanted."""
    return styled([("faint", text)])[0]


def styled(lines: Iterable[tuple[str, str]]) -> list[str]:
    """Lines given with their style, coloured where that is wanted."""
    colour = coloured()
    return [click.style(text, **_STYLES[style]) if colour and style else text for style, text in lines]


def patch(text: str) -> str:
    """A patch as people see it: safe to print, and coloured where that is wanted."""
    return "\n".join(styled((_side(line), line) for line in visible(text).split("\n")))


def _side(line: str) -> str:
    if line.startswith(("+++ ", "--- ", "diff ", "index ")):
        return "title"
    return {"+": "added", "-": "removed", "@": "moved"}.get(line[:1], "")


def coloured() -> bool:
    """Whether standard output is a terminal that wants colours."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
