"""A night every day by the system's own scheduler: what an entry is, and what every scheduler can do."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from skillgit.errors import ConfigError, NeedsPersonError
from skillgit.git.hooks.install import Change

_SECONDS = 30

UNSCHEDULE = "skillgit sleep unschedule removes it"


@dataclass(frozen=True)
class Job:
    """A night for one repository, every day.

    Attributes:
        id: 12 hex digits that stand for the repository.
        folder: where the night starts; relative paths in `command` are meant from there.
        command: program and arguments, complete.
        hour, minute: local time.
        environment: variables that the schedulers do not hand on by themselves; never a secret.
    """

    id: str
    folder: Path
    command: tuple[str, ...]
    hour: int
    minute: int
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """What a scheduler holds of ours.

    Attributes:
        scheduler: name of the scheduler. job: id of the repository it is for.
        place: where it is kept, for people.
        when: `HH:MM`, or what it waits for.
        command: what is run.
        active: whether the scheduler will run it.
        problem: why it could not be read; all else may be blank then.
    """

    scheduler: str
    job: str
    place: str
    when: str = ""
    command: tuple[str, ...] = ()
    active: bool = True
    problem: str = ""


class Scheduler(Protocol):
    """One way to have something run. Both plans change nothing until they are carried out.

    Raises:
        NeedsPersonError: what is there cannot be read, or was not written by skillgit.
    """

    name: str

    def missing(self) -> str:
        """Why it cannot be used here; blank when it can."""
        ...

    def install(self, job: Job) -> list[Change]:
        """What sets a job up, in place of an earlier one of the same repository."""
        ...

    def remove(self, jobs: Collection[str] | None) -> list[Change]:
        """What takes these repositories' jobs out; `None`: every job of skillgit's."""
        ...

    def entries(self) -> list[Entry]:
        """Every entry of skillgit's."""
        ...


@dataclass(frozen=True)
class Done:
    """How a scheduler's program ended."""

    code: int
    out: bytes
    err: str

    @property
    def said(self) -> str:
        """What it said of it, in one line."""
        text = self.err or self.out.decode("utf-8", "replace")
        return "; ".join(line.strip() for line in text.splitlines() if line.strip())[:400] or f"exit {self.code}"


def call(*argv: str, data: bytes = b"") -> Done:
    """Run a scheduler's program, its messages in English. Raises `ConfigError` when it is missing or hangs."""
    try:
        done = subprocess.run(  # noqa: S603 - our own argument list, no shell
            argv, input=data, capture_output=True, check=False, timeout=_SECONDS, env={**os.environ, "LC_ALL": "C"}
        )
    except FileNotFoundError as error:
        raise ConfigError(f"{argv[0]} was not found", fix="choose another scheduler with --with") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigError(f"{argv[0]} could not be run", why=str(error)) from error
    return Done(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def demand(*argv: str, data: bytes = b"") -> Done:
    """The same, and it must succeed. Raises `ConfigError` with the program's own words."""
    done = call(*argv, data=data)
    if done.code:
        raise ConfigError(f"{' '.join(argv[:3])} failed (exit {done.code})", why=done.said)
    return done


def foreign(path: Path | str, why: str) -> NeedsPersonError:
    """The error for a thing that skillgit did not write, that was changed since, or that cannot be read."""
    return NeedsPersonError(
        "not as skillgit writes it; nothing was changed", why=why, where=str(path), fix="move it away or repair it"
    )


def own_text(path: Path, mark: str) -> str | None:
    """The text of a file that we wrote, which begins with `mark`; `None` when there is none.

    Raises:
        NeedsPersonError: something else is there.
    """
    if not os.path.lexists(path):
        return None
    if path.is_symlink() or not path.is_file():
        raise foreign(path, "it is no ordinary file")
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise foreign(path, str(error)) from error
    if not text.startswith(mark):
        raise foreign(path, f"its first line is not {mark!r}")
    return text


def words_of(command: str, place: Path | str) -> tuple[str, ...]:
    """The words of a command line as a shell takes them. Raises `NeedsPersonError` for one that no shell can read."""
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise foreign(place, f"its command cannot be read: {error}") from error


def printable(words: Sequence[str]) -> None:
    """Raise `ConfigError` for words that no entry can hold."""
    for word in words:
        if any(ord(letter) < 32 or ord(letter) == 127 for letter in word):
            raise ConfigError(f"{word!r} holds a control character", fix="leave it out, or set it in skillgit.yaml")
        if any("\ud800" <= letter <= "\udfff" for letter in word):
            raise ConfigError(f"{word!r} cannot be written as UTF-8", fix="give the folder another name")
