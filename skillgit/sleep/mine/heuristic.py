"""What judges an answer, from what people took and said; no model is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from skillgit.sleep.mine.base import Outcome
from skillgit.sleep.mine.cluster import Cluster
from skillgit.sleep.mine.constraints import checks_in
from skillgit.tasks import judges
from skillgit.tasks.metrics import normalise
from skillgit.tasks.text import plain

Judge = Mapping[str, Any]

_RUBRIC = "A good answer does what was asked. It also respects what people said about earlier answers:"
_QUOTED = 8  # most corrections in one rubric, the latest


def exact(cluster: Cluster) -> tuple[tuple[str, ...], Judge] | None:
    """The answer that people took, with a judge that wants this one; `None` when there is none, or no agreement.

    Where several were taken, one must have been taken twice, and more often than any other. The form counts once
    somebody corrected it; else case, punctuation and articles do not.
    """
    taken = Counter(plain(ask.exact) for ask in cluster if ask.exact)
    (answer, times), *others = taken.most_common() or [("", 0)]
    if not answer or (others and (times < 2 or others[0][1] == times)):
        return None
    strict = any(ask.corrected for ask in cluster if plain(ask.exact) == answer) or not normalise(answer)
    judge, wrong = judges.resolve({"type": "exact", "normalise": "strict" if strict else "loose"}, (answer,))
    return None if wrong else ((answer,), judge)


def checks(cluster: Cluster) -> Judge | None:
    """What people demanded of the text of an answer; `None` when they demanded nothing that can be checked."""
    found = checks_in(said(cluster), (ask.answer for ask in cluster if ask.answer))
    judge, wrong = judges.resolve({"type": "checks", "checks": found}, ())
    return None if wrong else judge


def rubric(cluster: Cluster) -> Judge | None:
    """What people said, for a model to judge by; `None` when they said nothing."""
    words = said(cluster)[-_QUOTED:]
    return {"type": "rubric", "rubric": "\n".join([_RUBRIC, *(f"- {text}" for text in words)])} if words else None


def said(cluster: Cluster) -> tuple[str, ...]:
    """All corrections, oldest first, each once."""
    found: dict[str, str] = {}
    for text in (text for ask in cluster for text in ask.said):
        found.setdefault(text.casefold(), text)
    return tuple(found.values())


def outcome(cluster: Cluster) -> Outcome:
    """How it ended: the same everywhere, or mixed; asks of which nothing is known do not count."""
    found = {ask.outcome for ask in cluster} - {"unknown"}
    return found.pop() if len(found) == 1 else "mixed" if found else "unknown"
