"""The seal beside materialised splits: what they hold, by digest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillgit.errors import TaskError
from skillgit.tasks.base import digest
from skillgit.tasks.problems import Problems
from skillgit.tasks.rows import read_value

SEAL = "skillgit-data.json"
_VERSION = 1
_AGAIN = "move the folder away and make the data again with `skillgit data materialize`"


@dataclass(frozen=True)
class Seal:
    """What was materialised.

    Attributes:
        name: the benchmark.
        counts: split to number of items.
        source: what it was made from, for people.
        files: path in the folder to SHA-256 of the file.
        outside: the same for files that stay where they are (ALFWorld's games, below `$ALFWORLD_DATA`).
    """

    name: str
    counts: Mapping[str, int]
    source: str
    files: Mapping[str, str] = field(default_factory=dict)
    outside: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Identity of the content: equal items and files give the same, wherever they came from."""
        return digest({"name": self.name, "files": dict(self.files), "outside": dict(self.outside)})

    def to_json(self) -> dict[str, Any]:
        """The seal as it is written."""
        head = {"v": _VERSION, "name": self.name, "digest": self.digest, "counts": dict(self.counts)}
        return {**head, "source": self.source, "files": dict(self.files), "outside": dict(self.outside)}


def data_digest(folder: Path) -> str:
    """Digest of materialised data, 64 hex digits; empty for a folder that was not materialised.

    It says what was written; whether that is still there is what `skillgit data check` finds out. Raises `TaskError`
    for a seal that cannot be read.
    """
    value = _read(folder)
    return "" if value is None else str(value["digest"])


def read_seal(folder: Path) -> tuple[Seal, str] | None:
    """The seal and the digest it claims, or `None` where there is none. Raises `TaskError` for a damaged one."""
    value = _read(folder)
    if value is None:
        return None
    parts = {name: value.get(name) for name in ("counts", "files", "outside")}
    whole = all(isinstance(part, dict) for part in parts.values())
    texts = whole and all(isinstance(v, str) for name in ("files", "outside") for v in (parts[name] or {}).values())
    if not texts or not isinstance(value.get("name"), str):
        raise _damaged(folder)
    return Seal(value["name"], source=str(value.get("source", "")), **parts), value["digest"]  # type: ignore[arg-type]


def _read(folder: Path) -> dict[str, Any] | None:
    path = folder / SEAL
    if not path.is_file():
        return None
    problems = Problems()
    value = read_value(path, str(path), problems)
    problems.raise_if_any()
    if not isinstance(value, dict) or value.get("v") != _VERSION:
        raise _damaged(folder)
    if not re.fullmatch("[0-9a-f]{64}", str(value.get("digest"))):
        raise _damaged(folder)
    return value


def _damaged(folder: Path) -> TaskError:
    return TaskError("is not a seal that this version of skillgit wrote", where=str(folder / SEAL), fix=_AGAIN)
