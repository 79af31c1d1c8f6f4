"""How a benchmark's data is described, and reading the fields of a source's row."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


class UnusableError(Exception):
    """Why one row gives no item, as the end of a sentence about it; `kind` is that of the finding."""

    def __init__(self, text: str, kind: str = "unusable") -> None:
        super().__init__(text)
        self.kind = kind


class Sink(Protocol):
    """Where the files of an item go."""

    def write(self, name: str, data: bytes) -> None:
        """A file at a path in the data's folder."""
        ...

    def refer(self, name: str, path: Path) -> None:
        """A file that stays where it is."""
        ...


@dataclass(frozen=True)
class Found:
    """What a source has for an item.

    Attributes:
        value: the row's fields; empty for a benchmark without rows.
        folders: where relative paths in the row may start; all lie in the last one, and nothing leads out of it.
    """

    value: Mapping[str, Any]
    folders: tuple[Path, ...]

    def file(self, name: str) -> Path:
        """A file or folder of the source. Raises `UnusableError` when it is not there or lies outside."""
        outside = False
        for folder in self.folders:
            try:
                path = (folder / name).resolve()
            except (OSError, RuntimeError, ValueError):  # a circle of links, or a name that no file can have
                continue
            if not path.is_relative_to(self.folders[-1].resolve()):
                outside = True
            elif path.exists():
                return path
        raise UnusableError(f"{name} is outside the source" if outside else f"{name} is not in the source", "file")


@dataclass(frozen=True)
class Kind:
    """One published benchmark.

    Attributes:
        name: as commands and configurations call it.
        title: as released manifests call it.
        folder: where its splits are expected, from the repository's top; that of the published configuration.
        released: items in train, val and test of the released list.
        repo: data set on the hub; empty when it is not there.
        hub: patterns of the files that are needed from the hub.
        patterns: files that hold rows, below a source folder: those of the first pattern that matches. Empty for a
            benchmark without rows.
        id_fields: the fields that `row_id` looks at.
        row_id: id of a row, by its fields and the file's name; blank when it has none.
        build: one item from the manifest's fields and what the source has; raises `UnusableError`.
        keys: settings that name the data's folder.
        also: what else a user must do before the benchmark runs.
    """

    name: str
    title: str
    folder: str
    released: tuple[int, int, int]
    repo: str
    hub: tuple[str, ...]
    patterns: tuple[str, ...]
    id_fields: tuple[str, ...]
    row_id: Callable[[Mapping[str, Any], str], str]
    build: Callable[[Mapping[str, Any], Found, Sink], dict[str, Any]]
    keys: tuple[str, ...] = ("env.split_dir",)
    also: str = ""


TABLES = ("**/*.parquet", "**/*.jsonl", "**/*.json", "**/*.csv")


def first_of(*names: str) -> Callable[[Mapping[str, Any], str], str]:
    """A `row_id` that takes the first of some fields that is there."""

    def row_id(row: Mapping[str, Any], file: str) -> str:  # noqa: ARG001 - where files do not matter
        return next((str(row[name]) for name in names if row.get(name) is not None), "")

    return row_id


def text(row: Mapping[str, Any], *names: str) -> str:
    """Text that is not blank under the first of some names. Raises `UnusableError`."""
    value = next((row[name] for name in names if row.get(name) is not None), None)
    if isinstance(value, str) and value.strip():
        return value
    raise UnusableError(f'has no "{names[0]}"' if value is None else f'"{names[0]}" is not text')


def texts(row: Mapping[str, Any], *names: str) -> list[str]:
    """Texts under the first of some names: a list, a list as JSON or Python write it, or one text.

    Raises `UnusableError` when there is none, and for what is not text.
    """
    value = next((row[name] for name in names if row.get(name) is not None), None)
    if isinstance(value, str):
        value = _listed(value)
    if isinstance(value, list) and value and all(isinstance(item, str) and item.strip() for item in value):
        return value
    raise UnusableError(f'has no "{names[0]}"' if not value else f'"{names[0]}" is not a list of texts')


def _listed(value: str) -> list[Any]:
    if value.lstrip().startswith("["):
        for read in (json.loads, ast.literal_eval):
            try:
                found = read(value.strip())
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            if isinstance(found, list):
                return found
    return [value] if value.strip() else []


def agree(wanted: Mapping[str, Any], row: Mapping[str, Any], name: str, other: str = "") -> None:
    """Raise `UnusableError` where manifest and source both have a field and it differs: another item has its id."""
    mine, theirs = wanted.get(name), row.get(other or name)
    if mine is not None and theirs is not None and str(mine).strip() != str(theirs).strip():
        raise UnusableError(f"{other or name} is {theirs}, and the manifest says {mine}", "mismatch")
