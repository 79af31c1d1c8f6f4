"""A harvest: everything new in the stores goes into the archive."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from skillgit.config.schema import Config
from skillgit.config.sleep import Sleep
from skillgit.events import Sink
from skillgit.git.repository import Repository
from skillgit.sleep.base import Session
from skillgit.sleep.events import Harvested
from skillgit.sleep.harvest.archive import Archive
from skillgit.sleep.harvest.projects import Projects
from skillgit.sleep.harvest.work import Work
from skillgit.sleep.sources.registry import AUTO


@dataclass(frozen=True)
class Harvest:
    """What a harvest found.

    Attributes:
        number: of the harvest; the sessions it brought something new of have it in `Session.harvested`.
        kept, new: number of sessions kept in all, and of those with something new.
        excluded: reason to the number of records left out for it, over all harvests.
        excluded_sessions: reason to the number of sessions left out as a whole.
        damaged: file to kind of damage to the number of records it cost.
        notes: what a person should know.
        bytes: read in this harvest.
        load: reads the kept sessions.
    """

    number: int
    kept: int
    new: int
    excluded: Mapping[str, int]
    excluded_sessions: Mapping[str, int]
    damaged: Mapping[str, Mapping[str, int]]
    notes: tuple[str, ...]
    bytes: int
    seconds: float
    load: Callable[[], list[Session]]

    @cached_property
    def sessions(self) -> list[Session]:
        """The kept sessions, oldest first: the newest `sleep.max_sessions`. They are read when first asked for."""
        return self.load()


def archive_of(repo: Repository) -> Path:
    """The file of the repository's archive."""
    return repo.state_dir / "sleep.db"


def open_archive(repo: Repository, path: Path | None = None) -> Archive:
    """The repository's archive, or the one at `path`. Raises `GitError`."""
    with repo.lock("sleep-archive"):
        return Archive(path or archive_of(repo))


@contextmanager
def copied_archive(repo: Repository) -> Iterator[Path]:
    """A copy of the repository's archive that is gone afterwards, for harvests that are to write nothing."""
    with TemporaryDirectory(prefix="skillgit-") as folder:
        path = Path(folder) / "sleep.db"
        if archive_of(repo).exists():
            with open_archive(repo) as archive:
                archive.copy_to(path)
        yield path


def harvest(
    repo: Repository, config: Config, sink: Sink, *, now: float | None = None, path: Path | None = None
) -> Harvest:
    """Read what is new in every store, and keep what people said in it, redacted.

    A file that cannot be read is counted as damaged and named; the others are read all the same. A harvest that is
    stopped, in whatever way, loses nothing: the next one goes on.

    Args:
        now: seconds since 1970, by which age is judged; the clock's time by default.
        path: another archive than the repository's.

    Raises:
        ConfigError: sources or scope that there are not.
        GitError: the archive cannot be used.
    """
    started = time.monotonic()
    now = time.time() if now is None else now
    with open_archive(repo, path) as archive:
        work = Work(archive, repo, config.sleep, now, sink)
        work.run()
        heads, number = kept_heads(repo, config.sleep, archive), work.rules.harvest
        found = Harvest(
            number=number,
            kept=len(heads),
            new=len([head for head in heads if head.harvested == number]),
            excluded=archive.excluded(),
            excluded_sessions=archive.excluded_sessions(),
            damaged=archive.damaged(),
            notes=tuple(work.notes),
            bytes=work.bytes,
            seconds=round(time.monotonic() - started, 3),
            load=lambda: _load(repo, config.sleep, path),
        )
    megabytes = found.bytes / 1e6
    sink(Harvested(found.kept, found.new, found.excluded, found.damaged, megabytes, found.seconds))
    return found


def kept_heads(repo: Repository, config: Sleep, archive: Archive) -> list[Session]:
    """The sessions that this configuration asks for, without their turns, newest first."""
    wanted = _wanted(Projects(repo, archive.worktrees()), config)
    return [head for _, head in archive.heads() if wanted(head)]


def kept_sessions(repo: Repository, config: Sleep, archive: Archive) -> list[Session]:
    """The newest of them, with their turns, oldest first: what a night goes by."""
    wanted = _wanted(Projects(repo, archive.worktrees()), config)
    return archive.sessions(limit=config.max_sessions, chosen=wanted)


def _load(repo: Repository, config: Sleep, path: Path | None) -> list[Session]:
    with open_archive(repo, path) as archive:
        return kept_sessions(repo, config, archive)


def _wanted(projects: Projects, config: Sleep) -> Callable[[Session], bool]:
    """Tells whether a kept session is asked for now: an earlier harvest may have asked for more."""
    named = {name.strip() for name in config.source.split(",")} - {"", AUTO}

    def wanted(session: Session) -> bool:
        asked = not named or session.source in named
        return asked and not projects.in_scope(session.cwd, config.scope)

    return wanted
