"""What is told of the outcome: a score with its reason, and the report that ends the transcript."""

from __future__ import annotations

from collections.abc import Sequence

from skillgit.tasks import sandbox
from skillgit.tasks.base import Score
from skillgit.tasks.benchmarks.spreadsheet.compare import Verdict
from skillgit.tasks.benchmarks.spreadsheet.office import office
from skillgit.tasks.text import clip

_LISTED = 20
_LONGEST = 12_000


def score(verdicts: Sequence[Verdict]) -> Score:
    """Hard: every case is right. Soft: the share of them that is."""
    passed = sum(verdict.passed for verdict in verdicts)
    lenient = float(all(verdict.passed_but_form for verdict in verdicts))
    hard, soft = float(passed == len(verdicts)), passed / len(verdicts)
    failed = next((verdict for verdict in verdicts if not verdict.passed), None)
    return Score(hard, soft, f"{passed} of {len(verdicts)} cases right", _reason(failed) if failed else "", lenient)


def _reason(failed: Verdict) -> str:
    """The first failure in one line."""
    if failed.problem:
        prefix, _, words = failed.problem.partition(": ")
        last = words.strip().splitlines()[-1] if words.strip() else ""
        return f"{prefix}: case {failed.number}: {clip(last)}"
    first, *others = failed.wrong
    more = f" and {len(others)} more of {failed.cells} cells" if others else ""
    blank = f" ({_uncalculated(failed)})" if failed.formulas else ""
    return f"eval-mismatch: case {failed.number}: {first.line(hidden=False)}{more}{blank}"


def _uncalculated(verdict: Verdict) -> str:
    missing = "" if office() else "; LibreOffice, which would calculate them, is not installed"
    return f"formulas without values: {verdict.formulas}{missing}"


def report(verdicts: Sequence[Verdict], office_said: str) -> str:
    """Every case, every wrong cell, what became of formulas, and how the programs were run."""
    lines = [line for verdict in verdicts for line in _lines(verdict)]
    lines += [office_said] if office_said else []
    lines.append(f"Programs ran with: {sandbox.isolation()}.")
    text = "\n".join(lines)
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]}\n[… cut …]\n{text[-half:]}"


def _lines(verdict: Verdict) -> list[str]:
    head = f"Case {verdict.number}: "
    if verdict.problem:
        return [head + verdict.problem]
    if verdict.passed:
        return [f"{head}all {verdict.cells} cells are right"]
    lines = [f"{head}{len(verdict.wrong)} of {verdict.cells} cells are wrong", *cells(verdict, hidden=False)]
    return [*lines, f"  {_uncalculated(verdict)}"] if verdict.formulas else lines


def cells(verdict: Verdict, *, hidden: bool) -> list[str]:
    """The wrong cells, one a line; `hidden` leaves out what was expected."""
    lines = [f"  {wrong.line(hidden=hidden)}" for wrong in verdict.wrong[:_LISTED]]
    more = len(verdict.wrong) - _LISTED
    return [*lines, f"  … and {more} more"] if more > 0 else lines
