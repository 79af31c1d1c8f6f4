"""`skillgit export`: where a version goes, which one it is, and what stays as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgit.git.deploy.provenance import read_provenance
from skillgit.git.objects import Commit, write_commits
from skillgit.git.repository import Repository
from skillgit.skills.agents import AGENTS
from tests.conftest import git
from tests.git.helpers import user_state


def _json(skillgit, folder: Path, *args: str) -> dict:
    code, out, err = skillgit(folder, "export", *args, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_each_agent_has_a_folder_in_the_repository_and_at_home(repo_dir: Path, skillgit, agent) -> None:
    project = _json(skillgit, repo_dir, "greeter", "--agent", agent.name)
    user = _json(skillgit, repo_dir, "greeter", "--agent", agent.name, "--user")
    assert project["folder"] == str(repo_dir / agent.project / "greeter")
    assert user["folder"] == str(Path.home() / agent.user / "greeter")
    for done in (project, user):
        assert (Path(done["folder"]) / "SKILL.md").read_text() == (repo_dir / "skills/greeter/SKILL.md").read_text()


def test_the_document_has_stable_keys(repo_dir: Path, skillgit, tmp_path: Path) -> None:
    done = _json(skillgit, repo_dir, "greeter", "--to", str(tmp_path / "out"))
    assert done == {
        "skill": "greeter",
        "name": "greeter",
        "revision": "HEAD",
        "commit": git(repo_dir, "rev-parse", "HEAD"),
        "object": git(repo_dir, "rev-parse", "HEAD:skills/greeter"),
        "val": None,
        "agent": None,
        "folder": str(tmp_path / "out/greeter"),
        "action": "installed",
        "files": ["SKILL.md"],
        "replaced": None,
        "backup": None,
        "warnings": [],
        "dry_run": False,
    }


def test_the_repository_stays_as_it_was(trained: Path, skillgit, tmp_path: Path) -> None:
    before = user_state(trained)
    _json(skillgit, trained, "greeter", "best", "--to", str(tmp_path / "out"))
    assert user_state(trained) == before


@pytest.mark.parametrize("to", ["out", "out/greeter", "out/greeter/.", "./x/../out"])
def test_to_names_a_folder_of_skills_or_the_skills_own(repo_dir: Path, skillgit, to: str) -> None:
    assert _json(skillgit, repo_dir, "greeter", "--to", to)["folder"] == str(repo_dir / "out/greeter")
    assert (repo_dir / "out/greeter/SKILL.md").is_file()


def test_a_link_that_was_named_is_not_written_through(repo_dir: Path, skillgit, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    code, _, err = skillgit(repo_dir, "export", "greeter", "--to", str(tmp_path / "link"))
    assert (code, "is a symbolic link" in err) == (4, True)
    assert _json(skillgit, repo_dir, "greeter", "--to", str(tmp_path / "link/inner"))["action"] == "installed"
    assert [path.name for path in (tmp_path / "real").iterdir()] == ["inner"]


def test_best_and_a_runs_name_mean_its_best_version(trained: Path, skillgit, tmp_path: Path) -> None:
    run = git(trained, "for-each-ref", "--format=%(refname:lstrip=4)", "refs/heads/train")
    for revision in ("best", run):
        done = _json(skillgit, trained, "greeter", revision, "--to", str(tmp_path / revision))
        assert done["commit"] == git(trained, "rev-parse", f"train/greeter/{run}")
        assert (done["revision"], done["val"]) == (revision, 1.0)
    mark = read_provenance(tmp_path / "best/greeter")
    assert mark
    assert (mark["revision"], mark["val"], mark["object"]) == ("best", 1.0, done["object"])


def test_the_folder_is_called_after_the_frontmatter(repo_dir: Path, skillgit, tmp_path: Path) -> None:
    document = repo_dir / "skills/greeter/SKILL.md"
    document.write_text(document.read_text().replace("name: greeter", "name: house-greeter"))
    git(repo_dir, "commit", "--quiet", "-am", "rename")
    assert _json(skillgit, repo_dir, "greeter", "--to", str(tmp_path))["folder"] == str(tmp_path / "house-greeter")


@pytest.mark.parametrize("name", ["../up", ".hidden", "a/b", "x\\ty", '"a\\nb"', "[a]"])
def test_a_name_that_is_no_folders_is_refused(repo_dir: Path, skillgit, tmp_path: Path, name: str) -> None:
    document = repo_dir / "skills/greeter/SKILL.md"
    document.write_text(document.read_text().replace("name: greeter", f"name: {name}"))
    git(repo_dir, "commit", "--quiet", "-am", "rename")
    code, _, err = skillgit(repo_dir, "export", "greeter", "--to", str(tmp_path / "out"))
    assert (code, "cannot name a folder" in err) == (2, True)
    assert not (tmp_path / "out").exists()


def test_a_bare_file_becomes_a_folder(repo_dir: Path, skillgit, tmp_path: Path) -> None:
    (repo_dir / "notes.md").write_bytes(b"Be brief.\r\n")
    git(repo_dir, "-c", "core.autocrlf=false", "add", "notes.md")
    git(repo_dir, "commit", "--quiet", "-m", "bare")
    done = _json(skillgit, repo_dir, "notes.md", "--to", str(tmp_path))
    assert (tmp_path / "notes/SKILL.md").read_bytes() == b"Be brief.\r\n"
    assert done["object"] == git(repo_dir, "rev-parse", "HEAD:notes.md")
    assert done["warnings"] == ["the frontmatter has no name and no description; agents may not load the skill"]
    assert _json(skillgit, repo_dir, "notes.md", "--to", str(tmp_path))["action"] == "unchanged"


def test_a_skill_at_the_top_says_that_it_is_one_file(repo_dir: Path, skillgit, tmp_path: Path) -> None:
    git(repo_dir, "mv", "skills/greeter/SKILL.md", "SKILL.md")
    git(repo_dir, "commit", "--quiet", "-m", "at the top")
    (warning,) = _json(skillgit, repo_dir, "SKILL.md", "--to", str(tmp_path))["warnings"]
    assert "only SKILL.md is the skill" in warning
    assert "skills/greeter" in warning


@pytest.mark.parametrize("key", ["path", "document", "branch"])
def test_a_journal_that_names_no_text_is_unreadable(trained: Path, skillgit, tmp_path: Path, key: str) -> None:
    ref, tip = git(trained, "for-each-ref", "--format=%(refname) %(objectname)", "refs/skillgit/runs").split()
    state = json.loads(git(trained, "show", f"{tip}:state.json")) | {key: "\ud800"}
    repo = Repository.open(trained)
    broken = write_commits(repo, [Commit("x", (tip,), {"state.json": json.dumps(state).encode()})])[0].commit
    git(trained, "update-ref", ref, broken)
    assert skillgit(trained, "export", "greeter", "best", "--to", str(tmp_path))[0] in (2, 4)
    code, out, _ = skillgit(trained, "status")
    assert (code, "unreadable" in out) == (0, True)


def test_edits_that_are_not_committed_are_told_and_left_out(repo_dir: Path, skillgit, tmp_path: Path) -> None:
    (repo_dir / "skills/greeter/SKILL.md").write_text("draft")
    code, out, err = skillgit(repo_dir, "export", "greeter", "--to", str(tmp_path))
    assert code == 0
    assert "installed" in out
    assert "changes that are not committed" in err
    assert "draft" not in (tmp_path / "greeter/SKILL.md").read_text()


def test_names_that_are_not_portable_are_told(repo_dir: Path, skillgit, tmp_path: Path) -> None:
    for name in ("aux.md", "a:b", "Readme.md", "README.md"):
        (repo_dir / "skills/greeter" / name).write_text(name)
    git(repo_dir, "add", "--all")
    git(repo_dir, "commit", "--quiet", "-m", "odd")
    told = _json(skillgit, repo_dir, "greeter", "--to", str(tmp_path))["warnings"]
    assert [line.split(": ")[0] for line in told] == ["Readme.md", "a:b", "aux.md"]


def test_an_edited_copy_needs_a_person(trained: Path, skillgit, tmp_path: Path) -> None:
    _json(skillgit, trained, "greeter", "--to", str(tmp_path))
    (tmp_path / "greeter/SKILL.md").write_text("mine")
    code, _, err = skillgit(trained, "export", "greeter", "best", "--to", str(tmp_path))
    assert code == 7
    assert "SKILL.md" in err
    assert "--force" in err
    code, out, _ = skillgit(trained, "export", "greeter", "best", "--to", str(tmp_path), "--force")
    assert code == 0
    backup = git(trained, "for-each-ref", "--format=%(refname)", "refs/skillgit/backups")
    assert f"git cherry-pick {backup}" in out
    assert git(trained, "show", f"{backup}:skills/greeter/SKILL.md") == "mine"


@pytest.mark.parametrize(
    "args", [(), ("--to", "x", "--agent", "codex"), ("--to", "x", "--user"), ("--user",), ("--agent", "emacs")]
)
def test_one_target_must_be_given(repo_dir: Path, skillgit, args: tuple[str, ...]) -> None:
    code, _, err = skillgit(repo_dir, "export", "greeter", *args)
    assert code == 2
    assert "claude-code" in err or "give either --to DIR, or --agent NAME" in err


def test_a_skill_that_was_never_merged_names_where_it_is(trained: Path, skillgit, tmp_path: Path) -> None:
    git(trained, "rm", "--quiet", "-r", "skills")
    git(trained, "commit", "--quiet", "-m", "gone")
    code, _, err = skillgit(trained, "export", "greeter", "--to", str(tmp_path))
    assert (code, "skillgit log greeter" in err) == (2, True)
    assert _json(skillgit, trained, "greeter", "best", "--to", str(tmp_path))["action"] == "installed"


def test_a_bare_repository_exports_to_the_home_folder_only(repo_dir: Path, skillgit, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repo_dir), "bare.git")
    code, _, err = skillgit(tmp_path / "bare.git", "export", "greeter", "--agent", "codex")
    assert (code, "--user" in err) == (4, True)
    assert _json(skillgit, tmp_path / "bare.git", "greeter", "--agent", "codex", "--user")["action"] == "installed"
