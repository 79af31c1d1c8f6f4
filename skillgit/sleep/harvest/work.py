"""Reading all stores once, and what becomes of a file that cannot be read."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from pathlib import Path

from skillgit import __version__
from skillgit.config.sleep import Sleep
from skillgit.errors import SkillgitError
from skillgit.events import Progress, Sink
from skillgit.git.repository import Repository
from skillgit.sleep.base import Batch, Source
from skillgit.sleep.harvest.archive import ERROR, Archive
from skillgit.sleep.harvest.intake import Intake, OvertakenError, Rules
from skillgit.sleep.harvest.projects import Projects
from skillgit.sleep.harvest.provenance import reason_of
from skillgit.sleep.harvest.selection import Selection
from skillgit.sleep.redact import clean, clip
from skillgit.sleep.sources.registry import sources

_DAY = 86_400


class Work:
    """One harvest while it runs.

    Attributes:
        notes: what a person should know.
        bytes: read so far.

    Raises:
        ConfigError: sources or scope that there are not.
    """

    def __init__(self, archive: Archive, repo: Repository, config: Sleep, now: float, sink: Sink) -> None:
        self.archive, self.config, self.sink = archive, config, sink
        self.notes = list(archive.notes)
        self.bytes = 0
        self._gone = 0
        self.sources = sources(config, self.notes.append)
        if not self.sources:
            self.notes.append("no agent's sessions were found: skillgit sleep status names the agents looked for")
        projects = Projects(repo, archive.worktrees())
        projects.in_scope("", config.scope)  # a scope that cannot be used is told before anything is read
        archive.remember(projects.worktrees)
        self._expiry = now - config.keep_days * _DAY
        fresh = now - config.lookback_hours * 3600 if config.lookback_hours else -math.inf
        self.rules = Rules(config, projects, max(fresh, self._expiry), archive.begin(now), now)

    def run(self) -> None:
        """Read every changed file of every source."""
        self._choose()
        self._redact_again()
        for source in self.sources:
            self._source(source)
        self.archive.rows.judge_age(self.rules.cutoff)
        self.archive.rows.prune(self._expiry, self.rules.now)
        self.archive.end(self.rules.harvest, time.time())
        if self._gone:
            self.notes.append(f"{_files(self._gone)} went away before they were read")
        if count := self.archive.shortened():
            self.notes.append(f"of {count} long session(s) only the first and last turns are kept")

    def _choose(self) -> None:
        """Go by another choice of sessions than the last harvest did, where there is one."""
        selection, before = Selection.of(self.config), self.archive.get("selection")
        if before == str(selection):
            return
        with self.archive.transaction():
            if before:
                self._exclude_again()
            if before and selection.may_add_to(Selection.parse(before)):
                self.archive.forget_unchosen()
                self.notes.append("other sessions are asked for than before: all stores are read again")
            self.archive.put("selection", str(selection))

    def _exclude_again(self) -> None:
        """What is to be left out from now on is left out of what was kept before as well."""
        for number, _ in self.archive.heads():
            first = next((turn.text for turn in self.archive.turns(number) if turn.role == "user"), "")
            if reason_of(first, first=True, patterns=self.config.exclude) == "pattern":
                self.archive.rows.leave_out(number, "pattern")

    def _redact_again(self) -> None:
        """What is to be hidden from now on, or is known to be a secret by now, is hidden in what was kept before."""
        asked = f"{self.config.redact_email} {self.config.redact_home} {__version__}"
        if self.archive.get("redaction") != asked:
            self.archive.rows.rewrite(self.rules.redacted)
            self.archive.put("redaction", asked)

    def _source(self, source: Source) -> None:
        stamps = self.archive.stamps(source.name)
        changed, present = self._changed(source, stamps)
        for done, file in enumerate(changed):
            self.sink(Progress(f"harvest {source.name}", done, len(changed)))
            self._file(source, file)
        if changed:
            self.sink(Progress(f"harvest {source.name}", len(changed), len(changed)))
        for name in stamps.keys() - present:
            if not os.path.lexists(name):
                self.archive.forget_file(source.name, name)

    def _changed(self, source: Source, stamps: Mapping[str, str]) -> tuple[list[Path], set[str]]:
        """The files to read, and the names of all that are there."""
        changed, present = [], set()
        try:
            for file in source.files():
                name = _name(file)
                present.add(name)
                if self._stamp(source, file) != stamps.get(name):
                    changed.append(file)
        except SkillgitError:
            raise
        except Exception as error:  # noqa: BLE001 - another source's fault must not end the night
            self.notes.append(f"{source.name}: files cannot be listed ({type(error).__name__}: {self._brief(error)})")
        return changed, present

    def _stamp(self, source: Source, file: Path) -> str:
        try:
            return source.stamp(file)
        except OSError:
            return ""  # reading it will tell

    def _file(self, source: Source, file: Path) -> None:
        name = _name(file)
        try:
            self._read(source, file, name)
        except OvertakenError:
            self.notes.append(f"{name}: another harvest reads it")
        except SkillgitError:
            raise
        except Exception as error:  # noqa: BLE001 - the one place where a source's fault is held off from the rest
            if isinstance(error, FileNotFoundError) and not os.path.lexists(file):
                self._gone += 1
            else:
                self._failed(source, name, error)

    def _failed(self, source: Source, name: str, error: Exception) -> None:
        kind = type(error).__name__
        with self.archive.transaction():
            self.archive.clear_damage(source.name, name, errors_only=True)
            self.archive.set_damage(source.name, name, {f"{ERROR}{kind}": 1})
        self.notes.append(f"{name}: cannot be read ({kind}: {self._brief(error)})")

    def _brief(self, error: Exception) -> str:
        """What an error says; it may quote the transcript."""
        return clip(self.rules.redacted(clean(str(error))), 200)

    def _read(self, source: Source, file: Path, name: str) -> None:
        old = _written(file) < self.rules.cutoff
        intake = Intake(self.archive, self.rules, source.name, name, old=old)
        stamp = ""
        for batch in source.read(file, intake.at):
            stamp = batch.position.stamp
            intake.take(batch)
            self.bytes += _size(file, batch)
        intake.finish(stamp)


def _size(file: Path, batch: Batch) -> int:
    """Bytes that a batch was read from; of the whole file where its source does not read by bytes."""
    if batch.start is not None:
        return batch.position.offset - batch.start
    return file.stat().st_size if file.exists() else 0


def _written(file: Path) -> float:
    """When a file, or the log beside a database, was last written. Raises `OSError`."""
    log = file.with_name(f"{file.name}-wal")
    return max(file.stat().st_mtime, log.stat().st_mtime if log.exists() else 0.0)


def _name(file: Path) -> str:
    """A file's name as text that can be stored."""
    return str(file).encode("utf-8", "backslashreplace").decode()


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
