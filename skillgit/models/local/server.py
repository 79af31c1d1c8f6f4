"""llama.cpp's server inside this process, on the loopback interface; one per model file, shared by roles.

It has one slot and takes one request at a time: answers at temperature 0 repeat exactly only then.
"""

from __future__ import annotations

import atexit
import math
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgit.errors import ModelConfigError, TransientModelError

_SECONDS_TO_LOAD = 300.0


@dataclass(frozen=True)
class Setup:
    """What makes two servers the same.

    Attributes:
        context: tokens of context.
        threads: processor threads.
    """

    path: Path
    context: int
    threads: int


class Server:
    """A running server. Made by `share`, given back by `release`."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.users = 0
        self._turn = threading.Lock()
        self._native: Any = _start(setup)
        self.url = f"{self._native.listening_address}/v1"
        _wait_until_loaded(self._native.listening_address, setup)

    @contextmanager
    def turn(self, seconds: float) -> Iterator[None]:
        """The right to send a request, after waiting for at most `seconds`.

        Raises:
            TransientModelError: others kept the server busy for longer.
        """
        if not self._turn.acquire(timeout=-1 if math.isinf(seconds) else seconds):
            raise TransientModelError(
                "the local model was busy with other requests",
                why=f"waited {seconds:.1f} s",
                fix="run fewer workers or raise the time limit: a local model answers one request at a time",
            )
        try:
            yield
        finally:
            self._turn.release()

    def stop(self) -> None:
        """Unload the model. The library stops its server when the last reference goes."""
        self._native = None


_servers: dict[Setup, Server] = {}
_lock = threading.Lock()


def share(path: Path, context: int, threads: int) -> Server:
    """A server for this file and setup, started if there is none yet; each call needs its own `release`.

    Args:
        threads: 0 takes all cores but one.

    Raises:
        ModelConfigError: llama.cpp is not installed, or refuses the file.
    """
    setup = Setup(path.resolve(), context, threads or _spare_cores())
    with _lock:
        server = _servers.get(setup) or Server(setup)
        _servers[setup] = server
        server.users += 1
        return server


def _spare_cores() -> int:
    """All cores this process may use, but one.

    llama.cpp's threads wait for each other in busy loops, so one thread that has to share its core holds up all of
    them. Measured with two threads on two cores beside one other busy process: answers took 5 to 50 times longer.
    A core left free costs at most two fifths of the speed on an idle machine with two cores, less with more.
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, allowed - 1)


def release(server: Server) -> None:
    """Give a shared server back; the last user stops it."""
    with _lock:
        server.users -= 1
        if server.users <= 0 and _servers.pop(server.setup, None) is not None:
            server.stop()


@atexit.register
def _stop_all() -> None:
    # Native threads must end before the interpreter does.
    with _lock:
        for server in _servers.values():
            server.stop()
        _servers.clear()


def _start(setup: Setup) -> Any:
    try:
        import xllamacpp
    except ImportError as err:
        raise ModelConfigError(
            "the local backend needs llama.cpp, which is not installed",
            why=str(err),
            fix="pip install 'skillgit[local]'",
        ) from err
    try:
        return xllamacpp.Server(_parameters(xllamacpp.CommonParams(), setup))
    except RuntimeError as err:
        raise ModelConfigError(
            "llama.cpp cannot load the model",
            where=str(setup.path),
            why=str(err),
            fix="check that the file is a complete GGUF model and that it fits in memory; lower model.local.context",
        ) from err


def _parameters(params: Any, setup: Setup) -> Any:
    params.model.path = str(setup.path)
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # the system picks a free one
    params.offline = True
    params.ui = False
    params.verbosity = 0  # it writes to the terminal's stderr otherwise
    params.n_ctx = setup.context
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = setup.threads
    return params


def _wait_until_loaded(address: str, setup: Setup) -> None:
    end = time.monotonic() + _SECONDS_TO_LOAD
    while not _healthy(address):
        if time.monotonic() > end:
            raise ModelConfigError(
                f"llama.cpp did not load the model within {_SECONDS_TO_LOAD:.0f} s", where=str(setup.path)
            )
        time.sleep(0.1)


def _healthy(address: str) -> bool:
    # No proxy: the address is this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{address}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError as err:
        err.close()
        return False
    except OSError:
        return False
