"""systemd: a timer and a service per repository, of the user's own manager."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path

from skillgit.git.hooks.install import Change
from skillgit.sleep.files import write_whole
from skillgit.sleep.watch.schedule.base import UNSCHEDULE, Entry, Job, call, demand, own_text

_MARK = "# skillgit sleep: written by skillgit sleep schedule; "
_NAME = re.compile(r"skillgit-sleep-([0-9a-f]{12})\.(?:timer|service)")
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')
_CLOCK = re.compile(r"^OnCalendar=\*-\*-\* (\d\d:\d\d):00$", re.MULTILINE)
_START = re.compile(r"^ExecStart=(.*)$", re.MULTILINE)


class Systemd:
    """Timers in the user's unit folder."""

    name = "systemd"

    @property
    def folder(self) -> Path:
        """Where the user's units lie."""
        home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        return Path(home) / "systemd" / "user"

    def missing(self) -> str:
        """Why it cannot be used here; blank when it can."""
        if not shutil.which("systemctl"):
            return "there is no systemctl program"
        done = call("systemctl", "--user", "show-environment")
        return "" if done.code == 0 else f"there is no user manager: {done.said}"

    def install(self, job: Job) -> list[Change]:
        """What writes both units and starts the timer. A missed hour is made up for."""
        timer, service = self._units(job.id)
        plan = list(_write(service, _service(job))) + list(_write(timer, _timer(job)))
        if not plan and self._active(timer.name):
            return []
        return [*plan, Change("start", timer.name, _LINGER, partial(_start, timer.name))]

    def remove(self, jobs: Collection[str] | None) -> list[Change]:
        """What stops timers and takes their units away."""
        plan: list[Change] = []
        for job in self._jobs():
            if jobs is None or job in jobs:
                timer, service = self._units(job)
                plan.append(Change("stop", timer.name, act=partial(_stop, timer.name)))
                plan += [_remove(unit) for unit in (timer, service) if own_text(unit, _MARK) is not None]
        return [*plan, Change("reload", "systemd", act=_reload)] if plan else []

    def entries(self) -> list[Entry]:
        """What the units say, and whether their timers are on."""
        return [self._entry(job) for job in self._jobs()]

    def _entry(self, job: str) -> Entry:
        timer, service = self._units(job)
        clock = _CLOCK.search(own_text(timer, _MARK) or "")
        start = _START.search(own_text(service, _MARK) or "")
        command = tuple(_unquoted(word) for word in _WORD.findall(start[1])) if start else ()
        active = self._active(timer.name)
        return Entry(self.name, job, str(timer), clock[1] if clock else "", command, active)

    def _jobs(self) -> list[str]:
        names = (_NAME.fullmatch(path.name) for path in self.folder.glob("skillgit-sleep-*"))
        return sorted({match[1] for match in names if match})

    def _units(self, job: str) -> tuple[Path, Path]:
        stem = f"skillgit-sleep-{job}"
        return self.folder / f"{stem}.timer", self.folder / f"{stem}.service"

    def _active(self, timer: str) -> bool:
        return bool(shutil.which("systemctl")) and call("systemctl", "--user", "is-active", "--quiet", timer).code == 0


_LINGER = "it runs while you are logged in; loginctl enable-linger keeps it running"


def _service(job: Job) -> str:
    lines = [
        f"{_MARK}{UNSCHEDULE}",
        "[Unit]",
        f"Description=skillgit sleep in {str(job.folder).replace('%', '%%')}",
        "",
        "[Service]",
        "Type=oneshot",
        *(f"Environment={_quoted(f'{name}={value}')}" for name, value in job.environment.items()),
        f"ExecStart={' '.join(_quoted(word).replace('$', '$$') for word in job.command)}",
    ]
    return "\n".join([*lines, ""])


def _timer(job: Job) -> str:
    lines = [
        f"{_MARK}{UNSCHEDULE}",
        "[Unit]",
        f"Description=skillgit sleep in {str(job.folder).replace('%', '%%')}, every day",
        "",
        "[Timer]",
        f"OnCalendar=*-*-* {job.hour:02}:{job.minute:02}:00",
        "Persistent=true",
        "",
        "[Install]",
        "WantedBy=timers.target",
    ]
    return "\n".join([*lines, ""])


def _quoted(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'


def _unquoted(word: str) -> str:
    return re.sub(r"\\(.)", r"\1", word.replace("%%", "%").replace("$$", "$"))


def _write(path: Path, text: str) -> Iterator[Change]:
    if own_text(path, _MARK) != text:
        yield Change("write", str(path), UNSCHEDULE, partial(write_whole, path, text.encode(), 0o644))


def _remove(path: Path) -> Change:
    return Change("remove", str(path), act=path.unlink)


def _start(timer: str) -> None:
    _reload()
    demand("systemctl", "--user", "enable", timer)
    # `enable --now` leaves a running timer at its old hour.
    demand("systemctl", "--user", "restart", timer)


def _stop(timer: str) -> None:
    demand("systemctl", "--user", "disable", "--now", timer)


def _reload() -> None:
    demand("systemctl", "--user", "daemon-reload")
