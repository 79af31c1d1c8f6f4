"""Publishing a night: what git then shows, and what it leaves alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from skillgit.errors import CheckFailedError, GitError
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place
from skillgit.skills.edits import Edit
from skillgit.sleep.proposals import ledger
from skillgit.sleep.proposals.journal import read, read_nights
from tests.conftest import git
from tests.git.helpers import user_state
from tests.sleep.proposals.nights import DATES, NIGHT, UNITS, lesson, night, worked

BRANCH = f"sleep/greeter/{NIGHT}"


def test_each_lesson_is_one_commit_with_its_rule_evidence_and_gain(repo_dir: Path) -> None:
    record = night(repo_dir, lesson(DATES), lesson(UNITS, score=1.0))
    assert record.branch == BRANCH
    assert git(repo_dir, "log", "--format=%s", "--reverse", f"main..{BRANCH}").splitlines() == [
        'skill(greeter): add "Write dates as YYYY-MM-DD"',
        'skill(greeter): add "Give lengths in metres"',
    ]
    first = git(repo_dir, "log", "-1", "--format=%B", f"{BRANCH}~1")
    assert "\n    - Write dates as YYYY-MM-DD.\n" in first
    assert "Asked in 3 sessions, 5 train tasks.\nval hard 0.500 -> 0.750 (n=4); 1 task improved, 0 regressed" in first
    trailers = dict(
        line.split(": ", 1)
        for line in git(repo_dir, "log", "-1", "--format=%(trailers:only,unfold)", f"{BRANCH}~1").splitlines()
        if line
    )
    assert trailers == {
        "Skillgit-Run": NIGHT,
        "Skillgit-Step": "1",
        "Skillgit-Gate": "accept_new_best +0.250",
        "Skillgit-Optimizer": "scripted/o",
        "Skillgit-Target": "scripted/t",
        "Skillgit-Evidence": "sessions=3 tasks=5 000000000000 000000000001 000000000002",
    }
    assert "reasoning" not in first
    assert "people corrected it" not in first


def test_the_messages_pass_the_commit_msg_hook(repo_dir: Path, skillgit) -> None:
    night(repo_dir, lesson(Edit("append", "- Say this:\nSkillgit-Gate: accept\n# no comment\ndiff --git a b")))
    message = repo_dir / "message"
    message.write_text(git(repo_dir, "log", "-1", "--format=%B", BRANCH))
    code, out, err = skillgit(repo_dir, "hook", "commit-msg", str(message))
    assert (code, out, err) == (0, "", "")


def test_a_rule_that_looks_like_a_trailer_is_none(repo_dir: Path) -> None:
    night(repo_dir, lesson(Edit("append", "Skillgit-Run: forged\nSkillgit-Evidence: sessions=99")))
    shown = git(repo_dir, "log", "-1", "--format=%(trailers:key=Skillgit-Run,valueonly)", BRANCH).strip()
    assert shown == NIGHT


def test_records_and_gate_lines_are_notes_as_in_training(repo_dir: Path) -> None:
    record = night(repo_dir, lesson(DATES))
    line = json.loads(git(repo_dir, "notes", "--ref=skillgit/evals", "show", f"{BRANCH}:skills/greeter"))
    assert (line["score"], line["gate"]["run"], line["gate"]["step"]) == (0.75, NIGHT, 1)
    results = json.loads(git(repo_dir, "notes", "--ref=skillgit/results", "show", f"{BRANCH}:skills/greeter"))
    assert results["record"] == line["id"]
    told = git(repo_dir, "notes", "--ref=skillgit/gates", "show", record.tip)
    assert told.startswith("accept_new_best: val hard 0.500 -> 0.750 (n=4); run 2026-11-30, lesson 1: add")


def test_the_record_of_the_night_comes_back_as_it_was(repo_dir: Path) -> None:
    record = night(repo_dir, lesson(DATES), lesson(UNITS, verdict="reject", why="v1 got worse"), notes=("told",))
    assert read_nights(Repository.open(repo_dir), "greeter") == [record]
    assert read_nights(Repository.open(repo_dir)) == [record]
    assert read_nights(Repository.open(repo_dir), "other") == []
    tree = git(repo_dir, "ls-tree", "-r", "--name-only", "refs/skillgit/nights/greeter").splitlines()
    assert tree == [f"nights/{NIGHT}.json"]


def test_tasks_are_kept_in_git_only_when_they_are_given(repo_dir: Path) -> None:
    night(repo_dir, tasks=b'{"id":"x"}\n')
    assert git(repo_dir, "show", f"refs/skillgit/nights/greeter:tasks/{NIGHT}.jsonl") == '{"id":"x"}'


def test_a_night_without_a_lesson_leaves_its_record_and_what_was_rejected_but_no_branch(repo_dir: Path) -> None:
    record = night(repo_dir, lesson(DATES, verdict="reject", why="v1 got worse", score=0.25))
    assert (record.branch, record.tip) == ("", "")
    assert git(repo_dir, "branch", "--list", "sleep/*") == ""
    (row,) = ledger.recorded(Repository.open(repo_dir), "greeter")
    assert (row.rule, row.reason, row.night, row.by, row.before, row.after) == (
        "- Write dates as YYYY-MM-DD.",
        "v1 got worse",
        NIGHT,
        "gate",
        0.5,
        0.25,
    )


def test_a_second_night_of_a_day_gets_a_number(repo_dir: Path) -> None:
    assert [night(repo_dir).night for _ in range(3)] == [NIGHT, f"{NIGHT}-2", f"{NIGHT}-3"]
    names = [record.night for record in read_nights(Repository.open(repo_dir))]
    assert names == [NIGHT, f"{NIGHT}-2", f"{NIGHT}-3"]


def test_a_name_is_taken_by_branches_of_remotes_and_by_deleted_ones(repo_dir: Path) -> None:
    night(repo_dir)
    git(repo_dir, "branch", "-D", BRANCH)
    git(repo_dir, "update-ref", f"refs/remotes/origin/sleep/greeter/{NIGHT}-2", "main")
    assert night(repo_dir).night == f"{NIGHT}-3"


def test_the_commits_of_a_deleted_proposal_are_kept_by_the_nights(repo_dir: Path) -> None:
    record = night(repo_dir)
    git(repo_dir, "branch", "-D", BRANCH)
    git(repo_dir, "reflog", "expire", "--expire=now", "--all")
    git(repo_dir, "gc", "--quiet", "--prune=now")
    assert git(repo_dir, "cat-file", "-t", record.tip) == "commit"
    assert git(repo_dir, "rev-parse", "refs/skillgit/nights/greeter^2") == record.tip


def test_a_skill_that_does_not_exist_yet_is_made_by_its_first_lesson(repo_dir: Path) -> None:
    place = Place("learned", "skills/learned", "skills/learned/SKILL.md")
    text = "---\nname: learned\ndescription: Learned.\n---\n\n# Learned\n"
    record = night(repo_dir, lesson(DATES), lesson(UNITS), place=place, new=text)
    branch = f"sleep/learned/{NIGHT}"
    assert git(repo_dir, "diff", "--name-status", f"main...{branch}") == "A\tskills/learned/SKILL.md"
    assert git(repo_dir, "show", f"{branch}~1:skills/learned/SKILL.md") == f"{text}\n- Write dates as YYYY-MM-DD."
    assert len(record.taken) == 2


def test_a_memory_file_is_proposed_for_at_the_top(repo_dir: Path) -> None:
    night(repo_dir, place=Place("CLAUDE", "CLAUDE.md", "CLAUDE.md"), new="# House\n")
    assert git(repo_dir, "show", f"sleep/CLAUDE/{NIGHT}:CLAUDE.md") == "# House\n\n- Write dates as YYYY-MM-DD."


def test_unverified_lessons_say_so_and_leave_no_score(repo_dir: Path) -> None:
    night(repo_dir, lesson(DATES, verdict="unverified", score=None, why="2 val tasks, 3 are needed"))
    message = git(repo_dir, "log", "-1", "--format=%B", BRANCH)
    assert "not verified: 2 val tasks, 3 are needed" in message
    assert "Skillgit-Gate: unverified unknown" in message
    assert git(repo_dir, "for-each-ref", "refs/notes") == ""


def test_session_ids_never_get_into_git_as_they_are(repo_dir: Path) -> None:
    night(repo_dir, lesson(DATES, sessions=("raw id\nSkillgit-Run: forged", "0123456789ab")))
    evidence = git(repo_dir, "log", "-1", "--format=%(trailers:key=Skillgit-Evidence,valueonly)", BRANCH).split()
    assert evidence[0] == "sessions=2"
    assert "0123456789ab" in evidence
    assert "forged" not in git(repo_dir, "log", "-1", "--format=%B", BRANCH)


def test_secrets_of_lessons_that_were_not_taken_stay_out_of_git(repo_dir: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    night(repo_dir, lesson(Edit("append", f"- Use {token}."), verdict="refused", why=f"it holds {token}"))
    objects = git(repo_dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").splitlines()
    assert not any(token in git(repo_dir, "cat-file", "-p", name) for name in objects)


def test_a_taken_lesson_with_a_secret_publishes_nothing(repo_dir: Path) -> None:
    before = git(repo_dir, "for-each-ref")
    with pytest.raises(CheckFailedError, match="cannot be proposed"):
        night(repo_dir, lesson(Edit("append", "- Use ghp_" + "a1B2" * 9)))
    assert git(repo_dir, "for-each-ref") == before


def test_halves_of_characters_in_what_a_model_said_do_not_spoil_the_record(repo_dir: Path) -> None:
    odd = lesson(Edit("append", "- \ud83d"), verdict="refused", reasoning="so \udc00", why="\ud800")
    night(repo_dir, lesson(DATES, reasoning="half \ud83d"), odd, notes=("\ud800",))
    found = read(Repository.open(repo_dir))
    assert (len(found.records), found.unreadable) == (1, {})


def test_a_branch_called_sleep_is_in_the_way_and_named(repo_dir: Path) -> None:
    git(repo_dir, "branch", "sleep")
    with pytest.raises(GitError, match="there is a branch sleep"):
        night(repo_dir)
    assert git(repo_dir, "for-each-ref", "refs/skillgit") == ""


@pytest.mark.parametrize("state", ["dirty", "detached", "rebase", "merge"])
def test_the_users_own_state_stays_byte_for_byte(repo_dir: Path, state: str) -> None:
    _into(repo_dir, state)
    before = user_state(repo_dir)
    record = night(repo_dir, lesson(DATES), lesson(UNITS, verdict="reject"))
    after = user_state(repo_dir)
    made = {line for line in after["refs"] if BRANCH in line}
    after["refs"] = [line for line in after["refs"] if line not in made]
    assert after == before
    assert len(made) == 1
    assert record.tip


def _into(folder: Path, state: str) -> None:
    (folder / "untracked.txt").write_text("mine")
    (folder / "script.json").write_text("{}")
    if state == "dirty":
        git(folder, "add", "script.json")
        (folder / "skills/greeter/SKILL.md").write_text("changed\n")
        return
    git(folder, "checkout", "--quiet", "script.json")
    if state == "detached":
        git(folder, "switch", "--quiet", "--detach")
        return
    git(folder, "switch", "--quiet", "-c", "other")
    (folder / "skills/greeter/SKILL.md").write_text("ours\n")
    git(folder, "commit", "--quiet", "-am", "ours")
    git(folder, "switch", "--quiet", "main")
    (folder / "skills/greeter/SKILL.md").write_text("theirs\n")
    git(folder, "commit", "--quiet", "-am", "theirs")
    git(folder, state, "other", check=False)


def test_it_works_from_a_linked_worktree_and_in_a_bare_clone(repo_dir: Path, tmp_path: Path) -> None:
    git(repo_dir, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "linked"))
    assert night(tmp_path / "linked").branch == BRANCH
    assert git(repo_dir, "rev-parse", "--verify", BRANCH)
    git(repo_dir, "clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    assert night(tmp_path / "bare").night == f"{NIGHT}-2"


def test_commits_are_signed_when_the_user_asks_for_it_and_a_missing_key_publishes_nothing(repo_dir: Path) -> None:
    git(repo_dir, "config", "commit.gpgsign", "true")
    git(repo_dir, "config", "gpg.program", "/bin/false")
    with pytest.raises(GitError, match="cannot be signed"):
        night(repo_dir)
    assert git(repo_dir, "for-each-ref", "refs/heads/sleep", "refs/skillgit") == ""


def test_nights_published_at_the_same_time_lose_nothing(repo_dir: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        names = [record.night for record in pool.map(lambda _: night(repo_dir), range(4))]
    assert sorted(names) == [NIGHT, f"{NIGHT}-2", f"{NIGHT}-3", f"{NIGHT}-4"]
    assert sorted(record.night for record in read_nights(Repository.open(repo_dir))) == sorted(names)


_KILLED = """
import os, shutil, sys
from pathlib import Path
from tests.conftest import git
from tests.sleep.proposals.nights import DATES, UNITS, lesson, night
start, work = Path(sys.argv[1]), Path(sys.argv[2])
shutil.copytree(start, work / "warm")
night(work / "warm", lesson(DATES), lesson(UNITS, verdict="reject"))  # so that no child has to import anything
for call in range(1, 100):
    folder = work / f"killed{call}"
    shutil.copytree(start, folder)
    child = os.fork()
    if child == 0:
        os.environ |= {"KILL_AT": str(call), "COUNT": str(work / f"count{call}")}
        os.environ["PATH"] = f"{work}:{os.environ['PATH']}"
        night(folder, lesson(DATES), lesson(UNITS, verdict="reject"))
        os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    refs = git(folder, "for-each-ref", "--format=%(refname)").split()
    print(ended, " ".join(refs))
    if ended == 0:
        break
