"""Reading the files of a SkillOpt output directory: bounded, never outside it, and one bad file costs only itself."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT = 20 * 2**20
"""Most bytes read of one file."""

_DEPTH = 100
_SECRET = re.compile(r"(api_?key|token|secret|password)$", re.IGNORECASE)


@dataclass(frozen=True)
class Problem:
    """Something that could not be used: a file of the directory, and what is wrong with it."""

    file: str
    what: str


class Folder:
    """A directory as it is read. What is wrong with a file is written down in `problems`, and the file passed over."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.problems: list[Problem] = []

    def report(self, file: str, what: str) -> None:
        """Write a problem down, once."""
        problem = Problem(file, what)
        if problem not in self.problems:
            self.problems.append(problem)

    def data(self, name: str, *, missing: str = "") -> bytes | None:
        """Bytes of a file, or `None`.

        Args:
            missing: what to report when there is no such file; empty when it may be absent.
        """
        path = self.root / name
        try:
            if not path.resolve().is_relative_to(self.root):
                self.report(name, "leads out of the directory; refused")
                return None
            if not path.is_file():
                self._absent(name, path, missing)
                return None
            with path.open("rb") as file:
                found = file.read(LIMIT + 1)
        except (OSError, RuntimeError) as error:
            self.report(name, f"cannot be read: {error.strerror if isinstance(error, OSError) else error}")
            return None
        if len(found) > LIMIT:
            self.report(name, f"is larger than {LIMIT // 2**20} MB; passed over")
            return None
        return found

    def _absent(self, name: str, path: Path, missing: str) -> None:
        if path.exists() or path.is_symlink():
            self.report(name, "is no regular file")
        elif missing:
            self.report(name, missing)

    def text(self, name: str, *, missing: str = "") -> str | None:
        """Text of a file exactly as it is, or `None`."""
        data = self.data(name, missing=missing)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError as error:
            self.report(name, f"is not UTF-8 text: byte {error.start}")
            return None

    def json(self, name: str, *, missing: str = "") -> Any:
        """Value of a JSON file, without what JSON cannot hold; `None` when it cannot be read."""
        data = self.data(name, missing=missing)
        return None if data is None else self._value(data, name)

    def mapping(self, name: str, *, missing: str = "") -> dict[str, Any]:
        """A JSON object; empty when it cannot be read."""
        data = self.data(name, missing=missing)
        value = None if data is None else self._value(data, name)
        if isinstance(value, dict):
            return value
        if value is not None:
            self.report(name, "is no JSON object")
        return {}

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Objects of a file with one JSON value per line; empty when the file is absent or a line is damaged."""
        lines = [line for line in (self.data(name) or b"").split(b"\n") if line.strip()]
        values = [self._value(line, f"{name}:{number}") for number, line in enumerate(lines, 1)]
        return values if all(isinstance(value, dict) for value in values) else []

    def _value(self, data: bytes, name: str) -> Any:
        try:
            value = json.loads(data)
            plain = _plain(value, 0)
        except (ValueError, RecursionError) as error:
            self.report(name, f"is no JSON: {str(error)[:80]}")
            return None
        if _has_no_number(value):
            self.report(name, "holds NaN or infinity; read as unknown")
        return plain

    def numbered(self, folder: str, before: str, after: str = "") -> dict[int, str]:
        """Number to path of the entries `<before>NNNN<after>` of a subfolder, in order."""
        pattern = re.compile(rf"{before}([0-9]{{2,6}}){re.escape(after)}")
        try:
            if not (self.root / folder).resolve().is_relative_to(self.root):
                self.report(folder, "leads out of the directory; refused")
                return {}
            names = sorted(path.name for path in (self.root / folder).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, RuntimeError) as error:
            self.report(folder, f"cannot be read: {error}")
            return {}
        found = {int(match[1]): f"{folder}/{match[0]}" for name in names if (match := pattern.fullmatch(name))}
        return dict(sorted(found.items()))

    def score(self, values: Mapping[str, Any], key: str, where: str) -> float | None:
        """A mean score in [0, 1]; `None` when it is absent or none, which is reported."""
        number = self.number(values, key, where)
        if number is not None and not 0 <= number <= 1:
            self.report(where, f"{key} is {number:g}, not a score from 0 to 1; read as unknown")
            return None
        return number

    def number(self, values: Mapping[str, Any], key: str, where: str) -> float | None:
        """A finite number; `None` when it is absent or none, which is reported."""
        value = values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e15:
            self.report(where, f"{key} is no number; read as unknown")
            return None
        return float(value)


def whole(value: Any, most: int = 999_999) -> int | None:
    """A count from 0 to `most`, or `None`."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most else None


def word(value: Any) -> str:
    """Text as one short printable line; empty for anything else."""
    if not isinstance(value, str):
        return ""
    return " ".join("".join(char if char.isprintable() else " " for char in value[:400]).split())[:100]


def without_secrets(value: Any, path: str = "") -> tuple[Any, tuple[str, ...]]:
    """A JSON value without the credentials in it, and the names of what was left out."""
    if isinstance(value, list):
        parts = [without_secrets(item, f"{path}{number}.") for number, item in enumerate(value)]
        return [part for part, _ in parts], tuple(name for _, names in parts for name in names)
    if not isinstance(value, dict):
        return value, ()
    kept, dropped = {}, []
    for key, item in value.items():
        if _SECRET.search(key) and item not in (None, "", [], {}) and str(item).strip():
            dropped.append(f"{path}{key}")
            continue
        kept[key], names = without_secrets(item, f"{path}{key}.")
        dropped += names
    return kept, tuple(dropped)


def _plain(value: Any, depth: int) -> Any:
    """The value as git can keep it: no NaN, no half surrogate pairs, not nested beyond reason."""
    if depth > _DEPTH:
        raise ValueError(f"nested more than {_DEPTH} deep")
    if isinstance(value, dict):
        return {_text(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, str):
        return _text(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _has_no_number(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_no_number(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_no_number(item) for item in value)
    return isinstance(value, float) and not math.isfinite(value)
