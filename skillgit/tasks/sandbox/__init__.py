"""Running generated Python and programs that read untrusted files: bounded, alone, and gone afterwards.

Everywhere: an environment without secrets, a working folder, limits on time, memory and files, and Python's own refusal
of changes elsewhere, of other programs and of the network. On Linux the kernel refuses them, too, and lets nothing be
read but the system's files and the working folder.
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from skillgit.errors import ModelError
from skillgit.models.clients.process import EnoughError, Finished, run_program, scratch
from skillgit.tasks.sandbox.space import too_much

ENDED = "it was ended"
"""How the problem of a run begins that passed a limit or crashed."""

_CHILD = Path(__file__).with_name("child.py")
_RAISED = 2
_SLOTS = threading.BoundedSemaphore(os.cpu_count() or 1)
"""More at once would only take each other's time, which is limited, and memory."""

_LONGEST = 20_000
"""Most characters that are kept of an output."""

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Limits:
    """What one run may take: seconds, bytes of memory, of one file, and of all that is in its folder or written."""

    seconds: float = 120.0
    memory: int = 2 * 2**30
    file_size: int = 100 * 2**20
    space: int = 256 * 2**20


@dataclass(frozen=True)
class Ran:
    """One run that ended.

    Attributes:
        out: what it wrote to standard output.
        problem: why it failed, a traceback or one line; empty when it did not.
    """

    out: str
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether it came to its end without an error."""
        return not self.problem


def run_python(
    script: Path,
    folder: Path,
    given: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    limits: Limits = Limits(),
) -> Ran:
    """Run a Python file to its end.

    Args:
        folder: the working folder, the only one that can be written to.
        given: global variables that the file finds.

    Raises:
        ModelError: Python cannot be started.
    """
    return _run(_Job(str(script.resolve()), tuple(arguments), dict(given or {})), folder, limits)


def run_apart(program: Sequence[str], folder: Path, limits: Limits) -> Ran:
    """Run a program of this machine to its end; it reads the system's files and works in `folder`.

    Raises:
        ModelError: it cannot be started.
    """
    return _run(_Job(program=tuple(program)), folder, limits)


@cache
def isolation() -> str:
    """What generated code cannot do on this machine, in words."""
    with scratch() as folder:
        ran = _run(_Job(), folder, Limits())
    if not ran.ok:
        raise ModelError("generated code cannot be run", why=ran.problem)
    held = json.loads(ran.out)
    files = "no files of others" if held["files"] else "files of others can be read"
    calls = "no network, no processes" if held["calls"] else "network and processes refused by Python only"
    return ", ".join([files, calls, *([] if held["limits"] else ["memory not limited"])])


@dataclass(frozen=True)
class _Job:
    """What the confined process does: run a script or a program; neither means to tell what is refused to it."""

    script: str = ""
    arguments: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = ()


def _run(job: _Job, folder: Path, limits: Limits) -> Ran:
    # A link in its name would lead to a place that nothing allows.
    folder = folder.resolve()
    sizes = {"cpu": math.ceil(limits.seconds) + 1, "memory": limits.memory, "file_size": limits.file_size}
    whole = json.dumps({**asdict(job), **sizes, "folder": str(folder)})
    argv = [sys.executable, "-s", "-P", "-X", "utf8", str(_CHILD)]

    def enough(number: int) -> bool:
        return too_much(folder, number, limits.space)

    with _SLOTS:
        environ = _environment(folder)
        try:
            done = run_program(argv, folder=folder, stdin=whole, environ=environ, seconds=limits.seconds, enough=enough)
        except EnoughError:
            return Ran("", f"{ENDED}, for it wrote more than {limits.space >> 20} MB")
        except TimeoutError:
            return Ran("", f"{ENDED}, for it took longer than {limits.seconds:g} s")
        except OSError as error:
            raise ModelError("generated code cannot be run", why=str(error)) from error
    return Ran(_steady(done.out, folder), _steady(_problem(done), folder))


def _steady(text: str, folder: Path) -> str:
    """The text as it is in every run: a conversation that quotes it is then found again among those paid for."""
    named = text.replace(f"{folder}{os.sep}", "").replace(str(folder), ".")
    half = _LONGEST // 2
    short = named if len(named) <= _LONGEST else f"{named[:half]}\n[… cut …]\n{named[-half:]}"
    return _ADDRESS.sub("0x…", short)


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of ours but the system's own folders; the same for every run, so that runs repeat."""
    system = {name: os.environ[name] for name in ("SYSTEMROOT", "WINDIR") if name in os.environ}
    homes = dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP", "USERPROFILE"), str(folder))
    plain = {"PATH": os.defpath, "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**system, **homes, **plain, **_ONE_THREAD}


def _problem(done: Finished) -> str:
    if done.code == 0:
        return ""
    if done.code < 0:
        name = signal.Signals(-done.code).name
        limit = {"SIGXCPU": "its time", "SIGKILL": "its time or memory", "SIGXFSZ": "the size of its files"}.get(name)
        return f"{ENDED} by {name}" + (f": {limit} is limited" if limit else "")
    if done.code == _RAISED and done.err.strip():
        return done.err.strip()
    return f"it ended with exit code {done.code}: {done.words}".rstrip(": ")
