"""What `sleep list`, `sleep show`, `status`, `blame`, `show` and `sync` tell of nights."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from skillgit.git.repository import Repository
from skillgit.skills.edits import Edit
from skillgit.sleep.proposals.journal import read_nights
from tests.conftest import git
from tests.sleep.proposals.nights import DATES, NIGHT, UNITS, lesson, night

BRANCH = f"sleep/greeter/{NIGHT}"
NAME = f"greeter/{NIGHT}"


def test_the_list_shows_what_waits_and_all_of_it_when_asked(two: Path, skillgit) -> None:
    night(two, lesson(DATES), date="2026-12-01")
    git(two, "branch", "-D", "sleep/greeter/2026-12-01")
    git(two, "branch", "sleep/greeter/mine")
    code, out, _ = skillgit(two, "sleep", "list")
    assert code == 0
    assert [line.split()[:3] for line in out.splitlines()[1:2]] == [[NAME, "open", "2"]]
    assert "1.000  +0.500" in out
    assert "1 more is decided" in out
    assert f"skillgit sleep show {NAME}" in out
    out = skillgit(two, "sleep", "list", "--all")[1]
    assert "greeter/2026-12-01  deleted" in out
    assert "no night made sleep/greeter/mine" in out
    found = json.loads(skillgit(two, "sleep", "list", "greeter", "--json")[1])
    assert [row["status"] for row in found["proposals"]] == ["deleted", "open"]
    assert found["foreign"] == ["sleep/greeter/mine"]
    assert json.loads(skillgit(two, "sleep", "list", "other", "--json")[1])["proposals"] == []


def test_an_empty_repository_has_no_proposals(tmp_path: Path, skillgit) -> None:
    git(tmp_path, "init", "--quiet")
    assert skillgit(tmp_path, "sleep", "list")[:2] == (0, "no proposal waits for you\n")


def test_show_tells_of_every_lesson_and_of_those_not_proposed(repo_dir: Path, skillgit) -> None:
    bad = lesson(Edit("append", "- Shout."), verdict="reject", why="v0 got worse", score=0.25, regressed=("v0",))
    night(repo_dir, lesson(DATES), bad, test={"before": 0.5, "after": 0.6}, notes=("1 session was excluded",))
    code, out, _ = skillgit(repo_dir, "sleep", "show", "greeter")
    assert code == 0
    for part in (
        f"{NAME}  open",
        "3 sessions; tasks: 5 train, 4 val, 0 test",
        "    - Write dates as YYYY-MM-DD.",
        "asked in  3 sessions, 5 train tasks",
        "accept_new_best: val 0.500 -> 0.750 (n=4)",
        "+ mined-0000000000aa",
        "why: people corrected it",
        "reject: v0 got worse",
        "    - Shout.",
        "test      0.500 -> 0.600",
        "note: 1 session was excluded",
        f"skillgit sleep adopt {NAME}",
    ):
        assert part in out
    told = json.loads(skillgit(repo_dir, "sleep", "show", BRANCH, "--patch", "--json")[1])
    assert told["lessons"][0]["change"] == 0.25
    assert told["not_proposed"][0]["regressed"] == ["v0"]
    assert "+- Write dates as YYYY-MM-DD." in told["patch"]


def test_the_patch_can_be_applied_as_it_is_printed(two: Path, skillgit) -> None:
    out = skillgit(two, "sleep", "show", "greeter", "--patch")[1]
    (two / "p").write_text(out[out.index("diff --git") :])
    git(two, "apply", "p")
    assert git(two, "diff", "--stat", BRANCH, "--", "skills") == ""


def test_text_of_others_does_not_reach_the_terminal_raw(repo_dir: Path, skillgit) -> None:
    evil = lesson(DATES, reasoning="\x1b[2Jgone \u202e", why="\x1b]0;title\x07", improved=("\x1b[31mred",))
    night(repo_dir, evil, notes=("\x1b[1m",), optimizer="a\x1b/b\nSkillgit-Run: forged")
    for args in (("list", "--all"), ("show", "greeter", "--patch")):
        out = skillgit(repo_dir, "sleep", *args)[1]
        assert not {"\x1b", "\x07", "\u202e"} & set(out)
    message = git(repo_dir, "log", "-1", "--format=%B", BRANCH)
    assert "\x1b" not in message
    assert "\nSkillgit-Run: forged" not in message


def test_what_else_a_branch_would_bring_is_told(two: Path, skillgit) -> None:
    git(two, "switch", "--quiet", BRANCH)
    (two / "script.json").write_text("{}")
    git(two, "commit", "--quiet", "-am", "more")
    git(two, "switch", "--quiet", "main")
    assert "also      changes script.json" in skillgit(two, "sleep", "show", "greeter")[1]
    assert "and changes of script.json" in skillgit(two, "sleep", "adopt", "greeter", "--dry-run")[1]
    assert "script.json" not in skillgit(two, "sleep", "adopt", "greeter", "--dry-run", "--lesson", "1")[1]


def test_an_unreadable_record_is_named(two: Path, skillgit) -> None:
    from skillgit.git.objects import Commit, write_commits

    repo, ref = Repository.open(two), "refs/skillgit/nights/greeter"
    (made,) = write_commits(repo, [Commit("x\n", (repo.commit(ref),), {"nights/2026-01-01.json": b"[1]"})])
    git(two, "update-ref", ref, made.commit)
    code, out, err = skillgit(two, "sleep", "list")
    assert (code, NAME in out) == (0, True)
    assert "nights/2026-01-01.json cannot be read" in err


def test_status_names_proposals_that_wait(two: Path, skillgit) -> None:
    out = skillgit(two, "status")[1]
    assert f"greeter  proposal {NIGHT} waits: 2 of 2 lessons, verified" in out
    assert f"go on: skillgit sleep show {NAME}" in out
    (row,) = json.loads(skillgit(two, "status", "--json")[1])["proposals"]
    assert (row["name"], row["waiting"]) == (NAME, 2)
    assert json.loads(skillgit(two, "status", "other", "--json")[1])["proposals"] == []
    git(two, "merge", "--quiet", "--no-edit", BRANCH)
    assert "proposal" not in skillgit(two, "status")[1]


def test_blame_names_night_lesson_and_evidence_of_a_rule(two: Path, skillgit) -> None:
    git(two, "merge", "--quiet", "--no-ff", "--no-edit", BRANCH)
    code, out, err = skillgit(two, "blame", "greeter")
    assert (code, err) == (0, "")
    (line,) = [line for line in out.splitlines() if line.endswith("- Give lengths in metres.")]
    for part in (f"night {NIGHT} lesson 2", "accept_new_best", "+0.250", "asked in 3 sessions, 5 train tasks"):
        assert part in line


def test_blame_still_names_it_after_a_squash(two: Path, skillgit) -> None:
    git(two, "merge", "--quiet", "--squash", BRANCH)
    git(two, "commit", "--quiet", "-m", "lessons")
    found = json.loads(skillgit(two, "blame", "greeter", "--json")[1])
    (line,) = [line for line in found["lines"] if line["text"] == "- Give lengths in metres."]
    assert found["commits"][line["step_commit"]]["run"] == NIGHT
    assert found["missing_runs"] == []


def test_show_tells_night_gain_and_evidence_of_a_lessons_commit(two: Path, skillgit) -> None:
    code, out, err = skillgit(two, "show", BRANCH)
    assert code == 0, err
    for part in (f"night     {NIGHT}, lesson 2", "+0.250", "asked in 3 sessions", f"skillgit sleep show {NAME}"):
        assert part in out
    assert "not in this clone" not in out


def test_reverting_a_lesson_goes_back_to_the_score_before(two: Path, skillgit) -> None:
    git(two, "merge", "--quiet", "--no-ff", "--no-edit", BRANCH)
    code, out, err = skillgit(two, "revert", "HEAD^2", "--no-edit")
    assert code == 0, err
    assert "val hard 0.750 (n=4), -0.250 from now" in out


def test_sync_brings_nights_to_a_colleague(two: Path, tmp_path: Path, skillgit) -> None:
    git(two, "init", "--quiet", "--bare", str(tmp_path / "hub"))
    git(two, "remote", "add", "origin", str(tmp_path / "hub"))
    git(two, "push", "--quiet", "origin", "main", BRANCH)
    assert skillgit(two, "sync", "--runs")[0] == 0
    git(tmp_path, "clone", "--quiet", "--branch", "main", str(tmp_path / "hub"), "colleague")
    other = tmp_path / "colleague"
    assert skillgit(other, "sync", "--runs")[0] == 0
    assert read_nights(Repository.open(other)) == read_nights(Repository.open(two))
    assert git(other, "for-each-ref", "refs/skillgit/proposed") == ""
    found = json.loads(skillgit(other, "sleep", "show", NAME, "--json")[1])
    assert (found["status"], found["branch"], found["recorded"]) == ("open", f"origin/{BRANCH}", True)


def test_nights_that_went_on_differently_are_all_read(two: Path, tmp_path: Path, skillgit) -> None:
    git(two, "init", "--quiet", "--bare", str(tmp_path / "hub"))
    git(two, "remote", "add", "origin", str(tmp_path / "hub"))
    git(two, "push", "--quiet", "origin", "main")
    skillgit(two, "sync", "--runs")
    git(tmp_path, "clone", "--quiet", "--branch", "main", str(tmp_path / "hub"), "other")
    other = tmp_path / "other"
    skillgit(other, "sync", "--runs")
    night(other, lesson(UNITS), date="2026-12-01")
    night(two, lesson(UNITS, verdict="reject"), date="2026-12-02")
    skillgit(other, "sync", "--runs")
    skillgit(two, "sync", "--runs")
    names = [record.night for record in read_nights(Repository.open(two))]
    assert names == [NIGHT, "2026-12-01", "2026-12-02"]


def test_names_are_completed(two: Path) -> None:
    environ = os.environ | {
        "_SKILLGIT_COMPLETE": "bash_complete",
        "COMP_WORDS": f"skillgit -C {two} sleep adopt gr",
        "COMP_CWORD": "5",
    }
    done = subprocess.run([sys.executable, "-m", "skillgit"], env=environ, capture_output=True, text=True, check=False)
    assert NAME in done.stdout
