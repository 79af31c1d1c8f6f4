"""Running skillgit itself: a child process, bounded in time and output, ended when nobody waits for it any more."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream, Process

_AT_ONCE = 4
_BEAT = 2.0  # seconds from one sign of life to the next
_GRACE = 10.0  # seconds in which a stopped command may put its work in order
_MOST_OUTPUT = 8 * 2**20  # bytes kept of a stream

Beat = Callable[[float, int], Awaitable[None]]
"""Is told the seconds gone by, and the lines printed so far."""


@dataclass(frozen=True)
class Finished:
    """A command that ended.

    Attributes:
        code: its exit code; negative when a signal ended it.
        cut: its output was longer than what was kept.
        late: it did not end in time and was stopped.
    """

    code: int
    out: bytes
    err: bytes
    cut: bool = False
    late: bool = False


@dataclass
class _Stream:
    kept: bytearray = field(default_factory=bytearray)
    cut: bool = False

    async def read(self, stream: ByteReceiveStream) -> None:
        async for chunk in stream:
            room = _MOST_OUTPUT - len(self.kept)
            self.kept += chunk[:room]
            self.cut |= len(chunk) > room


class Commands:
    """Runs skillgit commands in one folder, a few at once.

    Args:
        folder: resolved; commands work there, and nowhere else, for as long as this lives.
        top: resolved top of its repository.
        settings: digest of its configuration when the server was started; blank when there was none that works.
    """

    def __init__(self, folder: Path, top: Path, settings: str) -> None:
        self.folder, self.top, self.settings = folder, top, settings
        self._limit = anyio.CapacityLimiter(_AT_ONCE)

    async def run(self, argv: Sequence[str], *, seconds: float, beat: Beat) -> Finished:
        """Run one command to its end, or stop it after `seconds`. Cancelling stops it too."""
        async with self._limit:
            out, err = _Stream(), _Stream()
            # Without -P, a folder of the repository called like a module of Python's would be run.
            command = [sys.executable, "-P", "-m", "skillgit", "-C", str(self.folder), *argv]
            process = await anyio.open_process(command, stdin=subprocess.DEVNULL)
            try:
                with anyio.move_on_after(seconds) as scope:
                    await _follow(process, out, err, beat)
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process)
            assert process.returncode is not None
            return Finished(process.returncode, bytes(out.kept), bytes(err.kept), out.cut, scope.cancelled_caught)


async def _follow(process: Process, out: _Stream, err: _Stream, beat: Beat) -> None:
    """Read what a command writes until it ends."""
    assert process.stdout is not None
    assert process.stderr is not None
    async with anyio.create_task_group() as beating:
        beating.start_soon(_beat, out, beat)
        async with anyio.create_task_group() as reading:
            reading.start_soon(out.read, process.stdout)
            reading.start_soon(err.read, process.stderr)
            await process.wait()
        beating.cancel_scope.cancel()


async def _beat(out: _Stream, beat: Beat) -> None:
    start = anyio.current_time()
    while True:
        await beat(anyio.current_time() - start, out.kept.count(b"\n"))
        await anyio.sleep(_BEAT)


async def _end(process: Process) -> None:
    """Stop a command that still runs: first in order, so that finished calls are kept, then at once."""
    if process.returncode is None:
        process.terminate()
        with anyio.move_on_after(_GRACE):
            await process.wait()
    if process.returncode is None:
        process.kill()
    await process.aclose()
