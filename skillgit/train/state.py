"""Everything a run needs to go on after it was killed: plain data, kept in the journal."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from skillgit.evals.store import StageUsage
from skillgit.optimizer.memory import BufferEntry

IMPORTED = "skillopt-"
"""What the names of imported runs begin with; others begin with their time."""


@dataclass(frozen=True)
class Mark:
    """A committed version of the skill: commit, skill object, the step that made it (0: the initial skill) and its
    gate score on val (`None` before it was measured)."""

    commit: str
    object: str
    step: int = 0
    score: float | None = None


@dataclass(frozen=True)
class RunState:
    """The state after a tick.

    Attributes:
        run, skill, path, document: which run of which skill, and where the skill lies.
        fingerprint: digest of what the run depends on; a repeated command finds its run by it.
        tick: last finished tick, -1 for none; `step` is the last training step up to it.
        initial, current, best, epoch_start: versions; `epoch_start` is the one at the previous epoch's end.
        buffer: evaluated steps of this epoch.
        meta_skill: the optimizer's own notes.
        accepted, rejected, skipped: steps and epoch ends by outcome.
        usage: what the run paid so far, by role and stage.
        seconds: wall time of all processes that worked on it.
        reused: calls served from earlier steps or runs.
        reason: why no further step is made, empty while there is none.
        closed: the run is over, its report made.
        report: scores by split (`test`, `confirm`) and version name.
    """

    run: str
    skill: str
    path: str
    document: str
    fingerprint: str
    tick: int
    initial: Mark
    current: Mark
    best: Mark
    epoch_start: Mark
    step: int = 0
    buffer: tuple[BufferEntry, ...] = ()
    meta_skill: str = ""
    accepted: int = 0
    rejected: int = 0
    skipped: int = 0
    usage: tuple[StageUsage, ...] = ()
    seconds: float = 0.0
    reused: int = 0
    reason: str = ""
    closed: bool = False
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def branch(self) -> str:
        """Branch of the accepted patches."""
        return f"train/{self.skill}/{self.run}"

    @property
    def journal(self) -> str:
        """Ref of the journal."""
        return journal_ref(self.skill, self.run)

    def to_json(self) -> dict[str, Any]:
        """The state as JSON values."""
        return dataclasses.asdict(self) | {"v": 1}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> RunState:
        """Inverse of `to_json`."""
        marks = {name: Mark(**value[name]) for name in ("initial", "current", "best", "epoch_start")}
        buffer = tuple(BufferEntry.from_json(entry) for entry in value["buffer"])
        usage = tuple(StageUsage(**entry) for entry in value["usage"])
        rest = {name: item for name, item in value.items() if name != "v"}
        return cls(**(rest | marks | {"buffer": buffer, "usage": usage}))


def journal_ref(skill: str, run: str) -> str:
    """`refs/skillgit/runs/<skill>/<run>`."""
    return f"refs/skillgit/runs/{skill}/{run}"
