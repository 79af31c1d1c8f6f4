"""The documents of OfficeQA: found once, and read only where they were found."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from skillgit.errors import TaskError
from skillgit.tasks.base import digest

LARGEST = 20_000_000
"""Bytes; a larger file is no document to be read line by line."""

_TEXTS, _PARSED = "transformed", "jsons"
_PUBLISHED = "treasury_bulletins_parsed"  # the folder of both in the published data set
_KEPT = 16  # documents held in memory; one has about a million characters


@dataclass(frozen=True)
class Found:
    """One document: where it is, the folder that it must stay in, and its size in bytes."""

    path: Path
    root: Path
    size: int


class Corpus:
    """An index of documents. Safe to call from many threads.

    Attributes:
        files: the name that a document is known by, its path below its folder, to where it is; sorted.
        parsed: folders with the pages of the documents (`jsons`).
    """

    def __init__(self, files: Mapping[str, Found], parsed: Sequence[Path] = ()) -> None:
        self.files, self.parsed = dict(sorted(files.items())), tuple(parsed)
        self._by_name: dict[str, list[str]] = {}
        for name in self.files:
            self._by_name.setdefault(PurePosixPath(name).name, []).append(name)
        self.lines = lru_cache(maxsize=_KEPT)(self._lines)

    @classmethod
    def build(cls, folders: Sequence[Path]) -> Corpus:
        """Index every plain file below the folders; hidden ones and links that lead out are passed over.

        A folder's `transformed` is taken in its place, where it has one. With several folders the names begin with
        the number of their folder.

        Raises:
            TaskError: a folder is not there, or there is no document in them.
        """
        files: dict[str, Found] = {}
        parsed = []
        for number, folder in enumerate(folders, 1):
            if not folder.is_dir():
                raise TaskError("there is no such folder of documents", where=str(folder), fix="check env.data_dirs")
            texts, pages = _places(folder.resolve())
            parsed += [pages] if pages.is_dir() else []
            head = f"{number}/" if len(folders) > 1 else ""
            files |= {head + path.relative_to(texts).as_posix(): found for path, found in _walk(texts, pages)}
        if not files:
            names = ", ".join(map(str, folders))
            raise TaskError(
                "there are no documents", where=names, fix="set env.data_dirs to the folders that hold them"
            )
        return cls(files, parsed)

    def named(self, names: Iterable[str]) -> list[str]:
        """The documents with these file names, in the order of the names; folders in a name do not count."""
        wanted = dict.fromkeys(PurePosixPath(name.replace("\\", "/")).name for name in names)
        return [found for name in wanted for found in self._by_name.get(name, ())]

    def text(self, name: str) -> str:
        """A document's text; bytes that are no text become a mark.

        Raises:
            KeyError: there is no such document.
            OSError: it cannot be read, is too large, or no longer is what it was.
        """
        found = self.files[name]
        now = found.path.lstat()
        # A link may have taken its place, or a pipe, which would be waited for.
        if not (stat.S_ISREG(now.st_mode) and found.path.resolve().is_relative_to(found.root)):
            raise OSError(0, "it is no longer a file of the collection")
        if now.st_size > LARGEST:
            raise OSError(0, "it is too large to be read")
        data = found.path.read_bytes()
        if b"\0" in data[:8000]:
            raise OSError(0, "it is not text")
        return data.decode("utf-8-sig", "replace")

    def readable(self, name: str) -> str | None:
        """A document's text, or `None` where `text` raises `OSError`."""
        try:
            return self.text(name)
        except OSError:
            return None

    def _lines(self, name: str) -> list[str]:
        """A document as lines, kept for a while. Raises what `text` raises."""
        return self.text(name).splitlines()

    def identity(self) -> str:
        """64 hex digits that change when documents or parsed pages are added, taken away or get another size."""
        pages = [[path.name, path.stat().st_size] for folder in self.parsed for path in sorted(folder.glob("*.json"))]
        return digest([[[name, found.size] for name, found in self.files.items()], pages])


def _places(folder: Path) -> tuple[Path, Path]:
    """Where a folder's documents are, and where their parsed pages would be."""
    for base in (folder, folder / _PUBLISHED):
        if (base / _TEXTS).is_dir() and not (base / _TEXTS).is_symlink():
            return base / _TEXTS, base / _PARSED
    return folder, (folder.parent if folder.name == _TEXTS else folder) / _PARSED


def _walk(root: Path, pages: Path) -> Iterator[tuple[Path, Found]]:
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and Path(place, name) != pages]
        for name in names:
            path = Path(place, name)
            if name.startswith("."):
                continue
            real = path.resolve() if path.is_symlink() else path
            if real.is_file() and real.is_relative_to(root):
                yield path, Found(real, root, real.stat().st_size)
