"""`skillgit diff` on real repositories: which skills, which sides, scores, files, renames, and its three forms."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.git.helpers import user_state


def _diff(skillgit, folder: Path, *args: str) -> list[dict[str, Any]]:
    code, out, err = skillgit(folder, "diff", *args, "--json")
    assert code == 0, err
    return json.loads(out)["skills"]


def _branch(folder: Path) -> str:
    return git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")


def _commit(folder: Path, message: str = "change") -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", message)


def _add(folder: Path, name: str, text: str = "# New\n\n- One rule.\n") -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_rules_scores_and_flipped_tasks_between_two_revisions(trained: Path, skillgit) -> None:
    (skill,) = _diff(skillgit, trained, "main", _branch(trained))
    assert (skill["path"], skill["status"]) == ("skills/greeter", "changed")
    added = [rule["after"] for rule in skill["rules"] if rule["change"] == "added"]
    assert added == ["RULE_A: answer A with a dash", "RULE_B: answer B with a dash"]
    val = skill["scores"]["val"]
    assert (val["before"]["score"], val["after"]["score"], val["change"]) == (0.0, 1.0, 1.0)
    assert val["improved"] == [f"val{n}" for n in range(6)]
    assert val["problem"] is None
    assert skill["tokens"]["after"]["on_invoke"] > skill["tokens"]["before"]["on_invoke"]
    assert skill["tokens"]["after"]["always"] == skill["tokens"]["before"]["always"] > 0


@pytest.mark.parametrize("form", ["main..{}", "main...{}"])
def test_two_revisions_in_one_word_are_taken_as_git_takes_them(trained: Path, skillgit, form: str) -> None:
    (trained / "skills/greeter/SKILL.md").write_text("# Changed on main\n")
    _commit(trained)
    (skill,) = _diff(skillgit, trained, form.format(_branch(trained)))
    removed = [rule["before"] for rule in skill["rules"] if rule["change"] == "removed"]
    assert ("# Changed on main" in removed) == ("..." not in form)


def test_histories_that_share_nothing_have_no_common_commit(repo_dir: Path, skillgit) -> None:
    git(repo_dir, "checkout", "--quiet", "--orphan", "other")
    git(repo_dir, "commit", "--quiet", "-m", "other root")
    code, _, err = skillgit(repo_dir, "diff", "main...other")
    assert code == 4
    assert "skillgit diff main other" in err


def test_without_b_the_working_tree_is_compared_and_nothing_of_the_user_moves(trained: Path, skillgit) -> None:
    with (trained / "skills/greeter/SKILL.md").open("a") as file:
        file.write("\n- Not staged.\n")
    git(trained, "add", "--all")
    (trained / "skills/greeter/references").mkdir()
    (trained / "skills/greeter/references/more.md").write_text("x" * 40)
    _add(trained, "skills/untracked")
    before = user_state(trained)
    skills = _diff(skillgit, trained, "HEAD")
    assert user_state(trained) == before
    assert [(skill["path"], skill["status"]) for skill in skills] == [
        ("skills/greeter", "changed"),
        ("skills/untracked", "added"),
    ]
    assert skills[0]["rules"][0]["after"] == "Not staged."
    assert skills[0]["files"] == [{"path": "references/more.md", "change": "added", "mode": [None, "100644"]}]
    assert (skills[0]["tokens"]["before"]["references"], skills[0]["tokens"]["after"]["references"]) == (0, 10)
    assert skills[0]["scores"]["val"]["problem"] == "after unmeasured"


def test_an_ignored_skill_is_not_part_of_the_working_tree(repo_dir: Path, skillgit) -> None:
    _add(repo_dir, "skills/private")
    (repo_dir / ".gitignore").write_text("skills/private\n")
    assert _diff(skillgit, repo_dir, "HEAD") == []
    code, out, _ = skillgit(repo_dir, "diff", "HEAD")
    assert (code, out) == (0, "no skill differs\n")


def test_a_deleted_skill_is_removed_also_when_only_the_working_tree_lost_it(repo_dir: Path, skillgit) -> None:
    shutil.rmtree(repo_dir / "skills/greeter")
    (skill,) = _diff(skillgit, repo_dir, "HEAD")
    assert (skill["status"], skill["after"]) == ("removed", None)
    assert {rule["change"] for rule in skill["rules"]} == {"removed"}


def test_a_sparse_checkout_removes_nothing(repo_dir: Path, skillgit) -> None:
    _add(repo_dir, "skills/far")
    _commit(repo_dir)
    git(repo_dir, "sparse-checkout", "set", "--no-cone", "/*", "!/skills/far/")
    assert not (repo_dir / "skills/far").exists()
    assert _diff(skillgit, repo_dir, "HEAD") == []


def test_merge_conflicts_are_named(repo_dir: Path, skillgit) -> None:
    skill = repo_dir / "skills/greeter/SKILL.md"
    git(repo_dir, "switch", "--quiet", "-c", "other")
    skill.write_text(skill.read_text().replace("No rules yet", "One rule"))
    git(repo_dir, "commit", "--quiet", "-am", "one")
    git(repo_dir, "switch", "--quiet", "main")
    skill.write_text(skill.read_text().replace("No rules yet", "Two rules"))
    git(repo_dir, "commit", "--quiet", "-am", "two")
    git(repo_dir, "merge", "--quiet", "other", check=False)
    code, _, err = skillgit(repo_dir, "diff", "HEAD")
    assert code == 4
    assert "merge conflicts" in err


def test_a_renamed_folder_is_the_same_skill_under_another_name(trained: Path, skillgit) -> None:
    git(trained, "mv", "skills/greeter", "skills/größe, neu")
    _commit(trained)
    (skill,) = _diff(skillgit, trained, "HEAD~1", "HEAD")
    assert (skill["status"], skill["old_path"], skill["path"]) == ("renamed", "skills/greeter", "skills/größe, neu")
    assert (skill["rules"], skill["before"]) == ([], skill["after"])
    assert _diff(skillgit, trained, "HEAD~1", "HEAD", "greeter") == [skill]
    _, out, _ = skillgit(trained, "diff", "HEAD~1..HEAD")
    assert out.startswith("skills/größe, neu  renamed from skills/greeter\n")


def test_other_files_and_modes_are_told(repo_dir: Path, skillgit) -> None:
    (repo_dir / "skills/greeter/run.sh").write_text("echo\n")
    (repo_dir / "skills/greeter/old.txt").write_text("old\n")
    _commit(repo_dir)
    (repo_dir / "skills/greeter/run.sh").chmod(0o755)
    (repo_dir / "skills/greeter/old.txt").unlink()
    (skill,) = _diff(skillgit, repo_dir, "HEAD")
    assert skill["files"] == [
        {"path": "old.txt", "change": "removed", "mode": ["100644", None]},
        {"path": "run.sh", "change": "mode", "mode": ["100644", "100755"]},
    ]
    _, out, _ = skillgit(repo_dir, "diff", "HEAD")
    assert "    ~ run.sh  mode 100644 -> 100755" in out


def test_two_arguments_are_two_revisions_or_a_revision_and_a_skill(trained: Path, skillgit) -> None:
    _add(trained, "skills/second")
    assert len(_diff(skillgit, trained, _branch(trained))) == 2
    assert len(_diff(skillgit, trained, _branch(trained), "greeter")) == 1
    assert len(_diff(skillgit, trained, _branch(trained), "skills/second/")) == 1
    assert len(_diff(skillgit, trained, _branch(trained), "main")) == 1
    code, _, err = skillgit(trained, "diff", "main", "nosuch")
    assert code == 2
    assert "nosuch" in err


def test_a_path_named_with_the_revision_compares_two_places(repo_dir: Path, skillgit) -> None:
    text = (repo_dir / "skills/greeter/SKILL.md").read_text()
    _add(repo_dir, "skills/second", text.replace("No rules yet.", "No rules at all yet."))
    _commit(repo_dir)
    (skill,) = _diff(skillgit, repo_dir, "HEAD:skills/greeter", "HEAD:skills/second")
    assert [rule["change"] for rule in skill["rules"]] == ["reworded"]
    assert skill["status"] == "renamed"


def test_a_bare_file_counts_when_it_is_named(repo_dir: Path, skillgit) -> None:
    (repo_dir / "notes.md").write_text("# Notes\n\n- One.\n")
    _commit(repo_dir)
    (repo_dir / "notes.md").write_text("# Notes\n\n- One.\n- Two.\n")
    assert _diff(skillgit, repo_dir, "HEAD") == []
    (skill,) = _diff(skillgit, repo_dir, "HEAD", "notes.md")
    assert [(rule["change"], rule["after"]) for rule in skill["rules"]] == [("added", "Two.")]
    assert skill["files"] == []


def test_a_bare_repository_needs_both_sides(trained: Path, tmp_path: Path, skillgit) -> None:
    bare = tmp_path / "bare.git"
    git(trained, "clone", "--quiet", "--mirror", str(trained), str(bare))
    code, _, err = skillgit(bare, "diff", "main")
    assert code == 4
    assert "name both revisions" in err
    (skill,) = _diff(skillgit, bare, "main", _branch(trained))
    assert skill["scores"]["val"]["change"] == 1.0


def test_an_unknown_revision_is_refused(repo_dir: Path, skillgit) -> None:
    assert skillgit(repo_dir, "diff", "nosuch")[0] == 4
    assert skillgit(repo_dir, "diff", "--", "--output=x", "main")[0] == 4
    assert not (repo_dir / "x").exists()


def test_records_of_other_conditions_are_not_compared(trained: Path, skillgit) -> None:
    branch = _branch(trained)
    tree = git(trained, "rev-parse", f"{branch}:skills/greeter")
    note = git(trained, "notes", "--ref=skillgit/evals", "show", tree).splitlines()
    changed = [json.dumps({**json.loads(line), "judge": "another"}) for line in note]
    git(trained, "notes", "--ref=skillgit/evals", "add", "-f", "-m", "\n".join(changed), tree)
    val = _diff(skillgit, trained, "main", branch)[0]["scores"]["val"]
    assert (val["problem"], val["change"]) == ("measured under different conditions", None)
    _, out, _ = skillgit(trained, "diff", "main", branch)
    assert "measured under different conditions" in out


def test_the_text_form_shows_words_sections_and_scores(trained: Path, skillgit) -> None:
    skill = trained / "skills/greeter/SKILL.md"
    skill.write_text(skill.read_text().replace("No rules yet.", "No written rules yet.").replace("form.", "style."))
    _, out, _ = skillgit(trained, "diff", "HEAD")
    assert out.splitlines() == [
        "skills/greeter  changed",
        "  val hard 0.000 (n=6) -> unmeasured",
        "  test hard 0.000 (n=4) -> unmeasured",
        "  tokens always-on 8, on invoke 7 -> 9 (+2)",
        "  frontmatter",
        "    ~ description: [-Answers in house form.-]{+Answers in house style.+}",
        "  Greeter",
        "    ~ [86% alike] No{+ written+} rules yet.",
    ]


def test_stat_is_one_line_for_each_skill(trained: Path, skillgit) -> None:
    _, out, _ = skillgit(trained, "diff", "main", _branch(trained), "--stat")
    assert out.startswith("skills/greeter  changed  +2  tokens always-on 8, on invoke")
    assert out.endswith("val +1.000 (6 better, 0 worse)\n")
    assert skillgit(trained, "diff", "main", "--stat", "--format", "markdown")[0] == 2


def test_text_of_a_skill_cannot_act_in_a_terminal_or_in_markdown(repo_dir: Path, skillgit) -> None:
    evil = "- @everyone <img src=x> [a](http://x) `` ```` \x1b[31m | \u202e #1\n"
    skill = repo_dir / "skills/greeter/SKILL.md"
    skill.write_text(skill.read_text() + f"\n{evil}")
    _, text, _ = skillgit(repo_dir, "diff", "HEAD")
    _, markdown, _ = skillgit(repo_dir, "diff", "HEAD", "--format", "markdown")
    for out in (text, markdown):
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert "\\x1b[31m" in out
    fence = "`````"
    before, block, after = markdown.split(f"\n{fence}")
    assert block.startswith("diff\n")
    assert "@everyone <img src=x>" in block
    assert "@everyone" not in before + after


def test_markdown_is_a_table_and_the_changes(trained: Path, skillgit) -> None:
    _, out, _ = skillgit(trained, "diff", "main", _branch(trained), "--format", "markdown")
    assert out.splitlines()[2].startswith(
        "| `skills/greeter` | changed | 0.000 (n=6) → 1.000 (n=6) (**+1.000**) | 0.000 (n=4) → 1.000 (n=4)"
    )
    assert "6 better, 0 worse" in out
    assert "+ RULE_A: answer A with a dash" in out.splitlines()
    assert skillgit(trained, "diff", "main", "main", "--format", "markdown")[1] == "No skill differs.\n"


def test_protected_regions_are_named(trained: Path, skillgit) -> None:
    region = "\n<!-- SLOW_UPDATE_START -->\nBrief.\n<!-- SLOW_UPDATE_END -->\n"
    with (trained / "skills/greeter/SKILL.md").open("a") as file:
        file.write(region)
    (rule,) = _diff(skillgit, trained, "HEAD")[0]["rules"]
    assert rule["what"] == "guidance block"
    _, out, _ = skillgit(trained, "diff", "HEAD")
    assert "+ [guidance block] <!-- SLOW_UPDATE_START -->" in out


def test_names_and_messages_that_are_no_utf8_do_not_stop_a_comparison(repo_dir: Path, skillgit) -> None:
    path = os.fsencode(repo_dir) + b"/skills/greeter/caf\xe9.txt"
    with open(path, "w") as file:  # noqa: PTH123 - a path of bytes
        file.write("x\n")
    git(repo_dir, "add", "--all")
    subprocess.run(["git", "-C", repo_dir, "commit", "--quiet", "-m", b"caf\xe9"], check=True)
    (skill,) = _diff(skillgit, repo_dir, "HEAD~1", "HEAD")
    assert [file["path"] for file in skill["files"]] == ["caf\ufffd.txt"]
    for args in (("diff", "HEAD~1", "HEAD"), ("log", "greeter", "--json"), ("show", "HEAD", "--json")):
        assert skillgit(repo_dir, *args)[0] == 0


def test_a_conflict_in_a_file_that_is_no_skill_is_no_obstacle(repo_dir: Path, skillgit) -> None:
    git(repo_dir, "switch", "--quiet", "-c", "side")
    for branch in ("side", "main"):
        git(repo_dir, "switch", "--quiet", branch)
        (repo_dir / "notes é.txt").write_text(branch)
        git(repo_dir, "add", "--all")
        git(repo_dir, "commit", "--quiet", "-m", branch)
    git(repo_dir, "merge", "--quiet", "side", check=False)
    assert git(repo_dir, "ls-files", "--unmerged")
    with (repo_dir / "skills/greeter/SKILL.md").open("a") as file:
        file.write("\n- More.\n")
    (repo_dir / "sub").mkdir()
    assert [rule["after"] for rule in _diff(skillgit, repo_dir / "sub", "HEAD")[0]["rules"]] == ["More."]
    assert git(repo_dir, "ls-files", "--unmerged"), "the user's index is as before"


def test_markdown_of_any_number_of_skills_fits_into_a_comment(repo_dir: Path, skillgit) -> None:
    for number in range(400):
        folder = repo_dir / f"skills/s{number:03}"
        folder.mkdir()
        (folder / "SKILL.md").write_text("# S\n\n" + "".join(f"- Regel {n} für {number}: “{n}”.\n" for n in range(99)))
    git(repo_dir, "add", "--all")
    git(repo_dir, "commit", "--quiet", "-m", "many")
    code, out, err = skillgit(repo_dir, "diff", "HEAD~1", "HEAD", "--format", "markdown")
    assert code == 0, err
    assert 40_000 < len(out.encode()) < 60_000
    rows, shown = out.count("\n| `skills/"), out.count("\n#### ")
    last = out.splitlines()[-1]
    assert last.startswith(f"Too long to show: the changes of {400 - shown} more skills, {400 - rows} of them")
    assert out.count("```") % 2 == 0


def test_a_revision_in_a_repository_without_commits_says_what_is_missing(tmp_path: Path, skillgit) -> None:
    git(tmp_path, "init", "--quiet")
    code, _, err = skillgit(tmp_path, "diff", "HEAD")
    assert code == 4
    assert "nothing is committed in this repository yet" in err


def test_a_name_of_both_a_branch_and_a_skill_is_said_to_be_taken_as_a_revision(repo_dir: Path, skillgit) -> None:
    git(repo_dir, "branch", "greeter")
    code, _, err = skillgit(repo_dir, "diff", "HEAD", "greeter")
    assert code == 0
    assert "greeter is taken as a revision" in err
    assert "skillgit diff HEAD skills/greeter" in err
    assert skillgit(repo_dir, "diff", "HEAD", "skills/greeter")[2] == ""
