"""What is judged: a skill in memory, and what is found in it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skillgit.skills.document import Document
from skillgit.skills.lines import line_number, line_start
from skillgit.skills.lint.page import Hit, Page

if TYPE_CHECKING:
    from skillgit.skills.lint.rules import Level, Policy

MAIN = "SKILL.md"


@dataclass(frozen=True)
class SkillFile:
    """One file of a skill.

    Attributes:
        path: from the skill's folder, with `/`.
        data: its bytes; `None` when it was not read, because it is large or no text.
        link: where it points, as written, when it is a symbolic link.
    """

    path: str
    data: bytes | None = None
    link: str | None = None


@dataclass(frozen=True)
class Skill:
    """A skill in memory.

    Attributes:
        folder: its path for messages, from the top folder; empty when it is that folder.
        name: the folder's own name.
        files: everything in it.
        named: false for the top folder of a repository, whose name is up to whoever clones it, and for a bare file.
        document: the file that agents read; not SKILL.md for a skill that is one bare Markdown file.
    """

    folder: str
    name: str
    files: tuple[SkillFile, ...]
    named: bool = True
    document: str = MAIN

    @property
    def is_bare(self) -> bool:
        """True for a skill that is one Markdown file without a folder of its own."""
        return self.document != MAIN

    def at(self, path: str) -> str:
        """A file's path for messages."""
        return f"{self.folder}/{path}" if self.folder else path


@dataclass(frozen=True)
class Before:
    """What a staged skill is compared with.

    Attributes:
        head: the document as of HEAD; `None` when it is new.
        parents: the document in HEAD and in every commit that is being merged, picked or reverted.
        measured: true when the staged skill object has an evaluation record.
    """

    head: Document | None = None
    parents: tuple[Document, ...] = ()
    measured: bool = False


@dataclass(frozen=True)
class Finding:
    """Something found, as it is reported; `path` is seen from the top folder."""

    path: str
    line: int
    column: int
    rule: str
    level: Level
    message: str
    fix: str
    fixable: bool = False


@dataclass(frozen=True)
class Case:
    """A skill made ready for the checks.

    Attributes:
        main: the document, SKILL.md in whatever spelling; `None` when it is not there or not readable.
        pages: every readable text, `main` included.
        unread: hits of texts that cannot be read.
    """

    skill: Skill
    main: Page | None
    pages: tuple[Page, ...]
    unread: tuple[Hit, ...] = ()
    before: Before | None = None
    paths: frozenset[str] = field(default=frozenset())

    @classmethod
    def of(cls, skill: Skill, before: Before | None = None) -> Case:
        """Decode the files and find the main one."""
        pages: list[Page] = []
        unread: list[Hit] = []
        for file in skill.files:
            try:
                pages += _read(file, skill)
            except UnicodeDecodeError as error:
                if file.path.lower().endswith(".md"):
                    unread.append(_not_utf8(file, error))
        mains = {page.path: page for page in pages if page.path.lower() == skill.document.lower()}
        main = mains.get(skill.document) or next(iter(mains.values()), None)
        return cls(skill, main, tuple(pages), tuple(unread), before, _with_folders(skill))

    @property
    def main_file(self) -> SkillFile | None:
        """SKILL.md in whatever spelling, readable or not."""
        wanted = self.skill.document.lower()
        return next((file for file in self.skill.files if file.path.lower() == wanted), None)


Check = Callable[[Case, "Policy"], Iterator[Hit]]


def _read(file: SkillFile, skill: Skill) -> Iterator[Page]:
    """The text of a file that has one. Raises `UnicodeDecodeError`."""
    if file.data is None:
        return
    if b"\0" in file.data:
        at = file.data.index(b"\0")
        raise UnicodeDecodeError("utf-8", file.data, at, at + 1, "no text has it")
    yield Page(file.path, Document(file.data.decode(), skill.at(file.path)))


def _with_folders(skill: Skill) -> frozenset[str]:
    paths = {file.path for file in skill.files}
    for path in list(paths):
        while path := posixpath.dirname(path):
            paths.add(path)
    return frozenset(paths)


def _not_utf8(file: SkillFile, error: UnicodeDecodeError) -> Hit:
    before = error.object[: error.start].decode("utf-8", "replace")
    line, column = line_number(before, len(before)), len(before) - line_start(before, len(before)) + 1
    byte = error.object[error.start]
    hint = "; UTF-16 is full of them" if byte == 0 else ""
    return Hit("not-utf8", file.path, line, column, f"byte 0x{byte:02x} is not UTF-8 text{hint}")
