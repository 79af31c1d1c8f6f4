"""What is judged: a skill in memory, and what is found in it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skillgit.skills.document import Document
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
        named: false for the top folder of a repository, whose name is up to whoever clones it.
    """

    folder: str
    name: str
    files: tuple[SkillFile, ...]
    named: bool = True

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
        main: SKILL.md in whatever spelling; `None` when it is not there or not readable.
        pages: every readable text, `main` included.
        unread: hits of files that are no UTF-8.
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
            if file.data is None or b"\0" in file.data:
                continue
            try:
                pages.append(Page(file.path, Document(file.data.decode(), skill.at(file.path))))
            except UnicodeDecodeError as error:
                if file.path.lower().endswith(".md"):
                    unread.append(_not_utf8(file, error))
        mains = {page.path: page for page in pages if page.path.lower() == MAIN.lower()}
        main = mains.get(MAIN) or next(iter(mains.values()), None)
        return cls(skill, main, tuple(pages), tuple(unread), before, _with_folders(skill))

    @property
    def has_main(self) -> bool:
        """True when SKILL.md is there in whatever spelling, readable or not."""
        return any(file.path.lower() == MAIN.lower() for file in self.skill.files)


Check = Callable[[Case, "Policy"], Iterator[Hit]]


def _with_folders(skill: Skill) -> frozenset[str]:
    paths = {file.path for file in skill.files}
    for path in list(paths):
        while path := posixpath.dirname(path):
            paths.add(path)
    return frozenset(paths)


def _not_utf8(file: SkillFile, error: UnicodeDecodeError) -> Hit:
    before = error.object[: error.start]
    line = before.count(b"\n") + 1
    column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
    return Hit("not-utf8", file.path, line, column, f"byte 0x{error.object[error.start]:02x} is not UTF-8")
