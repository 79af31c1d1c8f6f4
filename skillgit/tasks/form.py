"""Whether an answer is right but for its form: what the lenient scores of benchmarks forgive.

Forgiven are wrappings (tags, Markdown, TeX, "the answer is"), case, accents, spacing, articles, punctuation that no
number and no formula needs, and other ways to write the same number. Other words and other values never are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from skillgit.tasks.numeric import Number, read_number

_LONGEST = 2000
"""Characters; a longer text is no answer in another form, and is not looked at."""

_TAGS = re.compile(r"</?answer>", re.IGNORECASE)
_TEX = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf|mathit)\s*\{([^{}]*)\}")
_LEAD = re.compile(
    r"(?:so |thus,? |therefore,? |hence,? )?(?:(?:the|my) )?(?:(?:final|correct|right|short) )?answer(?: is\b|:)[:\s]*",
    re.IGNORECASE,
)
_MATH = re.compile(r"\$+([^$]*)\$+")
_AROUND = "*_`\"'“”‘’ \t\n"
_ARTICLES = re.compile(r"(?<!\S)(?:a|an|the)\s+(?=\S)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_HYPHEN = re.compile(r"(?<=[^\W\d_]{2})-(?=[^\W\d_]{2})")
_IDLE = re.compile(r"[.,:](?!\d)|(?<!\d)[,:]|(?<=[^\W\d_])\.|[;!?'\"]")
_SPACE = re.compile(r"(?<!\d)\s+|\s+(?!\d)")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-") | dict.fromkeys("‘’‚‛`´", "'") | dict.fromkeys("“”„‟«»", '"'))
_NEGATIVE = re.compile(r"\(([^()]*\d[^()]*)\)")


def unwrapped(text: str) -> str:
    """An answer without what is put around it: tags, emphasis, TeX, quotes, a full stop, "the answer is"."""
    if len(text) > _LONGEST:
        return text
    bare = " ".join(_TAGS.sub(" ", text).replace("\\(", " ").replace("\\)", " ").split())
    before = None
    while bare != before:
        before = bare
        bare = _TEX.sub(r"\1", bare)
        lead = _LEAD.match(bare)
        bare = (bare[lead.end() :] if lead else bare).strip(_AROUND).rstrip(".").rstrip(_AROUND)
        if math := _MATH.fullmatch(bare):
            bare = math[1].strip()
    return bare or text.strip()


def same_but_form(predicted: str, answers: Iterable[str]) -> bool:
    """Whether an answer is one of the accepted ones, were its form not to matter."""
    if len(predicted) > _LONGEST:
        return False
    mine = unwrapped(predicted)
    return any(_same(mine, unwrapped(answer)) for answer in answers)


def _same(mine: str, theirs: str) -> bool:
    left, right = _number(mine), _number(theirs)
    if left and right:
        return _equal(left, right)
    return _folded(mine) == _folded(theirs)


def _number(text: str) -> Number | None:
    inner = _NEGATIVE.fullmatch(text)  # as in accounts
    return read_number(f"-{inner[1]}" if inner else text)


def _equal(left: Number, right: Number) -> bool:
    """The same value in the same unit; a sign of currency that only one side has is form, two that differ are not."""
    currencies = {number.currency for number in (left, right) if number.currency}
    return (left.value, left.unit) == (right.value, right.unit) and len(currencies) < 2


def _folded(text: str) -> str:
    """The text without what is only form; as it is when nothing else is left."""
    plain = unicodedata.normalize("NFKD", text.translate(_DASHES)).casefold().replace("&", " and ")
    bare = "".join(c for c in plain if not unicodedata.combining(c))
    kept = _THOUSANDS.sub("", _ARTICLES.sub("", bare))
    spaced = " ".join(_IDLE.sub(" ", _HYPHEN.sub(" ", kept)).split())
    return _SPACE.sub("", spaced) or text
