"""Windows Task Scheduler: one task per repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection
from functools import partial
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from skillgit.git.hooks.install import Change
from skillgit.sleep.watch.schedule.base import UNSCHEDULE, Entry, Job, call, demand, foreign

_FOLDER = "\\skillgit\\"
_NAME = re.compile(r"\\skillgit\\sleep-([0-9a-f]{12})")
_AUTHOR = "skillgit sleep schedule"
_SPACE = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"


class TaskScheduler:
    """Tasks of the user, on Windows."""

    name = "task-scheduler"

    def missing(self) -> str:
        """Why it cannot be used here; blank when it can."""
        return "" if shutil.which("schtasks") else "there is no schtasks program"

    def install(self, job: Job) -> list[Change]:
        """What creates the task. A missed hour is made up for; a second instance is not started."""
        old = self._stored(_task(job.id))
        if old is not None and _entry(job.id, old) == _entry(job.id, document(job)):
            return []
        return [Change("create", _task(job.id), UNSCHEDULE, partial(_create, job))]

    def remove(self, jobs: Collection[str] | None) -> list[Change]:
        """What deletes tasks."""
        doomed = [entry.job for entry in self.entries() if jobs is None or entry.job in jobs]
        return [
            Change("delete", _task(job), act=partial(demand, "schtasks", "/delete", "/tn", _task(job), "/f"))
            for job in doomed
        ]

    def entries(self) -> list[Entry]:
        """What the tasks say."""
        if self.missing():
            return []
        listed = demand("schtasks", "/query", "/fo", "csv", "/nh").out.decode("utf-8", "replace")
        found = []
        for job in sorted(set(_NAME.findall(listed))):
            if (text := self._stored(_task(job))) is not None:
                found.append(_entry(job, text))
        return found

    def _stored(self, task: str) -> str | None:
        """The task's XML, when we made it; `None` when there is none."""
        done = call("schtasks", "/query", "/tn", task, "/xml")
        if done.code:
            return None
        text = done.out.decode("utf-16" if done.out[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace")
        if f"<Author>{_AUTHOR}</Author>" not in text:
            raise foreign(task, "another program made this task")
        return text


def document(job: Job) -> str:
    """The task as XML."""
    program, *arguments = job.command
    return "\n".join(
        (
            '<?xml version="1.0" encoding="UTF-16"?>',
            f'<Task version="1.2" xmlns="{_SPACE[1:-1]}">',
            f"<RegistrationInfo><Author>{_AUTHOR}</Author></RegistrationInfo>",
            "<Triggers><CalendarTrigger>",
            f"<StartBoundary>2020-01-01T{job.hour:02}:{job.minute:02}:00</StartBoundary>",
            "<ScheduleByDay><DaysInterval>1</DaysInterval></ScheduleByDay>",
            "</CalendarTrigger></Triggers>",
            "<Settings><MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>",
            "<StartWhenAvailable>true</StartWhenAvailable>",
            "<DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries></Settings>",
            f"<Actions><Exec><Command>{escape(program)}</Command>",
            f"<Arguments>{escape(subprocess.list2cmdline(arguments))}</Arguments>",
            f"<WorkingDirectory>{escape(str(job.folder))}</WorkingDirectory></Exec></Actions>",
            "</Task>",
        )
    )


def _create(job: Job) -> None:
    handle, name = tempfile.mkstemp(suffix=".xml", prefix="skillgit-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(document(job).encode("utf-16"))
        demand("schtasks", "/create", "/tn", _task(job.id), "/xml", name, "/f")
    finally:
        Path(name).unlink()


def _entry(job: str, text: str) -> Entry:
    try:
        tree = ElementTree.fromstring(re.sub(r"<\?xml.*?\?>", "", text))  # noqa: S314 - from the system, and made by us
    except ElementTree.ParseError as error:
        raise foreign(_task(job), str(error)) from error
    read = {name: tree.findtext(f".//{_SPACE}{name}") or "" for name in ("StartBoundary", "Command", "Arguments")}
    when = read["StartBoundary"].partition("T")[2][:5]
    active = (tree.findtext(f"{_SPACE}Settings/{_SPACE}Enabled") or "true") == "true"
    return Entry("task-scheduler", job, _task(job), when, (read["Command"], read["Arguments"]), active)


def _task(job: str) -> str:
    return f"{_FOLDER}sleep-{job}"
