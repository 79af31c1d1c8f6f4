"""What people's own turns say about the answers before them. Nothing here reads an answer or a tool's output."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from skillgit.sleep.base import Turn
from skillgit.sleep.mine import phrases, phrases_abroad
from skillgit.sleep.mine.base import Outcome

Feedback = Literal["negative", "positive", ""]

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,300}`|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”", re.DOTALL)
_QUOTED = re.compile(r"^[ \t]*>[^\n]*$|^(?:Traceback|\s+File \"|\s+at )[^\n]*$", re.MULTILINE)
_QUESTION = re.compile(
    r"^(?:what|how|why|when|where|which|who|should|shall|can|could|would|do|does|did|is|are|will|must)\b[^?\n]*\?"
)
_NEAR = 500  # characters, from the start: people say first what they think of the answer, then what they want next
_END = re.compile(r"[.!?。！？\n]+\s*")


def feedback(text: str, negative: Sequence[str] = (), positive: Sequence[str] = ()) -> Feedback:
    """What one turn of a person says about the answer before it; blank when it only asks for something.

    Who says both means the negative, unless praise (more than thanks) comes after all blame. Code, quotations and
    tracebacks in the turn are not the person's words and do not count.

    Args:
        negative, positive: further phrases, of any case; they count as whole words wherever they stand.
    """
    return _told(text, tuple(negative), tuple(positive))


@lru_cache(maxsize=1024)  # each turn is looked at for several reasons
def _told(text: str, negative: tuple[str, ...], positive: tuple[str, ...]) -> Feedback:
    said = _spoken(text)
    return _judged(said, _places(negative, said), _places(positive, said))


def _judged(said: str, negative: list[int], positive: list[int]) -> Feedback:
    plain = phrases.HARMLESS.sub(_blank, said)
    blame = [*negative, *_found(phrases.NEGATIVE, plain), *_found(phrases_abroad.NEGATIVE, plain)]
    honest = phrases.NOT_PRAISE.sub(_blank, said)
    praise = [*positive, *_found(phrases.POSITIVE, honest), *_found(phrases_abroad.POSITIVE, honest)]
    if blame:
        return "positive" if praise and max(praise) > max(blame) else "negative"
    if praise:
        return "" if not positive and phrases.BUT.search(said, min(praise)) else "positive"
    thanks = phrases.THANKS.search(said) or phrases_abroad.THANKS.search(said)
    return "positive" if thanks and not phrases.BUT.search(said) else ""


def outcome(turns: Sequence[Turn], negative: Sequence[str] = (), positive: Sequence[str] = ()) -> Outcome:
    """How a conversation ended for the person, by the last thing that says so.

    `success` for praise, `mixed` for praise after a correction, `fail` for a correction that no praise follows or an
    answer that the agent itself reported as failed, and `unknown` when nothing says anything.
    """
    signs = [*_signs(turns, negative, positive)]
    if not signs:
        return "unknown"
    if signs[-1] == "negative":
        return "fail"
    return "mixed" if "negative" in signs else "success"


def corrections(turns: Sequence[Turn], negative: Sequence[str] = (), positive: Sequence[str] = ()) -> tuple[int, ...]:
    """Places of the person's turns that correct the answer before them: they say it was wrong, or how it is to be."""
    return tuple(
        at
        for at, _ in _replies(turns)
        if feedback(turns[at].text, negative, positive) == "negative" or restates(turns[at].text)
    )


def accepted(turns: Sequence[Turn], negative: Sequence[str] = (), positive: Sequence[str] = ()) -> tuple[int, ...]:
    """Places of the answers that the person praised in the next turn, without correcting them there."""
    return tuple(
        answer
        for at, answer in _replies(turns)
        if feedback(turns[at].text, negative, positive) == "positive" and not restates(turns[at].text)
    )


def settled(turns: Sequence[Turn], negative: Sequence[str] = (), positive: Sequence[str] = ()) -> tuple[int, ...]:
    """Place of the last answer, when a correction came before it and the person said nothing more.

    This is weaker than `accepted`: silence can be content, or somebody who gave up.
    """
    last = len(turns) - 1
    if last < 0 or turns[last].role != "assistant" or turns[last].failed:
        return ()
    asked = max((at for at, turn in enumerate(turns) if turn.role == "user"), default=-1)
    return (last,) if asked in corrections(turns, negative, positive) else ()


@lru_cache(maxsize=1024)
def restates(text: str) -> bool:
    """Whether a turn says how an answer is to be: "always …", "use … instead", "not … but …", "it should be …"."""
    said = _spoken(text)
    told = (part for part in _sentences(said) if not _QUESTION.match(part))
    return any(phrases.RESTATED.search(part) or phrases_abroad.RESTATED.search(part) for part in told)


def _signs(turns: Sequence[Turn], negative: Sequence[str], positive: Sequence[str]) -> Iterator[Feedback]:
    replies = dict(_replies(turns))
    for at, turn in enumerate(turns):
        if turn.role == "assistant" and turn.failed:
            yield "negative"
        elif at in replies:
            told = feedback(turn.text, negative, positive)
            if told == "positive" and not restates(turn.text):
                yield "positive"
            elif told == "negative" or restates(turn.text):
                yield "negative"


def _replies(turns: Sequence[Turn]) -> Iterator[tuple[int, int]]:
    """Each turn of the person that has an answer before it, with the place of the last such answer."""
    answer = -1
    for at, turn in enumerate(turns):
        if turn.role == "assistant":
            answer = at
        elif answer >= 0:
            yield at, answer


def _spoken(text: str) -> str:
    """The beginning of a turn in lower case, without what is only shown in it."""
    said = _QUOTED.sub(" ", _CODE.sub(" ", text[: 8 * _NEAR])).strip()
    return said[:_NEAR].lower().replace("’", "'").replace("ʼ", "'").strip()


def _sentences(said: str) -> list[str]:
    """Sentences with their signs; a question keeps its mark."""
    ends = [match.end() for match in _END.finditer(said)]
    return [said[low:high].strip() for low, high in zip([0, *ends], [*ends, len(said)], strict=True)]


def _found(pattern: re.Pattern[str], said: str) -> list[int]:
    return [match.start() for match in pattern.finditer(said)]


def _places(extra: Sequence[str], said: str) -> list[int]:
    """Where phrases stand as whole words."""
    wanted = [" ".join(phrase.lower().split()) for phrase in extra]
    return [
        match.start()
        for phrase in wanted
        if phrase
        for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", said)
    ]


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
