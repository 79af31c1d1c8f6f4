"""Mined tasks in a file, for a person to read, correct and release.

JSON Lines: first `{"format": "skillgit.sleep-tasks.v1", "reviewed": false, "project": …, "sources": […]}`, then one
task per line (`mine/taskrows.py` lists the fields). Whoever has read the tasks sets `reviewed` to true.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillgit.config.sleep import Sleep
from skillgit.sleep.files import write_whole
from skillgit.sleep.mine import splits
from skillgit.sleep.mine.alike import Essence, near_pairs
from skillgit.sleep.mine.base import MinedTask
from skillgit.sleep.mine.cluster import split_units, whole
from skillgit.sleep.mine.published import FORMAT as PUBLISHED
from skillgit.sleep.mine.published import parse_published
from skillgit.sleep.mine.taskrows import Parsed, parse_row, row_of
from skillgit.tasks.problems import Problems
from skillgit.tasks.record import Record
from skillgit.tasks.rows import Row, parse, read_rows

FORMAT = "skillgit.sleep-tasks.v1"

_HEADER = frozenset(("format", "reviewed", "project", "sources"))
_DEFAULTS = Sleep()


@dataclass(frozen=True)
class Reviewed:
    """What a tasks file holds.

    Attributes:
        reviewed: a person says in the file that the tasks may be used.
        notes: what was left out or decided for the file.
    """

    tasks: tuple[MinedTask, ...]
    reviewed: bool
    notes: tuple[str, ...] = ()


def write(path: Path, tasks: Iterable[MinedTask], *, project: str, sources: Sequence[str]) -> None:
    """Write tasks, not reviewed yet, whole or not at all, for the user's eyes only.

    Raises:
        ConfigError: the file cannot be written.
    """
    write_whole(path, encode(tasks, project=project, sources=sources))


def encode(tasks: Iterable[MinedTask], *, project: str, sources: Sequence[str]) -> bytes:
    """The file's content."""
    header = {"format": FORMAT, "reviewed": False, "project": project, "sources": list(sources)}
    lines = [json.dumps(row, ensure_ascii=False) for row in (header, *map(row_of, tasks))]
    return "".join(f"{line}\n" for line in lines).encode()


def read(path: Path, config: Sleep = _DEFAULTS, *, seed: int = 42) -> Reviewed:
    """The tasks of a file: ours, the JSON object of SkillOpt-Sleep, or a bare JSON array of either one's tasks.

    Tasks that the file gives no split are split as mined ones are, as long as no other is in val or test; else they
    are train tasks.

    Raises:
        TaskError: names every fault with its place: rows, repeated ids, near-identical requests in two splits.
    """
    problems, notes = Problems(), list[str]()
    header, rows = _rows(path, problems)
    found = [task for row in rows if (task := _task(row, header, problems, notes))]
    reviewed = _reviewed(header, str(path), problems)
    _check_ids(found, problems)
    problems.raise_if_any()
    tasks = _split(found, config, seed, notes)
    _check_sides(tasks, problems)
    problems.raise_if_any()
    return Reviewed(tuple(tasks), reviewed, tuple(notes))


def _rows(path: Path, problems: Problems) -> tuple[Mapping[str, Any], list[Row]]:
    """The header, and the rows of tasks, each with its place."""
    name, value = str(path), _document(path)
    if isinstance(value, dict):
        header = {key: held for key, held in value.items() if key != "tasks"}
        return header, [Row(f"{name} item {n}", task) for n, task in enumerate(value["tasks"], 1)]
    if isinstance(value, list) and path.suffix.lower() != ".json":
        return {}, [Row(f"{name} item {n}", task) for n, task in enumerate(value, 1)]
    rows = read_rows(path, name, problems)
    if rows and isinstance(rows[0].value, dict) and "format" in rows[0].value:
        return rows[0].value, rows[1:]
    return {}, rows


def _document(path: Path) -> Any:
    """The array, or the object with tasks, that a whole file is; `None` for lines, or what only messages can tell."""
    try:
        value = parse(path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode())
    except (OSError, ValueError):
        return None
    tasks = isinstance(value, list) or (isinstance(value, dict) and isinstance(value.get("tasks"), list))
    return value if tasks else None


def _task(row: Row, header: Mapping[str, Any], problems: Problems, notes: list[str]) -> Parsed | None:
    record = Record.of(row, problems)
    if record is None:
        return None
    if header.get("format") == PUBLISHED or (not header and "intent" in record.value):
        return parse_published(record, str(header.get("transcript_source", "")), notes)
    return parse_row(record, str(header.get("project", "")))


def _reviewed(header: Mapping[str, Any], name: str, problems: Problems) -> bool:
    if header and header.get("format") not in (FORMAT, PUBLISHED):
        problems.add(name, f'the format must be "{FORMAT}" or "{PUBLISHED}", not {json.dumps(header.get("format"))}')
    if header.get("format") == FORMAT:
        Record(name, header, problems).only(_HEADER)
    value = header.get("reviewed", False)
    if not isinstance(value, bool):
        problems.add(name, '"reviewed" must be true or false')
    return value is True


def _check_ids(found: Sequence[Parsed], problems: Problems) -> None:
    seen: dict[str, str] = {}
    for task in (parsed.task.task for parsed in found):
        first = seen.setdefault(task.id, task.where)
        if first != task.where:
            problems.add(task.where, f'the id "{task.id}" is already used at {first}')


def _check_sides(tasks: Sequence[MinedTask], problems: Problems) -> None:
    """Nearly the same request in two splits would let the gate measure memory."""
    for one, other in near_pairs([Essence.of(whole(mined.task)) for mined in tasks]):
        first, second = tasks[one], tasks[other]
        if first.split != second.split:
            text = f"asks nearly the same in {second.split} as {first.task.where} does in {first.split}"
            problems.add(second.task.where, f"{text}: put both in one split")


def _split(found: Sequence[Parsed], config: Sleep, seed: int, notes: list[str]) -> list[MinedTask]:
    tasks = [parsed.task for parsed in found]
    unsplit = {at for at, parsed in enumerate(found) if not parsed.split_given and parsed.task.origin == "real"}
    if len(unsplit) < 2 or any(task.split != "train" for task in tasks):
        return tasks
    texts = [whole(task.task) for task in tasks]
    groups = split_units([(text,) for text in texts])
    units = [_unit([texts[at] for at in group], unsplit.issuperset(group)) for group in groups]
    for group, split in zip(groups, splits.assign(units, config, seed), strict=True):
        for at in group:
            tasks[at] = replace(tasks[at], split=split)
    notes.append(f"{len(unsplit)} tasks had no split and were given one")
    return tasks


def _unit(texts: Sequence[str], free: bool) -> splits.Unit:
    return splits.Unit(min(texts), len(texts), frozenset() if free else frozenset(("train",)))
