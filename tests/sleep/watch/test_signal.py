"""`skillgit sleep signal`, as an agent calls it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skillgit.git.repository import Repository
from skillgit.sleep.watch.signals import signal_file, touched
from tests.conftest import git


def _signal(folder: Path, stdin: bytes = b"", cwd: Path | None = None) -> int:
    words = [sys.executable, "-m", "skillgit", *(["-C", str(folder)] if cwd is None else []), "sleep", "signal"]
    done = subprocess.run(words, input=stdin, capture_output=True, check=False, cwd=cwd)
    assert (done.stdout, done.stderr) == (b"", b"")
    return done.returncode


@pytest.fixture
def common(repo_dir: Path) -> Path:
    """The common git folder of a repository that had a watcher once."""
    common = Repository.open(repo_dir).common_dir
    signal_file(common).parent.mkdir(parents=True)
    return common


def test_it_works_from_any_folder_and_worktree(repo_dir: Path, common: Path, tmp_path: Path) -> None:
    git(repo_dir, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    deep = tmp_path / "linked" / "skills" / "greeter"
    seen = {touched(common)}
    for folder in (repo_dir, repo_dir / "skills", deep):
        assert _signal(folder) == 0
        seen.add(touched(common))
    assert _signal(tmp_path, cwd=deep) == 0
    seen.add(touched(common))
    assert len(seen) == 5


def test_outside_of_the_repository_the_folder_comes_from_the_agent(
    repo_dir: Path, common: Path, tmp_path: Path
) -> None:
    told = json.dumps({"session_id": "x", "cwd": str(repo_dir / "skills"), "hook_event_name": "SessionEnd"}).encode()
    assert _signal(tmp_path, told) == 0
    assert touched(common)


@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"{",
        b"[]",
        b'{"cwd": 5}',
        b'{"cwd": "../x"}',
        b'{"cwd": "/no/such"}',
        b"[" * 60_000,
        b"\xff\x00",
        b"x" * 10**6,
    ],
)
def test_nothing_that_an_agent_says_makes_it_fail(tmp_path: Path, stdin: bytes) -> None:
    assert _signal(tmp_path, stdin) == 0


def test_a_repository_that_never_had_a_watcher_is_left_as_it_is(repo_dir: Path) -> None:
    assert _signal(repo_dir) == 0
    assert not (repo_dir / ".git" / "skillgit").exists()


def test_an_agent_that_never_closes_the_pipe_is_not_waited_for(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "skillgit", "-C", str(tmp_path), "sleep", "signal"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        assert process.wait(20) == 0


def test_it_imports_nothing_heavy(repo_dir: Path, common: Path) -> None:
    code = (
        "import sys; from skillgit.cli.main import run; "
        f"code = run(['-C', {str(repo_dir)!r}, 'sleep', 'signal']); "
        "print(code, sorted({'git', 'yaml', 'rich', 'watchdog', 'openai', 'sqlite3'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    assert done.stdout == "0 []\n"


def test_it_is_quick(repo_dir: Path, common: Path) -> None:
    _signal(repo_dir)
    spent = []
    for _ in range(5):
        begun = time.monotonic()
        _signal(repo_dir)
        spent.append(time.monotonic() - begun)
    # 0.06 s on an idle machine; the limit leaves room for a busy one.
    assert min(spent) < 0.5
