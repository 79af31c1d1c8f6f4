"""One process that plays games, a few of them in turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from skillgit.models.clients.process import clean_environment

_PROGRAM = Path(__file__).with_name("worker.py")
_OWN = ("PYTHON", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_")


class GoneError(Exception):
    """The process ended instead of answering. `late` says that it was ended, for it took too long."""

    def __init__(self, *, late: bool) -> None:
        super().__init__("took too long" if late else "ended")
        self.late = late


class GameProcess:
    """A started process. `ask` can be called from many threads; the games in it wait for each other.

    Game files hold expressions that the engine runs, so the process is given no variable that could be a secret.

    Args:
        data: ALFWorld's data folder.
    """

    def __init__(self, data: Path) -> None:
        environ = clean_environment(os.environ, _OWN)
        # The engine keeps what it says of a room in sets: without a fixed seed its words would differ by process.
        environ |= {"PYTHONHASHSEED": "0", "ALFWORLD_DATA": str(data)}
        self._popen = subprocess.Popen(  # noqa: S603 - an argument list, no shell
            [sys.executable, "-P", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
            start_new_session=True,
        )
        assert self._popen.stdin
        assert self._popen.stdout
        self._in, self._out = self._popen.stdin, self._popen.stdout
        self._lock = threading.Lock()
        self.games = 0

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._popen.poll() is None

    def ask(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        """One answer. Raises `GoneError`, after which the process is of no use."""
        late = threading.Event()
        with self._lock:
            timer = threading.Timer(seconds, self._stop, [late])
            timer.start()
            try:
                line = self._exchange(json.dumps(question).encode() + b"\n")
            finally:
                timer.cancel()
        if not line.endswith(b"\n"):
            self.end()
            raise GoneError(late=late.is_set())
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _exchange(self, line: bytes) -> bytes:
        try:
            self._in.write(line)
            self._in.flush()
            return self._out.readline()
        except (OSError, ValueError):  # it is gone, and its pipes may be closed already
            return b""

    def _stop(self, late: threading.Event) -> None:
        late.set()
        self._popen.kill()

    def end(self) -> None:
        """End it now; nothing in it is worth keeping. Idempotent."""
        self._popen.kill()
        with self._lock:  # whoever waits for an answer sees the end of it first
            for pipe in (self._in, self._out):
                with suppress(OSError):  # of what could not be written any more
                    pipe.close()
            self._popen.wait()
