"""Tables that parsed documents hold as HTML, as Markdown."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import zip_longest

_WIDEST = 40
"""Most rows or columns that one cell is taken to span."""

_CELLS = ("td", "th")


def with_tables(content: str) -> str:
    """A piece of a document with every table as Markdown; text without a table is left as it is."""
    if "<table" not in content.lower():
        return content.strip()
    reader = _Reader()
    reader.feed(content)
    reader.close()
    reader.end_table()
    return "\n\n".join(part for part in reader.parts if part)


class _Reader(HTMLParser):
    """Gathers the cells of each table. A table within a table is read as text of its cell."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._rows: list[list[str]] | None = None
        self._spans: dict[int, tuple[int, str]] = {}  # column to how many rows more hold a text
        self._cell: list[str] | None = None
        self._size = (1, 1)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table" and self._rows is None:
            self._rows = []
        elif self._rows is not None and tag == "tr":
            self._end_cell()
            self._rows.append([])
            self._carry()
        elif self._rows is not None and tag in _CELLS:
            self._end_cell()
            given = dict(attrs)
            self._cell, self._size = [], (_span(given.get("rowspan")), _span(given.get("colspan")))
        elif tag == "br" and self._cell is not None:
            self._cell.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in (*_CELLS, "tr"):
            self._end_cell()
        elif tag == "table":
            self.end_table()

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)
        elif self._rows is None:
            self.parts.append(data.strip())

    def end_table(self) -> None:
        """Add the table that was read, if any, to the parts."""
        self._end_cell()
        if self._rows is not None:
            self.parts.append(_table([row for row in self._rows if row]))
        self._rows, self._spans = None, {}

    def _end_cell(self) -> None:
        if self._cell is None or self._rows is None:
            return
        if not self._rows:
            self._rows.append([])
        text, row = " ".join("".join(self._cell).split()), self._rows[-1]
        rows, columns = self._size
        for _ in range(columns):
            if rows > 1:
                self._spans[len(row)] = (rows - 1, text)
            row.append(text)
        self._cell = None
        self._carry()

    def _carry(self) -> None:
        """Repeat the cells above that span into this row."""
        assert self._rows is not None
        row = self._rows[-1]
        while (above := self._spans.get(len(row))) and above[0]:
            left, text = above
            self._spans[len(row)] = (left - 1, text)
            row.append(text)


def _span(text: str | None) -> int:
    return min(int(text), _WIDEST) if text and text.isascii() and text.isdigit() and int(text) else 1


def _table(rows: list[list[str]]) -> str:
    if not rows:
        return ""
    columns = zip_longest(*[[cell.replace("|", "\\|") for cell in row] for row in rows], fillvalue="")
    even = list(zip(*columns, strict=True))
    lines = [f"| {' | '.join(row)} |" for row in even]
    return "\n".join([lines[0], f"|{' --- |' * len(even[0])}", *lines[1:]])
