"""Words of a text as leak detection compares them, each with its place in the text.

Two texts have the same words when they differ only in case, accents, compatibility forms (full width, ligatures),
invisible characters, punctuation, emphasis, and line breaks. Letters of different scripts that look alike stay
different.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

SPAN = 8
"""Words in a row that count as copied."""

# Thai, Lao, Burmese, Khmer, kana and Han are written without spaces: each character is a token.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_LOW = "\u0e00"
_WORD = re.compile(rf"(?!\W)[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_CHARACTER = re.compile(f"[{_UNSPACED}]")

_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")
"""Letters of Unicode that show nothing."""

_ZERO_WIDTH = "\u200b"
# Lengths are bounded so that openings without an end cannot cost quadratic time.
_MARKUP = re.compile(r"<!--.{0,400}?-->|</?[A-Za-z][^<>]{0,400}>|(?<=\])\([^()\s]{0,400}\)", re.DOTALL)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:[,.'’_\u00a0\u2009\u202f]\d{3})+(?!\w)")


@dataclass(frozen=True)
class Located:
    """The words of one text.

    Attributes:
        words: folded words in order.
        starts, ends: where each word stands in the text.
    """

    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def fold(text: str) -> str:
    """`text` without case, compatibility forms, accents and invisible characters."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return plain.translate({ord(char): None for char in set(plain) if _silent(char)})


def split_words(text: str) -> list[str]:
    """Folded words of a text."""
    return _WORD.findall(fold(text))


def locate(text: str) -> Located:
    """Folded words of a text with their places; the same words as `split_words`."""
    folded, origin = spell(text)
    found = list(_WORD.finditer(folded))
    return Located(
        tuple(match[0] for match in found),
        tuple(origin[match.start()] for match in found),
        tuple(origin[match.end() - 1] + 1 for match in found),
    )


def spell(text: str) -> tuple[str, Sequence[int]]:
    """The folded text, and for each of its characters the offset in `text` it comes from."""
    if text.isascii():
        return text.lower(), range(len(text))
    pieces = [_fold_one(char) for char in text]
    return "".join(pieces), [at for at, piece in enumerate(pieces) for _ in piece]


def readings(text: str) -> Iterator[str]:
    """The text as written, and as a reader of the rendered page sees it when that differs; offsets are the same.

    Rendered: HTML tags, comments and link targets are blank, entities are their characters, and digit groups such as
    `12,345` are one number. Both are needed, since a secret could also be hidden inside a tag.
    """
    yield text
    seen = _MARKUP.sub(lambda match: " " * len(match[0]), text)
    seen = _ENTITY.sub(_decoded, seen)
    seen = _GROUPED.sub(_ungrouped, seen)
    if seen != text:
        yield seen


def window_ends(words: Sequence[str]) -> Sequence[int]:
    """For each word that begins a span of `SPAN` words, the index after the span's last word.

    A character of a script without spaces counts as half a word. Ends never decrease; the last words begin no span.
    """
    if not any(word >= _LOW for word in words):
        return range(SPAN, len(words) + 1)
    ends: list[int] = []
    end = halves = 0
    for first in range(len(words)):
        while end < len(words) and halves < 2 * SPAN:
            halves += _halves(words[end])
            end += 1
        if halves < 2 * SPAN:
            break
        ends.append(end)
        halves -= _halves(words[first])
    return ends


def window_keys(words: Sequence[str]) -> Iterator[int]:
    """A 64-bit number for each span of `SPAN` words, in order; stable within one process."""
    ends = window_ends(words)
    if isinstance(ends, range):
        return map(hash, zip(*(words[at:] for at in range(SPAN)), strict=False))
    return (hash(tuple(words[first:end])) for first, end in enumerate(ends))


def size(words: Sequence[str]) -> float:
    """How many words there are, characters of scripts without spaces counted as halves."""
    return sum(map(_halves, words)) / 2


def unspaced(word: str) -> bool:
    """Whether a word is one character of a script without spaces."""
    return word >= _LOW and _CHARACTER.fullmatch(word) is not None


@lru_cache(maxsize=8192)
def _fold_one(char: str) -> str:
    return fold(char)


def _silent(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] == "M" or category == "Cf" or char in _FILLERS


def _halves(word: str) -> int:
    return 1 if unspaced(word) else 2


def _decoded(match: re.Match[str]) -> str:
    """The entity's character, padded to the entity's length with what folding drops."""
    plain = html.unescape(match[0])
    return plain + _ZERO_WIDTH * (len(match[0]) - len(plain)) if len(plain) <= len(match[0]) else match[0]


def _ungrouped(match: re.Match[str]) -> str:
    return "".join(char if char.isdigit() else _ZERO_WIDTH for char in match[0])
