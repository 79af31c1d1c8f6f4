"""When two requests are one and the same, and when they are only too alike to be on two sides of a split.

- *Near*: at most a sixth of the words differ (always at least one may), and most are shared. Courtesy and
  articles do not count.
- *Same*: near, and what differs is no fact: small words, spelling, or something that only one of them adds.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, zip_longest

from skillgit.skills.words import words_of
from skillgit.sleep.mine.vocabulary import ARTICLES, COMMON, COURTESY, NEGATIONS, SMALL

SLACK = 6
"""One word in so many may differ between two texts that are near."""

_SHARED = 0.65  # share of words that near texts have in common; keeps very short ones apart
_SIEVE = 4  # rare words that two texts must share to be compared at all
_SPELLED = 0.8  # how alike two spellings of one word are
_SIGNS = re.compile(r"[+*/=<>%^&|~@#$€£¥\\]")
_FACT = re.compile(rf"\d|{_SIGNS.pattern}")
_EMPTY = COURTESY | ARTICLES


@dataclass(frozen=True)
class Essence:
    """What a text says, for comparison. Two with the same words in the same order are equal.

    Attributes:
        words: in order, in lower case, without courtesy and articles; signs of arithmetic and money count as words.
    """

    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Essence:
        """Of any text, the empty one included."""
        words = [*words_of(text), *_SIGNS.findall(text)]
        return cls(tuple(word for word in words if word not in _EMPTY) or tuple(words))


def facts(essence: Essence) -> tuple[str, ...]:
    """Numbers, signs and negations of a text, sorted; texts that ask for the same have the same ones."""
    return tuple(sorted(word for word in essence.words if _FACT.search(word) or word in NEGATIONS))


def content_words(text: str) -> set[str]:
    """The words of a text that tell what it is about."""
    words = {word for word in words_of(text) if len(word) > 2 or not word.isascii()}
    return words - _EMPTY - SMALL - COMMON


def near(one: Essence, other: Essence) -> bool:
    """Whether a score on one of two texts would be known from the other."""
    return _near(one, other, (Counter(one.words) & Counter(other.words)).total())


def same(one: Essence, other: Essence) -> bool:
    """Whether two texts that are near ask for the same thing. Numbers, signs and the order of words are facts."""
    if facts(one) != facts(other):
        return False
    left, right = Counter(one.words), Counter(other.words)
    alone, others = _telling(left - right), _telling(right - left)
    shared = (left & right).keys() - SMALL
    if [word for word in one.words if word in shared] != [word for word in other.words if word in shared]:
        return False
    if not alone or not others:
        return True
    return all(a and b and _spelled(a, b) for a, b in zip_longest(alone, others))


def never(one: int, other: int) -> bool:  # noqa: ARG001 - the shape of what leaves pairs out
    """Leaves no pair out."""
    return False


def near_pairs(essences: Sequence[Essence], left_out: Callable[[int, int], bool] = never) -> Iterator[tuple[int, int]]:
    """Every pair of indexes whose texts are near, each once; the time is about linear in the number of texts.

    Of a text at most `d` words are missing in one that is near. So the two share `k` words among the `d + k` that are
    rarest in each, and only texts that do are compared.

    Args:
        left_out: pairs that need not be compared; asked when it is their turn.
    """
    bags = [_numbered(essence.words) for essence in essences]
    rarity = Counter(word for bag in bags for word in bag)
    enough = [max(1, min(_SIEVE, len(bag) - _most_alone(len(bag)))) for bag in bags]
    seen: dict[tuple[str, int], list[int]] = {}
    for here, bag in enumerate(bags):
        rarest = heapq.nsmallest(_most_alone(len(bag)) + enough[here], bag, key=lambda word: (rarity[word], word))
        shared = Counter(chain.from_iterable(seen.get(word, ()) for word in rarest))
        often = (there for there, times in shared.items() if times >= enough[here] or times >= enough[there])
        for there in (there for there in often if _may_be_near(len(bag), len(bags[there]))):
            if not left_out(there, here) and _near(essences[here], essences[there], len(bag & bags[there])):
                yield there, here
        for word in rarest:
            seen.setdefault(word, []).append(here)


class Groups:
    """Things that are put together pair by pair (union-find).

    Args:
        count: of things; each begins alone.
    """

    def __init__(self, count: int) -> None:
        self._leader = list(range(count))

    def unite(self, one: int, other: int) -> None:
        """Put two things, and all that is with either, together."""
        low, high = sorted((self._lead(one), self._lead(other)))
        self._leader[high] = low

    def together(self, one: int, other: int) -> bool:
        """Whether two things are in one group."""
        return self._lead(one) == self._lead(other)

    def all(self) -> list[list[int]]:
        """The groups, each in ascending order, ordered by their first."""
        groups: dict[int, list[int]] = {}
        for at in range(len(self._leader)):
            groups.setdefault(self._lead(at), []).append(at)
        return list(groups.values())

    def _lead(self, at: int) -> int:
        leader = self._leader
        while leader[at] != at:
            leader[at] = at = leader[leader[at]]
        return at


def indexes(essences: Sequence[Essence]) -> Mapping[Essence, list[int]]:
    """Different essences in the order they come, each with the places it stands at."""
    places: dict[Essence, list[int]] = {}
    for at, essence in enumerate(essences):
        places.setdefault(essence, []).append(at)
    return places


def _near(one: Essence, other: Essence, common: int) -> bool:
    sizes = len(one.words), len(other.words)
    return max(sizes) - common <= _slack(max(sizes)) and 2 * common >= _SHARED * sum(sizes)


def _may_be_near(one: int, other: int) -> bool:
    """Whether texts of so many words can be near."""
    return abs(one - other) <= _slack(max(one, other))


def _slack(words: int) -> int:
    return max(1, words // SLACK)


def _most_alone(words: int) -> int:
    """Most words of a text that can be missing in one that is near, however much longer that one is."""
    return max(1, words // (SLACK - 1))


def _numbered(words: Sequence[str]) -> set[tuple[str, int]]:
    """Words as a set, a repeated one with a number for each time."""
    counts: Counter[str] = Counter()
    bag = set()
    for word in words:
        bag.add((word, counts[word]))
        counts[word] += 1
    return bag


def _telling(words: Counter[str]) -> list[str]:
    return sorted(word for word in words.elements() if word not in SMALL)


def _spelled(one: str, other: str) -> bool:
    alike = SequenceMatcher(None, one, other, autojunk=False).ratio() >= _SPELLED
    return min(len(one), len(other)) > 3 and alike
