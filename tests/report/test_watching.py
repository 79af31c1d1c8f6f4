"""What the watcher says when it starts."""

from __future__ import annotations

from skillgit.report.sleep.watching import line
from skillgit.sleep.watch.events import WatchStarted


def test_a_watcher_that_finds_no_store_says_so_and_when_nights_run() -> None:
    said = line(WatchStarted((), (), "", hour=3, min_sessions=1))
    assert "watching   nothing yet: no agent's sessions were found" in said
    assert "nights     at 3:00 and after 1 session" in said


def test_a_watcher_that_finds_stores_names_them() -> None:
    said = line(WatchStarted(("/home/a/.claude/projects",), (), "", hour=-1, min_sessions=0))
    assert "watching   /home/a/.claude/projects" in said
    assert "nothing yet" not in said
    assert "none: sleep.hour and sleep.min_sessions are off" in said
