"""The pages that a question's links point at, from the documents as they were parsed (`jsons/<name>.json`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, urlsplit

from skillgit.tasks.benchmarks.officeqa.corpus import LARGEST
from skillgit.tasks.benchmarks.officeqa.markdown import with_tables

PAGE, ALL = 24_000, 80_000
"""Most characters of one page, and of all pages of a question."""

_NAMES = ("page", "pagenum", "page_id")
_KEPT = 256  # pages held in memory
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_ISSUE = re.compile(rf"/({'|'.join(_MONTHS)})-([0-9]{{4}})(?:-|$)")


class Pages:
    """Parsed pages. Safe to call from many threads.

    Args:
        folders: where the parsed documents are; the first that has one counts.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._page = lru_cache(maxsize=_KEPT)(self._read)

    def of(self, files: Sequence[str], links: Sequence[str]) -> str:
        """The text of every page that is linked and there, each under its name; empty when there is none."""
        parts: list[str] = []
        room = ALL
        for file, page in dict.fromkeys(_wanted(files, links)):
            text = self._page(PurePosixPath(file).stem, page)[: min(PAGE, room)]
            if text:
                parts.append(f"### {file}, page {page}\n\n{text}")
                room -= len(text)
        return "\n\n".join(parts)

    def _read(self, stem: str, page: int) -> str:
        # The name is that of an item, and the folder is not to be left with it.
        for folder in self._folders:
            path = folder / f"{stem}.json"
            if path.is_file() and path.resolve().is_relative_to(folder.resolve()) and path.stat().st_size <= LARGEST:
                return "\n\n".join(part for part in _parts(path, page) if part)
        return ""


def page_of(link: str) -> int | None:
    """The number of the page that an address names."""
    try:
        query = parse_qs(urlsplit(link).query)
    except ValueError:
        return None
    numbers = [value for name in _NAMES for value in query.get(name, ()) if value.isascii() and value.isdigit()]
    return int(numbers[0][:9]) if numbers else None


def _wanted(files: Sequence[str], links: Sequence[str]) -> Iterator[tuple[str, int]]:
    """File and page of every link: a link belongs to the file of its month and year, else to the one at its place."""
    for number, link in enumerate(links):
        page = page_of(link)
        issue = _ISSUE.search(link.lower())
        dated = f"{issue[2]}_{_MONTHS.index(issue[1]) + 1:02d}" if issue else ""
        named = [file for file in files if dated and PurePosixPath(file).stem.endswith(dated)]
        placed = [files[number]] if len(files) == len(links) else list(files[:1]) if len(files) == 1 else []
        if page is not None:
            yield from ((file, page) for file in named or placed)


def _parts(path: Path, page: int) -> Iterator[str]:
    for element in _elements(path):
        content = element.get("content")
        if isinstance(content, str) and page in _pages(element):
            yield with_tables(content)


def _elements(path: Path) -> list[Mapping[str, Any]]:
    """The elements of a parsed document; none of one that cannot be read as such."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    document = value.get("document", value) if isinstance(value, dict) else {}
    found = document.get("elements") if isinstance(document, dict) else None
    return [element for element in found if isinstance(element, dict)] if isinstance(found, list) else []


def _pages(element: Mapping[str, Any]) -> list[Any]:
    """The pages that an element says it is on."""
    boxes = element.get("bbox")
    places = [element, *(box for box in (boxes if isinstance(boxes, list) else []) if isinstance(box, dict))]
    return [place[name] for place in places for name in ("page_id", "page") if name in place]
