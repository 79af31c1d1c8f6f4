"""Whatever a person does with plain git, the state of a proposal says so."""

from __future__ import annotations

from pathlib import Path

from skillgit.git.repository import Repository
from skillgit.skills.edits import Edit
from skillgit.sleep.proposals.rejected import is_known, read
from skillgit.sleep.proposals.states import foreign, proposals
from tests.conftest import git
from tests.git.helpers import cherry_pick, squash
from tests.sleep.proposals.nights import DATES, NIGHT, UNITS, lesson, night

BRANCH = f"sleep/greeter/{NIGHT}"
SKILL = "skills/greeter/SKILL.md"


def fates(found) -> list[str]:
    return [one.fate for one in found.lessons]


def edit_file(folder: Path, old: str, new: str) -> None:
    file = folder / SKILL
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def commit(folder: Path, *args: str) -> None:
    git(folder, "commit", "--quiet", "-a", *(args or ("-m", "by hand")))


def test_a_new_proposal_is_open(two: Path, state) -> None:
    found = state()
    assert (found.status, found.branch, found.edited, found.stale, fates(found)) == (
        "open",
        BRANCH,
        False,
        False,
        ["open", "open"],
    )
    assert [one.rule for one in found.waiting] == [DATES.content, UNITS.content]


def test_merged(two: Path, state) -> None:
    git(two, "merge", "--quiet", "--no-ff", "--no-edit", BRANCH)
    assert state().status == "adopted"
    git(two, "branch", "-d", BRANCH)
    found = state()
    assert (found.status, fates(found), found.waiting) == ("adopted", ["adopted", "adopted"], ())
    assert found.lessons[0].commit == found.record.lessons[0].commit


def test_fast_forwarded(two: Path, state) -> None:
    git(two, "merge", "--quiet", "--ff-only", BRANCH)
    assert state().status == "adopted"


def test_squash_merged(two: Path, state) -> None:
    squash(two, BRANCH)
    git(two, "branch", "-D", BRANCH)
    assert state().status == "adopted"


def test_cherry_picked(two: Path, state) -> None:
    git(two, "commit", "--quiet", "--allow-empty", "-m", "elsewhere")
    cherry_pick(two, f"{BRANCH}~1")
    found = state()
    assert (found.status, fates(found)) == ("partly adopted", ["adopted", "open"])
    assert [one.rule for one in found.waiting] == [UNITS.content]
    cherry_pick(two, BRANCH)
    assert state().status == "adopted"


def test_rebased_and_merged(two: Path, state) -> None:
    (two / "other.txt").write_text("x")
    git(two, "add", "other.txt")
    git(two, "commit", "--quiet", "-m", "other")
    git(two, "switch", "--quiet", BRANCH)
    git(two, "rebase", "--quiet", "main")
    assert (state().status, state().edited) == ("open", True)
    git(two, "switch", "--quiet", "main")
    git(two, "merge", "--quiet", BRANCH)
    assert state().status == "adopted"


def test_amended_by_the_reviewer_and_squashed(two: Path, state) -> None:
    git(two, "switch", "--quiet", BRANCH)
    edit_file(two, "Give lengths in metres", "Always give the lengths in metres")
    commit(two, "--amend", "--no-edit")
    git(two, "switch", "--quiet", "main")
    assert (state().status, state().edited) == ("open", True)
    squash(two, BRANCH)
    assert fates(state()) == ["adopted", "adopted"]


def test_rewritten_by_the_reviewer_and_merged(two: Path, state) -> None:
    git(two, "switch", "--quiet", BRANCH)
    edit_file(two, "- Give lengths in metres.", "- SI units only.")
    commit(two, "--amend", "--no-edit")
    git(two, "switch", "--quiet", "main")
    git(two, "merge", "--quiet", "--no-ff", "--no-edit", BRANCH)
    assert fates(state()) == ["adopted", "adopted"]


def test_a_lesson_that_the_reviewer_took_out_before_merging_is_not_wanted(two: Path, state) -> None:
    git(two, "switch", "--quiet", BRANCH)
    git(two, "reset", "--quiet", "--hard", "HEAD~1")
    git(two, "switch", "--quiet", "main")
    git(two, "merge", "--quiet", "--no-ff", "--no-edit", BRANCH)
    found = state()
    assert (found.status, fates(found)) == ("partly adopted", ["adopted", "dropped"])
    assert [row.rule for row in read(Repository.open(two), "greeter")] == [UNITS.content]


