"""Files that come to rest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillgit.sleep.watch.settled import Look, Settled


def test_a_file_rests_when_it_did_not_change_for_the_quiet_time() -> None:
    settled = Settled(10)
    assert settled.look({"a": "1"}, 100) == Look(rested=False, next=10)
    assert settled.look({"a": "1"}, 104) == Look(rested=False, next=6)
    assert settled.look({"a": "2"}, 109) == Look(rested=False, next=10)
    assert settled.look({"a": "2"}, 119).rested


def test_what_was_read_is_no_news_until_it_changes() -> None:
    settled = Settled(10)
    settled.look({"a": "1", "b": "1"}, 0)
    settled.read({"a": "1", "b": "1"})
    assert settled.look({"a": "1", "b": "1"}, 100) == Look(rested=False, next=None)
    assert settled.look({"a": "1", "b": "2"}, 101) == Look(rested=False, next=10)


def test_a_busy_file_does_not_keep_others_from_resting() -> None:
    settled = Settled(10)
    for now in range(11):
        look = settled.look({"busy": str(now), "done": "1"}, now)
    assert look.rested
    settled.read({"busy": "9", "done": "1"})
    assert settled.look({"busy": "10", "done": "1"}, 11) == Look(rested=False, next=9)


def test_a_file_that_went_is_looked_at_once() -> None:
    settled = Settled(10)
    settled.read({"a": "1"})
    assert settled.look({}, 0).rested
    settled.read({})
    assert not settled.look({}, 1).rested


def test_without_a_quiet_time_every_change_rests_at_once() -> None:
    assert Settled(0).look({"a": "1"}, 5).rested


NAMES = st.dictionaries(st.sampled_from("abc"), st.sampled_from("123"))


@given(st.lists(st.tuples(NAMES, st.floats(0, 20)), max_size=30))
def test_whatever_happens_every_state_is_read_in_the_end_and_little_is_held(
    steps: list[tuple[dict[str, str], float]],
) -> None:
    settled, now, known, files = Settled(10), 0.0, {}, {}
    for files, pause in steps:
        now += pause
        if settled.look(files, now).rested:
            settled.read(files)
            known = files
        assert len(settled._read) <= 3
        assert len(settled._moving) <= 3
    for _ in range(2):
        now += 10
        if settled.look(files, now).rested:
            settled.read(files)
            known = files
    assert known == files
