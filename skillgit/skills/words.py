"""Words of a text: how much two texts have in common, and which words were put for which."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

# Scripts that put no spaces between words; each of their signs counts as one.
_DENSE = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_DENSE}]|[^\W{_DENSE}]+")
_TOKEN = re.compile(rf"\s+|[{_DENSE}]|[^\W{_DENSE}]+(?:[-./:'’][^\W{_DENSE}]+)*|[^\w\s]")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_TOKENS = 1000  # finding what two texts share takes time by the square; longer ones are compared by line
_MOST_LINES = 2000  # and still longer ones as a whole


@dataclass(frozen=True)
class Piece:
    """A stretch of text that is kept (`=`), removed (`-`) or added (`+`)."""

    op: Literal["=", "-", "+"]
    text: str


def words_of(text: str) -> list[str]:
    """Its words in order, in lower case and without punctuation; of a text without words, its signs."""
    return _WORD.findall(text.lower()) or re.findall(r"\S", text)


def bag(text: str) -> Counter[str]:
    """How often each word occurs, whatever its case; of a text without words, its signs."""
    return Counter(words_of(text))


def similarity(one: Counter[str], other: Counter[str], common: int | None = None) -> float:
    """Share of words in common, in [0, 1]; 1 for two empty texts.

    Args:
        common: number of words in common, when it is known already.
    """
    total = one.total() + other.total()
    return 2 * ((one & other).total() if common is None else common) / total if total else 1.0


def word_changes(before: str, after: str) -> tuple[Piece, ...]:
    """The change word by word. What is kept and removed makes `before`; what is kept and added makes `after`."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if max(len(old), len(new)) > _MOST_TOKENS:
        old, new = _LINE.findall(before), _LINE.findall(after)
    if max(len(old), len(new)) > _MOST_LINES:
        old, new = [before], [after]
    return tuple(_merged(_pieces(old, new)))


def _pieces(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Kept, removed and added text in turn. Blanks between two changed words belong to the change."""
    codes = SequenceMatcher(None, old, new).get_opcodes()
    for at, (op, low, high, start, end) in enumerate(codes):
        removed, added = "".join(old[low:high]), "".join(new[start:end])
        inner = 0 < at < len(codes) - 1
        yield (removed, "", "") if op == "equal" and not (inner and removed.isspace()) else ("", removed, added)


def _merged(pieces: Iterator[tuple[str, str, str]]) -> Iterator[Piece]:
    removed = added = ""
    for kept, old, new in pieces:
        removed, added = removed + old, added + new
        if kept:
            yield from _change(removed, added)
            removed = added = ""
            yield Piece("=", kept)
    yield from _change(removed, added)


def _change(removed: str, added: str) -> Iterator[Piece]:
    if removed:
        yield Piece("-", removed)
    if added:
        yield Piece("+", added)
