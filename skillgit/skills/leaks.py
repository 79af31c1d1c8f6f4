"""Secrets that must never enter a skill: what graders look for, text of tasks, and answers of held-out tasks.

A skill that holds them scores well without having learned anything. The index is built once from plain text and then
checks any number of skills; each kind of secret can be switched off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from skillgit.skills.leaks_net import Hit, Net, look_at
from skillgit.skills.leaks_rules import (
    is_code,
    is_prose,
    literal_parts,
    phrase_counts,
    reference_counts,
    sentences,
    verbatim_pattern,
)
from skillgit.skills.leaks_words import SPAN, readings, size, split_words
from skillgit.skills.lines import UNPRINTABLE

LeakKind = Literal["grader", "span", "reference"]
LEAK_KINDS: frozenset[LeakKind] = frozenset(get_args(LeakKind))

_SHOWN = 60
_REASONS: Mapping[LeakKind, str] = {
    "grader": "it repeats text that a grader looks for",
    "span": f"it copies {SPAN} words or more from a task",
    "reference": "it gives away an answer of a task that is kept for measuring",
}


@dataclass(frozen=True)
class Secret:
    """Text that must stay out of skills.

    Attributes:
        kind: `grader` (patterns, rubric wording, literal texts of checks), `span` (any text of a task, its references
            included) or `reference` (accepted answer of a val or test task).
        text: the secret itself.
        source: where it comes from, for people: `val task t12, answer`.
    """

    kind: LeakKind
    text: str
    source: str


@dataclass(frozen=True)
class Leak:
    """A place in a skill that holds a secret.

    Attributes:
        kind: kind of the secret.
        excerpt: the beginning of the leaking words as they stand in the skill, never all of them.
        source: the first source that has the secret. For people; not to be shown to a model.
        start, end: where the leak stands in the skill's text.
    """

    kind: LeakKind
    excerpt: str
    source: str
    start: int
    end: int

    @property
    def reason(self) -> str:
        """Why an edit is refused. Safe to show to the optimizer: it holds no word that the edit did not hold."""
        return f'{_REASONS[self.kind]}: "{self.excerpt}"'


class LeakIndex:
    """Finds secrets in text. Immutable once built.

    Args:
        secrets: what must stay out. Those that are too short or too common to mean anything are left out (see
            `skillgit.skills.leaks_rules`).
        kinds: kinds to look for.
    """

    def __init__(self, secrets: Iterable[Secret], kinds: Iterable[LeakKind] = LEAK_KINDS) -> None:
        wanted = frozenset(kinds)
        kept = [secret for secret in secrets if secret.kind in wanted]
        self._sources = tuple(secret.source for secret in kept)
        self._nets = {kind: _net(kind, kept) for kind in get_args(LeakKind) if kind in wanted}

    @classmethod
    def build(
        cls,
        grader_texts: Iterable[tuple[str, str]] = (),
        task_texts: Iterable[tuple[str, str]] = (),
        held_out_references: Iterable[tuple[str, str]] = (),
        *,
        kinds: Iterable[LeakKind] = LEAK_KINDS,
    ) -> LeakIndex:
        """An index from pairs of text and source.

        Args:
            grader_texts: patterns (regular expressions or literal texts), arguments of checks, rubric wording. Not
                names of judges and of their options.
            task_texts: questions, contexts, files and references of every task, whatever its split.
            held_out_references: accepted answers of val and test tasks.
            kinds: kinds to look for.
        """
        given: tuple[tuple[LeakKind, Iterable[tuple[str, str]]], ...] = (
            ("grader", grader_texts),
            ("span", task_texts),
            ("reference", held_out_references),
        )
        return cls((Secret(kind, text, source) for kind, texts in given for text, source in texts), kinds)

    def find(self, text: str, *, known: str = "") -> tuple[Leak, ...]:
        """Leaks in a text by position; overlapping ones of a kind are one leak.

        Args:
            text: a skill, or a part of one.
            known: text whose own leaks do not count.
        """
        looks, old = look_at(text), look_at(known)
        leaks: list[Leak] = []
        for kind, net in self._nets.items():
            seen = {hit.key for hit in net.hits(*old)}
            found = (hit for hit in net.hits(*looks) if hit.key not in seen)
            leaks += (self._leak(kind, hits, text) for hits in _groups(found))
        return tuple(sorted(leaks, key=lambda leak: (leak.start, leak.end)))

    def _leak(self, kind: LeakKind, hits: list[Hit], text: str) -> Leak:
        start, end = hits[0].start, max(hit.end for hit in hits)
        # Half of the shortest, so that no secret is shown whole even where several begin together.
        shown = min(_SHOWN, min(hit.end - hit.start for hit in hits) // 2)
        return Leak(kind, _excerpt(text[start : start + shown]), self._sources[hits[0].owner], start, end)


def new_leaks(index: LeakIndex, before: str, after: str) -> tuple[Leak, ...]:
    """Leaks that a change makes: secrets in `after` that `before` did not hold, with offsets in `after`.

    What was in the skill already, moved or repeated, does not block a change.
    """
    return index.find(after, known=before)


def _net(kind: LeakKind, secrets: list[Secret]) -> Net:
    mine = [(secret.text, owner) for owner, secret in enumerate(secrets) if secret.kind == kind]
    if kind == "grader":
        return Net.of(_phrases(mine), _quotes(mine))
    forms = _reference_forms if kind == "reference" else _span_forms
    return Net.of((words, owner) for text, owner in mine for words in forms(text))


def _span_forms(text: str) -> list[list[str]]:
    """The words of a task's text in each reading that is long enough."""
    forms = [split_words(reading) for reading in readings(text)]
    return [words for words in forms if size(words) >= SPAN]


def _reference_forms(text: str) -> list[list[str]]:
    """The words of a reference in each distinctive reading, and in one that only joins the digits of such a one."""
    forms = [split_words(reading) for reading in readings(text)]
    distinctive = {"".join(words) for words in forms if reference_counts(words)}
    return [words for words in forms if "".join(words) in distinctive]


def _phrases(graders: Iterable[tuple[str, int]]) -> Iterator[tuple[list[str], int]]:
    """Distinctive words of graders: of whole texts, their sentences, and the literal parts of patterns."""
    for text, owner in graders:
        for part in (*readings(text), *sentences(text), *literal_parts(text)):
            words = split_words(part)
            if is_prose(part) and phrase_counts(words):
                yield words, owner


def _quotes(graders: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Texts of graders that are found symbol for symbol: patterns as written, and identifiers."""
    for text, owner in graders:
        pattern = verbatim_pattern(text)
        codes = {part for part in (text.strip(), *literal_parts(text)) if is_code(part)}
        yield from ((quote, owner) for quote in sorted(codes | {pattern} - {""}))


def _groups(hits: Iterable[Hit]) -> list[list[Hit]]:
    """Hits by position, those that overlap in one group."""
    groups: list[list[Hit]] = []
    end = 0
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if groups and hit.start < end:
            groups[-1].append(hit)
        else:
            groups.append([hit])
        end = max(end, hit.end)
    return groups


def _excerpt(head: str) -> str:
    """The beginning of a leak on one line, cut at a space when there is one."""
    line = " ".join(UNPRINTABLE.sub(" ", head).split())
    return (line[: line.rfind(" ")] if " " in line else line) + "…"
