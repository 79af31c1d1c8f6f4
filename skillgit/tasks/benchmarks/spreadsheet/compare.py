"""Which cells are right: the published comparison, and what it would say if the form of a value did not matter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from skillgit.errors import TaskError
from skillgit.tasks.benchmarks.spreadsheet.books import Area, Book
from skillgit.tasks.benchmarks.spreadsheet.cases import UnusableError
from skillgit.tasks.form import same_but_form
from skillgit.tasks.scorers.cells import cell_value, cells_equal, range_cells

_PART = re.compile(r"\s*((?:'[^']*'!)?[^,]*)")
_CUT = 60


@dataclass(frozen=True)
class Wrong:
    """One cell that is not what was wanted.

    Attributes:
        form: the value is right, and only written otherwise.
    """

    place: str
    got: Any
    wanted: Any
    form: bool

    def line(self, *, hidden: bool) -> str:
        """The cell in words; `hidden` leaves out what was wanted."""
        return f"{self.place} is {shown(self.got)}" + ("" if hidden else f", expected {shown(self.wanted)}")


@dataclass(frozen=True)
class Verdict:
    """What became of one test case.

    Attributes:
        number: of the case.
        problem: why there is nothing to compare, as `prefix: words`; empty when cells were compared.
        wrong: cells that differ.
        cells: how many were compared.
        formulas: cells with a formula that nothing has calculated.
    """

    number: str
    problem: str = ""
    wrong: tuple[Wrong, ...] = ()
    cells: int = 0
    formulas: int = 0

    @property
    def passed(self) -> bool:
        """Whether the case counts as solved."""
        return not self.problem and not self.wrong

    @property
    def passed_but_form(self) -> bool:
        """Whether it would, if the form of values did not matter."""
        return not self.problem and all(wrong.form for wrong in self.wrong)


def areas_of(position: str, sheet: str) -> tuple[Area, ...]:
    """The areas that an answer's position names, as in `Sheet1!A1:B5,'My sheet'!C3`.

    Args:
        sheet: of the parts, when none of them names one; blank is the first sheet.

    Raises:
        UnusableError: a part names no cells.
    """
    parts = [part for part in _PART.findall(position) if part.strip()]
    default = sheet.strip() if sheet.strip() and "!" not in position else None
    areas = [_area(part, default) for part in parts]
    if not areas:
        raise UnusableError("the answer's position is blank")
    return tuple(areas)


def _area(part: str, default: str | None) -> Area:
    name, mark, cells = part.rpartition("!")
    try:
        return Area(name.strip().strip("'") if mark else default, tuple(range_cells(cells.strip().strip("'"))))
    except TaskError as error:
        raise UnusableError(f"{error.what} ({error.why})") from error


def compare(number: str, areas: Sequence[Area], wanted: Book, got: Book) -> Verdict:
    """Every cell of the areas, as it is wanted and as it is in the workbook that was made.

    Raises:
        UnusableError: a sheet is missing in the workbook that is wanted.
    """
    if got.error:
        return Verdict(number, f"eval-mismatch: the output {got.error}")
    wrong: list[Wrong] = []
    for area, right, mine in zip(areas, wanted.areas, got.areas, strict=True):
        if right is None:
            raise UnusableError("the sheet of the answer is not in the workbook that is wanted")
        if mine is None:
            return Verdict(number, f"eval-mismatch: the output has no sheet {right[0]!r}", formulas=got.formulas)
        wrong += _differences(right[0], area.cells, right[1], mine[1])
    return Verdict(number, "", tuple(wrong), sum(len(area.cells) for area in areas), got.formulas)


def _differences(sheet: str, cells: Sequence[str], right: Sequence[Any], mine: Sequence[Any]) -> list[Wrong]:
    return [
        Wrong(f"{sheet}!{cell}", got, wanted, same_value(got, wanted))
        for cell, wanted, got in zip(cells, right, mine, strict=True)
        if not cells_equal(got, wanted)
    ]


def same_value(got: Any, wanted: Any) -> bool:
    """Whether two cells say the same, one perhaps as text and the other as a number or date."""
    left, right = _text(got), _text(wanted)
    return left == right or bool(left and right and same_but_form(left, [right]))


def _text(value: Any) -> str:
    value = cell_value(value)
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float):
        return f"{round(value, 2):.10g}"
    return "" if value is None else " ".join(str(value).split())


def shown(value: Any) -> str:
    """A value as messages show it: text in quotes, others bare, long ones cut."""
    if isinstance(value, Mapping):
        value = next(iter(value.values()))
        return str(value)
    text = "empty" if value is None else repr(value)
    return text if len(text) <= _CUT else f"{text[: _CUT - 1]}…"
