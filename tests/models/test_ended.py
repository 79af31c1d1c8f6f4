"""Ctrl-C and its like while a command-line agent works: nothing that was started lives on, and no folder stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.train.processes import SETTINGS, make_repository

from .program import Program


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def within(seconds: float, true: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_ends_the_agents_too_and_leaves_no_folder(number: signal.Signals, tmp_path: Path) -> None:
    program = Program(tmp_path / "bin", "claude")
    program.plan(sleep=60, fork=True)
    room = tmp_path / "tmp"
    room.mkdir()
    settings = {**SETTINGS, "model.backend": "openai_compatible", "model.target_backend": "claude_chat"}
    args = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    env = {**os.environ, "TMPDIR": str(room), "PATH": f"{program.folder}:{os.environ['PATH']}", "OPENAI_API_KEY": "k"}
    repo = make_repository(tmp_path / "repo")
    command = [sys.executable, "-m", "skillgit", "-C", str(repo), "train", "greeter", *args]
    ours = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        assert within(30, (program.folder / "child").exists)
        child = int((program.folder / "child").read_text())
        assert any(room.glob("skillgit-*"))
        ours.send_signal(number)
        time.sleep(0.5)
        assert alive(child)
        ours.send_signal(number)
        assert ours.wait(10) == 130
        assert within(5, lambda: not alive(child))
        assert list(room.glob("skillgit-*")) == []
    finally:
        ours.kill()
        ours.wait()
        if ours.stderr:
            ours.stderr.close()
