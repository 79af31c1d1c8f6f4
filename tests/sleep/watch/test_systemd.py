"""systemd units: own files only, quoted as systemd reads them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.errors import ConfigError, NeedsPersonError
from skillgit.git.hooks.install import carry_out
from skillgit.sleep.watch.schedule.systemd import Systemd, _quoted, _unquoted
from tests.sleep.watch.jobs import job

ODD = ("--preferences=a \"b\" $HOME \\n 100% 'c'", "--source=claude")


def _calls(schedulers: Path) -> list[str]:
    return (schedulers / "systemctl" / "calls").read_text().splitlines()


def test_a_timer_runs_every_day_and_makes_up_for_a_missed_hour(schedulers: Path) -> None:
    carry_out(Systemd().install(job(*ODD, hour=23, minute=5)))
    text = (Systemd().folder / f"skillgit-sleep-{job().id}.timer").read_text()
    assert "OnCalendar=*-*-* 23:05:00\nPersistent=true\n" in text
    (entry,) = Systemd().entries()
    assert (entry.when, entry.command, entry.active) == ("23:05", job(*ODD).command, True)
    assert _calls(schedulers)[-3:-1] == [
        f"--user enable skillgit-sleep-{job().id}.timer",
        f"--user restart skillgit-sleep-{job().id}.timer",
    ]


def test_unscheduling_takes_away_what_scheduling_wrote_and_nothing_else(schedulers: Path) -> None:
    folder = Systemd().folder
    folder.mkdir(parents=True)
    (folder / "mine.timer").write_text("[Timer]\n")
    carry_out(Systemd().install(job()))
    carry_out(Systemd().install(job(id_="fedcba987654")))
    carry_out(Systemd().remove({job().id}))
    assert sorted(path.name for path in folder.iterdir()) == [
        "mine.timer",
        "skillgit-sleep-fedcba987654.service",
        "skillgit-sleep-fedcba987654.timer",
    ]
    carry_out(Systemd().remove(None))
    assert [path.name for path in folder.iterdir()] == ["mine.timer"]
    assert Systemd().remove(None) == []


@pytest.mark.parametrize("kind", ["timer", "service"])
def test_a_unit_of_somebody_else_is_not_overwritten(kind: str) -> None:
    unit = Systemd().folder / f"skillgit-sleep-{job().id}.{kind}"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Unit]\nDescription=mine\n")
    with pytest.raises(NeedsPersonError, match="nothing was changed"):
        Systemd().install(job())
    with pytest.raises(NeedsPersonError, match="nothing was changed"):
        Systemd().remove(None)
    assert unit.read_text() == "[Unit]\nDescription=mine\n"


def test_a_link_in_place_of_a_unit_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    unit = Systemd().folder / f"skillgit-sleep-{job().id}.timer"
    unit.parent.mkdir(parents=True)
    unit.symlink_to(target)
    with pytest.raises(NeedsPersonError, match="no ordinary file"):
        Systemd().install(job())
    assert not target.exists()


def test_a_manager_that_refuses_is_told_and_leaves_an_entry_that_is_not_active(schedulers: Path) -> None:
    (schedulers / "systemctl" / "broken").touch()
    with pytest.raises(ConfigError) as caught:
        carry_out(Systemd().install(job()))
    assert "Access denied" in caught.value.why
    assert [entry.active for entry in Systemd().entries()] == [False]
    (schedulers / "systemctl" / "broken").unlink()
    carry_out(Systemd().install(job()))
    assert [entry.active for entry in Systemd().entries()] == [True]
    assert Systemd().install(job()) == []


def test_without_a_user_manager_systemd_cannot_be_used(schedulers: Path) -> None:
    assert Systemd().missing() == ""
    (schedulers / "systemctl" / "absent").touch()
    assert "Failed to connect to bus" in Systemd().missing()


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])))
def test_quoted_words_are_read_back(word: str) -> None:
    assert _unquoted(_quoted(word).replace("$", "$$")[1:-1]) == word


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_finds_no_fault_in_the_units(monkeypatch: pytest.MonkeyPatch) -> None:
    carry_out(Systemd().install(job(*ODD)))
    units = sorted(str(path) for path in Systemd().folder.iterdir())
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    assert [line for line in done.stderr.splitlines() if "skillgit-sleep" in line] == []
