"""What a night leaves behind for one document: its lessons, taken or not, with their evidence and what they gained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from skillgit.skills.edits import Edit

Verdict = Literal["verified", "unverified", "nothing", "no_headroom"]
"""Of a night: lessons that a gate confirmed; lessons that too few tasks could judge; no lesson; nothing to gain."""


@dataclass(frozen=True)
class Lesson:
    """One lesson: an edit, the evidence that led to it, and what the gate said.

    Attributes:
        edit: the change to the document.
        tasks: ids of the train tasks that led to it.
        sessions: hashed ids of the sessions these were asked in.
        verdict: of the gate: `accept`, `accept_new_best`, `reject`, `unverified`; or why it was never measured:
            `underpowered` (too few tasks or answers to tell), `known` (tried before, or waiting in another proposal),
            `refused` (it leaks, or cannot be applied), `over_budget`.
        why: more on a lesson that was not accepted.
        base_score, score: gate score (0 to 1) without and with it; `None` where nothing was measured.
        n: val tasks measured.
        improved, regressed: ids of val tasks that got better and worse.
        reasoning: the optimizer's own words.
        commit: where it is on the branch; blank when it is not.
    """

    edit: Edit
    tasks: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    verdict: str = ""
    why: str = ""
    base_score: float | None = None
    score: float | None = None
    n: int = 0
    improved: tuple[str, ...] = ()
    regressed: tuple[str, ...] = ()
    reasoning: str = ""
    commit: str = ""

    @property
    def rule(self) -> str:
        """The text it adds, or the one it removes."""
        return (self.edit.content or self.edit.target).strip()

    @property
    def taken(self) -> bool:
        """True when it is part of the proposal."""
        return self.verdict in ("accept", "accept_new_best", "unverified")

    def to_json(self) -> dict[str, Any]:
        """The lesson as JSON values."""
        return asdict(self) | {"edit": self.edit.to_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Lesson:
        """Inverse of `to_json`. Raises `EditError`, `KeyError` or `TypeError` for other values."""
        many = {name: tuple(value[name]) for name in ("tasks", "sessions", "improved", "regressed")}
        return cls(**{**value, **many, "edit": Edit.from_json(value["edit"])})


@dataclass(frozen=True)
class NightRecord:
    """One night's work on one document.

    Attributes:
        night: name of the night for this document: `<date>[-n]`, the end of its branch's name.
        skill, path, document: the skill's name and place.
        base, base_object: commit and skill object that the lessons start from.
        verdict: see `Verdict`.
        lessons: all of them, in the order they were tried.
        counts: numbers of `train`, `val` and `test` tasks, and of `sessions` behind them.
        fingerprint: what the night depended on; the same again would give the same night.
        branch, tip: the proposal; blank when there is none.
        supersedes: nights whose proposals were stale and whose lessons were tried again in this one.
        test: score on the test tasks before and after, where there are any.
        splits: id of each task to the split it was in, so that later nights keep it there.
        usage: calls and tokens of the night.
        optimizer, target: `backend/model` of each role.
        at: UTC time, ISO 8601.
        notes: what a person should know.
    """

    night: str
    skill: str
    path: str
    document: str
    base: str
    base_object: str
    verdict: Verdict
    lessons: tuple[Lesson, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    fingerprint: str = ""
    branch: str = ""
    tip: str = ""
    supersedes: tuple[str, ...] = ()
    test: Mapping[str, float | None] = field(default_factory=dict)
    splits: Mapping[str, str] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)
    optimizer: str = ""
    target: str = ""
    at: str = ""
    notes: tuple[str, ...] = ()

    @property
    def taken(self) -> tuple[Lesson, ...]:
        """The lessons of the proposal, in the order of their commits."""
        return tuple(lesson for lesson in self.lessons if lesson.taken)

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values."""
        return asdict(self) | {"v": 1, "lessons": [lesson.to_json() for lesson in self.lessons]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> NightRecord:
        """Inverse of `to_json`. Raises `EditError`, `KeyError` or `TypeError` for other values."""
        rest = {name: item for name, item in value.items() if name != "v"}
        many = {name: tuple(rest[name]) for name in ("supersedes", "notes")}
        return cls(**{**rest, **many, "lessons": tuple(Lesson.from_json(lesson) for lesson in rest["lessons"])})
