"""Nights that nobody looks at, and the commands that start them."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.config.load import load_config
from skillgit.events import ignore
from skillgit.git.repository import Repository
from skillgit.models.budget import Budget, Limits
from skillgit.sleep.harvest.collect import archive_of
from skillgit.sleep.night.find import find
from skillgit.sleep.watch.log import log_path
from skillgit.sleep.watch.nights import _log_line, kept, start, waiting
from skillgit.sleep.watch.state import State, change_state, read_state
from tests.sleep.watch.stores import say

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    return folder


def _options(store: Path) -> tuple[str, ...]:
    return ("--source", "neutral", "--neutral-sessions", str(store), "--lookback-hours", "0")


def _log(repo_dir: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log_path(Repository.open(repo_dir)).read_text().splitlines()]


def _state(repo_dir: Path) -> State:
    return read_state(Repository.open(repo_dir))


def test_a_night_with_nothing_to_learn_is_logged_and_remembered(repo_dir: Path, store: Path, skillgit: Run) -> None:
    change_state(Repository.open(repo_dir), failures=3)
    code, out, err = skillgit(repo_dir, "sleep", "nightly", *_options(store), "--backend", "scripted")
    assert (code, err) == (0, "")
    assert json.loads(out)["event"] == "night_over"
    state = _state(repo_dir)
    assert (state.code, state.failures, state.harvest) == (0, 0, 1)
    assert state.at > 0
    assert [row["event"] for row in _log(repo_dir)] == ["harvested", "nothing_new", "night_over"]


def test_what_was_read_while_a_night_ran_still_waits_for_one(repo_dir: Path, store: Path) -> None:
    repo, budget = Repository.open(repo_dir), Budget(Limits())
    config = load_config(repo_dir, "", ["model.backend=scripted", "sleep.source=neutral", "sleep.lookback_hours=0"])
    config = dataclasses.replace(config, sleep=dataclasses.replace(config.sleep, neutral_sessions=str(store)))
    say(store / "a.jsonl", 1, repo_dir)
    with kept(repo, ignore):
        find(repo, config, ignore, budget, {})
        say(store / "b.jsonl", 1, repo_dir)
        assert waiting(repo, config, ignore) == 2
    assert waiting(repo, config, ignore) == 1
    with kept(repo, ignore):
        find(repo, config, ignore, budget, {})
    assert waiting(repo, config, ignore) == 0
    archive_of(repo).unlink()
    assert [waiting(repo, config, ignore) for _ in range(9)] == [2] * 9


def test_a_night_that_cannot_work_is_told_as_such(repo_dir: Path, store: Path, skillgit: Run) -> None:
    say(store / "a.jsonl", 1, repo_dir)
    code, out, err = skillgit(repo_dir, "sleep", "nightly", *_options(store), "--set", "sleep.nonsense=1")
    assert code == 2
    assert "sleep.nonsense" in err
    told = json.loads(out)
    assert (told["code"], told["hopeless"]) == (2, True)
    assert "sleep.nonsense" in told["why"]
    assert (_state(repo_dir).code, _state(repo_dir).failures) == (2, 1)


def test_an_option_that_does_not_exist_is_told(repo_dir: Path, skillgit: Run) -> None:
    code, _, err = skillgit(repo_dir, "sleep", "nightly", "--no-such-option")
    assert code == 2
    assert "no-such-option" in err
    assert _log(repo_dir)[-1]["hopeless"] is True


def test_what_a_lesson_says_is_not_logged(repo_dir: Path) -> None:
    repo = Repository.open(repo_dir)
    lesson = {
        "event": "lesson_tried",
        "skill": "x",
        "number": 1,
        "of": 1,
        "rule": "- secret rule",
        "why": "they said so",
    }
    for line in (
        json.dumps({**lesson, "verdict": "verified"}),
        "no json",
        "[1]",
        '{"event": "unknown", "rule": "z"}',
        "",
    ):
        _log_line(repo, line, ignore)
    (row,) = _log(repo_dir)
    assert row["verdict"] == "verified"
    assert "rule" not in json.dumps(row)
    assert "they said" not in json.dumps(row)


def test_the_watcher_starts_nights_in_a_process_of_their_own(repo_dir: Path, store: Path) -> None:
    over = start(Repository.open(repo_dir), repo_dir, [*_options(store), "--set", "sleep.nonsense=1"])
    assert (over.code, over.hopeless) == (2, True)
    assert [row["event"] for row in _log(repo_dir)] == ["night_over"]
    assert start(Repository.open(repo_dir), repo_dir, [*_options(store), "--backend=scripted"]).code == 0
    assert _state(repo_dir).failures == 0


def _instead(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))


def test_a_night_that_was_killed_counts_as_failed(
    repo_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _instead(monkeypatch, tmp_path, "kill -9 $$")
    over = start(Repository.open(repo_dir), repo_dir, [])
    assert (over.code, over.why, over.hopeless) == (-9, "it was ended by signal 9", False)
    assert _state(repo_dir).failures == 1
    assert _log(repo_dir)[-1]["why"] == over.why


def test_a_night_that_says_nothing_is_no_success(
    repo_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _instead(monkeypatch, tmp_path, "echo broken >&2")
    over = start(Repository.open(repo_dir), repo_dir, [])
    assert (over.code, over.why) == (3, "broken")


def test_an_interrupt_ends_the_night_in_order(repo_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready, ended = tmp_path / "ready", tmp_path / "ended"
    _instead(monkeypatch, tmp_path, f"trap 'touch {ended}; exit 130' TERM; touch {ready}; while :; do sleep 0.05; done")

    def interrupt() -> None:
        while not ready.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        start(Repository.open(repo_dir), repo_dir, [])
    assert ended.exists()
