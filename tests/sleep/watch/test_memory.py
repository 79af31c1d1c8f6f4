"""What the watcher keeps between runs: its state, its lock, its log."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from skillgit.config.load import load_config
from skillgit.errors import CheckFailedError
from skillgit.events import Event
from skillgit.git.repository import Repository
from skillgit.sleep.watch import log as logs
from skillgit.sleep.watch.events import WatchEnded, WatchTrouble
from skillgit.sleep.watch.lock import holder, sole
from skillgit.sleep.watch.log import log, log_path, log_sink
from skillgit.sleep.watch.state import State, change_state, config_digest, read_state


@pytest.fixture
def repo(repo_dir: Path) -> Repository:
    return Repository.open(repo_dir)


def test_changes_of_the_state_keep_the_rest_of_it(repo: Repository) -> None:
    assert read_state(repo) == State()
    change_state(repo, day="2026-01-02", harvest=7)
    change_state(repo, failures=2)
    assert read_state(repo) == State(day="2026-01-02", harvest=7, failures=2)
    assert (repo.state_dir / "sleep-watch.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"day": 5, "failures": "x", "unknown": 1}', "\ud800"])
def test_a_damaged_state_is_a_fresh_one(repo: Repository, text: str) -> None:
    (repo.state_dir / "sleep-watch.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert read_state(repo) == State()
    assert change_state(repo, failures=1) == State(failures=1)


def test_a_changed_configuration_has_another_digest(repo_dir: Path) -> None:
    def digest(*overrides: str) -> str:
        return config_digest(load_config(repo_dir, "", overrides, lambda line: None, repo_dir))

    assert digest() == digest()
    assert digest() != digest("model.target=another")


HOLD = """
import sys, time
from pathlib import Path
from skillgit.git.repository import Repository
from skillgit.sleep.watch.lock import sole
with sole(Repository.open(Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_watcher_is_refused_and_told_who_holds_the_first(repo: Repository, repo_dir: Path) -> None:
    assert holder(repo) == ""
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(repo_dir)], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    with other, other.stdout:
        assert other.stdout.readline() == "held\n"
        assert holder(repo).startswith(f"process {other.pid} on ")
        with pytest.raises(CheckFailedError) as caught, sole(repo):
            raise AssertionError("both hold the lock")
        assert str(other.pid) in caught.value.why
        other.kill()
    # A killed watcher holds nothing, whatever its side file says.
    assert holder(repo) == ""
    with sole(repo):
        pass


def test_the_log_is_bounded_and_for_its_owner_alone(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_BYTES", 2000)
    for number in range(200):
        log(repo, {"event": "looked", "number": number})
    files = sorted(repo.state_dir.glob("sleep.log*"))
    assert len(files) == 4
    assert all(file.stat().st_size <= 2000 for file in files)
    assert files[0].stat().st_mode & 0o777 == 0o600
    assert json.loads(log_path(repo).read_text().splitlines()[-1])["number"] == 199


def test_several_writers_lose_no_line_of_the_log(repo: Repository) -> None:
    def write(name: int) -> None:
        for number in range(20):
            log(repo, {"event": "looked", "name": name, "number": number})

    threads = [threading.Thread(target=write, args=(name,)) for name in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = [json.loads(line) for line in log_path(repo).read_text().splitlines()]
    assert sorted((row["name"], row["number"]) for row in rows) == [(a, b) for a in range(3) for b in range(20)]


def test_no_credential_control_character_or_endless_text_gets_into_the_log(repo: Repository) -> None:
    token = "ghp_" + "x8Kq2Lm9Zr4Tb7Wn1Yc6Vd3Hf5Gj0Ps8Ua2Qq"
    log(repo, {"event": "night_over", "why": f"refused {token}", "more": {"text": "y" * 9999}, "odd": "a\nb\x1b\ud800"})
    text = log_path(repo).read_bytes()
    assert token.encode() not in text
    assert len(text) < 3000
    assert text.count(b"\n") == 1
    assert b"\x1b" not in text


def test_a_log_that_cannot_be_written_is_told_and_ends_nothing(repo: Repository) -> None:
    log_path(repo).mkdir()
    told: list[Event] = []
    log_sink(repo, told.append)(WatchEnded("it was told to"))
    assert isinstance(told[0], WatchEnded)
    assert isinstance(told[1], WatchTrouble)
    assert "cannot be written" in told[1].what
