"""Runs inside the process that is confined: sets the limits, has the rest refused, then runs what it was given.

Called as `python child.py` with the job as JSON on stdin. Exit code 2 means that the code raised an error, which is
on stderr.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

# They lie beside this file: the package that all three are in need not be importable here.
sys.path[0:0] = [str(Path(__file__).parent)]
import guard  # type: ignore[import-not-found]  # noqa: E402
import kernel  # type: ignore[import-not-found]  # noqa: E402

_SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/bin",
    "/opt",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
)
_FACTS = ("/proc/cpuinfo", "/proc/meminfo", "/proc/self/maps", "/sys/devices/system/cpu", "/dev/urandom", "/dev/zero")
_OF_PROGRAMS = (
    "/etc/fonts",
    "/etc/libreoffice",
    "/var/lib/libreoffice",
    "/var/spool/libreoffice",
    "/etc/passwd",
    "/etc/nsswitch.conf",
    "/proc/self",
    "/dev/random",
)
RAISED = 2
_MOST_OPEN = 256  # files; each may hold as much as one file may, also when its name is gone


def main() -> None:
    """Confine this process, then become what the job says."""
    job = json.load(sys.stdin)
    programs = bool(job["program"])
    limits = _limit(job["cpu"], job["memory"], job["file_size"])
    held = {"limits": limits, **_confine(job["folder"], job["script"], programs)}
    if programs:
        os.execv(job["program"][0], job["program"])  # noqa: S606 - an argument list, no shell
    if not job["script"]:
        print(json.dumps(held))  # noqa: T201 - a program of its own
        return
    _run(job["script"], job["arguments"], job["given"])


def _confine(folder: str, script: str, programs: bool) -> dict[str, bool]:
    """What holds from now on: whether the kernel guards files, and the network with processes and powers."""
    python = {sys.prefix, sys.base_prefix, *(path for path in sys.path if Path(path).name.endswith("-packages"))}
    more = _OF_PROGRAMS if programs else ()
    meeting = ("/tmp",) if programs else ()  # noqa: S108 - LibreOffice wants its socket there and nowhere else
    files = kernel.restrict_files([script, *_SYSTEM, *_FACTS, *more, *python], [folder, os.devnull], meeting)
    powers = kernel.drop_powers()
    return {"files": files, "calls": kernel.deny_calls(programs=programs) and powers}


def _limit(cpu: int, memory: int, file_size: int) -> bool:
    """Whether every limit could be set; where one cannot, the others are."""
    if sys.platform == "win32":
        return False
    import resource

    limits = {resource.RLIMIT_CPU: cpu, resource.RLIMIT_AS: memory, resource.RLIMIT_FSIZE: file_size}
    held = True
    for kind, most in {**limits, resource.RLIMIT_CORE: 0, resource.RLIMIT_NOFILE: _MOST_OPEN}.items():
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (most, most))
        except (ValueError, OSError):  # macOS knows no limit on memory
            held = False
    return held


def _run(script: str, arguments: list[str], given: dict[str, Any]) -> None:
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).parent)
    guard.watch(str(Path.cwd()))
    try:
        runpy.run_path(script, init_globals=given, run_name="__main__")
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
        _tell(error, script)
        sys.stdout.flush()
        raise SystemExit(RAISED) from None


def _tell(error: BaseException, script: str) -> None:
    """The traceback without what is ours."""
    frames = traceback.extract_tb(error.__traceback__)
    own = next((number for number, frame in enumerate(frames) if frame.filename == script), len(frames))
    shown = [frame for frame in frames[own:] if frame.filename != guard.__file__]
    told = traceback.format_list(shown) + traceback.format_exception_only(type(error), error)
    sys.stderr.write("".join(told))


if __name__ == "__main__":
    main()
