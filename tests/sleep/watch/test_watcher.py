"""The watcher's rounds, with real stores and a clock of the test's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from skillgit.config.load import load_config
from skillgit.config.schema import Config
from skillgit.config.sleep import Sleep
from skillgit.errors import CheckFailedError, ConfigError
from skillgit.events import Event
from skillgit.git.repository import Repository
from skillgit.sleep.watch.base import Clock, Pace, Work
from skillgit.sleep.watch.events import Looked, NightBegun, NightOver, WatchStarted, WatchTrouble
from skillgit.sleep.watch.lock import sole
from skillgit.sleep.watch.signals import touch
from skillgit.sleep.watch.state import change_state, read_state
from skillgit.sleep.watch.watcher import Watcher
from tests.sleep.watch.stores import say


class Bench:
    """A watcher whose harvests and nights are counted, in a time that the test sets."""

    def __init__(self, repo_dir: Path, store: Path) -> None:
        self.repo, self.store, self.cwd = Repository.open(repo_dir), store, repo_dir
        self.seconds, self.now = 1000.0, datetime(2026, 3, 10, 12, 0)
        self.told: list[Event] = []
        self.waiting, self.nights = 0, 0
        self.failure: Exception | None = None
        self.outcome = NightOver(0, "", 1.0)
        self.options: dict[str, Any] = {"source": "neutral", "quiet_minutes": 1.0, "min_sessions": 3, "hour": 3}
        self._made: Watcher | None = None

    @property
    def watcher(self) -> Watcher:
        if self._made is None:
            clock = Clock(lambda: self.seconds, lambda: self.now)
            work = Work(self.settings, self._harvest, self._night)
            self._made = Watcher(self.repo, work, self.told.append, Pace(), clock)
            self._made._begin()
        return self._made

    def settings(self) -> Config:
        config = load_config(self.cwd, "", [], lambda line: None, self.cwd)
        return dataclasses.replace(config, sleep=Sleep(neutral_sessions=str(self.store), **self.options))

    def _harvest(self, config: Config) -> int:
        if self.failure:
            raise self.failure
        return self.waiting

    def _night(self) -> NightOver:
        self.nights += 1
        change_state(self.repo, at=self.now.timestamp(), failures=0 if self.outcome.code == 0 else 1)
        return self.outcome

    def after(self, seconds: float) -> list[Event]:
        """What is told by a round so many seconds later."""
        self.seconds += seconds
        self.now += timedelta(seconds=seconds)
        self.told.clear()
        self.watcher.round()
        return list(self.told)

    def reasons(self, seconds: float) -> list[str]:
        """Why something was read in that round."""
        return [event.reason for event in self.after(seconds) if isinstance(event, Looked)]


@pytest.fixture
def bench(repo_dir: Path, tmp_path: Path) -> Iterator[Bench]:
    store = tmp_path / "store"
    store.mkdir()
    return Bench(repo_dir, store)


def test_everything_is_read_at_the_start_and_then_only_what_came_to_rest(bench: Bench) -> None:
    say(bench.store / "a.jsonl", 1, bench.cwd)
    assert bench.reasons(0) == ["the watcher started"]
    assert bench.reasons(600) == []
    say(bench.store / "a.jsonl", 2, bench.cwd)
    assert bench.reasons(1) == []
    say(bench.store / "a.jsonl", 3, bench.cwd)
    assert bench.reasons(59) == []
    assert bench.reasons(59) == []
    assert bench.reasons(1) == ["files came to rest"]
    assert bench.reasons(600) == []


def test_the_next_round_is_due_when_a_file_may_rest(bench: Bench) -> None:
    bench.after(0)
    assert bench.watcher.round() == Pace().idle
    say(bench.store / "a.jsonl", 1, bench.cwd)
    bench.after(0)
    bench.seconds += 20
    assert bench.watcher.round() == 40


def test_replaced_moved_and_deleted_files_are_one_look_each(bench: Bench) -> None:
    file = bench.store / "a.jsonl"
    say(file, 1, bench.cwd)
    bench.after(0)
    say(bench.store / "new", 1, bench.cwd, "something else")
    (bench.store / "new").replace(file)
    bench.after(1)
    assert bench.reasons(60) == ["files came to rest"]
    file.rename(bench.store / "b.jsonl")
    assert bench.reasons(1) == ["files came to rest"]
    (bench.store / "b.jsonl").unlink()
    assert bench.reasons(1) == ["files came to rest"]
    assert bench.reasons(1) == []


def test_swap_files_of_editors_are_no_sessions(bench: Bench) -> None:
    bench.after(0)
    for name in (".a.jsonl.swp", "a.jsonl~", "4913"):
        (bench.store / name).write_text("x")
    (bench.store / ".#a.jsonl").symlink_to("somebody@here.1234")
    assert bench.reasons(1) == []
    assert bench.reasons(600) == []


def test_a_signal_needs_no_quiet_time(bench: Bench) -> None:
    bench.after(0)
    say(bench.store / "a.jsonl", 1, bench.cwd)
    assert bench.reasons(1) == []
    assert touch(bench.repo.common_dir)
    assert bench.reasons(1) == ["an agent's session ended"]
    assert bench.reasons(600) == []


def test_a_failing_harvest_is_tried_again_later_and_ends_nothing(bench: Bench) -> None:
    bench.failure = ValueError("a source of another package")
    (told,) = bench.after(0)
    assert isinstance(told, WatchTrouble)
    assert (told.what.split(",")[0], told.seconds) == ("ValueError in test_watcher.py", 300)
    assert bench.after(299) == []
    assert [told.seconds for told in bench.after(1) if isinstance(told, WatchTrouble)] == [600]
    touch(bench.repo.common_dir)
    assert bench.after(1) == []
    bench.failure = None
    assert bench.reasons(600) == ["again, after a failure"]
    assert bench.reasons(600) == []


def test_enough_new_sessions_run_one_night(bench: Bench) -> None:
    bench.after(0)
    bench.waiting = 3
    touch(bench.repo.common_dir)
    events = [event for event in bench.after(1) if not isinstance(event, Looked)]
    assert events == [NightBegun("3 new sessions"), NightOver(0, "", 1.0)]
    bench.after(3600)
    assert bench.nights == 1


def test_the_set_hour_runs_one_night_a_day(bench: Bench) -> None:
    bench.waiting = 1
    bench.after(0)
    for _ in range(24 * 3):
        bench.waiting = 1
        touch(bench.repo.common_dir)
        bench.after(3600)
    assert bench.nights == 3


def test_a_day_with_nothing_new_has_no_night_and_the_next_session_waits_for_the_hour(bench: Bench) -> None:
    bench.after(0)
    bench.after(24 * 3600)
    assert bench.nights == 0
    bench.waiting = 1
    touch(bench.repo.common_dir)
    bench.after(60)
    assert bench.nights == 0
    bench.after(24 * 3600)
    assert bench.nights == 1


def test_a_night_that_failed_is_tried_again(bench: Bench) -> None:
    bench.waiting, bench.outcome = 3, NightOver(5, "no answer", 1.0)
    bench.after(0)
    bench.after(60)
    assert bench.nights == 1
    bench.outcome = NightOver(0, "", 1.0)
    bench.after(300)
    bench.after(3600)
    assert bench.nights == 2


def test_a_configuration_with_which_no_night_works_pauses_them_until_it_changes(bench: Bench) -> None:
    bench.waiting, bench.outcome = 3, NightOver(5, "bad key", 1.0, hopeless=True)
    assert isinstance(bench.after(0)[-1], WatchTrouble)
    bench.after(7 * 24 * 3600)
    assert bench.nights == 1
    (bench.cwd / "skillgit.yaml").write_text("model:\n  target: another\n")
    bench.watcher._read_settings()
    bench.outcome = NightOver(0, "", 1.0)
    bench.after(1)
    assert bench.nights == 2


def test_starting_again_ends_the_pause(bench: Bench) -> None:
    change_state(bench.repo, paused="x", day="2026-03-10")
    bench.watcher.round()
    assert read_state(bench.repo).paused == ""


def test_a_configuration_that_broke_is_told_once_and_the_old_one_kept(bench: Bench) -> None:
    from skillgit.sleep.watch.notices import Notices

    bench.after(0)
    bench.options["source"] = "neutrla"
    with Notices(lambda: None) as notices:
        told = []
        for _ in range(3):
            bench.after(61)
            bench.watcher._renew(notices)
            told += [event for event in bench.told if isinstance(event, WatchTrouble)]
    assert len(told) == 1
    assert "neutral" in told[0].what
    say(bench.store / "a.jsonl", 1, bench.cwd)
    bench.after(1)
    assert bench.reasons(60) == ["files came to rest"]


def test_a_configuration_that_cannot_be_used_is_told_at_the_start(bench: Bench) -> None:
    bench.options["source"] = "neutrla"
    with pytest.raises(ConfigError, match="neutrla"):
        _ = bench.watcher


def test_looking_once_tells_a_failure_by_an_error(bench: Bench) -> None:
    bench.failure = OSError("no room")
    with pytest.raises(CheckFailedError, match="nothing could be read"):
        bench.watcher.once()


def test_one_watcher_looks_at_a_time(bench: Bench) -> None:
    with sole(bench.repo), pytest.raises(CheckFailedError, match="a watcher already"):
        bench.watcher.once()


class _EnoughError(Exception):
    """Ends a watcher that would go on."""


@pytest.mark.parametrize("polling", [False, True])
def test_a_running_watcher_reads_what_rests_whether_or_not_the_system_tells_of_it(bench: Bench, polling: bool) -> None:
    bench.options |= {"quiet_minutes": 0.0, "polling": polling}
    told: list[Event] = []

    def sink(event: Event) -> None:
        told.append(event)
        looks = sum(isinstance(each, Looked) for each in told)
        if looks == 3:
            raise _EnoughError
        if isinstance(event, Looked):
            say(bench.store / "a.jsonl", looks, bench.cwd)

    work = Work(bench.settings, lambda config: 0, lambda: NightOver(0, "", 0.0))
    watcher = Watcher(bench.repo, work, sink, Pace(gap=0.05, idle=30, poll=0.2, signal=0.1))
    watcher._failed = _raise  # type: ignore[method-assign] # what the sink raises must come out
    with suppress(_EnoughError):
        watcher.run()
    (started,) = [event for event in told if isinstance(event, WatchStarted)]
    assert (started.notices, started.looking) == (((), (str(bench.store),)) if polling else ((str(bench.store),), ()))
    assert [event.reason for event in told if isinstance(event, Looked)][1:] == ["files came to rest"] * 2


def _raise(error: Exception) -> float:
    raise error


def test_a_night_under_a_clock_that_was_ahead_does_not_stop_the_nights_of_a_running_watcher(bench: Bench) -> None:
    bench.options["min_sessions"] = 0
    bench.waiting = 1
    bench.after(0)
    change_state(bench.repo, day="2031-01-01")
    bench.after(600)
    assert (bench.nights, read_state(bench.repo).day) == (0, "2026-03-10")
    bench.now += timedelta(days=1)
    bench.waiting = 1
    say(bench.store / "a.jsonl", 1, bench.cwd)
    bench.after(0)
    assert bench.nights == 1


def test_a_store_that_cannot_be_listed_does_not_keep_the_others_from_being_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.after(0)
    good = bench.watcher._sources[0]

    class Broken:
        name = "broken"

        def files(self) -> Iterator[Path]:
            raise RuntimeError("no list")

    monkeypatch.setattr(bench.watcher, "_sources", [Broken(), good])
    say(bench.store / "a.jsonl", 1, bench.cwd)
    bench.after(1)
    assert bench.reasons(61) == ["files came to rest"]


def test_what_an_unexpected_error_quotes_is_not_told(bench: Bench) -> None:
    bench.failure = KeyError("what a person said")
    (trouble,) = bench.after(0)
    assert isinstance(trouble, WatchTrouble)
    assert "a person" not in trouble.what
