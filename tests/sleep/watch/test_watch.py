"""`skillgit sleep watch` as people start it: a process that reads sessions as they end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from skillgit.git.repository import Repository
from skillgit.sleep.harvest.collect import open_archive
from skillgit.sleep.watch.lock import holder
from skillgit.sleep.watch.log import log_path
from tests.sleep.watch.stores import say

Run = Callable[..., tuple[int, str, str]]

NO_NIGHTS = ("--set", "sleep.hour=-1", "--set", "sleep.min_sessions=0")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    return folder


def _options(store: Path) -> tuple[str, ...]:
    return ("--source", "neutral", "--neutral-sessions", str(store), "--lookback-hours", "0")


@contextmanager
def watching(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A watcher that has started; it is killed when the test is over."""
    words = [sys.executable, "-m", "skillgit", "-C", str(folder), "sleep", "watch", "--json", *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert until(process, "watch_started")
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[str], event: str) -> dict[str, Any]:
    """The next event of that name."""
    assert process.stdout is not None
    for line in process.stdout:
        told: dict[str, Any] = json.loads(line)
        if told["event"] == event:
            return told
    assert process.stderr is not None
    raise AssertionError(f"the watcher ended: {process.stderr.read()}")


def _prompts(folder: Path) -> list[str]:
    with open_archive(Repository.open(folder)) as archive:
        return [prompt for session in archive.sessions() for prompt in session.prompts]


def test_a_session_is_read_when_it_ended_and_again_for_its_new_part(repo_dir: Path, store: Path) -> None:
    with watching(repo_dir, *_options(store), *NO_NIGHTS, "--set", "sleep.quiet_minutes=0") as process:
        until(process, "looked")
        say(store / "a.jsonl", 1, repo_dir)
        assert until(process, "looked")["reason"] == "files came to rest"
        assert len(_prompts(repo_dir)) == 1
        say(store / "a.jsonl", 2, repo_dir)
        until(process, "looked")
        assert len(_prompts(repo_dir)) == 2


def test_the_hook_of_an_agent_wakes_it_at_once(repo_dir: Path, store: Path, skillgit: Run) -> None:
    with watching(repo_dir, *_options(store), *NO_NIGHTS) as process:
        until(process, "looked")
        say(store / "a.jsonl", 1, repo_dir)
        skillgit(repo_dir, "sleep", "signal")
        assert until(process, "looked")["reason"] == "an agent's session ended"
        assert len(_prompts(repo_dir)) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_order_when_told_to(repo_dir: Path, store: Path, number: int) -> None:
    with watching(repo_dir, *_options(store), *NO_NIGHTS) as process:
        until(process, "looked")
        process.send_signal(number)
        until(process, "watch_ended")
        assert process.wait(20) == 0
    assert holder(Repository.open(repo_dir)) == ""
    rows = log_path(Repository.open(repo_dir)).read_text().splitlines()
    assert json.loads(rows[-1])["event"] == "watch_ended"


def test_a_second_one_is_refused_and_a_killed_one_leaves_no_lock(repo_dir: Path, store: Path, skillgit: Run) -> None:
    with watching(repo_dir, *_options(store), *NO_NIGHTS) as process:
        code, _, err = skillgit(repo_dir, "sleep", "watch", *_options(store), *NO_NIGHTS)
        assert code == 1
        assert f"process {process.pid}" in err
    assert skillgit(repo_dir, "sleep", "watch", "--once", *_options(store), *NO_NIGHTS)[0] == 0


def test_looking_once_reads_and_ends(repo_dir: Path, store: Path, skillgit: Run) -> None:
    say(store / "a.jsonl", 1, repo_dir, "please write \x1b[31m[bold]the notes[/bold]")
    code, out, _ = skillgit(repo_dir, "sleep", "watch", "--once", *_options(store), *NO_NIGHTS)
    assert code == 0
    assert "1 session for the next night" in out
    assert "the notes" not in out
    assert "the notes" not in log_path(Repository.open(repo_dir)).read_text()


def test_a_night_is_run_with_the_options_that_were_given(repo_dir: Path, store: Path, skillgit: Run) -> None:
    say(store / "a.jsonl", 1, repo_dir)
    given = ("--set", "sleep.min_sessions=1", "--set", "sleep.hour=-1", "--tasks-file", "missing.jsonl")
    code, out, err = skillgit(repo_dir, "sleep", "watch", "--once", "--json", *_options(store), *given)
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["event"] for event in events if event["event"].startswith("night")] == ["night_begun", "night_over"]
    assert "missing.jsonl" in events[-2]["why"]
    assert code == 1
    assert "could not be finished" in err


def test_a_wrong_option_is_told_at_the_start(repo_dir: Path, store: Path, skillgit: Run) -> None:
    code, _, err = skillgit(repo_dir, "sleep", "watch", "--once", "--source", "neutrla")
    assert code == 2
    assert "neutral" in err


def test_nights_that_cannot_run_are_told_at_the_start(repo_dir: Path, store: Path, skillgit: Run) -> None:
    said = "nights cannot run yet: no target model is configured"
    assert said in skillgit(repo_dir, "sleep", "watch", "--once", *_options(store))[2]
    assert said not in skillgit(repo_dir, "sleep", "watch", "--once", *_options(store), *NO_NIGHTS)[2]
