"""Answer comparison as SearchQA and SQuAD define it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from string import punctuation

_NO_PUNCTUATION = str.maketrans("", "", punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalise(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, single spaces."""
    bare = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(prediction: str, answers: Iterable[str]) -> bool:
    """Whether any answer equals the prediction after `normalise`."""
    wanted = normalise(prediction)
    return any(normalise(answer) == wanted for answer in answers)


def token_f1(prediction: str, answers: Iterable[str]) -> float:
    """Best F1 in [0, 1] over the answers, on multisets of normalised words.

    An empty side scores 1 only against an empty other side.
    """
    words = normalise(prediction).split()
    return max((_f1(words, normalise(answer).split()) for answer in answers), default=0.0)


def _f1(left: list[str], right: list[str]) -> float:
    if not left or not right:
        return float(left == right)
    common = (Counter(left) & Counter(right)).total()
    return 2 * common / (len(left) + len(right))
