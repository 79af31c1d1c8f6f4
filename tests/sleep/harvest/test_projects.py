"""Sessions belong to the repository around the folder they recorded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from skillgit.errors import ConfigError
from skillgit.git.repository import Repository
from skillgit.sleep.harvest.projects import Projects
from tests.conftest import git


@pytest.fixture
def worktree(repo_dir: Path, tmp_path: Path) -> Path:
    git(repo_dir, "worktree", "add", "--quiet", str(tmp_path / "elsewhere/feature"), "-b", "feature")
    return tmp_path / "elsewhere/feature"


def _projects(folder: Path, *known: Path) -> Projects:
    return Projects(Repository.open(folder), map(str, known))


def test_every_folder_of_a_repository_is_its_project(repo_dir: Path) -> None:
    projects = _projects(repo_dir)
    for cwd in (repo_dir, repo_dir / "skills/greeter", repo_dir / "gone/for/long"):
        assert projects.project_of(str(cwd)) == str(repo_dir)
        assert projects.in_scope(str(cwd), "repository") == ""


@pytest.mark.parametrize("opened", ["main", "linked"])
def test_a_linked_worktree_is_the_same_project(repo_dir: Path, worktree: Path, opened: str) -> None:
    projects = _projects(repo_dir if opened == "main" else worktree)
    for cwd in (repo_dir, worktree, worktree / "skills"):
        assert projects.project_of(str(cwd)) == str(repo_dir)
        assert projects.in_scope(str(cwd), "repository") == ""


def test_a_symlinked_checkout_is_what_it_leads_to(repo_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repo_dir, target_is_directory=True)
    assert _projects(repo_dir).in_scope(str(tmp_path / "link/skills"), "repository") == ""
    assert _projects(tmp_path / "link").in_scope(str(repo_dir), "repository") == ""


def test_a_worktree_that_is_gone_but_not_pruned_is_known(repo_dir: Path, worktree: Path) -> None:
    shutil.rmtree(worktree)
    assert _projects(repo_dir).in_scope(str(worktree / "skills"), "repository") == ""


def test_a_removed_worktree_is_known_when_it_is_remembered(repo_dir: Path, worktree: Path) -> None:
    known = _projects(repo_dir).worktrees
    assert known == {str(worktree)}
    git(repo_dir, "worktree", "remove", str(worktree))
    assert _projects(repo_dir).in_scope(str(worktree), "repository") == "other_project"
    assert _projects(repo_dir, *map(Path, known)).in_scope(str(worktree), "repository") == ""


def test_another_repository_where_a_worktree_was_is_not_ours(repo_dir: Path, worktree: Path) -> None:
    git(repo_dir, "worktree", "remove", str(worktree))
    git(repo_dir, "init", "--quiet", str(worktree))
    assert _projects(repo_dir, worktree).in_scope(str(worktree), "repository") == "other_project"


def test_neither_what_is_above_nor_a_repository_inside_is_ours(repo_dir: Path, tmp_path: Path) -> None:
    git(repo_dir, "init", "--quiet", str(repo_dir / "vendor/lib"))
    git(tmp_path, "clone", "--quiet", str(repo_dir), "other")
    git(repo_dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "other"), "sub")
    projects = _projects(repo_dir)
    for cwd in (tmp_path, repo_dir / "vendor/lib/src", repo_dir / "sub", tmp_path / "other"):
        assert projects.in_scope(str(cwd), "repository") == "other_project"
    assert projects.project_of(str(repo_dir / "sub/skills")) == str(repo_dir / "sub")
    assert _projects(repo_dir / "sub").in_scope(str(repo_dir / "sub/skills"), "repository") == ""


def test_worktrees_of_a_bare_repository_are_one_project(repo_dir: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repo_dir), "bare.git")
    for name in ("one", "two"):
        git(tmp_path / "bare.git", "worktree", "add", "--quiet", str(tmp_path / name), "-b", name)
    projects = _projects(tmp_path / "one")
    assert projects.project_of(str(tmp_path / "two")) == str(tmp_path / "bare.git")
    assert projects.in_scope(str(tmp_path / "two/skills"), "repository") == ""
    assert _projects(repo_dir).project_of(str(tmp_path / "one")) == str(tmp_path / "bare.git")


def test_a_git_folder_that_lies_elsewhere_changes_nothing(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--separate-git-dir", str(tmp_path / "store"), str(tmp_path / "work"))
    projects = _projects(tmp_path / "work")
    assert projects.project_of(str(tmp_path / "work")) == str(tmp_path / "work")
    assert projects.in_scope(str(tmp_path / "work"), "repository") == ""


def test_a_folder_in_no_repository_is_its_own_project(repo_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "loose/deep").mkdir(parents=True)
    (tmp_path / "loose/.git").write_text("gitdir: /nowhere\n")
    projects = _projects(repo_dir)
    assert projects.project_of(str(tmp_path / "loose/deep")) == str(tmp_path / "loose/deep")
    assert projects.project_of(r"C:\work\shop") == r"C:\work\shop"
    assert projects.in_scope(r"C:\work\shop", "repository") == "other_project"
    assert projects.in_scope("", "repository") == "no_project"
    assert projects.in_scope("", "all") == ""


@pytest.mark.parametrize("cwd", ["/a\0b", "/\ud800x", "/" + "x" * 300, "/" + "ab/" * 3000, "/dev/null/x"])
@pytest.mark.parametrize("scope", ["repository", "/work"])
def test_a_folder_that_cannot_be_is_no_project_of_ours(repo_dir: Path, cwd: str, scope: str) -> None:
    assert _projects(repo_dir).in_scope(cwd, scope) == "other_project"


def test_scope_takes_folders_with_the_worktrees_of_what_is_in_them(
    repo_dir: Path, worktree: Path, tmp_path: Path
) -> None:
    projects = _projects(repo_dir)
    scope = f"{repo_dir}, {tmp_path / 'not/there/yet'}"
    assert projects.in_scope(str(repo_dir / "skills"), scope) == ""
    assert projects.in_scope(str(worktree), scope) == ""
    assert projects.in_scope(str(tmp_path / "not/there/yet"), scope) == ""
    assert projects.in_scope(f"{repo_dir}-2", scope) == "other_project"
    assert projects.in_scope(str(tmp_path), scope) == "other_project"
    assert projects.in_scope(str(repo_dir / "skills"), "skills") == ""
    assert projects.in_scope(str(repo_dir / "evals"), "skills") == "other_project"
    assert projects.in_scope("", scope) == "no_project"


@pytest.mark.parametrize("scope", ["repo", "", " , "])
def test_a_scope_that_names_no_folder_is_an_error(repo_dir: Path, scope: str) -> None:
    with pytest.raises(ConfigError, match=r"sleep\.scope"):
        _projects(repo_dir).in_scope(str(repo_dir), scope)


def test_colliding_encoded_names_are_kept_apart(tmp_path: Path) -> None:
    for name in ("my_app", "my-app"):
        git(tmp_path, "init", "--quiet", name)
    projects = _projects(tmp_path / "my_app")
    assert projects.in_scope(str(tmp_path / "my_app"), "repository") == ""
    assert projects.in_scope(str(tmp_path / "my-app"), "repository") == "other_project"
