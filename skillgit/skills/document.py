"""A skill document: text that is read as structure and kept byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from skillgit.errors import SkillError
from skillgit.skills.frontmatter import Frontmatter, load, locate
from skillgit.skills.lines import dominant_newline, line_number
from skillgit.skills.markdown import Section, find_sections
from skillgit.skills.markers import Kind, Marks, Region, Span, find_marks

__all__ = ["Document", "Kind", "Region", "Section", "Span"]


@dataclass(frozen=True)
class Document:
    """The text of one skill file. Byte order mark, line endings and a missing final newline are part of it.

    Attributes:
        text: the whole file.
        where: file name for messages; not part of the document's identity.
    """

    text: str
    where: str = field(default="", compare=False, repr=False)

    @classmethod
    def parse(cls, data: bytes, where: str = "") -> Document:
        """Read a file's bytes.

        Raises:
            SkillError: the bytes are not UTF-8; the message names the first bad one.
        """
        try:
            return cls(data.decode("utf-8"), where)
        except UnicodeDecodeError as error:
            raise SkillError(
                f"not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}",
                why=error.reason,
                fix="save the file as UTF-8",
                where=where,
            ) from error

    def encode(self) -> bytes:
        """The file's bytes, exactly those that were parsed."""
        return self.text.encode("utf-8")

    @cached_property
    def frontmatter(self) -> Mapping[str, Any]:
        """The YAML block at the top: strings, and lists and mappings of strings; empty when there is none.

        Raises:
            SkillError: it is malformed, never closed, not a mapping or repeats a key; the message names the line.
        """
        return load(self.text, self._front, self.where)

    @property
    def body_start(self) -> int:
        """Offset where Markdown begins: after the frontmatter, or after the byte order mark."""
        return self._front.body_start

    @cached_property
    def newline(self) -> str:
        """The line ending used most."""
        return dominant_newline(self.text)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Headings of the body with their spans."""
        return find_sections(self.text, self.body_start)

    @property
    def regions(self) -> tuple[Region, ...]:
        """Complete protected regions in order."""
        return self.marks.regions

    @property
    def damage(self) -> tuple[tuple[int, str], ...]:
        """Line and problem of every marker that is orphaned, nested or repeated."""
        return tuple((line_number(self.text, flaw.start), flaw.message) for flaw in self.marks.flaws)

    @cached_property
    def marks(self) -> Marks:
        """Regions and damage as found by one pass over the body."""
        return find_marks(self.text, self.body_start)

    @property
    def guarded(self) -> tuple[object, ...]:
        """All that no edit may change: what stands before the body, and every protected text with its role."""
        regions = [(region.kind, self.text[region.start : region.end]) for region in self.marks.regions]
        flaws = [(flaw.message, self.text[flaw.start : flaw.end]) for flaw in self.marks.flaws]
        return (self.head, *regions, *flaws)

    @property
    def head(self) -> tuple[str, bool]:
        """Text before the body, and whether frontmatter was opened and never closed."""
        return self.text[: self.body_start], self._front.unclosed

    @cached_property
    def _front(self) -> Frontmatter:
        return locate(self.text)
