"""What harvests and nights report while they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from skillgit.events import Event


@dataclass(frozen=True)
class Harvested(Event):
    """A harvest is over: sessions kept in all and new ones, records excluded by reason, damage by file and kind."""

    sessions: int
    new: int
    excluded: Mapping[str, int]
    damaged: Mapping[str, Mapping[str, int]]
    megabytes: float
    seconds: float


@dataclass(frozen=True)
class NightPlanned(Event):
    """What a night will do with one document, before any call for it."""

    skill: str
    base: str
    tasks: Mapping[str, int]
    sessions: int
    models: Mapping[str, str]
    calls: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class NothingNew(Event):
    """A night has nothing to do: no task was mined, none speaks of a document that is asked for, or none is new.

    Attributes:
        sessions, tasks, documents: how many are kept, mined, and asked for.
    """

    sessions: int
    tasks: int
    documents: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class LessonTried(Event):
    """One lesson judged. Scores are `None` where nothing was measured."""

    skill: str
    number: int
    of: int
    rule: str
    verdict: str
    why: str
    base_score: float | None
    score: float | None
    n: int


@dataclass(frozen=True)
class NightFinished(Event):
    """The end of a night for one document. `branch` is blank when nothing is proposed."""

    skill: str
    night: str
    verdict: str
    branch: str
    taken: int
    tried: int
    why: str
    usage: Mapping[str, object]
