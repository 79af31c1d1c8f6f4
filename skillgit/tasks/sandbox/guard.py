"""What Python itself refuses to the code that it runs: the same on every system, but no wall against a clever enemy."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {
    **dict.fromkeys(("os.chmod", "os.chown", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.utime"), 1),
    **dict.fromkeys(("os.rename", "os.link", "os.symlink"), 2),
}
"""Event to how many paths it names first."""

_PROCESSES = frozenset(
    ("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "subprocess.Popen")
)
_SIGNALS = frozenset(("os.kill", "os.killpg"))
_NETWORK = frozenset(("socket.__new__", "socket.connect", "socket.getaddrinfo", "socket.sendto"))


def watch(folder: str) -> None:
    """From now on raise `PermissionError` for changes outside `folder`, and for processes, signals and sockets."""
    sys.addaudithook(_hook(os.path.realpath(folder)))


def _hook(home: str) -> Callable[[str, tuple[Any, ...]], None]:
    def inside(path: Any) -> bool:
        if isinstance(path, int):
            return True
        real = os.path.realpath(os.fsdecode(path))
        return real == os.devnull or os.path.commonpath((home, real)) == home

    def hook(event: str, values: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = values
            if (flags & _WRITING or set(mode or "") & set("wax+")) and not inside(path):
                raise PermissionError(f"refused to write outside the working folder: {path}")
        elif event in _CHANGES:
            for path in values[: _CHANGES[event]]:
                if not inside(path):
                    raise PermissionError(f"refused to change what is outside the working folder: {path}")
        elif event in _PROCESSES:
            raise PermissionError("refused to start another program")
        elif event in _SIGNALS:
            raise PermissionError("refused to send a signal")
        elif event in _NETWORK:
            raise PermissionError("refused to use the network")

    return hook
