"""launchd: one property list per repository in the user's LaunchAgents."""

from __future__ import annotations

import os
import plistlib
import re
import shutil
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

from skillgit.git.hooks.install import Change
from skillgit.sleep.files import write_whole
from skillgit.sleep.watch.schedule.base import UNSCHEDULE, Entry, Job, call, demand, foreign

_NAME = re.compile(r"skillgit\.sleep\.([0-9a-f]{12})\.plist")


class Launchd:
    """Agents of the user, on a Mac."""

    name = "launchd"

    @property
    def folder(self) -> Path:
        """Where the user's agents lie."""
        return Path.home() / "Library" / "LaunchAgents"

    def missing(self) -> str:
        """Why it cannot be used here; blank when it can."""
        return "" if shutil.which("launchctl") else "there is no launchctl program"

    def install(self, job: Job) -> list[Change]:
        """What writes the list and loads it. An hour that the machine slept through is made up for."""
        path, new = self._path(job.id), _list(job)
        old = _own(path)
        if old == new and self._active(job.id):
            return []
        plan = (
            [Change("unload", _label(job.id), act=partial(call, "launchctl", "bootout", _target(job.id)))]
            if old
            else []
        )
        write = Change("write", str(path), UNSCHEDULE, partial(write_whole, path, plistlib.dumps(new), 0o644))
        load = Change("load", _label(job.id), act=partial(demand, "launchctl", "bootstrap", _domain(), str(path)))
        return [*plan, write, load]

    def remove(self, jobs: Collection[str] | None) -> list[Change]:
        """What unloads lists and takes them away."""
        plan: list[Change] = []
        for job in self._jobs():
            if (jobs is None or job in jobs) and _own(self._path(job)):
                # It may not be loaded: then there is nothing to end.
                plan.append(Change("unload", _label(job), act=partial(call, "launchctl", "bootout", _target(job))))
                plan.append(Change("remove", str(self._path(job)), act=self._path(job).unlink))
        return plan

    def entries(self) -> list[Entry]:
        """What the lists say, and whether they are loaded."""
        return [self._entry(job) for job in self._jobs()]

    def _entry(self, job: str) -> Entry:
        found = _own(self._path(job)) or {}
        clock = found.get("StartCalendarInterval", {})
        when = f"{clock.get('Hour', 0):02}:{clock.get('Minute', 0):02}"
        command = tuple(found["ProgramArguments"])
        return Entry(self.name, job, str(self._path(job)), when, command, self._active(job))

    def _jobs(self) -> Iterator[str]:
        for path in sorted(self.folder.glob("skillgit.sleep.*.plist")):
            if match := _NAME.fullmatch(path.name):
                yield match[1]

    def _path(self, job: str) -> Path:
        return self.folder / f"{_label(job)}.plist"

    def _active(self, job: str) -> bool:
        return not self.missing() and call("launchctl", "print", _target(job)).code == 0


def _list(job: Job) -> dict[str, Any]:
    return {
        "Label": _label(job.id),
        "ProgramArguments": list(job.command),
        "EnvironmentVariables": dict(job.environment),
        "StartCalendarInterval": {"Hour": job.hour, "Minute": job.minute},
        "ProcessType": "Background",
        "StandardOutPath": os.devnull,
        "StandardErrorPath": os.devnull,
    }


def _own(path: Path) -> dict[str, Any] | None:
    """The list there, when we wrote it; `None` when there is none. Raises `NeedsPersonError` for anything else."""
    if not os.path.lexists(path):
        return None
    try:
        found = plistlib.loads(path.read_bytes()) if path.is_file() and not path.is_symlink() else {}
    except (OSError, ValueError, ExpatError) as error:
        raise foreign(path, str(error)) from error
    words = found.get("ProgramArguments", []) if isinstance(found, dict) else []
    ours = isinstance(words, list) and "skillgit" in words and "nightly" in words and all(map(_is_text, words))
    if not ours or not _is_clock(found.get("StartCalendarInterval")) or f"{found.get('Label')}.plist" != path.name:
        raise foreign(path, "it is no list that runs skillgit sleep nightly")
    return dict(found)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_clock(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name, 0), int) for name in ("Hour", "Minute"))


def _label(job: str) -> str:
    return f"skillgit.sleep.{job}"


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _target(job: str) -> str:
    return f"{_domain()}/{_label(job)}"
