"""The numeric judge: equal values, however they are written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from skillgit.tasks.base import Score, Task
from skillgit.tasks.extract import EXTRACT, answer_in, describe
from skillgit.tasks.judge import Judge, Settings, any_answers, failed, number, passed
from skillgit.tasks.text import clip, quote, quote_any

_LONGEST = 400
"""Characters; longer text is not read as a number, which keeps exact arithmetic cheap."""

_SCALES = {"": 0, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_FORM = re.compile(
    r"""(?P<sign>[-+−]?)\s*(?P<currency>[$€£¥₹]?)\s*(?P<inner>[-+−]?)
        (?P<digits>(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)
        (?:e(?P<exponent>[-+]?[0-9]{1,3}))?
        \s*(?P<percent>%|per\ ?cent\b)?
        \s*(?P<scale>thousand\b|million\b|billion\b|trillion\b)?
        \s*(?P<unit>(?:[^\W\d_]|°)\S*)?\.?""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class Number:
    """A number as written: `12 %` has value 12 and `percent`."""

    value: Fraction
    percent: bool
    currency: str
    unit: str


def read_number(text: str) -> Number | None:
    """The number that the whole text is; `None` for anything else.

    Understood: thousands commas, a sign, a currency sign, an exponent, `%` or `percent`, thousand to trillion, one
    trailing unit word, and Markdown emphasis around it all.
    """
    bare = text.strip().strip("*_`").strip()
    form = _FORM.fullmatch(bare) if len(bare) <= _LONGEST else None
    if form is None or (form["sign"] and form["inner"]):
        return None
    power = int(form["exponent"] or 0) + _SCALES[(form["scale"] or "").lower()]
    value = Fraction(Decimal(form["digits"].replace(",", ""))) * Fraction(10) ** power
    negative = form["sign"] in ("-", "−") or form["inner"] in ("-", "−")
    unit = (form["unit"] or "").rstrip(".").casefold()
    return Number(-value if negative else value, bool(form["percent"]), form["currency"], unit)


def _equal(written: Number, wanted: Number, settings: Settings) -> bool:
    """Within either tolerance of the wanted value, in the same currency and unit where both name one."""
    for mine, theirs in ((written.currency, wanted.currency), (written.unit, wanted.unit)):
        if mine and theirs and mine != theirs:
            return False
    return any(_close(a, b, settings) for a, b in _readings(written, wanted))


def _readings(a: Number, b: Number) -> Iterator[tuple[Fraction, Fraction]]:
    """The value pairs to compare; a percent sign on one side only may or may not mean hundredths."""
    yield a.value, b.value
    if a.percent != b.percent:
        yield (a.value / 100, b.value) if a.percent else (a.value, b.value / 100)


def _close(a: Fraction, b: Fraction, settings: Settings) -> bool:
    # Through the shortest decimal, so that 0.1 means one tenth and 1.1 is within 0.1 of 1.
    absolute, relative = (Fraction(repr(settings[name])) for name in ("abs", "rel"))
    return abs(a - b) <= max(absolute, relative * abs(b))


def _number_answers(answers: tuple[str, ...], settings: Settings) -> list[str]:
    wrong = [answer for answer in answers if read_number(answer) is None]
    return any_answers(answers, settings) + [f"answer {quote(answer)} is not a number" for answer in wrong]


def _score(task: Task, response: str) -> Score:
    predicted = answer_in(response, task.judge["extract"])
    written = read_number(predicted or "")
    if written is None:
        reason = f"numeric: {describe(predicted)}, expected one number"
        return failed(clip(predicted or ""), reason)
    wanted = (read_number(answer) for answer in task.answers)
    if any(other and _equal(written, other, task.judge) for other in wanted):
        return passed(clip(predicted or ""))
    return failed(clip(predicted or ""), f"numeric: {describe(predicted)}, expected {quote_any(task.answers)}")


NUMERIC = Judge(
    1,
    _score,
    {"extract": EXTRACT, "abs": number(0, 0, math.inf), "rel": number(0, 0, 1)},
    _number_answers,
)
