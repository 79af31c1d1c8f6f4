"""When a night is due, under clocks that jump."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.config.sleep import Sleep
from skillgit.sleep.watch.due import at_the_hour, backoff, due, started, wait
from skillgit.sleep.watch.state import State

NIGHTS = Sleep(hour=3, min_sessions=5)
NOW = datetime(2026, 3, 10, 4, 0)
YESTERDAY = State(day="2026-03-09", at=1.0)


def _due(state: State, now: datetime = NOW, *, waiting: int = 1, sleep: Sleep = NIGHTS) -> str:
    return due(state, sleep, now, waiting, "digest")


def test_the_set_hour_runs_one_night_for_what_is_new() -> None:
    assert _due(YESTERDAY) == "the set hour"
    assert _due(YESTERDAY, waiting=0) == ""
    assert _due(YESTERDAY, NOW.replace(hour=2)) == ""
    assert _due(State(day="2026-03-10")) == ""


def test_enough_sessions_run_a_night_at_any_hour() -> None:
    today = State(day="2026-03-10")
    assert _due(today, waiting=4) == ""
    assert _due(today, waiting=5) == "5 new sessions"
    assert _due(today, waiting=99, sleep=Sleep(hour=3, min_sessions=0)) == ""


def test_an_hour_of_minus_one_sets_none() -> None:
    assert _due(YESTERDAY, sleep=Sleep(hour=-1, min_sessions=0)) == ""


def test_an_hour_that_was_slept_through_is_made_up_for_but_not_the_one_before_the_first_start() -> None:
    assert _due(started(State(day="2026-03-05"), NIGHTS, NOW)) == "the set hour"
    assert _due(started(State(), NIGHTS, NOW)) == ""
    assert _due(started(State(), NIGHTS, NOW), NOW + timedelta(days=1)) == "the set hour"
    assert _due(started(State(), NIGHTS, NOW.replace(hour=1)), NOW) == "the set hour"


def test_a_night_under_a_clock_far_in_the_future_does_not_stop_all_others() -> None:
    state = started(State(day="2031-01-01"), NIGHTS, NOW)
    assert _due(state) == ""
    assert _due(state, NOW + timedelta(days=1)) == "the set hour"


HOURS = st.integers(-72, 72)


@given(st.lists(HOURS, min_size=1, max_size=40))
def test_however_the_clock_jumps_there_is_one_night_per_date(jumps: list[int]) -> None:
    state, now, nights = started(State(), NIGHTS, NOW), NOW, []
    for jump in jumps:
        now += timedelta(hours=jump)
        if at_the_hour(state, NIGHTS, now):
            nights.append(now.date())
            state = State(day=now.date().isoformat())
    assert nights == sorted(set(nights))


def test_a_failed_night_is_tried_again_later_and_later() -> None:
    failed = State(day="2026-03-10", at=NOW.timestamp(), failures=1)
    assert _due(failed) == ""
    assert wait(failed, NOW) == backoff(1)
    assert _due(failed, NOW + timedelta(seconds=backoff(1))).startswith("again")
    assert [backoff(count) for count in (1, 2, 3)] == [300, 600, 1200]
    assert backoff(10**6) == 6 * 3600


def test_a_clock_that_was_set_back_does_not_put_off_a_night_until_it_has_caught_up() -> None:
    failed = State(day="2026-03-10", at=(NOW + timedelta(days=900)).timestamp(), failures=3)
    assert wait(failed, NOW) == 0
    assert _due(failed).startswith("again")


@pytest.mark.parametrize("waiting", [1, 100])
def test_a_configuration_that_cannot_work_is_not_tried_until_it_changes(waiting: int) -> None:
    paused = State(day="2026-03-09", paused="digest")
    assert due(paused, NIGHTS, NOW, waiting, "digest") == ""
    assert due(paused, NIGHTS, NOW, waiting, "another") == "the set hour"
