"""The watcher: sees finished sessions, reads them, and runs a night when one is due.

One round: look at the stamps of all files; read what has come to rest, or everything when an agent said that a session
ended; run a night when enough is new or the hour has come; wait. The system's notices only end the wait early, so a
missed one costs at most a minute. Waits go by a clock that cannot be set, dates and hours by the local one.
"""

from __future__ import annotations

import threading
import time
import traceback
from pathlib import Path

from skillgit.errors import CheckFailedError, SkillgitError
from skillgit.events import Sink
from skillgit.git.repository import Repository
from skillgit.sleep.base import Source
from skillgit.sleep.redact import redact
from skillgit.sleep.sources.places import is_there
from skillgit.sleep.sources.registry import sources
from skillgit.sleep.watch.base import CLOCK, PACE, Clock, Pace, Work
from skillgit.sleep.watch.due import at_the_hour, backoff, due, started
from skillgit.sleep.watch.events import Looked, NightBegun, NightOver, WatchStarted, WatchTrouble
from skillgit.sleep.watch.lock import sole
from skillgit.sleep.watch.notices import Notices
from skillgit.sleep.watch.settled import Settled
from skillgit.sleep.watch.signals import signal_file, touched
from skillgit.sleep.watch.state import change_state, config_digest, read_state


