"""The workbooks of a task: which there are, and where."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skillgit.tasks.base import Task

MOST_BYTES = 50_000_000
"""Of one workbook as it lies on the disk; real ones have a hundredth of it."""

_NUMBERED = re.compile(r"(?P<number>[0-9]+)_(?P<name>.+)_(?P<kind>input|init)\.xlsx", re.DOTALL)
_PARTNER = {"input": "answer", "init": "golden"}


class UnusableError(Exception):
    """A task cannot be asked or scored, for a fault of its own data."""


@dataclass(frozen=True)
class Case:
    """One workbook to change, and the one that it should become; both by path from the data's folder."""

    number: str
    given: str
    wanted: str


def find_cases(root: Path, folder: str) -> list[Case]:
    """The test cases in a folder: `1_name_input.xlsx` with `1_name_answer.xlsx`, or `1_name_init.xlsx` with
    `1_name_golden.xlsx`; else `initial.xlsx` with `golden.xlsx`.

    Raises:
        UnusableError: the folder is outside `root`, or has no test case.
    """
    place = _inside(root, folder)
    numbered: dict[str, Case] = {}
    for number, given, wanted in sorted(_pairs(place), key=lambda pair: (int(pair[0]), "_init." in pair[1])):
        numbered.setdefault(number, Case(number, f"{folder}/{given}", f"{folder}/{wanted}"))
    if not numbered and all((place / name).is_file() for name in ("initial.xlsx", "golden.xlsx")):
        return [Case("1", f"{folder}/initial.xlsx", f"{folder}/golden.xlsx")]
    if not numbered:
        raise UnusableError(f"{folder} holds no test case")
    return list(numbered.values())


def _pairs(place: Path) -> Iterator[tuple[str, str, str]]:
    for path in place.iterdir() if place.is_dir() else ():
        if match := _NUMBERED.fullmatch(path.name):
            wanted = f"{match['number']}_{match['name']}_{_PARTNER[match['kind']]}.xlsx"
            if (place / wanted).is_file():
                yield match["number"], path.name, wanted


def read_book(root: Path, name: str) -> bytes:
    """A workbook's bytes.

    Raises:
        UnusableError: it leads out of `root`, is too large, or cannot be read.
    """
    path = _inside(root, name)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UnusableError(f"{name} has more than {MOST_BYTES} bytes")
        return path.read_bytes()
    except OSError as error:
        raise UnusableError(f"{name} cannot be read ({error.strerror})") from error


def cases_of(task: Task) -> list[Case]:
    """The test cases that a task was loaded with."""
    given, wanted = task.data["workbooks"], task.judge["workbooks"]
    return [Case(number, given[number][0], wanted[number][0]) for number in given]


def sums(root: Path, cases: list[Case]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Number to path and SHA-256, of the workbooks that are given and of those that are wanted."""
    given = {case.number: [case.given, _sum(root, case.given)] for case in cases}
    return given, {case.number: [case.wanted, _sum(root, case.wanted)] for case in cases}


def _sum(root: Path, name: str) -> str:
    return hashlib.sha256(read_book(root, name)).hexdigest()


def _inside(root: Path, name: str) -> Path:
    home = root.resolve()
    path = home if "\0" in name else (home / name).resolve()
    if path == home or not path.is_relative_to(home):
        raise UnusableError(f"{name!r} is no path inside the folder of the workbooks")
    return path
