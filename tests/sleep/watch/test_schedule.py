"""`skillgit sleep schedule` and `unschedule`: every option of a night survives, and nothing else is kept."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from skillgit.cli.sleep.nightly_options import night_parameters
from skillgit.cli.sleep.run import run
from skillgit.sleep.watch.schedule.jobs import NAMES
from tests.conftest import git

Run = Callable[..., tuple[int, str, str]]

OPTIONS = [each for each in run.params if isinstance(each, click.Option) and each.name not in ("dry_run", "as_json")]


def _given(option: click.Option, folder: Path) -> list[str]:
    """An option with a value that says whose it is, and is hard to quote."""
    name = option.opts[0]
    if option.is_flag:
        return [name]
    if option.name == "config":
        (folder / "my 100%.yaml").write_text("sleep:\n  hour: 5\n")
        return [name, "my 100%.yaml"]
    if isinstance(option.type, click.IntRange | click.FloatRange):
        return [name, "7"]
    value = "sleep.preferences=a 'b' $C 100%" if option.name == "overrides" else f'it\'s {option.name} 100% "$HOME"'
    if option.name == "scope":
        (folder / value).mkdir(exist_ok=True)
    return [name, value, *([name, "sleep.hour=6"] if option.name == "overrides" else [])]


def _parsed(words: list[str]) -> dict[str, Any]:
    return run.make_context("run", list(words)).params


def _entries(skillgit: Run, folder: Path) -> list[dict[str, Any]]:
    code, out, _ = skillgit(folder, "sleep", "schedule", "--show", "--json")
    assert code == 0
    found: list[dict[str, Any]] = json.loads(out)["entries"]
    return found


# The longest entry that cron takes holds about this many.
SOME = [OPTIONS[at : at + 9] for at in range(0, len(OPTIONS), 9)]


@pytest.mark.parametrize(
    ("scheduler", "options"), [("systemd", OPTIONS), ("launchd", OPTIONS), *(("cron", some) for some in SOME)]
)
def test_every_option_of_a_night_survives_in_the_entry(
    repo_dir: Path, skillgit: Run, scheduler: str, options: list[click.Option]
) -> None:
    given = [word for option in options for word in _given(option, repo_dir)]
    assert skillgit(repo_dir, "sleep", "schedule", "--with", scheduler, *given)[0] == 0
    (entry,) = _entries(skillgit, repo_dir)
    at = entry["command"].index("nightly")
    assert _parsed(entry["command"][at + 1 :]) == _parsed(given)
    assert entry["command"][1:6] == ["-P", "-m", "skillgit", "-C", str(repo_dir)]


def test_the_options_are_those_of_the_command_that_runs_nights() -> None:
    assert {option.name for option in night_parameters()} == {option.name for option in OPTIONS}
    assert len(OPTIONS) > 20


def test_the_hour_is_the_configured_one_unless_given(repo_dir: Path, skillgit: Run) -> None:
    skillgit(repo_dir, "sleep", "schedule", "--with", "cron")
    assert [entry["when"] for entry in _entries(skillgit, repo_dir)] == ["03:17"]
    skillgit(repo_dir, "sleep", "schedule", "--with", "cron", "--set", "sleep.hour=5")
    assert [entry["when"] for entry in _entries(skillgit, repo_dir)] == ["05:17"]
    skillgit(repo_dir, "sleep", "schedule", "--with", "cron", "--set", "sleep.hour=-1", "--minute", "0")
    assert [entry["when"] for entry in _entries(skillgit, repo_dir)] == ["03:00"]
    skillgit(repo_dir, "sleep", "schedule", "--with", "cron", "--hour", "22")
    assert [entry["when"] for entry in _entries(skillgit, repo_dir)] == ["22:17"]


def test_a_night_that_cannot_run_is_told_at_once(repo_dir: Path, skillgit: Run) -> None:
    given = ("sleep", "schedule", "--with", "cron")
    out = skillgit(repo_dir, *given)[1]
    assert "nights cannot run yet: no target model is configured" in out
    assert "nights cannot run yet" not in skillgit(repo_dir, *given, "--target", "a", "--optimizer", "b")[1]


def test_a_dry_run_changes_nothing(repo_dir: Path, skillgit: Run, schedulers: Path) -> None:
    for name in NAMES:
        code, out, _ = skillgit(repo_dir, "sleep", "schedule", "--with", name, "--dry-run")
        assert code == 0
        assert "would " in out
    assert _entries(skillgit, repo_dir) == []
    assert not (schedulers / "crontab" / "table").exists()
    assert not (repo_dir / ".claude").exists()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_scheduled_is_shown_and_removed(repo_dir: Path, skillgit: Run, name: str) -> None:
    code, out, err = skillgit(repo_dir, "sleep", "schedule", "--with", name, "--json")
    assert code == 0, err
    assert [entry["scheduler"] for entry in json.loads(out)["entries"]] == [name]
    assert name in skillgit(repo_dir, "sleep", "schedule", "--show")[1]
    code, out, _ = skillgit(repo_dir, "sleep", "unschedule", "--json")
    assert (code, json.loads(out)["entries"]) == (0, [])
    assert "nothing to do" in skillgit(repo_dir, "sleep", "unschedule")[1]


def test_all_takes_the_entries_of_other_repositories_too(repo_dir: Path, skillgit: Run, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "--quiet", str(other))
    skillgit(other, "sleep", "schedule", "--with", "cron")
    skillgit(repo_dir, "sleep", "unschedule")
    assert len(_entries(skillgit, other)) == 1
    skillgit(repo_dir, "sleep", "unschedule", "--all")
    assert _entries(skillgit, other) == []


def test_worktrees_share_one_entry(repo_dir: Path, skillgit: Run, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(repo_dir, "worktree", "add", "--quiet", str(linked))
    skillgit(repo_dir, "sleep", "schedule", "--with", "cron")
    skillgit(linked, "sleep", "schedule", "--with", "cron", "--hour", "9")
    assert [entry["when"] for entry in _entries(skillgit, repo_dir)] == ["09:17"]


def test_a_secret_or_a_control_character_makes_no_entry(repo_dir: Path, skillgit: Run) -> None:
    secret = "--preferences=use ghp_" + "x8Kq2Lm9Zr4Tb7Wn1Yc6Vd3Hf5Gj0Ps8Ua2Qq"
    code, _, err = skillgit(repo_dir, "sleep", "schedule", "--with", "cron", secret)
    assert (code, "secret" in err) == (2, True)
    code, _, err = skillgit(repo_dir, "sleep", "schedule", "--with", "cron", "--preferences", "a\n* * * * * evil")
    assert (code, "control character" in err) == (2, True)
    assert _entries(skillgit, repo_dir) == []


def test_variables_with_keys_are_not_kept(
    repo_dir: Path, skillgit: Run, schedulers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-kept")
    monkeypatch.setenv("CODEX_HOME", "/somewhere/codex")
    skillgit(repo_dir, "sleep", "schedule", "--with", "cron")
    text = (schedulers / "crontab" / "table").read_text()
    assert "sk-not-to-be-kept" not in text
    assert "CODEX_HOME=/somewhere/codex" in text


def test_a_configuration_that_cannot_work_is_told_now_and_not_at_night(repo_dir: Path, skillgit: Run) -> None:
    code, _, err = skillgit(repo_dir, "sleep", "schedule", "--with", "cron", "--set", "sleep.huor=4")
    assert code == 2
    assert "sleep.hour" in err
    assert _entries(skillgit, repo_dir) == []


def test_without_any_scheduler_the_watcher_is_named(
    repo_dir: Path, skillgit: Run, monkeypatch: pytest.MonkeyPatch, schedulers: Path, tmp_path: Path
) -> None:
    (schedulers / "systemctl" / "absent").touch()
    assert "cron" in skillgit(repo_dir, "sleep", "schedule", "--dry-run")[1]
    (schedulers / "bin" / "crontab").unlink()
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "git").symlink_to("/usr/bin/git")
    monkeypatch.setenv("PATH", str(bin_))
    code, _, err = skillgit(repo_dir, "sleep", "schedule")
    assert code == 2
    assert "skillgit sleep watch" in err


def test_one_unreadable_scheduler_does_not_keep_the_others_from_being_cleared(
    repo_dir: Path, skillgit: Run, schedulers: Path
) -> None:
    skillgit(repo_dir, "sleep", "schedule", "--with", "systemd")
    (schedulers / "crontab" / "refusal").write_text("not allowed")
    assert [entry["problem"] != "" for entry in _entries(skillgit, repo_dir)] == [True, False]
    code, _, err = skillgit(repo_dir, "sleep", "unschedule")
    assert code == 7
    assert "not allowed" in err
    assert [entry["scheduler"] for entry in _entries(skillgit, repo_dir)] == ["cron"]


def test_a_weak_password_makes_no_entry_and_is_not_shown(repo_dir: Path, skillgit: Run) -> None:
    words = "--preferences=my password is hunter2"
    code, out, err = skillgit(repo_dir, "sleep", "schedule", "--with", "cron", words)
    assert (code, "secret" in err, "hunter2" in out + err) == (2, True, False)
    assert _entries(skillgit, repo_dir) == []


def test_a_folder_whose_name_is_no_utf_8_makes_no_entry(skillgit: Run, tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    git(tmp_path, "init", "--quiet", str(folder))
    for name in NAMES:
        code, _, err = skillgit(folder, "sleep", "schedule", "--with", name)
        assert (code, "UTF-8" in err) == (2, True), (name, err)
