"""The YAML block at the top of a skill: where it is and what it says. It is read, never written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import yaml

from skillgit.errors import SkillError
from skillgit.skills.lines import BOM, NEWLINE, line_number

_OPEN = re.compile(rf"---[ \t]*{NEWLINE}")
_CLOSE = re.compile(rf"(?:(?<=\n)|(?<=\r))---[ \t]*(?:{NEWLINE}|\Z)")
_KEY = re.compile(r"[\w-]+[ \t]*:")


@dataclass(frozen=True)
class Frontmatter:
    """Where the block stands.

    Attributes:
        start, end: offsets of the YAML between the fences; equal when there is none.
        body_start: where Markdown begins; a byte order mark is not part of the body.
        unclosed: the text opens a block and never closes it.
    """

    start: int
    end: int
    body_start: int
    unclosed: bool = False


@dataclass(frozen=True)
class Entries:
    """What the block says.

    Attributes:
        values: every scalar is the string that was written.
        places: top-level key to the offsets of the key and of its value in the document.
    """

    values: Mapping[str, Any]
    places: Mapping[str, tuple[int, int]]


class FlawError(ValueError):
    """What keeps the block from being read.

    Attributes:
        offset: where in the document.
        why: the parser's words; empty when there is nothing to add.
    """

    def __init__(self, what: str, offset: int, *, why: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what, self.offset, self.why, self.fix = what, offset, why, fix


def locate(text: str) -> Frontmatter:
    """Find the block; a leading `---` that no key follows is a thematic break, not frontmatter."""
    bom = len(BOM) if text.startswith(BOM) else 0
    opening = _OPEN.match(text, bom)
    if opening is None:
        return Frontmatter(bom, bom, bom)
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        return Frontmatter(bom, bom, bom, unclosed=_KEY.match(text, opening.end()) is not None)
    return Frontmatter(opening.end(), closing.start(), closing.end())


def load(text: str, block: Frontmatter, where: str = "") -> Mapping[str, Any]:
    """Read the block; every scalar stays the string that was written.

    Raises:
        SkillError: the block is never closed, is not YAML, repeats a key or is not a mapping.
    """
    try:
        return read(text, block).values
    except FlawError as flaw:
        line = line_number(text, flaw.offset)
        place = f"{where}:{line}" if where else f"line {line}"
        raise SkillError(flaw.what, why=flaw.why, fix=flaw.fix, where=place) from flaw


def read(text: str, block: Frontmatter) -> Entries:
    """The block with the place of every key.

    Raises:
        FlawError: the block is never closed, is not YAML, repeats a key or is not a mapping.
    """
    if block.unclosed:
        raise FlawError("the frontmatter is never closed", block.start, fix="add a line with three dashes after it")
    source = text[block.start : block.end]
    try:
        root, value = _parse(source)
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        at = block.start + _position(source, error)
        raise FlawError("the frontmatter cannot be read", at, why=_reason(error)) from error
    except RecursionError as error:
        raise FlawError("the frontmatter is nested too deeply", block.start) from error
    if not isinstance(value, dict | None):
        raise FlawError("the frontmatter is not a set of `key: value` lines", block.start)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    places = {
        str(key.value): (block.start + key.start_mark.index, block.start + node.start_mark.index)
        for key, node in pairs
        if isinstance(key, yaml.ScalarNode)
    }
    return Entries(MappingProxyType(value or {}), MappingProxyType(places))


# The parser in C is ten times faster; it comes with every wheel of PyYAML, but not with every build.
_Base: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class _StringLoader(_Base):  # type: ignore[misc] # one of two classes with one interface
    """Builds strings, lists and mappings only, and refuses repeated keys (YAML would keep the last silently)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key `{key.value}` is given twice", key.start_mark)
            seen.add(str(key.value))
        built: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return built


def _parse(source: str) -> tuple[yaml.Node | None, Any]:
    loader = _StringLoader(source)
    try:
        root = loader.get_single_node()
        return root, None if root is None else loader.construct_document(root)
    finally:
        loader.dispose()


def _position(source: str, error: Exception) -> int:
    """Offset in the block that the parser complains about."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return min(int(error.problem_mark.index), len(source))
    found = getattr(error, "position", getattr(error, "start", 0))
    return min(int(found), len(source))


def _reason(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem:
        return str(error.problem)
    return str(getattr(error, "reason", "")) or "not YAML"
