"""`skillgit sleep signal`: what an agent calls when a session ends. It must be quick, and must never fail the agent."""

from __future__ import annotations

import json
import os
import select
import sys
from contextlib import suppress
from pathlib import Path

import click

from skillgit.cli.app import App, pass_app

_MOST = 65_536  # bytes read of what the agent says
_SECONDS = 0.2


@click.command(hidden=True)
@pass_app
def signal(app: App, /) -> None:
    """Wake the watcher of this repository, or of that around the folder which the agent names on standard input."""
    # An agent's session must end well whatever becomes of the watcher, which looks by itself every minute.
    with suppress(OSError, ValueError, RecursionError):
        if not _wake(app.folder) and (folder := _told()):
            _wake(folder)


def _wake(folder: Path) -> bool:
    from skillgit.sleep.harvest.projects import common_dir_around
    from skillgit.sleep.watch.signals import touch

    common = common_dir_around(folder)
    return common is not None and touch(common)


def _told() -> Path | None:
    """The absolute folder in the agent's JSON, if it names one."""
    stream = sys.stdin
    if stream is None or stream.isatty() or not _is_ready(stream.fileno()):
        return None
    found = json.loads(os.read(stream.fileno(), _MOST))
    folder = found.get("cwd") if isinstance(found, dict) else None
    return Path(folder) if isinstance(folder, str) and Path(folder).is_absolute() else None


def _is_ready(descriptor: int) -> bool:
    """Whether something can be read at once; on Windows only sockets can be asked."""
    return sys.platform != "win32" and bool(select.select([descriptor], [], [], _SECONDS)[0])
