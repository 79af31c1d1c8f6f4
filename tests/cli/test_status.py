"""`skillgit status`: what agents have, how it stands to HEAD, and what was never measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgit.git.deploy import folder
from tests.conftest import git

FOLDER = ".claude/skills/greeter"
NOTHING: dict = {"runs": [], "unreadable": [], "folders": [], "unmeasured": [], "proposals": []}


def _status(skillgit, folder: Path, *args: str) -> dict:
    code, out, err = skillgit(folder, "status", *args, "--json")
    assert code == 0, err
    return json.loads(out)


def _export(skillgit, folder: Path, *args: str) -> None:
    code, _, err = skillgit(folder, "export", "greeter", *args)
    assert code == 0, err


def _branch(folder: Path) -> str:
    return git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")


def _rule(folder: Path, text: str) -> None:
    path = folder / "skills/greeter/SKILL.md"
    path.write_text(f"{path.read_text()}{text}\n")
    git(folder, "commit", "--quiet", "-am", text)


def test_a_copy_of_head_is_current_with_its_score(trained: Path, skillgit) -> None:
    _export(skillgit, trained, "--agent", "codex")
    (row,) = _status(skillgit, trained)["folders"]
    head = git(trained, "rev-parse", "HEAD:skills/greeter")
    assert row == {
        "skill": "greeter",
        "agents": ["agents", "codex"],
        "scope": "project",
        "folder": str(trained / ".agents/skills/greeter"),
        "state": "current",
        "object": head,
        "head": head,
        "versions_behind": None,
        "branch": None,
        "edited": [],
        "problem": None,
        "val": 0.0,
        "head_val": 0.0,
        "next": None,
    }


def test_a_trained_copy_is_ahead_until_its_branch_is_merged(trained: Path, skillgit) -> None:
    _export(skillgit, trained, "best", "--agent", "claude-code", "--user")
    (row,) = _status(skillgit, trained)["folders"]
    assert (row["state"], row["branch"], row["val"], row["head_val"]) == ("ahead", _branch(trained), 1.0, 0.0)
    git(trained, "merge", "--quiet", _branch(trained))
    (row,) = _status(skillgit, trained)["folders"]
    assert (row["state"], row["branch"], row["head_val"]) == ("current", None, 1.0)


def test_an_old_copy_is_behind_by_a_number_of_versions(trained: Path, skillgit) -> None:
    _export(skillgit, trained, "--agent", "cursor")
    git(trained, "merge", "--quiet", _branch(trained))
    (trained / "README").write_text("a commit that is no version")
    git(trained, "add", "README")
    git(trained, "commit", "--quiet", "-m", "readme")
    (row,) = _status(skillgit, trained)["folders"]
    assert (row["state"], row["versions_behind"], row["val"], row["head_val"]) == ("behind", 2, 0.0, 1.0)
    assert row["next"] == "skillgit export greeter --agent cursor"
    code, out, _ = skillgit(trained, "status")
    assert code == 0
    assert "behind by 2" in out
    assert "go on: skillgit export greeter --agent cursor" in out


def test_a_copy_of_a_skill_that_is_gone_is_told(repo_dir: Path, skillgit) -> None:
    skillgit(repo_dir, "export", "greeter", "--agent", "claude-code")
    git(repo_dir, "rm", "-r", "--quiet", "skills/greeter")
    git(repo_dir, "commit", "--quiet", "-m", "gone")
    (row,) = json.loads(skillgit(repo_dir, "status", "--json")[1])["folders"]
    assert (row["state"], row["head"], row["versions_behind"], row["next"]) == ("removed", None, None, None)


def test_an_edited_copy_names_its_files(repo_dir: Path, skillgit) -> None:
    _export(skillgit, repo_dir, "--agent", "claude-code")
    (repo_dir / FOLDER / "SKILL.md").write_text("mine")
    (repo_dir / FOLDER / "a\x1b[2Jb").write_text("mine")
    (row,) = _status(skillgit, repo_dir)["folders"]
    assert (row["state"], row["edited"]) == ("edited", ["SKILL.md", "a\x1b[2Jb"])
    assert row["object"] == row["head"]
    _, out, _ = skillgit(repo_dir, "status")
    assert "edited SKILL.md, a" in out
    assert "\x1b" not in out


def test_an_edited_copy_has_no_score(trained: Path, skillgit) -> None:
    _export(skillgit, trained, "--agent", "claude-code")
    (trained / FOLDER / "SKILL.md").write_text("mine")
    (row,) = _status(skillgit, trained)["folders"]
    assert (row["val"], row["head_val"]) == (None, 0.0)


def test_a_folder_of_the_same_name_is_foreign(repo_dir: Path, skillgit) -> None:
    (repo_dir / FOLDER).mkdir(parents=True)
    (repo_dir / FOLDER / "SKILL.md").write_text("theirs")
    (repo_dir / ".claude/skills/other").mkdir()
    (row,) = _status(skillgit, repo_dir)["folders"]
    assert (row["skill"], row["state"], row["object"], row["val"]) == ("greeter", "foreign", None, None)


def test_a_plain_copy_of_a_known_version_is_recognised(repo_dir: Path, skillgit) -> None:
    _export(skillgit, repo_dir, "--agent", "gemini")
    (repo_dir / ".gemini/skills/greeter/.skillgit.json").unlink()
    _rule(repo_dir, "- More.")
    (row,) = _status(skillgit, repo_dir)["folders"]
    assert (row["state"], row["versions_behind"]) == ("behind", 1)


def test_a_version_of_another_clone_is_unknown(repo_dir: Path, skillgit, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", str(repo_dir), "other")
    _rule(tmp_path / "other", "- Not pushed.")
    _export(skillgit, tmp_path / "other", "--agent", "opencode", "--user")
    (row,) = _status(skillgit, repo_dir)["folders"]
    assert (row["state"], row["scope"], row["val"]) == ("unknown", "user", None)


def test_links_are_named_and_never_followed(repo_dir: Path, skillgit, tmp_path: Path) -> None:
    (tmp_path / "outside/greeter").mkdir(parents=True)
    (repo_dir / ".cursor").mkdir()
    (repo_dir / ".cursor/skills").symlink_to(tmp_path / "outside")
    (repo_dir / ".claude/skills").mkdir(parents=True)
    (repo_dir / FOLDER).symlink_to(tmp_path / "outside/greeter")
    (row,) = _status(skillgit, repo_dir)["folders"]
    assert (row["agents"], row["state"]) == (["claude-code"], "linked")


def test_the_skills_own_folder_is_no_copy(repo_dir: Path, skillgit) -> None:
    (repo_dir / ".claude").mkdir()
    git(repo_dir, "mv", "skills", ".claude/skills")
    git(repo_dir, "commit", "--quiet", "-m", "move")
    assert _status(skillgit, repo_dir)["folders"] == []


def test_a_committed_copy_is_a_copy(repo_dir: Path, skillgit) -> None:
    _export(skillgit, repo_dir, "--agent", "claude-code")
    git(repo_dir, "add", "--all")
    git(repo_dir, "commit", "--quiet", "-m", "copy")
    _rule(repo_dir, "- More.")
    (row,) = _status(skillgit, repo_dir)["folders"]
    assert (row["folder"], row["state"]) == (str(repo_dir / FOLDER), "behind")


def test_a_folder_that_is_no_skill_costs_its_row_only(
    repo_dir: Path, skillgit, monkeypatch: pytest.MonkeyPatch
) -> None:
    _export(skillgit, repo_dir, "--agent", "codex")
    (repo_dir / FOLDER).mkdir(parents=True)
    for number in range(4):
        (repo_dir / FOLDER / str(number)).touch()
    monkeypatch.setattr(folder, "_MOST_FILES", 3)
    rows = {tuple(row["agents"]): row for row in _status(skillgit, repo_dir)["folders"]}
    assert rows["agents", "codex"]["state"] == "current"
    assert rows["claude-code",]["state"] == "unreadable"
    assert "more than 3 files" in rows["claude-code",]["problem"]


@pytest.mark.parametrize("path", ["../../etc", "skills/\ngone", ":(top)skills"])
def test_a_path_from_outside_is_only_a_path(repo_dir: Path, skillgit, path: str) -> None:
    _export(skillgit, repo_dir, "--agent", "claude-code")
    mark = repo_dir / FOLDER / ".skillgit.json"
    mark.write_text(json.dumps(json.loads(mark.read_text()) | {"path": path, "skill": "stranger\x1b[2J"}))
    _, out, _ = skillgit(repo_dir, "status")
    assert "\x1b" not in out
    assert all(row["state"] == "unknown" for row in _status(skillgit, repo_dir)["folders"])


def test_only_one_skill_is_shown_when_named(trained: Path, skillgit) -> None:
    _export(skillgit, trained, "--agent", "claude-code")
    assert len(_status(skillgit, trained, "greeter")["folders"]) == 1
    assert _status(skillgit, trained, "other")["folders"] == []


def test_a_skill_nobody_measured_since_it_changed_is_told(trained: Path, skillgit) -> None:
    assert _status(skillgit, trained)["unmeasured"] == []
    git(trained, "merge", "--quiet", _branch(trained))
    _rule(trained, "- By hand.")
    (row,) = _status(skillgit, trained)["unmeasured"]
    assert row == {
        "skill": "greeter",
        "object": git(trained, "rev-parse", "HEAD:skills/greeter"),
        "measured": {
            "object": git(trained, "rev-parse", "HEAD~1:skills/greeter"),
            "commit": git(trained, "rev-parse", "HEAD~1"),
            "val": 1.0,
        },
        "next": "skillgit eval greeter",
    }
    _, out, _ = skillgit(trained, "status")
    assert "go on: skillgit eval greeter" in out


def test_a_merge_of_two_measured_versions_is_unmeasured(trained: Path, skillgit) -> None:
    tip = git(trained, "rev-parse", _branch(trained))
    git(trained, "switch", "--quiet", "-c", "other", "main")
    document = trained / "skills/greeter/SKILL.md"
    document.write_text(document.read_text().replace("# Greeter\n", "# Greeter\n\n- First.\n"))
    git(trained, "commit", "--quiet", "-am", "first")
    git(trained, "merge", "--quiet", "--no-edit", tip)
    (row,) = _status(skillgit, trained)["unmeasured"]
    assert row["measured"] == {"object": git(trained, "rev-parse", f"{tip}:skills/greeter"), "commit": tip, "val": 1.0}


def test_a_skill_that_was_never_measured_is_not_told(repo_dir: Path, skillgit) -> None:
    assert _status(skillgit, repo_dir) == NOTHING


def test_a_repository_without_commits_has_nothing(tmp_path: Path, skillgit) -> None:
    git(tmp_path, "init", "--quiet")
    assert _status(skillgit, tmp_path) == NOTHING