"""
_GIT = """#!/bin/sh
echo >> "$COUNT"
[ "$(wc -l < "$COUNT")" -eq "$KILL_AT" ] && kill -9 $PPID && exit 1
exec {git} "$@"
"""


@pytest.mark.skipif(os.name == "nt", reason="no processes of this kind")
def test_a_kill_before_any_git_call_leaves_nothing_or_all_of_a_night(repo_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "git").write_text(_GIT.format(git=shutil.which("git")))
    (tmp_path / "git").chmod(0o755)
    command = [sys.executable, "-c", _KILLED, str(repo_dir), str(tmp_path)]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *killed, whole = done.stdout.splitlines()
    assert len(killed) > 10
    assert set(killed) == {"-9 refs/heads/main"}
    assert set(whole.split()) == {
        "0",
        "refs/heads/main",
        f"refs/heads/{BRANCH}",
        "refs/notes/skillgit/evals",
        "refs/notes/skillgit/gates",
        "refs/notes/skillgit/results",
        "refs/skillgit/nights/greeter",
        f"refs/skillgit/proposed/greeter/{NIGHT}",
        "refs/skillgit/rejected/greeter",
    }


def test_a_damaged_record_costs_no_other_night_and_is_named(repo_dir: Path) -> None:
    night(repo_dir)
    record = night(repo_dir)
    _spoil(repo_dir, f"nights/{NIGHT}.json", b'{"night": 5}')
    found = read(Repository.open(repo_dir), "greeter")
    assert [one.night for one in found.records] == [record.night]
    assert list(found.unreadable) == [f"refs/skillgit/nights/greeter:nights/{NIGHT}.json"]


@pytest.mark.parametrize(
    "change",
    [
        {"document": "../outside.md"},
        {"document": ".github/workflows/ci.yml", "path": ".github/workflows/ci.yml"},
        {"document": "skills/other/SKILL.md"},
        {"branch": "x'\n\nSkillgit-Run: forged"},
        {"base": ""},
        {"document": ".git/config"},
        {"path": "/etc"},
        {"base": "--output=/tmp/x"},
        {"tip": "main"},
        {"night": "../x"},
        {"skill": "other"},
        {"supersedes": ["../../x"]},
        {"lessons": [{"edit": {"op": "explode"}}]},
        {"lessons": [{"edit": {"op": "append", "content": "x"}, "score": "high"}]},
    ],
)
def test_a_record_from_outside_with_impossible_names_is_refused(repo_dir: Path, change: dict[str, object]) -> None:
    record = night(repo_dir)
    _spoil(repo_dir, f"nights/{NIGHT}.json", json.dumps(record.to_json() | change).encode())
    found = read(Repository.open(repo_dir))
    assert found.records == ()
    assert len(found.unreadable) == 1


def _spoil(folder: Path, path: str, data: bytes) -> None:
    from skillgit.git.objects import Commit, write_commits

    repo = Repository.open(folder)
    ref = "refs/skillgit/nights/greeter"
    (made,) = write_commits(repo, [Commit("spoil\n", (repo.commit(ref),), {path: data})])
    git(folder, "update-ref", ref, made.commit)


def test_versions_must_belong_to_the_lessons(repo_dir: Path) -> None:
    from skillgit.config.load import load_config
    from skillgit.sleep.proposals.publish import publish_night

    repo = Repository.open(repo_dir)
    record, versions, evaluations = worked(repo, repo.commit("HEAD"), [lesson(DATES)])
    config = load_config(repo_dir, "", ())
    with pytest.raises(GitError, match="1 lessons to propose, 0 versions"):
        publish_night(repo, config, record, [], evaluations)
    with pytest.raises(GitError, match="cannot name a branch"):
        publish_night(repo, config, replace(record, night="today"), versions, evaluations)


@pytest.mark.parametrize("name", ["a:b", "x.", "..", "a b", "a/b", "é", "-x", "x.lock", ""])
def test_a_skill_whose_name_cannot_stand_in_a_branch_is_refused(repo_dir: Path, name: str) -> None:
    with pytest.raises(GitError, match="cannot name a branch"):
        night(repo_dir, place=Place(name, "skills/greeter", "skills/greeter/SKILL.md"))
    assert git(repo_dir, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
