"""When two rules say the same. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from skillgit.skills.words import words_of

# Words that a rule can have or not and say the same.
_WORDS = "a an the please always when whenever you your and to of in for is are be it its that this"
_FILLERS = frozenset(_WORDS.split())
_EXTRA = 0.25  # of the longer rule's words: how many it may have beyond the other's
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s)$")
# A rule with one more of these says something else.
_TURNS = re.compile(
    r".*\d.*|not|no|never|nor|none|without|except|unless|only|instead|avoid|don|doesn|isn|aren|won|stop|until|but"
)


def is_known(rule: str, known: Iterable[str]) -> bool:
    """True when one of the rules `known` says the same.

    That is: the same words in the same order, but for fillers and endings, with at most a quarter more on one side that
    turns nothing round. A word put for another, a number or a negation more is another rule: better tried twice than
    lost.
    """
    words = _words(rule)
    return any(_same(words, _words(other)) for other in known)


def _words(rule: str) -> list[str]:
    words = words_of(rule)
    return [_ENDING.sub("", word) for word in words if word not in _FILLERS] or words


def _same(one: list[str], other: list[str]) -> bool:
    short, long = sorted((one, other), key=len)
    rest = iter(long)
    extra: list[str] = []
    for word in short:
        for candidate in rest:
            if candidate == word:
                break
            extra.append(candidate)
        else:
            return False
    extra += rest
    return len(extra) <= _EXTRA * len(long) and not any(map(_TURNS.fullmatch, extra))
