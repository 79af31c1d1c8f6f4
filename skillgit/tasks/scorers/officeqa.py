"""OfficeQA's strict score, as SkillOpt defines it: hard = exact match, soft = token F1, after `normalise`.

Numbers are compared as text, with no tolerance: "12.0" is not "12", "5%" is not "5", "(123)" is not "-123".
"""

from __future__ import annotations

import re
from collections import Counter
from string import punctuation

_DELETED = str.maketrans("", "", "".join(set(punctuation) - set(".-%")))
_UNITS = re.compile(r"\b(?:millions?|billions?|dollars?|nominal)\b")


def normalise(text: str) -> str:
    """Lower case, without unit words and ASCII punctuation other than `.`, `-` and `%`, single spaces."""
    return " ".join(_UNITS.sub(" ", text.lower().translate(_DELETED)).split())


def exact_match(prediction: str, gold: str) -> bool:
    """Whether both are the same text after `normalise`."""
    return normalise(prediction) == normalise(gold)


def token_f1(prediction: str, gold: str) -> float:
    """F1 in [0, 1] on multisets of normalised words. An empty side scores 1 only against an empty other side."""
    left, right = normalise(prediction).split(), normalise(gold).split()
    if not left or not right:
        return float(left == right)
    common = (Counter(left) & Counter(right)).total()
    return 2 * common / (len(left) + len(right))