def test_the_rule_written_by_hand_counts(two: Path, state) -> None:
    with (two / SKILL).open("a") as file:
        file.write("\n- Write dates as YYYY-MM-DD.\n")
    commit(two)
    found = state()
    assert (found.status, fates(found), found.lessons[0].commit) == ("partly adopted", ["adopted", "open"], "")


def test_a_rule_that_stood_before_the_night_is_not_adopted_by_it(repo_dir: Path, state) -> None:
    with (repo_dir / SKILL).open("a") as file:
        file.write("\nWrite dates as YYYY-MM-DD.\n")
    commit(repo_dir)
    night(repo_dir, lesson(DATES))
    assert state().status == "open"


def test_deleting_the_branch_turns_its_lessons_down(two: Path, state) -> None:
    git(two, "branch", "-D", BRANCH)
    found = state()
    assert (found.status, fates(found), found.waiting) == ("deleted", ["dropped", "dropped"], ())
    rows = read(Repository.open(two), "greeter")
    assert [(row.rule, row.reason, row.by, row.night) for row in rows] == [
        (DATES.content, "branch deleted", "deleted", NIGHT),
        (UNITS.content, "branch deleted", "deleted", NIGHT),
    ]
    assert is_known("- Please write the dates as YYYY-MM-DD", [row.rule for row in rows])


def test_reverting_a_lesson_turns_it_down(two: Path, state) -> None:
    git(two, "merge", "--quiet", "--no-ff", "--no-edit", BRANCH)
    git(two, "revert", "--no-edit", "HEAD^2")
    found = state()
    assert (found.status, fates(found)) == ("partly adopted", ["adopted", "reverted"])
    assert [row.reason for row in read(Repository.open(two), "greeter")] == ["adopted, and reverted"]
    git(two, "revert", "--no-edit", "HEAD")
    assert fates(state()) == ["adopted", "adopted"]


def test_a_stale_base_is_told_and_an_unrelated_change_is_none(two: Path, state) -> None:
    (two / "script.json").write_text("{}")
    commit(two)
    assert state().status == "open"
    edit_file(two, "No rules yet.", "One rule: be kind.")
    commit(two)
    assert (state().status, state().stale) == ("stale", True)
    assert len(state().waiting) == 2


def test_rebasing_a_stale_proposal_makes_it_fit_again(two: Path, state) -> None:
    edit_file(two, "# Greeter", "# The greeter")
    commit(two)
    git(two, "switch", "--quiet", BRANCH)
    git(two, "rebase", "--quiet", "main")
    git(two, "switch", "--quiet", "main")
    assert (state().status, state().edited) == ("open", True)


def test_looking_at_a_proposal_is_not_taking_it(two: Path, state) -> None:
    git(two, "switch", "--quiet", BRANCH)
    assert state().status == "open"
    git(two, "switch", "--quiet", "--detach")
    assert state().status == "open"
    git(two, "worktree", "add", "--quiet", str(two.parent / "look"), "main")
    assert state(two.parent / "look").status == "open"


def test_what_main_has_counts_on_another_branch(two: Path, state) -> None:
    git(two, "switch", "--quiet", "-c", "feature")
    git(two, "switch", "--quiet", "main")
    git(two, "merge", "--quiet", "--no-ff", "--no-edit", BRANCH)
    git(two, "switch", "--quiet", "feature")
    assert state().status == "adopted"


def test_a_later_night_supersedes(two: Path) -> None:
    night(two, lesson(DATES), supersedes=(NIGHT,))
    old, new = proposals(Repository.open(two))
    assert (old.status, new.status) == ("superseded", "open")
    assert old.waiting == ()
    git(two, "branch", "-D", BRANCH)
    assert proposals(Repository.open(two))[0].status == "superseded"
    assert read(Repository.open(two), "greeter") == []


def test_a_clone_sees_proposals_of_its_remote_without_the_record(two: Path, tmp_path: Path, state) -> None:
    git(two, "clone", "--quiet", ".", str(tmp_path / "clone"))
    found = state(tmp_path / "clone")
    assert (found.status, found.branch, found.recorded) == ("open", f"origin/{BRANCH}", False)
    assert [one.lesson.rule for one in found.lessons] == ["- Write dates as YYYY-MM-DD.", "- Give lengths in metres."]
    assert found.record.document == SKILL
    git(tmp_path / "clone", "merge", "--quiet", "--no-ff", "--no-edit", f"origin/{BRANCH}")
    assert state(tmp_path / "clone").status == "adopted"


