"""Turning proposals down: the reason is kept, and the branch goes only when nothing is lost with it."""

from __future__ import annotations

import json
from pathlib import Path

from skillgit.git.repository import Repository
from skillgit.sleep.proposals.rejected import read
from tests.conftest import git
from tests.sleep.proposals.nights import DATES, NIGHT, UNITS

BRANCH = f"sleep/greeter/{NIGHT}"
NAME = f"greeter/{NIGHT}"


def rows(folder: Path) -> list[tuple[str, str, str]]:
    return [(row.rule, row.reason, row.by) for row in read(Repository.open(folder), "greeter")]


def test_the_reason_is_kept_and_the_branch_deleted(two: Path, skillgit) -> None:
    code, out, err = skillgit(two, "sleep", "reject", "greeter", "--why", "we use DD.MM.", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert (told["status"], told["branch"], told["kept"]) == ("rejected", BRANCH, None)
    assert git(two, "branch", "--list", "sleep/*") == ""
    assert rows(two) == [(DATES.content, "we use DD.MM.", "person"), (UNITS.content, "we use DD.MM.", "person")]
    found = json.loads(skillgit(two, "sleep", "show", NAME, "--json")[1])
    assert (found["status"], found["lessons"][0]["rejected_because"]) == ("rejected", "we use DD.MM.")
    assert git(two, "log", "-1", "--format=%s", "refs/skillgit/rejected/greeter") == "2 lessons of greeter turned down"
    code, out, _ = skillgit(two, "sleep", "reject", NAME, "--why", "again")
    assert (code, out) == (0, f"nothing to do: {NAME} is rejected\n")


def test_one_lesson_goes_and_the_rest_still_waits(two: Path, skillgit) -> None:
    code, out, err = skillgit(two, "sleep", "reject", "greeter", "--lesson", "2", "--why", "no")
    assert code == 0, err
    assert "the branch stays: 1 of its lessons still wait" in out
    found = json.loads(skillgit(two, "sleep", "show", NAME, "--json")[1])
    assert [one["fate"] for one in found["lessons"]] == ["open", "rejected"]
    assert (found["status"], found["waiting"]) == ("open", 1)


def test_a_branch_that_is_asked_for_stays(two: Path, skillgit) -> None:
    assert skillgit(two, "sleep", "reject", "greeter", "--why", "no", "--keep-branch")[0] == 0
    assert git(two, "branch", "--list", "sleep/*").strip() == BRANCH
    assert json.loads(skillgit(two, "sleep", "show", NAME, "--json")[1])["status"] == "rejected"


def test_commits_of_a_person_are_not_deleted(two: Path, skillgit) -> None:
    git(two, "switch", "--quiet", BRANCH)
    git(two, "commit", "--quiet", "--allow-empty", "-m", "mine")
    git(two, "switch", "--quiet", "main")
    code, out, err = skillgit(two, "sleep", "reject", "greeter", "--why", "no")
    assert code == 0, err
    assert "the branch stays: it holds commits" in out
    assert git(two, "log", "-1", "--format=%s", BRANCH) == "mine"


def test_a_branch_that_is_checked_out_stops_it_and_nothing_is_written(two: Path, skillgit) -> None:
    git(two, "switch", "--quiet", BRANCH)
    code, _, err = skillgit(two, "sleep", "reject", "greeter", "--why", "no")
    assert (code, "is checked out in" in err) == (4, True)
    assert rows(two) == []


def test_a_dry_run_writes_nothing(two: Path, skillgit) -> None:
    before = git(two, "for-each-ref")
    code, out, _ = skillgit(two, "sleep", "reject", "greeter", "--why", "no", "--dry-run")
    assert (code, "would turn down 2 of 2" in out) == (0, True)
    assert git(two, "for-each-ref") == before


def test_a_reason_is_needed_and_its_secrets_are_hidden(two: Path, skillgit) -> None:
    assert skillgit(two, "sleep", "reject", "greeter")[0] == 2
    assert skillgit(two, "sleep", "reject", "greeter", "--why", "  ")[0] == 2
    token = "ghp_" + "a1B2" * 9
    assert skillgit(two, "sleep", "reject", "greeter", "--why", f"it used {token}")[0] == 0
    assert token not in git(two, "show", "refs/skillgit/rejected/greeter:lessons.jsonl")


def test_a_deleted_proposal_can_still_be_given_a_reason(two: Path, skillgit) -> None:
    git(two, "branch", "-D", BRANCH)
    code, _, err = skillgit(two, "sleep", "reject", NAME, "--why", "too narrow")
    assert code == 0, err
    assert [reason for _, reason, _ in rows(two)] == ["too narrow", "too narrow"]


def test_rows_of_others_that_are_no_rows_cost_nothing(two: Path, skillgit) -> None:
    from skillgit.git.objects import Commit, write_commits

    skillgit(two, "sleep", "reject", "greeter", "--why", "no")
    repo, ref = Repository.open(two), "refs/skillgit/rejected/greeter"
    good = git(two, "show", f"{ref}:lessons.jsonl")
    bad = '\n[1]\nnull\n{"edit": {"op": "boom"}, "reason": "x"}\n{"edit": 5, "reason": "x"}\n{"reason": 1}\nnot json\n'
    (made,) = write_commits(repo, [Commit("x\n", (repo.commit(ref),), {"lessons.jsonl": f"{good}{bad}".encode()})])
    git(two, "update-ref", ref, made.commit)
    assert len(rows(two)) == 2
