"""What sessions are made of, and what a source of them is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

Speaker = Literal["user", "assistant", "none"]

Reason = Literal[
    "sidechain",
    "sub_agent",
    "headless",
    "command",
    "meta",
    "synthetic",
    "own",
    "other_agent",
    "pattern",
    "other_project",
    "no_project",
    "old",
    "no_human_turn",
]
"""Why a record or session is no evidence of what a person wants.

- `sidechain`, `sub_agent`: an agent spoke to an agent.
- `headless`: a program did (an SDK, `-p`, cron).
- `command`: the text that a slash command expands to.
- `meta`: written by the agent's own program (summaries, caveats, reminders).
- `synthetic`: put in by a tool. `own`: a session of skillgit's. `other_agent`: of another extension.
- `pattern`: excluded by the user.
"""


@dataclass(frozen=True)
class Record:
    """One thing that a transcript tells, as its source understood it. Texts are as they were: nothing is redacted yet.

    Attributes:
        session: id of the session, from the record itself where the format has it there.
        key: identity of the record within its source. Two with the same key are one, wherever they lie (forks, copies,
            live and archived), so it is the format's own id where there is one, and else made of the session and the
            record's place in it.
        role: who speaks; `none` for a record that only tells facts (a folder, a tool, a file).
        text: what is said, without tool input, tool output and thoughts.
        at: seconds since 1970 UTC, `None` when not recorded.
        cwd: absolute folder of the session at that moment; blank when not recorded.
        skills: names of skills put in play, by a tool call or by reading a `SKILL.md`.
        reason: why these are not a person's words; blank when they may be.
        failed: the agent reported that this turn failed.
    """

    session: str
    key: str
    role: Speaker = "none"
    text: str = ""
    at: float | None = None
    cwd: str = ""
    branch: str = ""
    skills: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    reason: Reason | Literal[""] = ""
    failed: bool = False


@dataclass(frozen=True)
class Position:
    """How far a store's file has been read.

    Attributes:
        stamp: `Source.stamp` of the file when it was read; while it is the same there is nothing new.
        identity: tells this file from another one under the same name.
        offset: bytes, from where to go on.
        state: JSON values that the source needs to go on there.
    """

    stamp: str
    identity: str = ""
    offset: int = 0
    state: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Batch:
    """Records that become durable together with the position after them.

    Attributes:
        damaged: kind of damage to the number of records lost to it, since the batch before.
        start: bytes of the file before the batch; `None` where the source does not read by bytes.
    """

    records: tuple[Record, ...]
    position: Position
    damaged: Mapping[str, int] = field(default_factory=dict)
    start: int | None = None


@runtime_checkable
class Source(Protocol):
    """One agent's store of sessions.

    Entry points of the group `skillgit.sources` name a factory `(config.sleep.Sleep) -> Source`.
    """

    name: str

    def roots(self) -> tuple[Path, ...]:
        """Folders (or database files) the store lies in, whether or not they exist; what a watcher watches."""
        ...

    def files(self) -> Iterator[Path]:
        """Every file of the store, in a stable order. A file that vanishes meanwhile is no error."""
        ...

    def stamp(self, file: Path) -> str:
        """Changes whenever the file does, from its metadata alone. Raises `OSError` when it is gone."""
        ...

    def read(self, file: Path, since: Position | None) -> Iterator[Batch]:
        """What is new in a file after a position (`None`: everything), in bounded memory.

        Damage costs the record it hits: it is counted in the batch, and reading goes on. The file may be growing: an
        unfinished last line is left for the next time.

        Raises:
            OSError: the file cannot be read at all, or vanished.
        """
        ...


@dataclass(frozen=True)
class Turn:
    """What one side said, redacted and clipped.

    Attributes:
        at: seconds since 1970 UTC, `None` when not recorded.
        failed: the agent reported that the turn failed.
    """

    role: Literal["user", "assistant"]
    text: str
    at: float | None = None
    failed: bool = False


@dataclass(frozen=True)
class Session:
    """The digest of one conversation: what is kept of it.

    Attributes:
        project: top folder of the repository it was held in, or its folder where that is in no repository.
        skills: skills in play, in the order they came.
        turns: a person's turns and the agent's answers, oldest first.
        harvested: number of the harvest that last brought something new of it.
    """

    source: str
    id: str
    project: str
    turns: tuple[Turn, ...]
    cwd: str = ""
    branch: str = ""
    skills: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    started: float | None = None
    ended: float | None = None
    harvested: int = 0

    @property
    def hashed(self) -> str:
        """12 hex digits that stand for the session in git, where its id must not be."""
        return hashlib.sha256(f"{self.source}:{self.id}".encode()).hexdigest()[:12]

    @property
    def prompts(self) -> tuple[str, ...]:
        """What the person said, oldest first."""
        return tuple(turn.text for turn in self.turns if turn.role == "user")
