"""One text of a skill, with what of it is code or comment, and places in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from skillgit.skills.document import Document
from skillgit.skills.lines import line_starts
from skillgit.skills.lint.prose import CodeSpans, code_lines, comments

_SHOWN = re.compile(r"[^\r\n]")


@dataclass(frozen=True)
class Hit:
    """Something found, before a level is given to it.

    Attributes:
        path: of the file, from the skill's folder.
        line, column: both from 1; the column counts characters.
        fix: an instruction, where the rule's own is too general.
        fixable: `--fix` removes it.
    """

    rule: str
    path: str
    line: int
    column: int
    message: str
    fix: str = ""
    fixable: bool = False


@dataclass(frozen=True)
class Page:
    """One text of a skill, parsed once."""

    path: str
    doc: Document

    @property
    def text(self) -> str:
        """The whole file."""
        return self.doc.text

    @property
    def is_markdown(self) -> bool:
        """True for files whose links and rules are read."""
        return self.path.lower().endswith(".md")

    @cached_property
    def visible(self) -> str:
        """The text with frontmatter, code blocks and comments blanked; offsets stay the same."""
        return _blanked(self.text, [(0, self.doc.body_start), *self._code_blocks, *self.comments])

    def is_code(self, offset: int) -> bool:
        """True for a place in a code span; code blocks are not asked about."""
        return offset - self.doc.body_start in self._code_spans

    @cached_property
    def comments(self) -> tuple[tuple[int, int], ...]:
        """Spans of HTML comments outside code."""
        if "<!--" not in self.text:
            return ()
        blank = _blanked(self.text, self._code_blocks)
        return tuple(comments(blank, self.doc.body_start, self.is_code))

    @cached_property
    def _code_spans(self) -> CodeSpans:
        return CodeSpans(self.text[self.doc.body_start :])

    @cached_property
    def _code_blocks(self) -> list[tuple[int, int]]:
        start = self.doc.body_start
        return [(start + low, start + high) for low, high in code_lines(self.text[start:])]

    @cached_property
    def _starts(self) -> list[int]:
        return line_starts(self.text)

    def hit(self, rule: str, offset: int, message: str, *, fix: str = "", fixable: bool = False) -> Hit:
        """A hit at an offset of the text."""
        line = bisect_right(self._starts, offset)
        return Hit(rule, self.path, line, offset - self._starts[line - 1] + 1, message, fix, fixable)


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """`text` with spans as spaces; line ends stay."""
    if not spans:
        return text
    parts: list[str] = []
    at = 0
    for low, high in sorted(spans):
        if high <= at:
            continue
        hidden = text[max(at, low) : high]
        one_line = "\n" not in hidden and "\r" not in hidden
        parts += (text[at : max(at, low)], " " * len(hidden) if one_line else _SHOWN.sub(" ", hidden))
        at = high
    return "".join((*parts, text[at:]))
