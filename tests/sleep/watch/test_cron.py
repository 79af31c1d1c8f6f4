"""cron entries: only our own lines, and only where they can be told from others."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.errors import ConfigError, NeedsPersonError
from skillgit.git.hooks.install import carry_out
from skillgit.sleep.watch.schedule.cron import Cron, line_of, with_job, without_jobs
from tests.sleep.watch.jobs import ECHO, job

BACKUP = "MAILTO=me@example.invalid\n# my backup\n5 4 * * * /usr/bin/backup --all 100\\%\n"
OTHER = "fedcba987654"


def _table(schedulers: Path) -> Path:
    return schedulers / "crontab" / "table"


def test_other_lines_of_a_crontab_stay_byte_by_byte(schedulers: Path) -> None:
    table = _table(schedulers)
    foreign = BACKUP.encode() + b"# caf\xe9, not utf-8\n"
    table.write_bytes(foreign)
    carry_out(Cron().install(job("--source=claude")))
    assert table.read_bytes().startswith(foreign)
    assert table.read_bytes().count(b"sleep nightly") == 1
    carry_out(Cron().remove({job().id}))
    assert table.read_bytes() == foreign


def test_a_second_schedule_replaces_the_first_one_where_it_stands(schedulers: Path) -> None:
    carry_out(Cron().install(job()))
    _table(schedulers).write_text(_table(schedulers).read_text() + BACKUP)
    carry_out(Cron().install(job("--max-calls=9", hour=5)))
    text = _table(schedulers).read_text()
    assert text.endswith(BACKUP)
    assert [entry.when for entry in Cron().entries()] == ["05:17"]
    assert Cron().install(job("--max-calls=9", hour=5)) == []


def test_the_first_entry_needs_no_crontab(schedulers: Path) -> None:
    carry_out(Cron().install(job("--set=sleep.preferences=be 100% brief")))
    (entry,) = Cron().entries()
    assert entry.command == job("--set=sleep.preferences=be 100% brief").command
    assert (entry.when, entry.job, entry.active) == ("03:17", job().id, True)


@pytest.mark.parametrize(
    "refusal", ["crontab: permission denied", "You (tester) are not allowed to use this program", ""]
)
def test_a_crontab_that_cannot_be_read_is_not_written(schedulers: Path, refusal: str) -> None:
    _table(schedulers).write_text(BACKUP)
    (schedulers / "crontab" / "refusal").write_text(refusal)
    with pytest.raises(NeedsPersonError, match="cannot be read"):
        Cron().install(job())
    with pytest.raises(NeedsPersonError, match="cannot be read"):
        Cron().remove(None)
    assert _table(schedulers).read_text() == BACKUP


def test_a_crontab_that_cannot_be_written_is_told(schedulers: Path) -> None:
    (schedulers / "crontab" / "full").touch()
    with pytest.raises(ConfigError, match="failed") as caught:
        carry_out(Cron().install(job()))
    assert "no room" in caught.value.why


def test_a_crontab_that_changed_after_the_plan_is_left_alone(schedulers: Path) -> None:
    plan = Cron().install(job())
    _table(schedulers).write_text(BACKUP)
    with pytest.raises(ConfigError, match="changed meanwhile"):
        carry_out(plan)
    assert _table(schedulers).read_text() == BACKUP


START, END = (f"# {mark} skillgit sleep {job().id} {mark}" for mark in (">>>", "<<<"))


@pytest.mark.parametrize(
    "lines",
    [
        [START, line_of(job())],
        [line_of(job()), END],
        [START, START, line_of(job()), END],
        [START, line_of(job()), END.replace(job().id, OTHER)],
        [START, line_of(job()), "5 4 * * * backup", END],
        [START, "5 4 * * * backup", END],
        [START, END],
        [START[:-4], line_of(job()), END],
        [START, line_of(job()), END, START, line_of(job()), END],
        [START.replace(job().id, "x"), line_of(job()), END],
    ],
)
def test_marks_that_do_not_fit_are_refused(lines: list[str]) -> None:
    text = "\n".join([*lines, "5 4 * * * backup", ""])
    with pytest.raises(NeedsPersonError, match="crontab:"):
        without_jobs(text, None)
    with pytest.raises(NeedsPersonError, match="nothing was changed"):
        with_job(text, job())


def test_an_entry_that_a_person_commented_out_is_still_ours(schedulers: Path) -> None:
    carry_out(Cron().install(job()))
    text = _table(schedulers).read_text()
    _table(schedulers).write_text(text.replace("17 3 *", "#17 3 *"))
    assert [entry.active for entry in Cron().entries()] == [False]
    carry_out(Cron().remove({job().id}))
    assert _table(schedulers).read_text() == ""


def test_entries_of_other_repositories_stay(schedulers: Path) -> None:
    carry_out(Cron().install(job()))
    carry_out(Cron().install(job(id_=OTHER)))
    carry_out(Cron().remove({job().id}))
    assert [entry.job for entry in Cron().entries()] == [OTHER]
    carry_out(Cron().remove(None))
    assert Cron().entries() == []


def test_a_line_that_cron_would_cut_is_refused() -> None:
    with pytest.raises(ConfigError, match="too long"):
        line_of(job("x" * 1000))


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)


@given(st.lists(WORDS, max_size=4))
@settings(max_examples=25)
def test_a_line_runs_with_the_words_as_they_were_given(words: list[str]) -> None:
    echo = dataclasses.replace(job(), command=(sys.executable, "-c", ECHO, *words, "sleep", "nightly"))
    # cron runs what stands before the first plain %, with \% as %, by sh.
    command = line_of(echo).split(" ", 5)[5].replace("\\%", "\0")
    assert "%" not in command
    shown = command.replace("\0", "%").removesuffix(" >/dev/null")
    done = subprocess.run(["/bin/sh", "-c", shown], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[*words, "sleep", "nightly"], "/c d/100%"]


LINES = st.lists(st.sampled_from(["", "# x", "5 4 * * * backup", "A=b", "\ufeff", "@reboot y"]), max_size=5)


@given(LINES, LINES)
def test_adding_and_removing_gives_the_same_crontab(before: list[str], after: list[str]) -> None:
    text = "".join(f"{line}\n" for line in before)
    added = with_job(with_job(text, job()), job(id_=OTHER)) + "".join(f"{line}\n" for line in after)
    assert without_jobs(added, None) == text + "".join(f"{line}\n" for line in after)
    assert with_job(added, job()) == added


def test_a_line_that_no_shell_can_read_is_told(schedulers: Path) -> None:
    carry_out(Cron().install(job()))
    _table(schedulers).write_text(_table(schedulers).read_text().replace("sleep nightly", "sleep nightly it's"))
    with pytest.raises(NeedsPersonError, match="cannot be read"):
        Cron().entries()
