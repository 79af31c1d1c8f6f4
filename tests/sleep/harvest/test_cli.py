"""`skillgit sleep harvest` and `skillgit sleep status`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.git.repository import Repository
from skillgit.sleep.watch.state import change_state
from tests.sleep.harvest.common import TURNS, archive
from tests.sleep.proposals.nights import night
from tests.sleep.stores import START, claude, write

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def store(repo_dir: Path, tmp_path: Path) -> Path:
    """A store with one session that a person held and one of a program's, and one damaged line."""
    store = tmp_path / "claude"
    file = claude.write_session(store, "s1", TURNS, cwd=str(repo_dir), skill="greeter")
    write(file, b"null\n", append=True)
    claude.write_session(store, "s2", TURNS, cwd=str(repo_dir), entrypoint="sdk-cli")
    return store


def _options(store: Path) -> tuple[str, ...]:
    return ("--source", "claude", "--claude-home", str(store), "--lookback-hours", "0")


def test_one_document_tells_what_is_kept_left_out_damaged_and_asked(repo_dir: Path, store: Path, skillgit: Run) -> None:
    code, out, err = skillgit(repo_dir, "sleep", "harvest", "--json", *_options(store))
    assert (code, err) == (0, "")
    document = json.loads(out)
    (session,) = document["sessions"]
    assert session == {
        "source": "claude",
        "session": session["session"],
        "project": str(repo_dir),
        "branch": "main",
        "started": "2031-01-24T05:46:40+00:00",
        "ended": "2031-01-24T05:48:40+00:00",
        "turns": 5,
        "skills": ["greeter"],
        "new": True,
    }
    assert len(session["session"]) == 12
    assert (document["excluded"], document["excluded_sessions"]) == ({"headless": 5}, {"headless": 1})
    assert list(document["damaged"].values()) == [{"not an object": 1}]
    (task,) = document["tasks"]
    assert (task["skill"], task["sessions"]) == ("greeter", [session["session"]])
    assert task["input"] == "Sort the table by date."


def test_people_see_a_table_the_reasons_and_what_to_do_next(repo_dir: Path, store: Path, skillgit: Run) -> None:
    code, out, err = skillgit(repo_dir, "sleep", "harvest", *_options(store))
    assert (code, err) == (0, "")
    assert "1 session kept (1 claude), 1 with something new" in out
    assert "2031-01-24 05:48" in out
    assert "left out: 5 headless (records)" in out
    assert "1 not an object" in out
    assert "1 task mined" in out
    assert "skillgit sleep run" in out
    assert "0 with something new" in skillgit(repo_dir, "sleep", "harvest", *_options(store))[1]


def test_names_from_the_store_cannot_steer_the_terminal(repo_dir: Path, store: Path, skillgit: Run) -> None:
    evil = "\x1b]0;owned\x07\x1b[31m"
    folder = repo_dir / f"a{evil}b"
    folder.mkdir()
    claude.write_session(
        store,
        "s3",
        ((f"Sort {evil} it all by date.", "Done."), ("No, by name.", "Done."), ("Thanks", "")),
        cwd=str(folder),
        skill=f"x{evil}",
    )
    bad = claude.path_of(store, f"bad{evil}")
    write(bad, b"null\n")
    for command in (("harvest", *_options(store)), ("status", *_options(store))):
        out, err = skillgit(repo_dir, "sleep", *command)[1:]
        assert "\x1b" not in out + err
        assert "\x07" not in out + err


def test_the_tasks_are_written_for_review(repo_dir: Path, store: Path, skillgit: Run) -> None:
    code, out, _ = skillgit(repo_dir, "sleep", "harvest", "--output", "tasks.jsonl", *_options(store))
    assert code == 0
    assert "skillgit sleep run --tasks-file tasks.jsonl" in out
    header, task = map(json.loads, (repo_dir / "tasks.jsonl").read_text().splitlines())
    assert (header["reviewed"], header["sources"]) == (False, ["claude"])
    assert task["input"] == "Sort the table by date."


def test_a_dry_run_shows_all_and_writes_nothing(repo_dir: Path, store: Path, skillgit: Run) -> None:
    args = ("sleep", "harvest", "--dry-run", "--json", "--output", "tasks.jsonl", *_options(store))
    document = json.loads(skillgit(repo_dir, *args)[1])
    assert (len(document["sessions"]), len(document["tasks"]), document["new"]) == (1, 1, 1)
    assert not (repo_dir / "tasks.jsonl").exists()
    with archive(repo_dir) as kept:
        assert (kept.sessions(), kept.last()) == ([], (0, None))
    skillgit(repo_dir, "sleep", "harvest", *_options(store))
    claude.write_session(store, "s1", (("More.", "Yes."),), cwd=str(repo_dir), append=True, first=9, at=START + 500)
    assert json.loads(skillgit(repo_dir, *args)[1])["new"] == 1
    assert json.loads(skillgit(repo_dir, *args)[1])["new"] == 1


