"""Hooks go where git looks, run what was there before, and leave no trace when they are removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.errors import GitError
from skillgit.git.hooks.install import NAMES, carry_out, plan_install, plan_uninstall
from skillgit.git.hooks.state import standings
from skillgit.git.repository import Repository
from tests.conftest import git
from tests.git.hooks import SECRET, commit, framework, husky, install, run_git, script, snapshot, states, uninstall

# --- layouts: each prepares a repository and returns the folder that is worked in


def _plain(folder: Path) -> Path:
    return folder


def _no_folder(folder: Path) -> Path:
    shutil.rmtree(folder / ".git/hooks")
    return folder


def _foreign(folder: Path) -> Path:
    script(folder / ".git/hooks/pre-push", "cat >pushed", 0o700)
    script(folder / ".git/hooks/commit-msg", "exit 1", 0o644)
    (folder / ".git/hooks/post-merge").symlink_to("../../tool.sh")
    return folder


def _tracked(folder: Path) -> Path:
    script(folder / ".githooks/commit-msg", "echo mine")
    git(folder, "config", "core.hooksPath", ".githooks")
    return folder


def _outside(folder: Path) -> Path:
    outer = folder.parent / "outer"
    script(outer / "commit-msg", "echo outer")
    script(outer / "prepare-commit-msg", "echo prepared")
    with (folder / ".git/config").open("a") as config:
        config.write(f'[core]\n  hooksPath   = "{outer}"  # ours\n')
    return folder


def _global(folder: Path) -> Path:
    outer = folder.parent / "outer"
    script(outer / "commit-msg", "echo outer")
    script(outer / "post-checkout", "echo out")
    git(folder, "config", "--global", "core.hooksPath", str(outer))
    return folder


def _of_worktree(folder: Path) -> Path:
    script(folder.parent / "outer/commit-msg", "echo outer")
    git(folder, "config", "extensions.worktreeConfig", "true")
    git(folder, "config", "--worktree", "core.hooksPath", str(folder.parent / "outer"))
    return folder


def _linked_folder(folder: Path) -> Path:
    shared = folder.parent / "outer"
    script(shared / "commit-msg", "echo outer")
    shutil.rmtree(folder / ".git/hooks")
    (folder / ".git/hooks").symlink_to(shared)
    return folder


def _husky(folder: Path) -> Path:
    husky(folder, *NAMES)
    script(folder / ".husky/pre-push", "cat >pushed\nexit 0", 0o644)
    (folder / ".husky/commit-msg").write_bytes(b"echo mine")
    return folder


def _worktree(folder: Path) -> Path:
    git(folder, "worktree", "add", "--quiet", str(folder.parent / "linked"))
    script(folder / ".git/hooks/pre-commit", "exit 0")
    return folder.parent / "linked"


def _bare(folder: Path) -> Path:
    git(folder, "clone", "--quiet", "--bare", ".", str(folder.parent / "bare.git"))
    return folder.parent / "bare.git"


def _framework(folder: Path) -> Path:
    framework(folder, "commit-msg")
    return folder


LAYOUTS: list[Callable[[Path], Path]] = [
    _plain,
    _no_folder,
    _foreign,
    _tracked,
    _outside,
    _global,
    _of_worktree,
    _linked_folder,
    _husky,
    _worktree,
    _bare,
    _framework,
]


def traces(folder: Path) -> dict[str, object]:
    """Everything that hooks could be left in: the git folder's hooks and configuration, the files, the outer folder."""
    top = folder.parent
    common = Path(git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir"))
    places = [common / "hooks", common / "config", common / "config.worktree", common / "skillgit-hooks", top / "outer"]
    return snapshot(*places, folder / ".githooks", folder / ".husky", Path(os.environ["GIT_CONFIG_GLOBAL"]))


@pytest.mark.parametrize("layout", LAYOUTS)
class TestEveryLayout:
    def test_uninstall_leaves_no_trace(self, layout: Callable[[Path], Path], repo_dir: Path) -> None:
        folder = layout(repo_dir)
        before = traces(folder)
        install(folder)
        assert traces(folder) != before
        uninstall(folder)
        assert traces(folder) == before

    def test_one_hook_after_the_other_can_be_removed(self, layout: Callable[[Path], Path], repo_dir: Path) -> None:
        folder = layout(repo_dir)
        before = traces(folder)
        install(folder)
        for name in NAMES:
            uninstall(folder, name)
        assert traces(folder) == before

    def test_every_hook_is_run_and_again_there_is_nothing_to_do(
        self, layout: Callable[[Path], Path], repo_dir: Path
    ) -> None:
        folder = layout(repo_dir)
        assert plan_uninstall(Repository.open(folder)) == []
        assert set(states(folder)[0].values()) == {"missing"}
        install(folder)
        assert plan_install(Repository.open(folder)) == []
        for found in states(folder):
            assert set(found.values()) <= {"ours", "chained"}

    def test_a_secret_in_the_message_stops_the_commit(self, layout: Callable[[Path], Path], repo_dir: Path) -> None:
        folder = layout(repo_dir)
        if layout is _bare:
            pytest.skip("nothing is committed in a bare repository")
        install(folder, "commit-msg")
        code, out = commit(folder, f"words\n\n{SECRET}")
        assert (code, "GitHub token" in out, SECRET in out) == (1, True, False)
        assert commit(folder)[0] == 0


def test_a_plan_alone_changes_nothing(repo_dir: Path) -> None:
    before = traces(_foreign(repo_dir))
    assert [change.verb for change in plan_install(Repository.open(repo_dir), ["pre-push"])] == ["rename", "write"]
    assert traces(repo_dir) == before


def test_a_hook_that_was_there_runs_first_and_its_failure_stops(repo_dir: Path) -> None:
    script(repo_dir / ".git/hooks/commit-msg", 'echo "first $0 $#"; exit "$STATUS"')
    install(repo_dir, "commit-msg")
    assert states(repo_dir, "commit-msg") == [{"commit-msg": "chained"}]
    code, out = commit(repo_dir, SECRET, STATUS="1")
    assert (code, "GitHub token" in out) == (1, False)
    code, out = commit(repo_dir, SECRET, STATUS="0")
    assert code == 1
    assert out.index("first .git/hooks/commit-msg.before-skillgit 1") < out.index("GitHub token")


def test_a_tracked_hook_that_git_brings_back_is_no_trouble(repo_dir: Path) -> None:
    _tracked(repo_dir)
    git(repo_dir, "add", "--all")
    git(repo_dir, "commit", "--quiet", "-m", "hooks")
    before = traces(repo_dir)
    install(repo_dir, "commit-msg")
    git(repo_dir, "checkout", "--", ".githooks")
    assert states(repo_dir, "commit-msg") == [{"commit-msg": "missing"}]
    install(repo_dir, "commit-msg")
    assert states(repo_dir, "commit-msg") == [{"commit-msg": "chained"}]
    git(repo_dir, "checkout", "--", ".githooks")
    uninstall(repo_dir)
    assert traces(repo_dir) == before


class TestTheOuterFolder:
    """A core.hooksPath that is not this repository's is neither written to nor unset; its hooks all still run."""

    @pytest.mark.parametrize("layout", [_outside, _global])
    def test_its_hooks_run_too(self, layout: Callable[[Path], Path], repo_dir: Path) -> None:
        folder = layout(repo_dir)
        outer = snapshot(folder.parent / "outer")
        install(folder, "commit-msg")
        code, out = commit(folder, SECRET)
        assert (code, "outer" in out, "GitHub token" in out) == (1, True, True)
        assert snapshot(folder.parent / "outer") == outer
        if layout is _outside:
            assert "prepared" in out
        else:
            assert "out" in run_git(folder, "switch", "-c", "other")[1]

    def test_the_setting_of_the_user_stays(self, repo_dir: Path) -> None:
        _outside(repo_dir)
        before = (repo_dir / ".git/config").read_text()
        install(repo_dir)
        assert (repo_dir / ".git/config").read_text().startswith(before.rstrip("\n"))

    def test_when_it_is_gone_the_hooks_move_to_the_git_folder(self, repo_dir: Path) -> None:
        install(_global(repo_dir))
        git(repo_dir, "config", "--global", "--unset", "core.hooksPath")
        install(repo_dir)
        assert git(repo_dir, "config", "core.hooksPath", check=False) == ""
        assert not (repo_dir / ".git/skillgit-hooks").exists()
        assert set(states(repo_dir)[0].values()) == {"ours"}

    def test_a_moved_repository_is_set_right(self, repo_dir: Path) -> None:
        install(_global(repo_dir))
        moved = repo_dir.rename(repo_dir.parent / "moved")
        install(moved)
        values = git(moved, "config", "--get-all", "core.hooksPath").splitlines()
        assert values[-1] == str(moved / ".git/skillgit-hooks")
        uninstall(moved)
        assert git(moved, "config", "--local", "core.hooksPath", check=False) == ""

    def test_a_passing_setting_is_refused(self, repo_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for key, value in {"COUNT": "1", "KEY_0": "core.hooksPath", "VALUE_0": "/nowhere"}.items():
            monkeypatch.setenv(f"GIT_CONFIG_{key}", value)
        with pytest.raises(GitError, match="this command only"):
            install(repo_dir)


def test_an_interrupted_install_can_be_finished_or_undone(repo_dir: Path) -> None:
    hook = script(repo_dir / ".git/hooks/pre-push", "exit 0")
    before = traces(repo_dir)
    for finish in (install, uninstall):
        carry_out(plan_install(Repository.open(repo_dir), ["pre-push"])[:1])
        assert not hook.exists()
        finish(repo_dir, "pre-push")
        uninstall(repo_dir)
        assert traces(repo_dir) == before


def test_a_submodule_is_named_by_its_folder(repo_dir: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    git(tmp_path, "init", "--quiet", "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo_dir), "inner")
    install(outer / "inner")
    (standing,) = standings(Repository.open(outer / "inner"), NAMES)
    assert Path(standing.worktree) == outer / "inner"
    assert set(standing.hooks.values()) == {"ours"}


def test_a_link_in_the_repository_is_not_written_through(repo_dir: Path, tmp_path: Path) -> None:
    husky(repo_dir, "pre-push")
    outside = script(tmp_path / "outside", "echo mine")
    (repo_dir / ".husky/pre-push").symlink_to(outside)
    before = outside.read_bytes()
    with pytest.raises(GitError, match="is a symbolic link"):
        install(repo_dir, "pre-push")
    uninstall(repo_dir)
    assert outside.read_bytes() == before


class TestStatus:
    def test_hooks_that_git_does_not_run_are_inert(self, repo_dir: Path) -> None:
        install(repo_dir)
        (repo_dir / ".git/hooks/pre-push").chmod(0o644)
        assert states(repo_dir, "pre-push", "commit-msg") == [{"pre-push": "inert", "commit-msg": "ours"}]
        _tracked(repo_dir)
        assert set(states(repo_dir)[0].values()) == {"inert"}

    def test_husky_without_its_wrappers_is_inert(self, repo_dir: Path) -> None:
        install(_husky(repo_dir))
        assert states(repo_dir, "pre-push", "commit-msg", "pre-commit") == [
            {"pre-push": "chained", "commit-msg": "chained", "pre-commit": "ours"}
        ]
        shutil.rmtree(repo_dir / ".husky/_")
        assert set(states(repo_dir)[0].values()) == {"inert"}

    def test_a_relative_folder_is_another_one_in_each_worktree(self, repo_dir: Path) -> None:
        git(_tracked(repo_dir), "worktree", "add", "--quiet", str(repo_dir.parent / "linked"))
        install(repo_dir, "commit-msg")
        assert states(repo_dir, "commit-msg") == [{"commit-msg": "chained"}, {"commit-msg": "missing"}]
        install(repo_dir.parent / "linked", "commit-msg")
        assert states(repo_dir, "commit-msg") == [{"commit-msg": "chained"}, {"commit-msg": "ours"}]
