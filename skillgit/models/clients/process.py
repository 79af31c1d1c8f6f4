"""Running somebody else's program: bounded in time and output, with an environment of its own, and gone afterwards."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

MOST_OUTPUT = 32 * 2**20
"""Bytes that are read of a program's output; no answer is as long."""

_PASSED = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP"),
        *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"),
        *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
    )
)
"""Variables that programs need to start, to find their login and to reach the network; none of them is a secret."""

_DEEP = 10
"""Levels; paths of so many fit what systems take, whatever their names."""

_LOOK = 0.25
"""Seconds between two questions whether a program took enough."""

_CLOUDS = {"AWS_": "CLAUDE_CODE_USE_BEDROCK", "GOOGLE_": "CLAUDE_CODE_USE_VERTEX"}
"""Prefix of a cloud's logins, which open much more than a model, to the variable that says that they are needed."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


@dataclass(frozen=True)
class Finished:
    """A program that ended: its exit code, and its output without terminal escapes."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """What it said of its own trouble, on one line; its events are not that: they can hold any file's words."""
        plain = (line for line in self.out.splitlines() if not line.lstrip().startswith(("{", "[")))
        return " ".join((self.err.strip() or "\n".join(plain)).split())


_running: set[subprocess.Popen[bytes]] = set()
_folders: set[Path] = set()


@contextmanager
def scratch() -> Iterator[Path]:
    """An empty folder for one run of a program, gone afterwards."""
    holder = tempfile.TemporaryDirectory(prefix="skillgit-", ignore_cleanup_errors=True)
    folder = Path(holder.name)
    _folders.add(folder)
    try:
        yield folder
    finally:
        _folders.discard(folder)
        try:
            holder.cleanup()
        except RecursionError:
            take_away(folder)


def take_away(folder: Path) -> None:
    """Remove a folder with all that is in it, however deep, as far as that can be done."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:  # it goes one call deeper for each level
        _make_shallow(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _make_shallow(top: Path) -> None:
    """Move folders that are deep below `top` up to it."""
    waiting = [(str(top), 0)]
    while waiting:
        place, depth = waiting.pop()
        with suppress(OSError), os.scandir(place) as entries:
            for folder in [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]:
                if depth < _DEEP:
                    waiting.append((folder, depth + 1))
                else:
                    waiting.append((str(top / uuid4().hex), 1))
                    Path(folder).rename(waiting[-1][0])


def end_all() -> None:
    """End every program that runs, and take its folder away: for a process that stops without waiting for threads."""
    for process in list(_running):
        _kill(process)
    for folder in list(_folders):
        shutil.rmtree(folder, ignore_errors=True)


class EnoughError(Exception):
    """A program was ended, for it had taken enough."""


def run_program(
    argv: Sequence[str],
    *,
    folder: Path,
    stdin: str,
    environ: Mapping[str, str],
    seconds: float,
    enough: Callable[[int], bool] | None = None,
) -> Finished:
    """Run a program to its end.

    Output goes to files: a child that it leaves behind cannot keep us waiting at a pipe, and is ended with it.

    Args:
        enough: asked with the number of the process, a few times a second, whether to end it.

    Raises:
        EnoughError: `enough` said so.
        FileNotFoundError: there is no such program.
        TimeoutError: it was still running after `seconds`, and was ended with all its children.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode("utf-8", "replace"))
        given.seek(0)
        process = subprocess.Popen(  # noqa: S603 - an argument list, no shell
            list(argv), cwd=folder, stdin=given, stdout=out, stderr=err, env=dict(environ), start_new_session=True
        )
        _running.add(process)
        try:
            code = _end_of(process, seconds, enough)
        finally:
            _kill(process)
            process.wait()
            _running.discard(process)
        return Finished(code, _text(out), _text(err))


def _end_of(process: subprocess.Popen[bytes], seconds: float, enough: Callable[[int], bool] | None) -> int:
    """The exit code of a process. Raises as `run_program`."""
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(min(left, _LOOK) if enough else left)
        if enough and enough(process.pid):
            raise EnoughError
    raise TimeoutError


def clean_environment(environ: Mapping[str, str], own: Iterable[str]) -> dict[str, str]:
    """What a program is given of our environment: what every program needs, and its own variables by prefix."""
    prefixes = ("LC_", *(prefix for prefix in own if prefix not in _CLOUDS or environ.get(_CLOUDS[prefix])))
    kept = {name: value for name, value in environ.items() if name.upper() in _PASSED or name.startswith(prefixes)}
    return kept | {"NO_COLOR": "1", "TERM": "dumb", "CI": "1"}


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and everything that it started and left in its group."""
    if os.name == "nt":
        process.kill()
    else:
        # Nobody may be left in the group.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return _ANSI.sub("", file.read(MOST_OUTPUT).decode("utf-8", "replace")).replace("\r\n", "\n")