class Watcher:
    """The watcher of one repository. `run` ends by an interrupt only.

    Raises:
        SkillgitError: at the start, when the configuration or a source cannot be used. Later that is only told.
    """

    def __init__(self, repo: Repository, work: Work, sink: Sink, pace: Pace = PACE, clock: Clock = CLOCK) -> None:
        self._repo, self._work, self._sink, self._pace, self._clock = repo, work, sink, pace, clock
        self._common = repo.common_dir
        self._wake = threading.Event()
        self._signal = touched(self._common)
        self._noted: set[str] = set()
        self._read_settings()
        self._settings_at = clock.monotonic() + pace.settings
        self._settled = Settled(self._config.sleep.quiet_minutes * 60)
        self._waiting = 0
        self._read_all = "the watcher started"  # why everything is read, whatever the stamps say
        self._failures, self._retry_at, self._why = 0, 0.0, ""
        self._over: NightOver | None = None

    def run(self) -> None:
        """Watch until the process is interrupted. Raises `CheckFailedError` when there is a watcher already."""
        with sole(self._repo):
            self._begin()
            with Notices(self._wake.set) as notices:
                self._follow(notices)
                self._sink(self._started(notices))
                while True:
                    self._wait(self.round(), polling=bool(self._looking(notices)))
                    self._renew(notices)

    def once(self) -> None:
        """Look once: read what is new, and run a night when one is due.

        Raises:
            CheckFailedError: reading or the night failed, or there is a watcher already.
        """
        with sole(self._repo):
            self._begin()
            self.round()
        if self._failures:
            raise CheckFailedError("nothing could be read", why=self._why, fix="skillgit sleep harvest")
        if self._over and read_state(self._repo).failures:
            raise CheckFailedError("the night could not be finished", why=self._over.why, fix="skillgit sleep run")

    def round(self) -> float:
        """Look, read, run; returns the seconds until there may be something to do without a notice.

        Whatever fails is told and tried again, later and later.
        """
        if (pause := self._retry_at - self._clock.monotonic()) > 0:
            self._signal = touched(self._common)
            return pause
        try:
            left = self._look()
            self._night_if_due()
        except Exception as error:  # noqa: BLE001 - no harvest and no night may end the watcher
            return self._failed(error)
        self._failures = 0
        return left

    def _failed(self, error: Exception) -> float:
        self._failures += 1
        pause = backoff(self._failures)
        self._retry_at, self._read_all = self._clock.monotonic() + pause, "again, after a failure"
        self._why = _told(error)
        self._sink(WatchTrouble(self._why, pause))
        return pause

    def _look(self) -> float:
        stamps = self._stamps()
        look = self._settled.look(stamps, self._clock.monotonic())
        if reason := self._reason(rested=look.rested):
            begun = time.monotonic()
            self._waiting = self._work.harvest(self._config)
            self._read_all = ""
            self._settled.read(stamps)
            self._sink(Looked(reason, self._waiting, round(time.monotonic() - begun, 2)))
            look = self._settled.look(stamps, self._clock.monotonic())
        return self._pace.idle if look.next is None else look.next

    def _begin(self) -> None:
        signal_file(self._common).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = started(read_state(self._repo), self._config.sleep, self._clock.now())
        # Whoever starts a watcher has perhaps just repaired what made nights impossible.
        change_state(self._repo, day=state.day, paused="")

    def _reason(self, *, rested: bool) -> str:
        signal = touched(self._common)
        if signal != self._signal:
            self._signal = signal
            return "an agent's session ended"
        return self._read_all or ("files came to rest" if rested else "")

    def _stamps(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for source in self._sources:
            try:
                self._add_stamps(source, found)
            except Exception:  # noqa: BLE001, S112 - one store must not stop the others; the harvest tells of it
                continue
        return found

    @staticmethod
    def _add_stamps(source: Source, found: dict[str, str]) -> None:
        for file in source.files():
            try:
                found[f"{source.name}:{file}"] = source.stamp(file)
            except OSError:  # gone, or out of reach: the harvest tells of the latter
                continue

    def _night_if_due(self) -> None:
        state, now, digest = read_state(self._repo), self._clock.now(), config_digest(self._config)
        day = started(state, self._config.sleep, now).day  # the clock may have been set since
        if state.paused not in ("", digest) or state.day != day:
            state = change_state(self._repo, paused=state.paused if state.paused == digest else "", day=day)
        reason = due(state, self._config.sleep, now, self._waiting, digest)
        if at_the_hour(state, self._config.sleep, now):
            change_state(self._repo, day=now.date().isoformat())
        if not reason:
            return
        self._sink(NightBegun(reason))
        self._over = over = self._work.night()
        self._sink(over)
        if over.hopeless:
            change_state(self._repo, paused=digest)
            self._sink(WatchTrouble("nights wait until the configuration changes, or the watcher is started again", 0))
        elif read_state(self._repo).failures == 0:
            self._waiting = 0

    def _read_settings(self) -> None:
        notes: set[str] = set()
        self._config = self._work.settings()
        self._sources: list[Source] = sources(self._config.sleep, notes.add)
        self._note(notes)

    def _note(self, notes: set[str]) -> None:
        """Tell what was not told at the last reading."""
        for note in sorted(notes - self._noted):
            self._sink(WatchTrouble(note, self._pace.settings))
        self._noted = notes

    def _renew(self, notices: Notices) -> None:
        """Take up a changed configuration, stores that came into being, and folders that were replaced."""
        if self._clock.monotonic() < self._settings_at:
            return
        self._settings_at = self._clock.monotonic() + self._pace.settings
        try:
            self._read_settings()
        except SkillgitError as error:
            self._note({f"the configuration of before is kept: {error}"})
        self._settled.quiet = self._config.sleep.quiet_minutes * 60
        self._follow(notices)

    def _follow(self, notices: Notices) -> None:
        roots = [] if self._config.sleep.polling else [root for source in self._sources for root in source.roots()]
        notices.follow([*roots, signal_file(self._common).parent])

    def _looking(self, notices: Notices) -> tuple[str, ...]:
        """Folders at which only looking again and again helps."""
        if self._config.sleep.polling:
            return tuple(str(root) for source in self._sources for root in source.roots() if is_there(root))
        return tuple(map(str, notices.refused))

    def _started(self, notices: Notices) -> WatchStarted:
        own = signal_file(self._common).parent
        followed = tuple(str(folder) for folder in notices.followed if folder != own)
        why = (
            "sleep.polling is set" if self._config.sleep.polling else "; ".join(dict.fromkeys(notices.refused.values()))
        )
        sleep = self._config.sleep
        return WatchStarted(followed, self._looking(notices), why, sleep.hour, sleep.min_sessions)

    def _wait(self, seconds: float, *, polling: bool) -> None:
        """Until a signal, a change (but not before the gap is over), or so many seconds."""
        end = time.monotonic() + min(seconds, self._pace.poll if polling else self._pace.idle)
        soonest = time.monotonic() + self._pace.gap
        while (left := max(end, soonest) - time.monotonic()) > 0 and touched(self._common) == self._signal:
            if self._wake.wait(min(left, self._pace.signal) if polling else left):
                self._wake.clear()
                end = soonest


def _told(error: Exception) -> str:
    """What may be logged of an error: what others than ours say may quote a transcript."""
    if isinstance(error, SkillgitError | OSError):
        return redact(str(error))
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}"
