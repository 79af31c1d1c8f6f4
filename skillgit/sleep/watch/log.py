"""The log of watchers and nights: one JSON line per event, in a few files of bounded size.

Events hold no text of transcripts; lessons and rules are not logged either.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Mapping
from contextlib import closing
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from skillgit.errors import SkillgitError
from skillgit.events import Event, Progress, Sink, event_json
from skillgit.git.repository import Repository
from skillgit.sleep.redact import clip, redact
from skillgit.sleep.watch.events import NightOver, WatchTrouble

_FILE = "sleep.log"
_BYTES = 1_000_000
_KEPT = 3
_LONGEST = 2000  # characters of one value


def log_path(repo: Repository) -> Path:
    """Where the log is; older parts end in `.1`, `.2` and so on."""
    return repo.state_dir / _FILE


def log(repo: Repository, event: Mapping[str, Any]) -> None:
    """Add one line. Several processes may write. Raises `GitError` or `OSError` when it cannot be written."""
    line = json.dumps({"at": _now(), **{name: _short(value) for name, value in event.items()}}, ensure_ascii=False)
    with repo.lock("sleep-log", seconds=10):
        handler = _Handler(log_path(repo), maxBytes=_BYTES, backupCount=_KEPT, encoding="utf-8", errors="replace")
        with closing(handler):
            handler.emit(logging.LogRecord("skillgit", logging.INFO, "", 0, line, None, None))


def log_sink(repo: Repository, other: Sink) -> Sink:
    """A sink that logs what goes to another one, but progress, and the end of a night: `nights` logs that."""

    def sink(event: Event) -> None:
        other(event)
        if not isinstance(event, Progress | NightOver):
            log_or_tell(repo, event_json(event), other)

    return sink


def log_or_tell(repo: Repository, event: Mapping[str, Any], sink: Sink) -> None:
    """Add one line, or tell that it cannot be written: the work goes on."""
    try:
        log(repo, event)
    except (OSError, SkillgitError) as error:
        sink(WatchTrouble(f"the log cannot be written: {error}", 0))


class _Handler(RotatingFileHandler):
    """Files of the owner alone, and errors that are raised."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding=self.encoding, errors=self.errors, opener=_opener)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, ARG002 - the library's name and shape
        raise


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _short(value: Any) -> Any:
    """A value without what must not be kept, and without what makes a log grow."""
    if isinstance(value, str):
        return clip(redact(value), _LONGEST)
    if isinstance(value, Mapping):
        return {name: _short(each) for name, each in value.items()}
    return value
