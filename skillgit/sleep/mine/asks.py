"""A session as the requests that were made in it, each with what was said about the answers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from skillgit.config.sleep import Sleep
from skillgit.skills.words import words_of
from skillgit.sleep.base import Session, Turn
from skillgit.sleep.mine import signals
from skillgit.sleep.mine.answers import exact_answer
from skillgit.sleep.mine.base import Outcome
from skillgit.sleep.redact import clip

MOST_CHARS = 4000
"""Most characters of a request that are kept, and of one it leans on."""

_SAID_CHARS = 600  # of one correction; what is longer was hardly typed
_FEWEST_WORDS = 3  # a turn of fewer words asks for nothing that can be understood alone
_LEANING = 8  # a later request of fewer words is understood only after the one before it
_REPLY_WORDS = 12  # most words of a turn that answers a question of the agent's
_PASTED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|^[ \t]*>[^\n]*$|<(\w[\w-]*)>.*?</\1>", re.DOTALL | re.MULTILINE
)
_CLAUSE = re.compile(r"[,.!?;:。！？，；\n]+")


@dataclass(frozen=True)
class Ask:
    """One request and all that followed until the next one.

    Attributes:
        number: its place among the asks of the session, from 0.
        request: what was asked.
        context: the request before it, where this one is too short to be understood without.
        said: own words of the person who corrected an answer, without what was pasted; oldest first.
        last: the last answer, whatever the person thought of it.
        answer: the answer the person took; blank when none is known.
        exact: the same where any other answer would have been wrong; blank where that cannot be said.
        corrected: an answer was corrected before that one came.
    """

    session: Session
    number: int
    request: str
    context: str = ""
    said: tuple[str, ...] = ()
    last: str = ""
    answer: str = ""
    exact: str = ""
    corrected: bool = False
    outcome: Outcome = "unknown"
    at: float | None = None

    @property
    def text(self) -> str:
        """All that was asked."""
        return f"{self.context}\n\n{self.request}" if self.context else self.request

    @property
    def understood(self) -> bool:
        """Whether what is asked can be understood alone, as far as its length tells."""
        return len(words_of(self.text)) >= _FEWEST_WORDS

    @property
    def key(self) -> tuple[str, int]:
        """Tells it from all others."""
        return self.session.hashed, self.number

    def content(self) -> str:
        """What is asked, in one line."""
        return " ".join(self.text.split())

    def order(self) -> tuple[float, str, str, int]:
        """Sorts by time, and the same way whatever the order was before."""
        return (math.inf if self.at is None else self.at, self.content(), *self.key)


def asks(session: Session, config: Sleep) -> list[Ask]:
    """The requests of a session, oldest first."""
    starts = list(_starts(session.turns, config))
    found: list[Ask] = []
    for start, after in zip_longest(starts, starts[1:]):
        turns = session.turns[start.at : after.at if after else None]
        if after and after.praise:
            turns = (*turns, replace(session.turns[after.at], text=after.praise))
        before = found[-1].request if found else ""
        found.append(_ask(session, len(found), turns, clip(start.request, MOST_CHARS), before, config))
    return found


def own_words(text: str) -> str:
    """What a person typed, in one line: without fences, quoted lines and tagged blocks, which are pasted."""
    return clip(" ".join(_PASTED.sub(" ", text).split()), _SAID_CHARS)


@dataclass(frozen=True)
class _Start:
    """A turn that begins an ask; `praise` is what it says first about the answer before."""

    at: int
    request: str
    praise: str = ""


def _starts(turns: Sequence[Turn], config: Sleep) -> Iterator[_Start]:
    corrections = set(signals.corrections(turns, config.negative, config.positive))
    first = True
    for at, turn in enumerate(turns):
        if turn.role != "user" or at in corrections:
            continue
        start = _Start(at, turn.text) if first else _later(turns, at, config)
        if start:
            yield start
            first = False


def _later(turns: Sequence[Turn], at: int, config: Sleep) -> _Start | None:
    """What a later turn asks for; `None` when it goes on with the request before it."""
    text, before = turns[at].text, turns[at - 1]
    if before.role == "user":
        return None
    praise, rest = _parted(text, config)
    words = len(words_of(rest))
    replies = not praise and before.text.rstrip().endswith(("?", "？")) and words < _REPLY_WORDS and "?" not in text
    if replies or words < _FEWEST_WORDS or signals.feedback(rest, config.negative, config.positive) == "positive":
        return None
    return _Start(at, rest, praise)


def _parted(text: str, config: Sleep) -> tuple[str, str]:
    """The thanks at the beginning of a turn, and what follows."""
    rest = text
    for clause in _CLAUSE.finditer(text):
        head = text[len(text) - len(rest) : clause.end()]
        if head.strip() and signals.feedback(head, config.negative, config.positive) != "positive":
            break
        rest = text[clause.end() :].lstrip()
    return text[: len(text) - len(rest)].strip(), rest


def _ask(session: Session, number: int, turns: Sequence[Turn], request: str, before: str, config: Sleep) -> Ask:
    corrections = signals.corrections(turns, config.negative, config.positive)
    words = (own_words(turns[at].text) for at in corrections)
    leaning = number > 0 and len(words_of(request)) < _LEANING
    ask = Ask(
        session,
        number,
        request,
        context=before if leaning else "",
        said=tuple(dict.fromkeys(text for text in words if len(words_of(text)) > 1)),
        last=next((turn.text for turn in reversed(turns) if turn.role == "assistant"), ""),
        outcome=signals.outcome(turns, config.negative, config.positive),
        at=turns[0].at,
    )
    return _with_answer(ask, turns, corrections, config)


def _with_answer(ask: Ask, turns: Sequence[Turn], corrections: Sequence[int], config: Sleep) -> Ask:
    """With the answer that was praised last, or at which corrections ended, unless a correction followed."""
    phrases = config.negative, config.positive
    taken = max((*signals.accepted(turns, *phrases), *signals.settled(turns, *phrases)), default=-1)
    if taken < 0 or any(at > taken for at in corrections):
        return ask
    answer = turns[taken].text
    value = exact_answer(answer, ask.text, corrected=bool(corrections), tools=bool(ask.session.tools))
    return replace(ask, answer=answer, exact=value, corrected=bool(corrections))
