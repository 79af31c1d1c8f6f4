"""A night that nobody looks at: in a process of its own, with its outcome in the log and remembered."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from skillgit.config.schema import Config
from skillgit.errors import ConfigError, ModelConfigError, SkillgitError
from skillgit.events import Sink, event_json
from skillgit.git.repository import Repository
from skillgit.sleep.harvest.archive import Archive
from skillgit.sleep.harvest.collect import harvest, kept_heads, open_archive
from skillgit.sleep.redact import redact
from skillgit.sleep.watch.events import NightOver
from skillgit.sleep.watch.log import log, log_or_tell
from skillgit.sleep.watch.state import change_state, read_state

_DONE = (0, 1, 6)  # finished, checked, or as far as the limits let it
_INTERRUPTED = 130
_PATIENCE = 60  # seconds that a night has to end in order
_LONGEST = 100_000  # characters of one line that are kept

# What may be logged of a night's events: no rules, no reasons, nothing that a transcript could have said.
_LOGGED: Mapping[str, tuple[str, ...]] = {
    "harvested": ("sessions", "new", "excluded", "megabytes", "seconds"),
    "nothing_new": ("sessions", "tasks", "documents"),
    "night_planned": ("skill", "tasks", "sessions", "models", "calls"),
    "lesson_tried": ("skill", "number", "of", "verdict", "base_score", "score", "n"),
    "night_finished": ("skill", "night", "verdict", "branch", "taken", "tried", "usage"),
}


def start(repo: Repository, folder: Path, options: Sequence[str]) -> NightOver:
    """Run a night in a child process, and wait for it. However it ended, that is in the log.

    Args:
        folder: where it starts.
        options: those of `skillgit sleep run`.
    """
    begun = time.monotonic()
    # -P: the folder may hold a `json.py`, which is not to be run.
    argv = [sys.executable, "-P", "-m", "skillgit", "-C", str(folder), "sleep", "nightly", *options]
    process = subprocess.Popen(  # noqa: S603 - our own argument list, no shell
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        out, err = process.communicate()
    except KeyboardInterrupt:
        _end(process)
        raise
    over = _told(out)
    if over is None:
        over = _untold(process.returncode, err, round(time.monotonic() - begun, 1))
        _remember(repo, over)
        log(repo, event_json(over))
    return over


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _told(out: bytes) -> NightOver | None:
    """What the night said of its end; `None` when it could not."""
    try:
        told = json.loads(out.splitlines()[-1])
        return NightOver(told["code"], told["why"], told["seconds"], told["hopeless"])
    except (IndexError, ValueError, KeyError, TypeError):
        return None


def _untold(code: int, err: bytes, seconds: float) -> NightOver:
    """The end of a night that was killed, or did not come as far as to start."""
    said = " ".join(redact(err.decode("utf-8", "replace")).split())[-500:]
    return NightOver(code or SkillgitError.exit_code, said or f"it was ended by signal {-code}", seconds)


def waiting(repo: Repository, config: Config, sink: Sink) -> int:
    """Read what is new in the stores; returns how many sessions no night has seen yet."""
    harvest(repo, config, sink)
    with open_archive(repo) as archive:
        done = seen_until(repo, archive)
        return sum(head.harvested > done for head in kept_heads(repo, config.sleep, archive))


def seen_until(repo: Repository, archive: Archive) -> int:
    """Number of the harvest whose sessions a night has seen; 0 for none: also after the archive was deleted."""
    done = read_state(repo).harvest
    return done if done <= archive.night() else 0


@contextmanager
def kept(repo: Repository, sink: Sink) -> Iterator[None]:
    """Around the work of a night: what it prints as JSON lines goes to the log as far as it may, its end is remembered
    and goes to the log and the sink. Errors pass."""
    begun = time.monotonic()
    error: BaseException | None = None
    try:
        with redirect_stdout(_Lines(lambda line: _log_line(repo, line, sink))):
            yield
    except BaseException as raised:
        error = raised
        raise
    finally:
        over = NightOver(_code(error), _why(error), round(time.monotonic() - begun, 1), _is_hopeless(error))
        _remember(repo, over)
        log_or_tell(repo, event_json(over), sink)
        sink(over)


def seen(repo: Repository) -> None:
    """Remember that a night, whoever ran it, has seen all sessions that its harvest read, and none that came since."""
    with open_archive(repo) as archive:
        change_state(repo, harvest=archive.night())


def _remember(repo: Repository, over: NightOver) -> None:
    values: dict[str, Any] = {"at": time.time(), "code": over.code, "why": over.why}
    if over.code in _DONE:
        with open_archive(repo) as archive:
            change_state(repo, **values, failures=0, harvest=archive.night())
    else:
        change_state(repo, **values, failures=read_state(repo).failures + 1)


def _code(error: BaseException | None) -> int:
    if error is None:
        return 0
    if isinstance(error, SkillgitError):
        return error.exit_code
    return _INTERRUPTED if isinstance(error, KeyboardInterrupt) else SkillgitError.exit_code


def _why(error: BaseException | None) -> str:
    if error is None:
        return ""
    return redact(str(error)) if isinstance(error, SkillgitError) else type(error).__name__


def _is_hopeless(error: BaseException | None) -> bool:
    return isinstance(error, ConfigError | ModelConfigError)


def _log_line(repo: Repository, line: str, sink: Sink) -> None:
    try:
        event = json.loads(line)
    except ValueError:
        return
    names = _LOGGED.get(event.get("event", ""), ()) if isinstance(event, dict) else ()
    if names:
        log_or_tell(repo, {"event": event["event"], **{name: event.get(name) for name in names}}, sink)


class _Lines(io.TextIOBase):
    """Standard output of a night: whole lines are handed on, and nothing else is kept."""

    def __init__(self, line: Callable[[str], None]) -> None:
        self._line, self._rest = line, ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, rest = (self._rest + text).split("\n")
        for line in lines:
            self._line(line)
        self._rest = rest[-_LONGEST:]
        return len(text)
