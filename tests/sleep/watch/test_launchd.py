"""launchd and Task Scheduler entries."""

from __future__ import annotations

import plistlib
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from skillgit.errors import NeedsPersonError
from skillgit.git.hooks.install import carry_out
from skillgit.sleep.watch.schedule.launchd import Launchd
from skillgit.sleep.watch.schedule.tasks import TaskScheduler, document
from tests.sleep.watch.jobs import job

ODD = ('--preferences=a "b" & <c> 100% é', "--source=claude")


def test_launchd_gets_a_list_with_the_words_as_they_were_given(schedulers: Path) -> None:
    carry_out(Launchd().install(job(*ODD, hour=4, minute=0)))
    (path,) = Launchd().folder.iterdir()
    found = plistlib.loads(path.read_bytes())
    assert found["ProgramArguments"] == list(job(*ODD).command)
    assert found["StartCalendarInterval"] == {"Hour": 4, "Minute": 0}
    assert found["EnvironmentVariables"]["CODEX_HOME"] == "/c d/100%"
    (entry,) = Launchd().entries()
    assert (entry.when, entry.active, entry.command) == ("04:00", True, job(*ODD).command)
    assert Launchd().install(job(*ODD, hour=4, minute=0)) == []


def test_a_changed_list_is_loaded_anew(schedulers: Path) -> None:
    carry_out(Launchd().install(job()))
    carry_out(Launchd().install(job(hour=9)))
    calls = (schedulers / "launchctl" / "calls").read_text()
    assert calls.index("bootout") < calls.rindex("bootstrap")
    assert [entry.when for entry in Launchd().entries()] == ["09:17"]


def test_launchd_keeps_what_others_wrote(schedulers: Path) -> None:
    folder = Launchd().folder
    folder.mkdir(parents=True)
    (folder / "com.other.plist").write_bytes(plistlib.dumps({"Label": "com.other"}))
    carry_out(Launchd().install(job()))
    carry_out(Launchd().remove({job().id}))
    assert [path.name for path in folder.iterdir()] == ["com.other.plist"]
    assert not list((schedulers / "launchctl").glob("on-*"))


@pytest.mark.parametrize("data", [b"not a list", b"", plistlib.dumps({"Label": "x"}), plistlib.dumps([1])])
def test_a_list_that_is_not_ours_is_refused(data: bytes) -> None:
    path = Launchd().folder / f"skillgit.sleep.{job().id}.plist"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    for plan in (lambda: Launchd().install(job()), lambda: Launchd().remove(None)):
        with pytest.raises(NeedsPersonError, match="nothing was changed"):
            plan()
    assert path.read_bytes() == data


def test_a_task_says_what_to_run_when_and_where() -> None:
    tree = ElementTree.fromstring(document(job(*ODD, hour=7, minute=9)).partition("\n")[2])
    read = {element.tag.rpartition("}")[2]: element.text for element in tree.iter()}
    assert read["StartBoundary"] == "2020-01-01T07:09:00"
    assert read["Arguments"] == subprocess.list2cmdline(job(*ODD).command[1:])
    assert (read["Command"], read["WorkingDirectory"]) == (job().command[0], "/w/a b")
    assert (read["MultipleInstancesPolicy"], read["StartWhenAvailable"]) == ("IgnoreNew", "true")


def test_a_task_is_created_found_and_deleted() -> None:
    scheduler = TaskScheduler()
    carry_out(scheduler.install(job(*ODD)))
    (entry,) = scheduler.entries()
    assert (entry.job, entry.when) == (job().id, "03:17")
    assert scheduler.install(job(*ODD)) == []
    assert len(scheduler.install(job())) == 1
    carry_out(scheduler.remove({job().id}))
    assert scheduler.entries() == []


def test_a_task_that_another_program_made_is_refused(schedulers: Path) -> None:
    carry_out(TaskScheduler().install(job()))
    (file,) = (schedulers / "schtasks").glob("*.xml")
    text = file.read_bytes().decode("utf-16").replace("skillgit sleep schedule", "somebody")
    file.write_bytes(text.encode("utf-16"))
    with pytest.raises(NeedsPersonError, match="another program"):
        TaskScheduler().install(job())
