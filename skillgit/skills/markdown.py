"""What a Markdown parser says about positions: headings, and which text is code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, backtick
from markdown_it.token import Token

from skillgit.skills.lines import ended, line_starts


@dataclass(frozen=True)
class Section:
    """A heading with the text under it, subsections included.

    Attributes:
        level: 1 to 6.
        title: heading text as written, on one line.
        start: offset of the heading line.
        end: offset of the next heading of the same or a higher rank, or the end of the document.
    """

    level: int
    title: str
    start: int
    end: int


@dataclass(frozen=True)
class Extent:
    """The lines of one block: `first` and the line after the last, 0-based; blank lines may stand at the end.

    Attributes:
        level, title: of a heading, else 0 and empty.
    """

    kind: Literal["heading", "item", "text", "region"]
    first: int
    last: int
    level: int = 0
    title: str = ""


def find_sections(text: str, body_start: int) -> tuple[Section, ...]:
    """Sections of the body in order. Headings inside code, comments, quotes and lists do not count."""
    body = text[body_start:]
    starts = line_starts(body)
    heads = list(_headings(block_tokens(body)))
    offsets = [body_start + starts[line] for _, _, line in heads]
    return tuple(
        Section(level, title, offsets[at], _section_end([head[0] for head in heads], offsets, at, len(text)))
        for at, (level, title, _) in enumerate(heads)
    )


def extents(body: str) -> Iterator[Extent]:
    """Lines of every top-level block in order: headings, the items of top-level lists, and all other text."""
    tokens = block_tokens(body)
    heads = {line: (level, title) for level, title, line in _headings(tokens)}
    for token in tokens:
        if token.map is None or token.nesting < 0:
            continue
        first, last = token.map
        if token.type == "list_item_open" and token.level == 1:
            yield Extent("item", first, last)
        elif token.type == "heading_open" and token.level == 0:
            yield Extent("heading", first, last, *heads[first])
        elif token.level == 0 and token.type not in ("bullet_list_open", "ordered_list_open", "inline"):
            yield Extent("text", first, last)


@lru_cache(maxsize=4)
def block_tokens(body: str) -> tuple[Token, ...]:
    """Tokens of all blocks, with what is inside paragraphs and headings left unparsed."""
    return tuple(_parsed(_block_parser(), body))


def matches_in_code(body: str, pattern: re.Pattern[str]) -> frozenset[int]:
    """Offsets of those matches of `pattern` that stand in code blocks or code spans.

    `pattern` must match within one line.
    """
    starts = [*line_starts(body), len(body)]
    found: set[int] = set()
    for token in _parsed(_parser(), body):
        if token.map is None or token.type not in ("fence", "code_block", "inline"):
            continue
        first, last = (starts[min(line, len(starts) - 1)] for line in token.map)
        hits = [match.start() for match in pattern.finditer(body, first, last)]
        found.update(_in_code_span(token, hits, pattern) if token.type == "inline" else hits)
    return frozenset(found)


def open_fence(body: str) -> str:
    """The fence that would close a code block left open at the end of `body`; empty when there is none."""
    tokens = _parsed(_parser(), body)
    # A probe line after the end is swallowed by an open fence and becomes a paragraph otherwise.
    probe = _parser().parse(f"{body}\n\nx\n")
    if tokens and tokens[-1].type == "fence" and probe[-1].type == "fence":
        return tokens[-1].markup
    return ""


def _parsed(parser: MarkdownIt, body: str) -> list[Token]:
    # Of HTML in a list in a quote whose last line does not end, the parser reads past the end of the text.
    return parser.parse(ended(body, "\n"))


@cache
def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark")
    parser.core.ruler.disable("inline")
    return parser


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark")
    parser.inline.ruler.at("backticks", _code_span)
    return parser


def _code_span(state: StateInline, silent: bool) -> bool:
    """The parser's own rule, noting where the span stands: inline tokens carry no positions."""
    start, count = state.pos, len(state.tokens)
    matched = backtick(state, silent)
    if len(state.tokens) > count and state.tokens[-1].type == "code_inline":
        state.tokens[-1].meta["span"] = (start, state.pos)
    return matched


def _in_code_span(token: Token, hits: list[int], pattern: re.Pattern[str]) -> Iterable[int]:
    """Which of the source offsets `hits` lie in code spans of an inline token.

    The token's content has quote marks and indentation removed, so offsets differ from the source; order does not.
    """
    spans = [child.meta["span"] for child in token.children or () if "span" in child.meta]
    inner = [match.start() for match in pattern.finditer(token.content)]
    if len(inner) != len(hits):
        return ()
    return (hit for hit, at in zip(hits, inner, strict=True) if any(low <= at < high for low, high in spans))


def _headings(tokens: Sequence[Token]) -> Iterator[tuple[int, str, int]]:
    """Level, title and 0-based line of every heading that is not nested in a quote or list."""
    for token, content in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            yield int(token.tag[1:]), " ".join(content.content.split()), token.map[0]


def _section_end(levels: list[int], offsets: list[int], at: int, size: int) -> int:
    later = range(at + 1, len(levels))
    return next((offsets[other] for other in later if levels[other] <= levels[at]), size)
