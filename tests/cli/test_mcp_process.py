"""`skillgit mcp` as a process among processes: what it loads and runs, and that nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.types import CallToolResult

from skillgit.cli.mcp_server.child import Commands
from tests.cli.mcp_client import COMMAND, agent, over_stdio, told

Run = Callable[..., tuple[int, str, str]]


def test_no_program_of_the_repository_is_run(repo_dir: Path) -> None:
    for name in ("json.py", "click.py", "skillgit/__init__.py", "skillgit/__main__.py"):
        (repo_dir / name).parent.mkdir(exist_ok=True)
        (repo_dir / name).write_text(f"import pathlib\npathlib.Path({str(repo_dir / 'pwned')!r}).touch()\n")
    (result,) = over_stdio(repo_dir, ("skill_lint", {}))
    assert told(result)["status"] == "done"
    assert not (repo_dir / "pwned").exists()


@pytest.fixture
def stuck(repo_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file; while it is there, git hangs for as long as its caller lives, and writes the caller into the file."""
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    mark, shim = tmp_path / "stuck", tmp_path / "bin/git"
    shim.parent.mkdir()
    hang = f'echo $PPID >"{mark}"; for n in $(seq 300); do kill -0 $PPID || exit; sleep 0.1; done 2>/dev/null'
    shim.write_text(f'#!/bin/sh\n[ -e "{mark}" ] || exec {real} "$@"\n{hang}\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}:{os.environ['PATH']}")
    return mark


def gone(mark: Path) -> bool:
    """Whether the command that waits for git ends within a few seconds."""
    process = Path("/proc") / mark.read_text().strip()
    end = time.monotonic() + 8
    while process.exists() and time.monotonic() < end:
        time.sleep(0.02)
    return not process.exists()


async def started(mark: Path) -> None:
    """Wait until git hangs."""
    with anyio.fail_after(15):
        while not mark.read_text().strip():
            await anyio.sleep(0.02)


def test_a_call_that_is_cancelled_ends_its_command_and_the_server_serves_on(repo_dir: Path, stuck: Path) -> None:
    async def talk() -> CallToolResult:
        async with agent(repo_dir) as client:
            stuck.touch()
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "skill_log", {"skill": "greeter"})
                await started(stuck)
                group.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(gone, stuck)
            stuck.unlink()
            return await client.call_tool("skill_log", {"skill": "greeter"})

    assert told(anyio.run(talk))["status"] == "done"


def test_a_command_that_takes_too_long_is_stopped(repo_dir: Path, stuck: Path) -> None:
    stuck.touch()

    async def nothing(seconds: float, lines: int) -> None: ...

    async def run() -> tuple[int, bool]:
        done = await Commands(repo_dir, repo_dir, "").run(["log", "greeter"], seconds=1.0, beat=nothing)
        return done.code, done.late

    assert anyio.run(run) == (130, True)
    assert gone(stuck)


@pytest.mark.parametrize("how", ["stopped", "left alone"])
def test_a_server_ends_with_its_commands_when_it_is(how: str, repo_dir: Path, stuck: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "mcp"], cwd=repo_dir, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        send(server, {"id": 1, "method": "initialize", "params": hello})
        assert json.loads(server.stdout.readline())["result"]["serverInfo"]["name"] == "skillgit"
        send(server, {"method": "notifications/initialized"})
        stuck.touch()
        call = {"name": "skill_log", "arguments": {"skill": "greeter"}}
        send(server, {"id": 2, "method": "tools/call", "params": call})
        anyio.run(started, stuck)
        if how == "stopped":
            # Its input stays open: a server that waits for that would not end.
            server.send_signal(signal.SIGTERM)
        else:
            server.stdin.close()
        assert server.wait(10) == (130 if how == "stopped" else 0)
        assert gone(stuck)


def send(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    """Write one message of the protocol."""
    assert server.stdin is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def test_without_the_package_the_error_says_how_to_get_it(repo_dir: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None; from skillgit.cli.main import run; sys.exit(run(['mcp']))"
    done = subprocess.run([sys.executable, "-c", code], cwd=repo_dir, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'skillgit[mcp]'" in done.stderr


def test_other_commands_and_help_do_not_load_the_package(repo_dir: Path) -> None:
    code = (
        "import sys; from skillgit.cli.main import run; run(sys.argv[1:]); print('mcp' in sys.modules, file=sys.stderr)"
    )
    for words in (["mcp", "--help"], ["log", "greeter"]):
        command = [sys.executable, "-c", code, *words]
        done = subprocess.run(command, cwd=repo_dir, capture_output=True, text=True, check=True)
        assert done.stderr.splitlines()[-1] == "False"


def test_outside_a_repository_there_is_nothing_to_serve(tmp_path: Path, skillgit: Run) -> None:
    assert skillgit(tmp_path, "mcp")[0] == 4