def test_paths_start_from_where_the_command_was_given(
    repo_dir: Path, store: Path, skillgit: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo_dir / "skills")
    plain = ("--source", "claude", "--lookback-hours", "0", "--json")
    relative = os.path.relpath(store, repo_dir / "skills")
    out = skillgit(Path(), "sleep", "harvest", "--claude-home", relative, "--scope", "../skills", *plain)[1]
    assert json.loads(out)["excluded"] == {"other_project": 10}
    out = skillgit(Path(), "sleep", "harvest", "--claude-home", relative, "--scope", "..", *plain)[1]
    assert len(json.loads(out)["sessions"]) == 1
    assert (repo_dir / "skills/tasks.jsonl").exists() is False


def test_a_source_or_scope_that_there_is_not_is_a_usage_error(repo_dir: Path, store: Path, skillgit: Run) -> None:
    code, _, err = skillgit(repo_dir, "sleep", "harvest", "--source", "cluade")
    assert (code, "claude" in err) == (2, True)
    code, _, err = skillgit(repo_dir, "sleep", "harvest", *_options(store), "--set", "sleep.scope=nowhere")
    assert (code, "no folder nowhere" in err) == (2, True)


def test_without_any_store_it_says_so(repo_dir: Path, skillgit: Run) -> None:
    code, out, _ = skillgit(repo_dir, "sleep", "harvest")
    assert code == 0
    assert "0 sessions kept, 0 with something new" in out


def test_status_before_anything_says_where_to_begin(repo_dir: Path, skillgit: Run) -> None:
    code, out, _ = skillgit(repo_dir, "sleep", "status")
    assert code == 0
    assert "none yet" in out
    assert "go on: skillgit sleep harvest --help" in out  # no agent's store is here
    assert not list((repo_dir / ".git").glob("skillgit/sleep.db*"))


def test_status_tells_stores_harvest_and_what_runs(repo_dir: Path, store: Path, skillgit: Run) -> None:
    skillgit(repo_dir, "sleep", "harvest", *_options(store))
    code, out, err = skillgit(repo_dir, "sleep", "status", "--json", *_options(store))
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["sources"] == [{"name": "claude", "stores": [str(store / "projects")]}]
    assert "codex" in document["without_store"]
    assert document["not_read"] == []
    assert (document["harvest"]["sessions"], document["harvest"]["new"]) == (1, 1)
    assert document["harvest"]["excluded"] == {"headless": 5}
    assert (document["proposals"], document["watcher"], document["night"]) == ([], None, None)
    out = skillgit(repo_dir, "sleep", "status", *_options(store))[1]
    assert "1 session kept, 1 of them since the last night" in out
    assert "go on: skillgit sleep run" in out
    with Repository.open(repo_dir).lock("sleep-watch"):
        assert json.loads(skillgit(repo_dir, "sleep", "status", "--json", *_options(store))[1])["watcher"]


def test_status_shows_what_waits_for_a_person(repo_dir: Path, skillgit: Run) -> None:
    record = night(repo_dir)
    document = json.loads(skillgit(repo_dir, "sleep", "status", "--json")[1])
    assert [(row["branch"], row["status"]) for row in document["proposals"]] == [(record.branch, "open")]
    out = skillgit(repo_dir, "sleep", "status")[1]
    assert f"{record.skill}/{record.night}: open, 1 lesson" in out
    assert f"go on: {document['proposals'][0]['next']}" in out


def test_status_tells_of_the_last_night_and_of_a_source_that_is_not_here(repo_dir: Path, skillgit: Run) -> None:
    change_state(Repository.open(repo_dir), at=START, code=6, why="the limit of 3 calls is reached")
    code, out, err = skillgit(repo_dir, "sleep", "status", "--source", "codex")
    assert code == 0
    assert "2031-01-24 05:46 UTC, exit code 6: the limit of 3 calls is reached" in out
    assert 'no sessions of "codex"' in err


def test_status_tells_of_a_store_that_is_there_and_not_asked_for(repo_dir: Path, skillgit: Run, tmp_path: Path) -> None:
    claude.write_session(Path.home() / ".claude", "s1", TURNS, cwd=str(repo_dir))
    (tmp_path / "sessions").mkdir()
    only = ("--source", "neutral", "--neutral-sessions", str(tmp_path / "sessions"))
    document = json.loads(skillgit(repo_dir, "sleep", "status", "--json", *only)[1])
    assert [source["name"] for source in document["sources"]] == ["neutral"]
    assert document["not_read"] == ["claude"]
