"""Released id lists: which items are in train, val and test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgit.errors import TaskError
from skillgit.tasks.data.findings import Findings
from skillgit.tasks.problems import Problems
from skillgit.tasks.record import Record
from skillgit.tasks.rows import read_rows, read_value, shown
from skillgit.tasks.sources import SPLITS, split_folder

_ABOUT = "split_manifest.json"


@dataclass(frozen=True)
class Wanted:
    """One item to find: its id, the manifest's fields, its place, and its split."""

    id: str
    value: Mapping[str, Any]
    where: str
    split: str


@dataclass(frozen=True)
class Manifest:
    """An id list.

    Attributes:
        items: by split, in the order of the file.
        about: what `split_manifest.json` says; empty when there is none.
    """

    items: Mapping[str, tuple[Wanted, ...]]
    about: Mapping[str, Any]

    @property
    def counts(self) -> dict[str, int]:
        """Split to number of items."""
        return {split: len(items) for split, items in self.items.items()}

    def by_id(self) -> dict[str, Wanted]:
        """Every item, in order; of a repeated id the first."""
        found: dict[str, Wanted] = {}
        for item in (item for items in self.items.values() for item in items):
            found.setdefault(item.id, item)
        return found


def read_manifest(folder: Path, title: str, findings: Findings) -> Manifest:
    """Read `train`, `val` and `test` of a manifest, noting repeated ids, overlap and wrong counts.

    Args:
        title: the benchmark as manifests call it; a manifest of another one is refused.

    Raises:
        TaskError: a split is not there or has rows that are no items.
    """
    if not folder.is_dir():
        raise TaskError("there is no such folder", where=str(folder), fix="give the manifest's folder with --manifest")
    problems = Problems()
    about = _about(folder, title, problems)
    files = split_folder(folder, folder).splits
    for name in SPLITS:
        if name not in files:
            problems.add(str(folder), f"has no {name}/items.json")
    items = {name: _items(path, name, folder, problems) for name, path in files.items()}
    problems.raise_if_any()
    manifest = Manifest(items, about)
    _check_ids(manifest, findings)
    _check_counts(manifest, findings)
    return manifest


def _about(folder: Path, title: str, problems: Problems) -> Mapping[str, Any]:
    path = folder / _ABOUT
    if not path.is_file():
        return {}
    value = read_value(path, _ABOUT, problems)
    if not isinstance(value, dict):
        problems.add(_ABOUT, "must hold an object")
        return {}
    other = value.get("benchmark", title)
    if not isinstance(other, str) or other.casefold() != title.casefold():
        raise TaskError(f"is a manifest of {other!r}, not of {title}", where=str(path), fix="name its benchmark")
    return value


def _items(path: Path, split: str, folder: Path, problems: Problems) -> tuple[Wanted, ...]:
    records = [Record.of(row, problems) for row in read_rows(path, shown(path, folder), problems)]
    found = ((record, record.id()) for record in records if record)
    return tuple(Wanted(name, record.value, record.where, split) for record, name in found if name)


def _check_ids(manifest: Manifest, findings: Findings) -> None:
    seen: dict[str, Wanted] = {}
    for items in manifest.items.values():
        for item in items:
            first = seen.setdefault(item.id, item)
            if first is item:
                continue
            kind = "repeated" if first.split == item.split else "overlap"
            findings.add(kind, f"is already named at {first.where}", id=item.id, where=item.where)


def _check_counts(manifest: Manifest, findings: Findings) -> None:
    told = manifest.about.get("counts")
    for split, count in manifest.counts.items():
        if isinstance(told, dict) and told.get(split, count) != count:
            findings.add("count", f"holds {count} items, and {_ABOUT} says {told[split]}", where=split)
