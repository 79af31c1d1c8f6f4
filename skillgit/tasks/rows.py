"""Reading task files: JSON Lines or a JSON array, each value with the line it stands on."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgit.tasks.problems import Problems

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Row:
    """One JSON value and its place as `file:line` (`file item n` inside a JSON object)."""

    where: str
    value: Any


def shown(path: Path, root: Path) -> str:
    """A path as messages show it: relative to `root` where possible, with forward slashes."""
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def read_rows(path: Path, name: str, problems: Problems) -> list[Row]:
    """Every value in a file.

    A `.json` file holds an array, an object whose `data` is one, or an object of tasks; a `.csv` file a table, whose
    rows become objects of texts; any other file holds one value per line. A byte order mark, CRLF and blank lines are
    fine. What cannot be read becomes a problem.
    """
    try:
        data = path.read_bytes().removeprefix(_BOM)
    except OSError as error:
        problems.add(name, f"cannot be read ({error.strerror})")
        return []
    if path.suffix.lower() == ".json":
        return list(_document(data, name, problems))
    if path.suffix.lower() == ".csv":
        return list(_table(data, name, problems))
    return list(_lines(data, name, problems))


def read_value(path: Path, name: str, problems: Problems) -> Any:
    """The one JSON value that a file holds; `None` after a problem."""
    data = b""
    try:
        data = path.read_bytes().removeprefix(_BOM)
        return parse(data.decode())
    except OSError as error:
        problems.add(name, f"cannot be read ({error.strerror})")
    except ValueError as error:
        problems.add(f"{name}:{_line_of(error, data)}", _said(error))
    return None


def parse(text: str) -> Any:
    """JSON, strictly: no repeated keys, no NaN or infinity, no text that UTF-8 cannot hold.

    Raises `ValueError` that says what is wrong.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair, which is not text") from None
    return value


def _lines(data: bytes, name: str, problems: Problems) -> Iterator[Row]:
    # Only \n ends a line: JSON text may hold the other characters that Python takes for line ends.
    for number, line in enumerate(data.split(b"\n"), 1):
        where = f"{name}:{number}"
        try:
            if line.strip():
                yield Row(where, parse(line.decode()))
        except ValueError as error:
            problems.add(where, _said(error))


def _table(data: bytes, name: str, problems: Problems) -> Iterator[Row]:
    """The rows of a table by the names in its first line. A row stands where it begins."""
    try:
        reader = csv.reader(io.StringIO(data.decode(), newline=""), strict=True)
    except UnicodeDecodeError as error:
        problems.add(f"{name}:{_line_of(error, data)}", _said(error))
        return
    header: list[str] = []
    end = 0
    try:
        for cells in reader:
            line, end = end + 1, reader.line_num
            if not header:
                header = [cell.strip() for cell in cells]
            elif len(cells) == len(header):
                yield Row(f"{name}:{line}", dict(zip(header, cells, strict=True)))
            elif cells:
                problems.add(f"{name}:{line}", f"has {len(cells)} cells, and the first line names {len(header)}")
    except csv.Error as error:
        problems.add(f"{name}:{end + 1}", f"is no row of a table ({error})")


def _document(data: bytes, name: str, problems: Problems) -> Iterator[Row]:
    if not data.strip():
        return
    try:
        text = data.decode()
        value = parse(text)
    except ValueError as error:
        problems.add(f"{name}:{_line_of(error, data)}", _said(error))
        return
    if isinstance(value, list):
        yield from (Row(f"{name}:{line}", v) for line, v in zip(_item_lines(text), value, strict=True))
    elif isinstance(value, dict):
        inner = value.get("data")
        items = inner if isinstance(inner, list) else list(value.values())
        yield from (Row(f"{name} item {i}", v) for i, v in enumerate(items, 1))
    else:
        problems.add(f"{name}:1", "must hold an array of tasks")


def _item_lines(text: str) -> Iterator[int]:
    """Line number of each item of a JSON array that is known to be valid."""
    decoder = json.JSONDecoder()
    at = _skip(text, text.index("[") + 1)
    line, counted = 1, 0
    while text[at] != "]":
        line, counted = line + text.count("\n", counted, at), at
        yield line
        at = _skip(text, decoder.raw_decode(text, at)[1])


def _skip(text: str, at: int) -> int:
    while text[at] in " \t\r\n,":
        at += 1
    return at


def _line_of(error: ValueError, data: bytes) -> int:
    if isinstance(error, json.JSONDecodeError):
        return error.lineno
    return data.count(b"\n", 0, error.start) + 1 if isinstance(error, UnicodeDecodeError) else 1


def _said(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"is not valid JSON ({error.msg} at column {error.colno})"
    if isinstance(error, UnicodeDecodeError):
        return f"is not UTF-8 text (byte {error.start + 1} is {error.object[error.start]:#04x})"
    return str(error)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f'has the field "{next(k for k in keys if keys.count(k) > 1)}" twice')
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"holds {name}, which is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"holds the number {text}, which is too large")
    return value
