"""The folder of one rollout: programs are run there on each test case, and their outputs are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from skillgit.models.clients.process import take_away
from skillgit.tasks import sandbox
from skillgit.tasks.benchmarks.spreadsheet.books import Area, Book, read_books
from skillgit.tasks.benchmarks.spreadsheet.cases import Case
from skillgit.tasks.benchmarks.spreadsheet.compare import Verdict, compare
from skillgit.tasks.benchmarks.spreadsheet.office import calculated, office

LIMITS = sandbox.Limits(seconds=120.0)
"""Of one run of a program on one workbook."""

SOLUTION, INPUT, OUTPUT = "solution.py", "input.xlsx", "output.xlsx"


@dataclass(frozen=True)
class Prepared:
    """What is known of a task before anybody is asked.

    Attributes:
        cases: its test cases, at least one.
        given: bytes of each case's workbook.
        wanted: the values that the areas should have, per case.
        preview: of the first case's workbook.
    """

    cases: tuple[Case, ...]
    areas: tuple[Area, ...]
    given: tuple[bytes, ...] = field(repr=False)
    wanted: tuple[Book, ...] = field(repr=False)
    preview: str = ""


class Work:
    """One rollout's runs and outputs.

    Args:
        folder: empty, and gone when the rollout is over.
    """

    def __init__(self, prepared: Prepared, folder: Path) -> None:
        self.prepared, self._folder = prepared, folder
        self._places: dict[int, Path] = {}
        self._ran: dict[int, tuple[str, sandbox.Ran]] = {}
        self._made = count(1)
        self.office_said = ""
        """What became of formulas that had to be calculated, for the report."""

    def place(self, case: int) -> Path:
        """The working folder of one case, which holds its workbook."""
        return self._places.get(case) or self._fresh(case)

    def _fresh(self, case: int) -> Path:
        # A folder of its own each time: what an earlier program left, and may have made immovable, is never judged.
        if case in self._places:
            take_away(self._places[case])
        place = self._folder.resolve() / f"run{next(self._made)}"
        place.mkdir()
        (place / INPUT).write_bytes(self.prepared.given[case])
        self._places[case] = place
        return place

    def run(self, case: int, code: str) -> sandbox.Ran:
        """Run a program on a case, in a fresh folder; the same program is run once."""
        if case not in self._ran or self._ran[case][0] != code:
            place = self._fresh(case)
            (place / SOLUTION).write_text(code, encoding="utf-8", errors="replace")
            self._ran[case] = code, self.run_file(case, place / SOLUTION, LIMITS)
        return self._ran[case][1]

    def run_file(self, case: int, script: Path, limits: sandbox.Limits, arguments: Sequence[str] = ()) -> sandbox.Ran:
        """Run a file in the folder of a case, as it is."""
        place = self.place(case)
        paths = {"INPUT_PATH": str(place / INPUT), "OUTPUT_PATH": str(place / OUTPUT)}
        return sandbox.run_python(script, place, paths, arguments, limits)

    def output(self, case: int) -> Path | None:
        """The workbook that was made, a plain file."""
        path = self.place(case) / OUTPUT
        try:
            return path if path.is_file() and not path.is_symlink() else None
        except OSError:  # a program may forbid it
            return None

    def put(self, case: int, data: bytes) -> None:
        """Make this the output of a case."""
        path = self.place(case) / OUTPUT
        path.unlink(missing_ok=True)
        path.write_bytes(data)

    def attempt(self, case: int, code: str) -> str:
        """Run a program on a case: why there is no output, as `prefix: words`, or an empty text."""
        ran = self.run(case, code)
        if not ran.ok:
            return f"exec-error: {ran.problem}"
        return "" if self.output(case) else "output-not-found: nothing was saved to OUTPUT_PATH"

    def read(self, path: Path) -> Book:
        """The areas of the answer in one workbook."""
        # Not in the folder of a program: what is written there could be led elsewhere by its links.
        return read_books(self._folder, [path], self.prepared.areas)[0]

    def judge(self, outputs: Mapping[int, Path]) -> dict[int, Verdict]:
        """Compare the outputs of cases with what is wanted; they are read together."""
        books = read_books(self._folder, list(outputs.values()), self.prepared.areas)
        found = zip(outputs.items(), books, strict=True)
        return {case: self._compare(case, self._with_values(path, book)) for (case, path), book in found}

    def _compare(self, case: int, book: Book) -> Verdict:
        prepared = self.prepared
        return compare(prepared.cases[case].number, prepared.areas, prepared.wanted[case], book)

    def _with_values(self, path: Path, book: Book) -> Book:
        """The workbook with its formulas calculated, where it has some without values and LibreOffice is there."""
        if not book.formulas or not office():
            return book
        better = calculated(self._folder, path)
        if better is None:
            self.office_said = "LibreOffice is installed, but made nothing of formulas without values."
            return book
        self.office_said = "Formulas without values were calculated by LibreOffice."
        return self.read(better)

    def verdicts(self, code: str, *, keep_first: bool = False) -> list[Verdict]:
        """What becomes of every case.

        Args:
            code: the program, blank when there is none.
            keep_first: an output that the first case has already is taken as it is.
        """
        outputs: dict[int, Path] = {}
        failed: dict[int, Verdict] = {}
        for case, known in enumerate(self.prepared.cases):
            problem = "" if keep_first and case == 0 and self.output(0) else self._problem(case, code)
            path = self.output(case)
            if problem or path is None:
                failed[case] = Verdict(known.number, problem)
            else:
                outputs[case] = path
        return [verdict for _, verdict in sorted({**failed, **self.judge(outputs)}.items())]

    def _problem(self, case: int, code: str) -> str:
        return self.attempt(case, code) if code.strip() else "no-program: there is no program for this workbook"
