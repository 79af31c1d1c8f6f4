"""Adopting: a real merge in the user's worktree, chosen lessons, another branch, and everything that is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgit.config.load import load_config
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place
from skillgit.skills.edits import Edit
from skillgit.sleep.proposals.adopt import auto_adopt
from tests.conftest import git
from tests.git.helpers import user_state
from tests.sleep.proposals.nights import DATES, NIGHT, UNITS, lesson, night

BRANCH = f"sleep/greeter/{NIGHT}"
NAME = f"greeter/{NIGHT}"
SKILL = "skills/greeter/SKILL.md"


def change_live(folder: Path, old: str = "No rules yet.", new: str = "Be kind.") -> None:
    file = folder / SKILL
    file.write_text(file.read_text().replace(old, new))
    git(folder, "commit", "--quiet", "-am", "by hand")


def seen(folder: Path) -> tuple[object, ...]:
    """What a person sees of a worktree, and every ref."""
    state = user_state(folder)
    return state["status"], git(folder, "for-each-ref"), git(folder, "stash", "list"), (folder / SKILL).read_bytes()


def hook(folder: Path, name: str, body: str) -> None:
    file = folder / ".git/hooks" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


@pytest.mark.parametrize(
    "name", ["greeter", NAME, BRANCH, f"refs/heads/{BRANCH}", "skills/greeter/", "skills/greeter/SKILL.md"]
)
def test_a_proposal_is_merged_whatever_it_is_called(two: Path, skillgit, name: str) -> None:
    code, out, err = skillgit(two, "sleep", "adopt", name, "--json")
    assert code == 0, err
    told = json.loads(out)
    assert (told["status"], told["whole"], told["measured"], told["next"]) == ("adopted", True, True, None)
    assert told["commit"] == git(two, "rev-parse", "HEAD")
    assert git(two, "log", "-1", "--format=%s%n%an") == f"Merge branch '{BRANCH}'\nTest"
    assert git(two, "rev-parse", "HEAD^2") == git(two, "rev-parse", BRANCH)
    assert git(two, "status", "--porcelain") == ""
    code, out, _ = skillgit(two, "sleep", "adopt", NAME)
    assert (code, out) == (0, f"nothing to do: {NAME} is adopted already\n")


def test_work_in_progress_elsewhere_stays(two: Path, skillgit) -> None:
    (two / "script.json").write_text("{}")
    (two / "untracked").write_text("x")
    assert skillgit(two, "sleep", "adopt", "greeter")[0] == 0
    assert (two / "script.json").read_text() == "{}"
    assert git(two, "status", "--porcelain") == " M script.json\n?? untracked"


def test_a_dry_run_changes_nothing(two: Path, skillgit) -> None:
    before = user_state(two)
    for args in ((), ("--lesson", "2"), ("--onto", "other")):
        git(two, "branch", "--force", "other", "main")
        code, out, err = skillgit(two, "sleep", "adopt", "greeter", *args, "--dry-run")
        assert code == 0, err
        assert "would" in out
        git(two, "branch", "-D", "other")
    assert user_state(two) == before


def test_hooks_run_and_may_refuse(two: Path, skillgit) -> None:
    hook(two, "pre-merge-commit", "echo refused by the house >&2; exit 1")
    before = seen(two)
    code, _, err = skillgit(two, "sleep", "adopt", "greeter")
    assert code == 4
    assert "refused by the house" in err
    assert "nothing was merged" in err
    assert seen(two) == before


def test_one_lesson_alone_needs_no_other(two: Path, skillgit) -> None:
    code, out, err = skillgit(two, "sleep", "adopt", "greeter", "--lesson", "2", "--json")
    assert code == 0, err
    text = (two / SKILL).read_text()
    assert "metres" in text
    assert "YYYY" not in text
    told = json.loads(out)
    assert (told["measured"], told["next"]) == (False, "skillgit eval greeter")
    assert git(two, "log", "-1", "--format=%(trailers:key=Skillgit-Step,valueonly)").strip() == "2"
    assert git(two, "status", "--porcelain") == ""
    assert json.loads(skillgit(two, "sleep", "show", NAME, "--json")[1])["status"] == "partly adopted"


@pytest.mark.parametrize("onto", [(), ("--onto", "other")])
def test_a_lesson_that_was_turned_down_does_not_come_with_the_others(
    two: Path, skillgit, onto: tuple[str, ...]
) -> None:
    git(two, "branch", "other")
    assert skillgit(two, "sleep", "reject", "greeter", "--lesson", "1", "--why", "not ours")[0] == 0
    code, out, _ = skillgit(two, "sleep", "adopt", "greeter", *onto)
    assert (code, DATES.content in out) == (0, False)
    text = git(two, "show", f"{'other' if onto else 'HEAD'}:skills/greeter/SKILL.md")
    assert UNITS.content in text
    assert DATES.content not in text


def test_several_lessons_come_in_their_order_as_commits_of_their_own(two: Path, skillgit) -> None:
    code, _, err = skillgit(two, "sleep", "adopt", "greeter", "--lesson", "2", "--lesson", "1")
    assert code == 0, err
    assert git(two, "log", "-2", "--format=%s").splitlines() == [
        'skill(greeter): add "Give lengths in metres"',
        'skill(greeter): add "Write dates as YYYY-MM-DD"',
    ]
    assert git(two, "rev-parse", "HEAD:skills/greeter") == git(two, "rev-parse", f"{BRANCH}:skills/greeter")


def test_a_lesson_that_the_reviewer_amended_comes_as_amended(two: Path, skillgit) -> None:
    git(two, "switch", "--quiet", BRANCH)
    file = two / SKILL
    file.write_text(file.read_text().replace("in metres", "in centimetres"))
    git(two, "commit", "--quiet", "-a", "--amend", "--no-edit")
    git(two, "switch", "--quiet", "main")
    code, _, err = skillgit(two, "sleep", "adopt", "greeter", "--lesson", "2")
    assert code == 0, err
    assert "centimetres" in file.read_text()


def test_unknown_lessons_and_proposals_are_named(two: Path, skillgit) -> None:
    code, _, err = skillgit(two, "sleep", "adopt", "greeter", "--lesson", "3")
    assert (code, "has no lesson 3" in err) == (2, True)
    code, _, err = skillgit(two, "sleep", "adopt", "greeter/2020-01-01")
    assert (code, f"proposals: {NAME}" in err) == (4, True)
    code, _, err = skillgit(two, "sleep", "adopt", "nobody")
    assert (code, "no proposal 'nobody'" in err) == (4, True)


def test_a_stale_proposal_is_refused_unless_asked_for(two: Path, skillgit) -> None:
    change_live(two)
    before = user_state(two)
    for args in ((), ("--lesson", "1")):
        code, _, err = skillgit(two, "sleep", "adopt", "greeter", *args)
        assert code == 1
        assert "skillgit sleep run" in err
    assert user_state(two) == before
    code, out, err = skillgit(two, "sleep", "adopt", "greeter", "--stale", "--lesson", "1")
    assert code == 0, err
    assert "never measured" in out
    assert {"Be kind.", "- Write dates as YYYY-MM-DD."} <= set((two / SKILL).read_text().splitlines())


def test_an_unverified_proposal_is_refused_unless_asked_for(repo_dir: Path, skillgit) -> None:
    night(repo_dir, lesson(DATES, verdict="unverified", score=None))
    code, _, err = skillgit(repo_dir, "sleep", "adopt", "greeter")
    assert (code, "--unverified" in err) == (1, True)
    code, out, err = skillgit(repo_dir, "sleep", "adopt", "greeter", "--unverified")
    assert code == 0, err
    assert "skillgit eval greeter" in out


def test_a_conflict_leaves_everything_as_it_was(repo_dir: Path, skillgit) -> None:
    edit = Edit("replace", "Rule one: dates are YYYY-MM-DD.", "No rules yet.")
    night(repo_dir, lesson(edit))
    change_live(repo_dir, "No rules yet.", "Be kind, and quick.")
    before = seen(repo_dir)
    for args in ((), ("--lesson", "1")):
        code, _, err = skillgit(repo_dir, "sleep", "adopt", "greeter", "--stale", *args)
        assert code == 7, err
        assert "nothing was changed" in err
        assert seen(repo_dir) == before


def test_changes_of_the_skill_that_are_not_committed_stop_it(two: Path, skillgit) -> None:
    (two / SKILL).write_text("mine\n")
    for args in ((), ("--lesson", "1")):
        code, _, err = skillgit(two, "sleep", "adopt", "greeter", *args)
        assert (code, "not committed" in err) == (4, True)
    assert (two / SKILL).read_text() == "mine\n"


def test_it_does_not_merge_into_nowhere_or_into_itself(two: Path, skillgit) -> None:
    git(two, "switch", "--quiet", "--detach")
    code, _, err = skillgit(two, "sleep", "adopt", "greeter")
    assert (code, "HEAD is on no branch" in err) == (4, True)
    git(two, "switch", "--quiet", BRANCH)
    code, _, err = skillgit(two, "sleep", "adopt", "greeter")
    assert (code, "is a proposal itself" in err) == (4, True)


def test_a_branch_that_began_elsewhere_is_not_merged_with_all_that_lies_below(repo_dir: Path, skillgit) -> None:
    git(repo_dir, "branch", "release")
    (repo_dir / "feature.txt").write_text("x")
    git(repo_dir, "add", "feature.txt")
    git(repo_dir, "commit", "--quiet", "-m", "feature")
    night(repo_dir)
    git(repo_dir, "switch", "--quiet", "release")
    code, _, err = skillgit(repo_dir, "sleep", "adopt", "greeter")
    assert (code, "1 other commits" in err) == (4, True)
    code, _, err = skillgit(repo_dir, "sleep", "adopt", "greeter", "--lesson", "1")
    assert code == 0, err
    assert not (repo_dir / "feature.txt").exists()


def test_onto_a_branch_that_is_checked_out_nowhere(two: Path, skillgit) -> None:
    git(two, "branch", "next")
    before = user_state(two)
    code, out, err = skillgit(two, "sleep", "adopt", "greeter", "--onto", "next", "--json")
    assert code == 0, err
    made = json.loads(out)["commit"]
    assert git(two, "rev-parse", "next") == made
    assert git(two, "rev-parse", f"{made}^{{tree}}") == git(two, "rev-parse", f"{BRANCH}^{{tree}}")
    after = user_state(two)
    assert {key: value for key, value in after.items() if key != "refs"} == {
        key: value for key, value in before.items() if key != "refs"
    }


def test_onto_a_branch_that_has_gone_on(two: Path, skillgit) -> None:
    git(two, "switch", "--quiet", "-c", "next")
    (two / "other.txt").write_text("x")
    git(two, "add", "other.txt")
    git(two, "commit", "--quiet", "-m", "other")
    git(two, "switch", "--quiet", "main")
    code, _, err = skillgit(two, "sleep", "adopt", "greeter", "--onto", "next")
    assert code == 0, err
    assert git(two, "diff", "--name-only", "main", "next").splitlines() == ["other.txt", SKILL]
    git(two, "branch", "third", "main")
    code, _, err = skillgit(two, "sleep", "adopt", NAME, "--onto", "third", "--lesson", "2")
    assert code == 0, err
    assert git(two, "diff", "--shortstat", "main", "third").startswith(" 1 file changed, 2 insertions")


def test_onto_with_a_conflict_changes_nothing(repo_dir: Path, skillgit) -> None:
    night(repo_dir, lesson(Edit("replace", "Rule one: dates are YYYY-MM-DD.", "No rules yet.")))
    git(repo_dir, "switch", "--quiet", "-c", "next")
    change_live(repo_dir, "No rules yet.", "Be kind, and quick.")
    git(repo_dir, "switch", "--quiet", "main")
    before = git(repo_dir, "for-each-ref")
    code, _, err = skillgit(repo_dir, "sleep", "adopt", "greeter", "--onto", "next", "--stale")
    assert (code, SKILL in err) == (7, True)
    assert git(repo_dir, "for-each-ref") == before


def test_onto_a_branch_that_someone_works_on_is_refused(two: Path, tmp_path: Path, skillgit) -> None:
    git(two, "worktree", "add", "--quiet", "-b", "next", str(tmp_path / "linked"))
    code, _, err = skillgit(two, "sleep", "adopt", "greeter", "--onto", "next")
    assert (code, str(tmp_path / "linked") in err) == (4, True)
    code, _, err = skillgit(tmp_path / "linked", "sleep", "adopt", "greeter", "--onto", "next")
    assert code == 0, err
    assert "metres" in (tmp_path / "linked" / SKILL).read_text()


def test_a_bare_repository_needs_a_branch(two: Path, tmp_path: Path, skillgit) -> None:
    git(two, "clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    code, _, err = skillgit(tmp_path / "bare", "sleep", "adopt", "greeter")
    assert (code, "--onto BRANCH" in err) == (4, True)
    git(tmp_path / "bare", "branch", "next", "main")
    assert skillgit(tmp_path / "bare", "sleep", "adopt", "greeter", "--onto", "next")[0] == 0


def test_a_proposal_known_from_a_remote_can_be_adopted(two: Path, tmp_path: Path, skillgit) -> None:
    git(two, "clone", "--quiet", ".", str(tmp_path / "clone"))
    code, _, err = skillgit(tmp_path / "clone", "sleep", "adopt", f"origin/{BRANCH}")
    assert code == 0, err
    assert "metres" in (tmp_path / "clone" / SKILL).read_text()


def test_a_new_skill_is_adopted_whole_or_by_its_first_lesson(repo_dir: Path, skillgit) -> None:
    place = Place("learned", "skills/learned", "skills/learned/SKILL.md")
    text = "---\nname: learned\ndescription: Learned.\n---\n\n# Learned\n"
    night(repo_dir, lesson(DATES), lesson(UNITS), place=place, new=text)
    code, _, err = skillgit(repo_dir, "sleep", "adopt", "learned", "--lesson", "2")
    assert (code, "an earlier lesson makes it" in err) == (7, True)
    code, _, err = skillgit(repo_dir, "sleep", "adopt", "learned", "--lesson", "1")
    assert code == 0, err
    assert (repo_dir / place.document).read_text() == f"{text}\n- Write dates as YYYY-MM-DD.\n"
    git(repo_dir, "branch", "next", "HEAD~1")
    both = ("--lesson", "2", "--lesson", "1")
    code, _, err = skillgit(repo_dir, "sleep", "adopt", f"learned/{NIGHT}", "--onto", "next", *both)
    assert code == 0, err
    tip = f"sleep/learned/{NIGHT}"
    assert git(repo_dir, "rev-parse", "next:skills/learned") == git(repo_dir, "rev-parse", f"{tip}:skills/learned")


def test_two_merged_proposals_make_a_text_that_status_calls_unmeasured_until_it_is_evaluated(
    repo_dir: Path, skillgit
) -> None:
    file = repo_dir / SKILL
    file.write_text(file.read_text() + "\n" + "\n\n".join(f"- House rule {n}." for n in range(6)) + "\n")
    git(repo_dir, "commit", "--quiet", "-am", "rules")
    night(repo_dir, lesson(Edit("insert_after", "- Write dates as YYYY-MM-DD.", "- House rule 0.")))
    night(repo_dir, lesson(Edit("insert_after", "- Give lengths in metres.", "- House rule 4.")))
    assert skillgit(repo_dir, "sleep", "adopt", NAME)[0] == 0
    assert json.loads(skillgit(repo_dir, "status", "--json")[1])["unmeasured"] == []
    code, out, err = skillgit(repo_dir, "sleep", "adopt", f"{NAME}-2", "--stale")
    assert code == 0, err
    assert "skillgit eval greeter" in out
    assert {"- Write dates as YYYY-MM-DD.", "- Give lengths in metres."} <= set(file.read_text().splitlines())
    (row,) = json.loads(skillgit(repo_dir, "status", "--json")[1])["unmeasured"]
    assert (row["skill"], row["next"]) == ("greeter", "skillgit eval greeter")
    assert "never measured" in skillgit(repo_dir, "status")[1]
    assert "skillgit eval greeter" in skillgit(repo_dir, "sleep", "list")[1]
    model = ("--set", "model.backend=scripted", "--set", "model.script=script.json")
    code, _, err = skillgit(repo_dir, "eval", "greeter", "--split", "val", *model)
    assert code == 0, err
    assert json.loads(skillgit(repo_dir, "status", "--json")[1])["unmeasured"] == []
    assert "never measured" not in skillgit(repo_dir, "sleep", "list")[1]


def test_status_tells_of_adopted_lessons_that_were_never_measured(repo_dir: Path, skillgit) -> None:
    weak = lesson(DATES, verdict="unverified", score=None)
    night(repo_dir, weak, place=Place("CLAUDE", "CLAUDE.md", "CLAUDE.md"), new="# H\n")
    git(repo_dir, "merge", "--quiet", "--no-edit", f"sleep/CLAUDE/{NIGHT}")
    (row,) = json.loads(skillgit(repo_dir, "status", "--json")[1])["unmeasured"]
    assert (row["skill"], row["measured"], row["next"]) == ("CLAUDE", None, "skillgit sleep run --skill CLAUDE")


def _auto(folder: Path, record, branch: str = "main") -> str:
    return auto_adopt(Repository.open(folder), load_config(folder, "", (f"sleep.auto_adopt={branch}",)), record, [])


def test_auto_adopt_merges_a_verified_proposal_onto_the_named_branch_only(repo_dir: Path) -> None:
    git(repo_dir, "switch", "--quiet", "-c", "work")
    record = night(repo_dir)
    assert _auto(repo_dir, record, "") == ""
    assert "was merged onto main" in _auto(repo_dir, record)
    assert git(repo_dir, "rev-parse", "main^2") == record.tip
    assert git(repo_dir, "log", "-1", "--format=%s", "main") == f"Merge branch '{BRANCH}' into main"
    assert git(repo_dir, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("prepare", "why"),
    [
        ("checked out", "main is checked out in"),
        ("moved", "main has moved since the night began"),
        ("gone", "there is no branch nobody"),
        ("unverified", "it is not verified"),
    ],
)
def test_auto_adopt_says_why_it_does_not(repo_dir: Path, prepare: str, why: str) -> None:
    if prepare != "checked out":
        git(repo_dir, "switch", "--quiet", "-c", "work")
    weak = lesson(DATES, verdict="unverified", score=None)
    record = night(repo_dir, weak if prepare == "unverified" else lesson(DATES))
    if prepare == "moved":
        git(repo_dir, "commit", "--quiet", "--allow-empty", "-m", "more")
        git(repo_dir, "branch", "--force", "main")
    before = git(repo_dir, "for-each-ref")
    assert why in _auto(repo_dir, record, "nobody" if prepare == "gone" else "main")
    assert git(repo_dir, "for-each-ref") == before


def test_adopting_and_plain_git_pass_skillgits_own_hooks(two: Path, skillgit) -> None:
    memory = Place("CLAUDE", "CLAUDE.md", "CLAUDE.md")
    night(two, lesson(DATES), lesson(UNITS), place=memory, new="# House\n")
    assert skillgit(two, "hooks", "install")[0] == 0
    git(two, "switch", "--quiet", "-c", "picked")
    git(two, "cherry-pick", f"{BRANCH}~1", f"sleep/CLAUDE/{NIGHT}~1")
    git(two, "switch", "--quiet", "main")
    for name, *more in (("CLAUDE", "--lesson", "1"), ("CLAUDE", "--lesson", "2"), ("greeter",)):
        code, _, err = skillgit(two, "sleep", "adopt", name, *more)
        assert code == 0, err
    assert (two / "CLAUDE.md").read_text().count("- ") == 2
    assert git(two, "status", "--porcelain") == ""


def test_settings_of_the_user_change_nothing(two: Path, skillgit) -> None:
    settings = {
        "color.ui": "always",
        "commit.cleanup": "scissors",
        "diff.noprefix": "true",
        "i18n.logOutputEncoding": "latin1",
        "log.follow": "true",
        "log.showSignature": "true",
        "merge.ff": "only",
        "merge.log": "true",
        "branch.main.mergeOptions": "--squash",
    }
    for key, value in settings.items():
        git(two, "config", key, value)
    rule = Edit("append", "- Straße, naïve: „genau so“.")
    night(two, lesson(rule), date="2026-12-01")
    code, _, err = skillgit(two, "sleep", "adopt", NAME)
    assert code == 0, err
    code, _, err = skillgit(two, "sleep", "adopt", "greeter/2026-12-01", "--lesson", "1", "--stale")
    assert code == 0, err
    told = git(two, "-c", "i18n.logOutputEncoding=UTF-8", "log", "-1", "--format=%B")
    assert "    - Straße, naïve: „genau so“." in told
    git(two, "revert", "--no-edit", "HEAD")
    found = json.loads(skillgit(two, "sleep", "show", "greeter/2026-12-01", "--json")[1])
    assert [one["fate"] for one in found["lessons"]] == ["reverted"]


def test_the_merge_driver_lets_two_proposals_of_one_place_come_together(repo_dir: Path, skillgit) -> None:
    night(repo_dir, lesson(DATES))
    night(repo_dir, lesson(UNITS))
    assert skillgit(repo_dir, "init")[0] == 0
    git(repo_dir, "add", ".gitattributes")
    git(repo_dir, "commit", "--quiet", "-m", "attributes")
    assert skillgit(repo_dir, "sleep", "adopt", NAME)[0] == 0
    code, _, err = skillgit(repo_dir, "sleep", "adopt", f"{NAME}-2", "--stale")
    assert code == 0, err
    assert (repo_dir / SKILL).read_text().count("- ") == 2
