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
    if block.unclosed:
        raise _error("the frontmatter is never closed", where, 1, fix="add a line with three dashes after it")
    first = line_number(text, block.start)
    try:
        value = yaml.load(text[block.start : block.end], Loader=_StringLoader)  # noqa: S506 (strings only)
    except yaml.YAMLError as error:
        line = first + _yaml_line(text[block.start : block.end], error)
        raise _error("the frontmatter cannot be read", where, line, why=_yaml_reason(error)) from error
    except RecursionError as error:
        raise _error("the frontmatter is nested too deeply", where, first) from error
    if not isinstance(value, dict | None):
        raise _error("the frontmatter is not a set of `key: value` lines", where, first)
    return MappingProxyType(value or {})


class _StringLoader(yaml.BaseLoader):
    """Builds strings, lists and mappings only, and refuses repeated keys (YAML would keep the last silently)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key `{key.value}` is given twice", key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep=deep)


def _yaml_line(block: str, error: yaml.YAMLError) -> int:
    """0-based line in the block that the parser complains about."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return int(error.problem_mark.line)
    return line_number(block, getattr(error, "position", 0)) - 1


def _yaml_reason(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem:
        return str(error.problem)
    return str(getattr(error, "reason", "")) or "not YAML"


def _error(what: str, where: str, line: int, *, why: str = "", fix: str = "") -> SkillError:
    return SkillError(what, why=why, fix=fix, where=f"{where}:{line}" if where else f"line {line}")