def test_a_merge_on_the_remote_is_seen_after_fetching(two: Path, tmp_path: Path, state) -> None:
    git(two, "clone", "--quiet", "--bare", ".", str(tmp_path / "hub"))
    git(tmp_path / "hub", "fetch", "--quiet", str(two), "+refs/skillgit/*:refs/skillgit/*")
    git(two, "remote", "add", "origin", str(tmp_path / "hub"))
    git(tmp_path, "clone", "--quiet", str(tmp_path / "hub"), "colleague")
    git(tmp_path / "colleague", "merge", "--quiet", "--no-ff", "--no-edit", f"origin/{BRANCH}")
    git(tmp_path / "colleague", "push", "--quiet", "origin", "HEAD:main")
    git(two, "fetch", "--quiet", "origin")
    git(two, "remote", "set-head", "origin", "main")
    assert state().status == "adopted"


def test_a_night_of_another_machine_whose_branch_never_came_is_elsewhere(two: Path, tmp_path: Path, state) -> None:
    git(two, "clone", "--quiet", ".", str(tmp_path / "clone"))
    git(tmp_path / "clone", "fetch", "--quiet", "origin", "refs/skillgit/nights/*:refs/skillgit/nights/*")
    git(tmp_path / "clone", "update-ref", "-d", f"refs/remotes/origin/{BRANCH}")
    assert state(tmp_path / "clone").status == "elsewhere"
    assert read(Repository.open(tmp_path / "clone"), "greeter") == []


def test_branches_made_by_hand_are_foreign(two: Path) -> None:
    git(two, "branch", "sleep/greeter/mine")
    git(two, "branch", "sleep/greeter/2026-01-01")
    repo = Repository.open(two)
    assert foreign(repo) == ["sleep/greeter/2026-01-01", "sleep/greeter/mine"]
    assert [state.name for state in proposals(repo)] == [f"greeter/{NIGHT}"]


def test_removing_and_rewording_rules_are_recognised(repo_dir: Path, state) -> None:
    with (repo_dir / SKILL).open("a") as file:
        file.write("\n- Shout.\n\n- Dates are day first.\n")
    commit(repo_dir)
    night(
        repo_dir,
        lesson(Edit("delete", target="- Shout.\n\n")),
        lesson(Edit("replace", "- Dates are year first.", "- Dates are day first.")),
    )
    assert fates(state()) == ["open", "open"]
    squash(repo_dir, BRANCH)
    assert fates(state()) == ["adopted", "adopted"]


def test_a_skill_that_was_renamed_or_removed_since_is_stale_and_costs_nothing(two: Path, state) -> None:
    git(two, "mv", "skills/greeter", "skills/host")
    commit(two)
    assert state().status == "stale"


def test_two_proposals_of_the_same_text_do_not_disturb_each_other(repo_dir: Path) -> None:
    night(repo_dir, lesson(DATES))
    night(repo_dir, lesson(UNITS))
    git(repo_dir, "merge", "--quiet", "--no-ff", "--no-edit", BRANCH)
    first, second = proposals(Repository.open(repo_dir))
    assert (first.status, second.status) == ("adopted", "stale")


def test_it_works_in_a_bare_repository(two: Path, tmp_path: Path, state) -> None:
    git(two, "clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    assert state(tmp_path / "bare").status == "open"


def test_a_further_branch_counts_when_it_is_named(two: Path) -> None:
    git(two, "switch", "--quiet", "-c", "nightly")
    git(two, "merge", "--quiet", "--no-ff", "--no-edit", BRANCH)
    git(two, "switch", "--quiet", "main")
    repo = Repository.open(two)
    assert proposals(repo)[0].status == "open"
    assert proposals(repo, also=("nightly", ""))[0].status == "adopted"
    git(two, "branch", "-D", BRANCH)
    assert read(repo, "greeter", also=("nightly",)) == []


def test_a_night_of_the_same_name_in_another_clone_is_another_one(repo_dir: Path, tmp_path: Path, state) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", str(repo_dir), str(other))
    night(other, lesson(UNITS, sessions=("a" * 12,)))
    night(repo_dir, lesson(DATES))
    git(other, "push", "--quiet", "origin", f"{BRANCH}:refs/heads/theirs")
    git(repo_dir, "merge", "--quiet", "--no-edit", "theirs")
    assert [one.fate for one in state().lessons] == ["open"]
    assert [one.fate for one in state(other).lessons] == ["open"]
    git(other, "pull", "--quiet")
    assert [one.fate for one in state(other).lessons] == ["adopted"]
