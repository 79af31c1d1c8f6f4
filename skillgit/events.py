"""What long work reports while it runs: typed events, and the sink they go to.

The terminal view, `--json` and log files are sinks. Events hold plain JSON values, never secrets or transcripts.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Event:
    """Base of all events."""


Sink = Callable[[Event], None]
"""Takes every event, from any thread; must not raise."""


@dataclass(frozen=True)
class RunPlanned(Event):
    """The resolved plan, before any call: sizes, models, the most calls the run can make, and what it will probably
    take: stage to role, calls, prompt and completion tokens, under the assumptions given."""

    run: str
    branch: str
    skill: str
    base: str | None
    resumed_step: int
    models: Mapping[str, str]
    tasks: Mapping[str, int]
    steps: int
    epochs: int
    calls: Mapping[str, int]
    expected: Mapping[str, Mapping[str, Any]]
    assumed: Mapping[str, float]
    config: Mapping[str, Any]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Baseline(Event):
    """The initial skill measured on val."""

    score: float
    hard: float
    soft: float
    n: int


@dataclass(frozen=True)
class Progress(Event):
    """`done` of `total` pieces of `stage`; `stage` is unique within its step."""

    stage: str
    done: int
    total: int


@dataclass(frozen=True)
class StepStarted(Event):
    step: int
    steps: int
    epoch: int
    budget: int | None


@dataclass(frozen=True)
class StepFinished(Event):
    """One step's outcome. Scores are `None` where nothing was measured.

    `problems` says what could not be used and why: replies, proposals, edits; and why a candidate was not accepted.
    """

    step: int
    steps: int
    epoch: int
    kind: str
    rollout: float | None
    proposed: int
    selected: int
    applied: int
    verdict: str
    score: float | None
    base_score: float
    improved: tuple[str, ...]
    regressed: tuple[str, ...]
    commit: str | None
    subject: str
    seconds: float
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunFinished(Event):
    """The last event of every run that ended on its own."""

    run: str
    branch: str
    best: Mapping[str, Any]
    accepted: int
    rejected: int
    skipped: int
    calls: Mapping[str, int]
    usage: Mapping[str, Any]
    reason: str = "finished"
    baseline: Mapping[str, Any] = field(default_factory=dict)
    test: Mapping[str, Any] = field(default_factory=dict)
    confirm: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchPlanned(Event):
    """Before a search among versions: how many there are, how many are known, how many must be measured at most, and
    the target calls that one of them takes."""

    versions: int
    known: int
    measurements: int
    calls: int


@dataclass(frozen=True)
class VersionMeasured(Event):
    """One version measured during a search."""

    commit: str
    object: str
    score: float


def event_name(event: Event) -> str:
    """`RunFinished` as `run_finished`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()


def event_json(event: Event) -> dict[str, Any]:
    """The event as one JSON object, its name under `event`."""
    return {"event": event_name(event), **dataclasses.asdict(event)}


def ignore(event: Event) -> None:
    """A sink that drops everything."""
