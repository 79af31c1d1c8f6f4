"""The first half hour with `skillgit sleep`: whatever is missing is named, and the commands it names can be pasted."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from skillgit.sleep.harvest.collect import archive_of
from tests.conftest import git
from tests.git.helpers import Skillgit, user_state
from tests.sleep.harvest.common import TURNS
from tests.sleep.proposals.nights import DATES, UNITS, lesson, night
from tests.sleep.stores import claude

SCRIPTED = ("--set", "model.backend=scripted", "--set", "model.script=script.json")


@pytest.fixture
def store(repo_dir: Path, tmp_path: Path) -> Path:
    """A store with one session that a person held in the repository."""
    folder = tmp_path / "a store"
    claude.write_session(folder, "s1", TURNS, cwd=str(repo_dir), skill="greeter")
    return folder


def pasted(skillgit: Skillgit, folder: Path, out: str, *more: str) -> tuple[int, str, str]:
    """Run the command that a `go on:` or `next` line names."""
    lines = [line for line in out.splitlines() if line.startswith(("go on: ", "next  "))]
    words = shlex.split(lines[-1].split("   (")[0].split(": ", 1)[-1].removeprefix("next"))
    assert words[0] == "skillgit"
    return skillgit(folder, *words[1:], *more)


def test_without_any_store_every_command_says_so(repo_dir: Path, skillgit: Skillgit) -> None:
    said = "no agent's sessions were found: skillgit sleep status names the agents looked for"
    code, _, err = skillgit(repo_dir, "sleep", "harvest")
    assert (code, said in err) == (0, True)
    code, out, _ = skillgit(repo_dir, "sleep", "run")
    assert (code, said in out) == (0, True)
    assert "nothing to learn from: no task in 0 sessions" in out
    assert "--again" not in out
    code, out, _ = skillgit(repo_dir, "sleep", "status")
    assert (code, "not found" in out) == (0, True)


def test_a_night_without_sessions_needs_no_model(repo_dir: Path, store: Path, skillgit: Skillgit) -> None:
    where = ("--claude-home", str(store), "--lookback-hours", "0")
    code, _, err = skillgit(repo_dir, "sleep", "run", *where)
    assert (code, "no target model" in err) == (2, True)
    code, out, err = skillgit(repo_dir, "sleep", "run", "--dry-run", "--scope", str(store), *where)
    assert (code, err) == (0, "")
    assert "no task in 0 sessions" in out
    assert pasted(skillgit, repo_dir, out, "--json")[0] == 0
    code, out, _ = skillgit(repo_dir, "sleep", "run", "--json", "--scope", str(store), *where)
    assert code == 0
    event = json.loads(out.splitlines()[-1])
    assert event == {"event": "nothing_new", "sessions": 0, "tasks": 0, "documents": 0, "notes": event["notes"]}


def test_tasks_of_skills_that_nobody_asked_for_are_not_called_old(
    repo_dir: Path, store: Path, skillgit: Skillgit
) -> None:
    given = ("--claude-home", str(store), "--lookback-hours", "0", "--dry-run", "--set", "sleep.skills=[other]")
    code, out, _ = skillgit(repo_dir, "sleep", "run", *given, *SCRIPTED)
    assert code == 0
    assert "none of 1 task is of a document asked for" in out
    assert "which is not asked for" in out


def test_sessions_of_another_project_are_left_out_with_what_takes_them(
    tmp_path: Path, repo_dir: Path, skillgit: Skillgit
) -> None:
    claude.write_session(Path.home() / ".claude", "s1", TURNS, cwd=str(tmp_path / "elsewhere"))
    out = skillgit(repo_dir, "sleep", "harvest", "--lookback-hours", "0")[1]
    assert "1 other_project (whole sessions)" in out
    assert "--scope" in out


def test_what_a_command_names_next_reads_the_same_sessions(repo_dir: Path, store: Path, skillgit: Skillgit) -> None:
    given = ("--claude-home", str(store), "--lookback-hours", "0", "--scope", "all", *SCRIPTED)
    for command in ("status", "harvest", "status"):
        out = skillgit(repo_dir, "sleep", command, *given)[1]
        code, out, err = pasted(skillgit, repo_dir, out, "--dry-run", "--json")
        assert (code, err) == (0, "")
        found = json.loads(out) if out.startswith("{\n") else json.loads(out.splitlines()[0])
        assert found["sessions"], command
    assert "scripted/scripted" in out


def test_a_dry_run_of_a_night_writes_nothing(repo_dir: Path, store: Path, skillgit: Skillgit) -> None:
    from skillgit.git.repository import Repository

    before = user_state(repo_dir)
    given = ("--claude-home", str(store), "--lookback-hours", "0", *SCRIPTED)
    code, out, _ = skillgit(repo_dir, "sleep", "run", "--dry-run", *given)
    assert (code, "1 session kept, 1 new" in out, "Night for greeter" in out) == (0, True, True)
    assert not archive_of(Repository.open(repo_dir)).exists()
    assert user_state(repo_dir) == before
    assert "1 with something new" in skillgit(repo_dir, "sleep", "harvest", *given)[1]


def test_a_misspelt_scope_or_store_is_told(repo_dir: Path, store: Path, skillgit: Skillgit) -> None:
    code, _, err = skillgit(repo_dir, "sleep", "harvest", "--scope", "repositry")
    assert (code, "--scope has no folder repositry" in err) == (2, True)
    code, _, err = skillgit(repo_dir, "sleep", "harvest", "--claude-home", str(store / "none"))
    assert (code, "claude: there is nothing at the place that is set for it" in err) == (0, True)
    code, out, _ = skillgit(repo_dir, "sleep", "harvest", "--json", "--scope", f"all, {repo_dir}")
    assert code == 2, out


def test_reviewed_tasks_are_not_written_over(repo_dir: Path, store: Path, skillgit: Skillgit) -> None:
    given = ("--claude-home", str(store), "--lookback-hours", "0", "--output", "my tasks.jsonl")
    out = skillgit(repo_dir, "sleep", "harvest", *given)[1]
    assert "--tasks-file 'my tasks.jsonl'" in out
    file = repo_dir / "my tasks.jsonl"
    file.write_text(file.read_text().replace("Sort the table", "Please sort the table"))
    corrected = file.read_text()
    code, _, err = skillgit(repo_dir, "sleep", "harvest", *given)
    assert (code, "is there already" in err) == (2, True)
    assert file.read_text() == corrected


def test_a_repository_without_commits_is_helped_by_the_command_it_names(
    tmp_path: Path, store: Path, skillgit: Skillgit
) -> None:
    folder = tmp_path / "new"
    git(tmp_path, "init", "--quiet", str(folder))
    given = ("--scope", "all", "--claude-home", str(store), "--lookback-hours", "0", "--dry-run")
    code, _, err = skillgit(folder, "sleep", "run", *given)
    assert code == 4
    words = shlex.split(err.split("next: ", 1)[1])
    git(folder, *words[1:])
    assert skillgit(folder, "sleep", "run", *given)[0] == 0


def test_status_names_the_log(repo_dir: Path, store: Path, skillgit: Skillgit) -> None:
    assert json.loads(skillgit(repo_dir, "sleep", "status", "--json")[1])["log"] is None
    skillgit(repo_dir, "sleep", "watch", "--once", "--set", "sleep.hour=-1", "--set", "sleep.min_sessions=0")
    named = json.loads(skillgit(repo_dir, "sleep", "status", "--json")[1])["log"]
    assert "looked" in Path(named).read_text()
    assert named in skillgit(repo_dir, "sleep", "status")[1]


def test_one_is_not_called_many(repo_dir: Path, skillgit: Skillgit) -> None:
    record = night(repo_dir)
    name = f"{record.skill}/{record.night}"
    assert f"would merge 1 lesson of {name}" in skillgit(repo_dir, "sleep", "adopt", name, "--dry-run")[1]
    assert f"turned down 1 of 1 lesson of {name}" in skillgit(repo_dir, "sleep", "reject", name, "--why", "no")[1]
    assert "1 more is decided" in skillgit(repo_dir, "sleep", "list")[1]


def test_status_lists_only_what_waits(repo_dir: Path, skillgit: Skillgit) -> None:
    record = night(repo_dir, lesson(DATES), lesson(UNITS, score=1.0))
    name = f"{record.skill}/{record.night}"
    assert skillgit(repo_dir, "sleep", "adopt", name, "--lesson", "1")[0] == 0
    assert f"{name}: partly adopted" in skillgit(repo_dir, "sleep", "status")[1]
    skillgit(repo_dir, "sleep", "reject", name, "--why", "no")
    assert json.loads(skillgit(repo_dir, "sleep", "status", "--json")[1])["proposals"] == []
    assert "none waits" in skillgit(repo_dir, "sleep", "status")[1]
    assert "what was turned down can still be adopted with --lesson 2" in skillgit(repo_dir, "sleep", "adopt", name)[1]
    assert "are adopted already" in skillgit(repo_dir, "sleep", "adopt", name, "--lesson", "1")[1]


def test_a_list_of_one_skill_says_whose_it_is(repo_dir: Path, skillgit: Skillgit) -> None:
    assert skillgit(repo_dir, "sleep", "list", "greter")[1] == "no proposal for greter waits for you\n"


def test_a_branch_to_adopt_onto_is_made_by_the_command_it_names(
    repo_dir: Path, store: Path, skillgit: Skillgit
) -> None:
    where = ("--claude-home", str(store), "--lookback-hours", "0", *SCRIPTED, "--dry-run")
    code, _, err = skillgit(repo_dir, "sleep", "run", "--auto-adopt", "learned rules", *where)
    assert (code, "git branch 'learned rules'" in err) == (2, True)
    code, _, err = skillgit(repo_dir, "sleep", "run", "--auto-adopt", "rules", *where)
    git(repo_dir, *shlex.split(err.split("next: ", 1)[1])[1:])
    assert skillgit(repo_dir, "sleep", "run", "--auto-adopt", "rules", *where)[0] == 0


@pytest.mark.parametrize("command", ["run", "watch"])
def test_commands_that_print_events_say_so(repo_dir: Path, skillgit: Skillgit, command: str) -> None:
    out = skillgit(repo_dir, "sleep", command, "--help")[1]
    assert "One JSON" not in out
    assert "Print one JSON event per line." in " ".join(out.split())


def test_what_is_said_of_this_machines_files_stays_out_of_git(
    repo_dir: Path, store: Path, skillgit: Skillgit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise PermissionError("not yours")

    where = ("--claude-home", str(store), "--lookback-hours", "0", *SCRIPTED)
    skillgit(repo_dir, "sleep", "harvest", *where)
    claude.write_session(store, "s2", TURNS, cwd=str(repo_dir))
    monkeypatch.setattr("skillgit.sleep.sources.claude.Claude.read", fail)
    code, out, err = skillgit(repo_dir, "sleep", "run", *where)
    assert (code, err) == (0, "")
    assert "s2.jsonl: cannot be read" in out
    record = git(repo_dir, "log", "-p", "refs/skillgit/nights/greeter")
    assert '"notes"' in record
    assert "s2.jsonl" not in record
