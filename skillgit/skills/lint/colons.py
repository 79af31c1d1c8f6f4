"""Unquoted values with a colon: found by line, because YAML gives up at the first one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import yaml

from skillgit.skills.frontmatter import FlawError, Frontmatter, locate, read
from skillgit.skills.lines import line_starts

_LINE = re.compile(
    r" *(?P<key>[\w-]+)[ \t]*:[ \t]+(?P<value>[^\s'\"\[\]{}>|&*!%@`#?,-][^\r\n]*?)[ \t]*[\r\n]*\Z",
)
_BLOCK = re.compile(r" *[\w-]+[ \t]*:[ \t]*[|>][-+0-9]*[ \t]*(?:#.*)?[\r\n]*\Z")


@dataclass(frozen=True)
class LooseColon:
    """One value that must be quoted.

    Attributes:
        at: offset of the colon.
        start, end: the value.
        quoted: what to write in its place; `None` when no quotes make it right by themselves.
    """

    key: str
    at: int
    start: int
    end: int
    quoted: str | None


def loose_colons(text: str) -> Iterator[LooseColon]:
    """Values on `key: value` lines of the frontmatter that hold a colon and a space, or end with a colon."""
    block = locate(text)
    source = text[block.start : block.end]
    starts = [*line_starts(source), len(source)]
    lines = [source[low:high] for low, high in pairwise(starts)]
    deep = -1  # indentation of the key whose block scalar the line may belong to
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        if deep >= 0 and (indent > deep or not line.strip()):
            continue
        deep = indent if _BLOCK.match(line) else -1
        match = _LINE.match(line)
        value = match["value"] if match else ""
        place = _colon(value)
        if match is None or place < 0:
            continue
        start = block.start + starts[number] + match.start("value")
        followed = number + 1 < len(lines) and _continues(lines[number + 1], indent)
        quoted = None if followed else _quoted(value)
        yield LooseColon(match["key"], start + place, start, start + len(value), quoted)


def quote_colons(text: str) -> str:
    """The text with those values quoted, when that is all its frontmatter needs; else as it is."""
    block = locate(text)
    if block.unclosed or not _fails(text, block):
        return text
    fixed = text
    for colon in reversed(list(loose_colons(text))):
        if colon.quoted is not None:
            fixed = fixed[: colon.start] + colon.quoted + fixed[colon.end :]
    return fixed


def _fails(text: str, block: Frontmatter) -> bool:
    try:
        read(text, block)
    except FlawError as flaw:
        return "mapping values" in flaw.why
    return False


def _colon(value: str) -> int:
    found = re.search(r":(?=[ \t]|\Z)", value)
    return found.start() if found else -1


def _continues(line: str, indent: int) -> bool:
    """True for a line that would go on with the value: it is indented more."""
    return bool(line.strip()) and len(line) - len(line.lstrip(" \t")) > indent


def _quoted(value: str) -> str | None:
    """The value as YAML in quotes; `None` for one that a comment may follow, which nobody can tell from text."""
    if " #" in value or "\t" in value:
        return None
    plain = '"' not in value and "\\" not in value
    quoted = f'"{value}"' if plain else "'" + value.replace("'", "''") + "'"
    try:
        return quoted if yaml.load(quoted, yaml.BaseLoader) == value else None  # noqa: S506 - strings only
    except yaml.YAMLError:
        return None
