"""Checks of rules against each other: the same twice, nearly the same, and the opposite."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from skillgit.skills.blocks import Block
from skillgit.skills.lines import line_starts
from skillgit.skills.lint.case import Case
from skillgit.skills.lint.page import Hit, Page
from skillgit.skills.lint.rules import Policy
from skillgit.skills.markdown import extents

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NO = frozenset(
    ("never", "not", "no", "avoid", "without", "cannot", "can't", "can’t", "don't", "don’t", "mustn't", "shouldn't")
)
_OUTRIGHT = _NO | frozenset(("always", "use", "using", "must", "should", "prefer", "do"))
_BESIDE = _OUTRIGHT | frozenset(("the", "a", "an", "please", "you", "your", "to", "be"))
# Tables, HTML, code, and paragraphs that begin with a label, as descriptions of interfaces do.
_NO_RULE = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:[|<]|```|~~~|\*\*[^*\n]{1,60}:?\*\*:?\s|__)")
_FEWEST = 5  # words of a rule that stands twice in a section: shorter ones are labels
_FEWEST_APART = 8  # in two sections, where steps may well be alike
_SIMILAR = 0.85
_LONGEST = 60
_MOST = 50


@dataclass(frozen=True)
class _Said:
    """A list item or paragraph: where it stands, and its words in lower case."""

    start: int
    text: str
    section: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def key(self) -> str:
        """What makes two of them the same rule, as everywhere."""
        return Block("item", "", self.text, self.start).key

    @property
    def negative(self) -> bool:
        """True when it forbids something."""
        return not _NO.isdisjoint(self.words)

    @property
    def outright(self) -> bool:
        """True when it says from the start that it is a rule; `words to avoid` does not."""
        head = self.words[:3]
        return not _OUTRIGHT.isdisjoint(head) and "to" not in head

    @property
    def core(self) -> tuple[str, ...]:
        """What it is about: its words without yes, no and filling."""
        return tuple(word for word in self.words if word not in _BESIDE)


def check_repeats(case: Case, policy: Policy) -> Iterator[Hit]:  # noqa: ARG001 - the shape of a check
    """Duplicate, similar and contradictory rules of SKILL.md."""
    page = case.main
    if page is None:
        return
    unique: dict[tuple[str, ...], _Said] = {}
    for rule in _rules(page):
        first = unique.setdefault(rule.words, rule)
        fewest = _FEWEST if rule.section == first.section else _FEWEST_APART
        if first is not rule and len(rule.words) >= fewest and rule.key == first.key:
            yield _hit(page, "duplicate-rule", rule, first, "the same rule stands")
    different = list(unique.values())
    opposed = {(rule.start, first.start): (rule, first) for rule, first in _opposites(different)}
    for rule, first in opposed.values():
        yield _hit(page, "contradictory-rules", rule, first, "the opposite stands")
    for rule, first in _similar(different):
        if (rule.start, first.start) not in opposed:
            yield _hit(page, "similar-rules", rule, first, "nearly the same rule stands")


def _rules(page: Page) -> Iterator[_Said]:
    """List items and paragraphs of prose; code, tables, HTML and protected text are not compared."""
    begin = page.doc.body_start
    body = page.text[begin:]
    starts = [*line_starts(body), len(body)]
    path: list[tuple[int, str]] = []
    section: tuple[str, ...] = ()
    spans = page.doc.marks.spans
    for extent in extents(body):
        if extent.kind == "heading":
            path = [*(above for above in path if above[0] < extent.level), (extent.level, extent.title)]
            section = tuple(title for _, title in path)
            continue
        low, high = starts[extent.first], starts[min(extent.last, len(starts) - 1)]
        text = body[low:high]
        guarded = any(start <= begin + low < end for start, end in spans)
        if not guarded and not _NO_RULE.match(text) and page.visible[begin + low : begin + high].strip():
            yield _Said(begin + low, text, section, tuple(_WORD.findall(text.lower())))


def _hit(page: Page, rule: str, later: _Said, first: _Said, message: str) -> Hit:
    line = page.hit(rule, first.start, "").line
    return page.hit(rule, later.start, f"{message} in line {line}")


def _opposites(rules: list[_Said]) -> Iterator[tuple[_Said, _Said]]:
    """Pairs with the same words where one says no; in different sections only when both are outright rules."""
    by_core: dict[tuple[str, ...], list[_Said]] = {}
    for rule in rules:
        core = rule.core
        if core and len(rule.words) <= _LONGEST:
            others = by_core.setdefault(core, [])
            opposite = next((other for other in others[:_MOST] if _is_opposite(rule, other, len(core))), None)
            if opposite:
                yield rule, opposite
            others.append(rule)


def _is_opposite(one: _Said, other: _Said, size: int) -> bool:
    if one.negative == other.negative:
        return False
    no = one if one.negative else other
    together = one.section == other.section and size > 1 and no.outright
    return together or (one.outright and other.outright)


def _similar(rules: list[_Said]) -> Iterator[tuple[_Said, _Said]]:
    """Pairs that share most of their words, and all numbers and negations.

    Two sets can only be that similar when they share one of their rarest few words, so only those are looked up.
    """
    long = [rule for rule in rules if _FEWEST_APART <= len(rule.words) <= _LONGEST]
    sets = [frozenset(rule.words) for rule in long]
    counts = Counter(word for words in sets for word in words)
    seen: dict[str, list[int]] = {}
    for number, words in enumerate(sets):
        # A word that stands once leads nowhere, so it need not be looked up, but it counts as one of the few.
        few = sorted(sorted(words), key=counts.__getitem__)[: len(words) - int(_SIMILAR * len(words)) + 1]
        shared = [word for word in few if counts[word] > 1]
        near = sorted({other for word in shared for other in seen.get(word, ())})
        match = next((other for other in near if _alike(words, sets[other])), None)
        if match is not None:
            yield long[number], long[match]
        for word in shared:
            known = seen.setdefault(word, [])
            # In a text of one sentence over and over, the first few are enough to compare with.
            known += [number] if len(known) < _MOST else []


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    if shared < _SIMILAR * (len(one) + len(other) - shared):
        return False
    apart = one ^ other
    return apart.isdisjoint(_NO) and not any(char.isdigit() for word in apart for char in word)
