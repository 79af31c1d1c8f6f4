"""What `skillgit doctor` says of sleep: whose sessions are found, how long they are kept, and what runs nights."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from skillgit.git.repository import Repository
from skillgit.sleep.watch.lock import sole
from skillgit.sleep.watch.state import change_state
from tests.git.helpers import Skillgit, user_state
from tests.sleep.harvest.common import TURNS
from tests.sleep.stores import claude

CONFIG = "model: {backend: scripted, script: script.json}\n"


@pytest.fixture
def home() -> Path:
    """Claude Code's folder."""
    return Path.home() / ".claude"


@pytest.fixture
def ready(repo_dir: Path, home: Path, skillgit: Skillgit) -> Path:
    """A repository in which all is in order, with sessions of Claude Code."""
    (repo_dir / "skillgit.yaml").write_text(CONFIG)
    skillgit(repo_dir, "init")
    claude.write_session(home, "s1", TURNS, cwd=str(repo_dir))
    return repo_dir


def checks(skillgit: Skillgit, folder: Path) -> tuple[int, dict[str, dict]]:
    code, out, _ = skillgit(folder, "doctor", "--json")
    return code, {check["name"]: check for check in json.loads(out)["checks"]}


def test_it_tells_stores_and_how_long_transcripts_are_kept(ready: Path, home: Path, skillgit: Skillgit) -> None:
    before = user_state(ready)
    code, found = checks(skillgit, ready)
    assert code == 0
    assert found["sessions claude"]["detail"] == str(home / "projects")
    said = found["transcripts"]
    assert said["ok"] is None
    assert "deletes them after 30 days" in said["detail"]
    assert str(home / "settings.json") in said["detail"]
    assert "none was made yet" in said["detail"]
    assert "for 180 days (sleep.keep_days)" in said["detail"]
    assert said["fix"].startswith("skillgit sleep ")
    assert user_state(ready) == before


def test_it_goes_by_what_is_set(ready: Path, home: Path, skillgit: Skillgit) -> None:
    (home / "settings.json").write_text('{"cleanupPeriodDays": 90}')
    (ready / "skillgit.yaml").write_text(CONFIG + "sleep: {keep_days: 7}\n")
    skillgit(ready, "sleep", "harvest")
    said = checks(skillgit, ready)[1]["transcripts"]["detail"]
    assert f"after 90 days without use (cleanupPeriodDays, set in {home / 'settings.json'})" in said
    assert "what a harvest has read is kept here, redacted, for 7 days" in said


@pytest.mark.parametrize("text", ["{", '["x"]', '{"cleanupPeriodDays": true}', "\xff"])
def test_odd_settings_of_an_agent_are_no_failure(ready: Path, home: Path, skillgit: Skillgit, text: str) -> None:
    (home / "settings.json").write_bytes(text.encode("latin-1"))
    code, found = checks(skillgit, ready)
    assert code == 0
    known = "30 days" in found["transcripts"]["detail"]
    assert known != ("cannot be read" in found["transcripts"]["detail"])


def test_it_names_the_agents_looked_for_when_there_are_none(repo_dir: Path, skillgit: Skillgit) -> None:
    (repo_dir / "skillgit.yaml").write_text("slep: {}\n")
    found = checks(skillgit, repo_dir)[1]
    assert (found["configuration"]["ok"], "nights" in found, "sleep" in found) == (False, False, False)
    (repo_dir / "skillgit.yaml").write_text(CONFIG)
    found = checks(skillgit, repo_dir)[1]
    assert "claude, codex" in found["sessions"]["detail"]
    assert "transcripts" not in found


def test_it_tells_whether_nights_run_by_themselves(ready: Path, skillgit: Skillgit) -> None:
    assert checks(skillgit, ready)[1]["nights"]["ok"] is None
    with sole(Repository.open(ready)):
        found = checks(skillgit, ready)[1]
    assert found["nights"]["ok"] is True
    assert "watched by process" in found["nights"]["detail"]
    assert found["transcripts"]["ok"] is True


def test_nights_that_keep_failing_are_a_failure(ready: Path, skillgit: Skillgit) -> None:
    change_state(Repository.open(ready), at=time.time(), code=5, why="the key was refused\n  why:  401")
    assert "last night" not in checks(skillgit, ready)[1]  # nothing runs them any more
    with sole(Repository.open(ready)):
        code, found = checks(skillgit, ready)
        assert (code, found["last night"]["ok"]) == (1, False)
        assert found["last night"]["detail"] == "ended with exit code 5: the key was refused why: 401"
        change_state(Repository.open(ready), code=6)
        assert checks(skillgit, ready)[0] == 0
