"""`skillgit revert` on what a training run made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgit.report.revert import line
from tests.conftest import SCRIPTED, git
from tests.git.helpers import Skillgit, user_state

SKILL = "skills/greeter/SKILL.md"


@pytest.fixture
def merged(trained: Path) -> Path:
    """The finished run merged into main, which is checked out: RULE_A by step 1, RULE_B by step 4."""
    branch = git(trained, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")
    git(trained, "merge", "--quiet", "--ff-only", branch)
    return trained


def rule(folder: Path, word: str) -> str:
    """The commit that brought a rule."""
    return git(folder, "log", "--format=%H", f"-S{word}", "--", SKILL).split()[-1]


def _json(skillgit: Skillgit, folder: Path, *args: str, code: int = 0) -> dict:
    got, out, err = skillgit(folder, *args, "--json")
    assert got == code, err
    return json.loads(out)


def test_undoing_an_accepted_rule_brings_the_old_score_back(merged: Path, skillgit: Skillgit) -> None:
    commit = rule(merged, "RULE_B")
    code, out, err = skillgit(merged, "revert", commit)
    assert code == 0, err
    assert "-- RULE_B: answer B with a dash" in out
    assert "predicted  val hard 0.500 (n=6), -0.500 from now; 3 regressed (val1, val3, val5)" in out
    assert git(merged, "log", "-1", "--format=%B").splitlines() == [
        'skill(greeter): revert "add "RULE_B: answer B with a dash""',
        "",
        f"This reverts commit {commit}.",
    ]
    assert git(merged, "rev-parse", "HEAD:skills/greeter") == git(merged, "rev-parse", f"{commit}~:skills/greeter")
    assert git(merged, "status", "--porcelain") == ""
    record = _json(skillgit, merged, "eval", "greeter", *SCRIPTED)
    assert (record["hard"], record["n"]) == (0.5, 6)


def test_an_earlier_rule_goes_while_the_one_below_it_stays(merged: Path, skillgit: Skillgit) -> None:
    before, commit = (merged / SKILL).read_text(), rule(merged, "RULE_A")
    git(merged, "revert", "--no-edit", commit, check=False)
    assert git(merged, "ls-files", "--unmerged"), "git's own merge, line by line, cannot do it"
    git(merged, "revert", "--abort")
    told = _json(skillgit, merged, "revert", commit)
    assert (told["status"], told["predicted"]) == ("reverted", None)
    assert (merged / SKILL).read_text() == before.replace("- RULE_A: answer A with a dash\n\n", "")
    assert told["object"] == git(merged, "rev-parse", "HEAD:skills/greeter")
    record = _json(skillgit, merged, "eval", "greeter", *SCRIPTED)
    assert (record["hard"], record["skill"]) == (0.5, told["object"])


def test_what_was_never_measured_names_the_command_that_measures_it(merged: Path, skillgit: Skillgit) -> None:
    _, out, _ = skillgit(merged, "revert", rule(merged, "RULE_A"), "--dry-run")
    assert "predicted  unmeasured until: skillgit eval greeter" in out


def test_a_dry_run_tells_the_object_and_changes_nothing(merged: Path, skillgit: Skillgit) -> None:
    commit = rule(merged, "RULE_A")
    before, objects = user_state(merged), git(merged, "count-objects", "-v")
    planned = _json(skillgit, merged, "revert", commit, "--dry-run")
    assert (user_state(merged), git(merged, "count-objects", "-v")) == (before, objects)
    assert (planned["status"], planned["commit"]) == ("planned", None)
    done = _json(skillgit, merged, "revert", commit)
    assert {**planned, "status": "reverted", "commit": git(merged, "rev-parse", "HEAD")} == done


def test_undoing_twice_is_nothing_to_do(merged: Path, skillgit: Skillgit) -> None:
    commit = rule(merged, "RULE_A")
    assert skillgit(merged, "revert", commit)[0] == 0
    before = user_state(merged)
    code, out, _ = skillgit(merged, "revert", commit)
    assert (code, out) == (0, f"nothing to do: {commit[:12]} is undone already\n")
    assert user_state(merged) == before


def test_undoing_the_undoing_brings_the_rule_back(merged: Path, skillgit: Skillgit) -> None:
    was = git(merged, "rev-parse", "HEAD:skills/greeter")
    assert skillgit(merged, "revert", rule(merged, "RULE_B"))[0] == 0
    told = _json(skillgit, merged, "revert", "HEAD")
    assert (told["object"], told["predicted"]["change"]) == (was, 0.5)
    assert len(git(merged, "log", "-1", "--format=%s")) <= 72


def test_a_rule_reworded_since_is_left_to_a_person(merged: Path, skillgit: Skillgit) -> None:
    commit = rule(merged, "RULE_A")
    text = (merged / SKILL).read_text()
    (merged / SKILL).write_text(text.replace("RULE_A: answer A with a dash", "RULE_A: answer A with two dashes"))
    git(merged, "commit", "--quiet", "-am", "reword")
    before = user_state(merged)
    code, out, err = skillgit(merged, "revert", commit)
    assert code == 7
    assert "two dashes" in out
    assert "<<<<<<<" in out
    assert "RULE_B" not in out
    assert f"git revert {commit[:12]}" in err
    told = _json(skillgit, merged, "revert", commit, code=7)
    assert (told["status"], told["object"], len(told["conflicts"][0]["hunks"])) == ("conflict", None, 1)
    assert user_state(merged) == before


def test_a_merge_names_the_lessons_that_it_brought(merged: Path, skillgit: Skillgit) -> None:
    lessons = git(merged, "log", "--format=%h", "-2").split()
    git(merged, "reset", "--quiet", "--hard", "HEAD~2")
    branch = git(merged, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")
    git(merged, "merge", "--quiet", "--no-ff", "-m", "skill(greeter): lessons", branch)
    code, _, err = skillgit(merged, "revert", "HEAD")
    assert code == 2
    assert all(lesson in err for lesson in lessons)
    assert f"skillgit revert {lessons[0]}" in err


def test_a_commit_of_a_person_needs_no_name_unless_it_changed_several_skills(merged: Path, skillgit: Skillgit) -> None:
    (merged / SKILL).write_text((merged / SKILL).read_text() + "\n- By hand.\n")
    git(merged, "commit", "--quiet", "-am", "by hand")
    assert _json(skillgit, merged, "revert", "HEAD")["predicted"]["hard"] == 1.0
    (merged / SKILL).write_text((merged / SKILL).read_text() + "\n- By hand.\n")
    (merged / "skills/other").mkdir()
    (merged / "skills/other/SKILL.md").write_text("# Other\n")
    git(merged, "add", "--all")
    git(merged, "commit", "--quiet", "-m", "two at once")
    code, _, err = skillgit(merged, "revert", "HEAD")
    assert code == 2
    assert "skills/greeter, skills/other" in err
    assert _json(skillgit, merged, "revert", "HEAD", "greeter")["predicted"]["hard"] == 1.0


def test_text_of_others_cannot_steer_the_terminal(merged: Path, skillgit: Skillgit) -> None:
    (merged / SKILL).write_text((merged / SKILL).read_text() + "\n- \x1b[2J\x07 wiped\n")
    git(merged, "commit", "--quiet", "-am", "skill(greeter): wipe")
    code, out, _ = skillgit(merged, "revert", "HEAD", "--dry-run")
    assert code == 0
    assert "wiped" in out
    assert not {"\x1b", "\x07"} & set(out)


def test_an_undoing_that_was_undone_does_not_count_as_one(merged: Path, skillgit: Skillgit) -> None:
    commit = rule(merged, "RULE_A")
    assert skillgit(merged, "revert", commit)[0] == 0
    assert skillgit(merged, "revert", "HEAD")[0] == 0
    text = (merged / SKILL).read_text()
    (merged / SKILL).write_text(text.replace("RULE_A: answer A with a dash", "RULE_A: answer A with two dashes"))
    git(merged, "commit", "--quiet", "-am", "reword")
    assert skillgit(merged, "revert", commit)[0] == 7


def test_a_commit_that_renamed_the_skill_is_for_git(merged: Path, skillgit: Skillgit) -> None:
    git(merged, "mv", "skills/greeter", "skills/host")
    git(merged, "commit", "--quiet", "-m", "rename")
    code, _, err = skillgit(merged, "revert", "HEAD")
    assert code == 2
    assert "renamed the skill" in err
    assert "git rm" not in err
    assert f"git revert {git(merged, 'rev-parse', 'HEAD')[:12]}" in err


def test_the_conflict_is_shown_at_the_rule_that_was_reworded(merged: Path, skillgit: Skillgit) -> None:
    text = (merged / SKILL).read_text()
    (merged / SKILL).write_text(text + "\n- Note 9.\n")
    git(merged, "commit", "--quiet", "-am", "note 9")
    (merged / SKILL).write_text(text + "\n- Note 9, reworded.\n- Note 10.\n- Note 11.\n")
    git(merged, "commit", "--quiet", "-am", "more notes")
    code, out, _ = skillgit(merged, "revert", "HEAD~1")
    assert code == 7
    assert "Note 9, reworded." in out
    assert "Note 10." not in out


def test_of_many_tasks_only_the_first_are_named() -> None:
    told = {"split": "val", "metric": "hard", "score": 0.0, "n": 99, "complete": True, "change": -1.0, "improved": []}
    text = line(told | {"regressed": [f"t{n}" for n in range(99)]})
    assert text.endswith("99 regressed (t0, t1, t2, t3, t4, t5, t6, t7, … 91 more)")


def test_the_keys_of_the_document_stay_the_same(merged: Path, skillgit: Skillgit) -> None:
    told = _json(skillgit, merged, "revert", "HEAD", "--dry-run")
    assert set(told) == {
        *("skill", "reverts", "subject", "status", "commit", "object", "patch", "predicted", "conflicts"),
    }
    assert set(told["predicted"]) == {
        *("split", "hard", "soft", "score", "metric", "n", "complete", "id", "at"),
        *("before", "change", "improved", "regressed"),
    }
