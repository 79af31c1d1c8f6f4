"""Running somebody else's program: bounded in time and output, with an environment of its own, and gone afterwards."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

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
    with tempfile.TemporaryDirectory(prefix="skillgit-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        _folders.add(folder)
        try:
            yield folder
        finally:
            _folders.discard(folder)


def end_all() -> None:
    """End every program that runs, and take its folder away: for a process that stops without waiting for threads."""
    for process in list(_running):
        _kill(process)
    for folder in list(_folders):
        shutil.rmtree(folder, ignore_errors=True)


def run_program(
    argv: Sequence[str], *, folder: Path, stdin: str, environ: Mapping[str, str], seconds: float
) -> Finished:
    """Run a program to its end.

    Output goes to files: a child that it leaves behind cannot keep us waiting at a pipe, and is ended with it.

    Raises:
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
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        finally:
            _kill(process)
            process.wait()
            _running.discard(process)
        return Finished(code, _text(out), _text(err))


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
