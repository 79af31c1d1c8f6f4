"""The shim as git runs it: beside other hooks, under another name, and when skillgit is gone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skillgit.git.hooks import shims
from skillgit.git.hooks.install import NAMES, plan_install
from skillgit.git.repository import Repository
from tests.conftest import git
from tests.git.hooks import SECRET, commit, framework, husky, install, run_git, script, states, uninstall


def _pushable(folder: Path) -> Path:
    git(folder, "init", "--quiet", "--bare", "../remote.git")
    git(folder, "remote", "add", "origin", str(folder.parent / "remote.git"))
    return folder


@pytest.mark.parametrize("where", [".git/hooks/pre-push", ".husky/pre-push"])
def test_both_read_all_of_standard_input(where: str, repo_dir: Path) -> None:
    _pushable(repo_dir)
    if "husky" in where:
        husky(repo_dir, "pre-push")
    script(repo_dir / where, "cat >pushed\nexit 0")
    install(repo_dir, "pre-push")
    code, out = run_git(repo_dir, "push", "--quiet", "origin", "main")
    assert (code, "unmeasured skills/greeter" in out) == (0, True)
    words = (repo_dir / "pushed").read_text().split()
    assert words == ["refs/heads/main", git(repo_dir, "rev-parse", "main"), "refs/heads/main", "0" * 40]


def test_a_previous_hook_that_reads_nothing_is_no_trouble(repo_dir: Path) -> None:
    _pushable(repo_dir)
    script(repo_dir / ".git/hooks/pre-push", "exec <&-; exit 0")
    install(repo_dir, "pre-push")
    head = git(repo_dir, "rev-parse", "HEAD")
    names = [f"refs/heads/branch-with-a-rather-long-name-{number}" for number in range(600)]  # more than a pipe holds
    packed = "".join(f"{head} {name}\n" for name in sorted(names))
    (repo_dir / ".git/packed-refs").write_text(f"# pack-refs with: peeled fully-peeled sorted \n{packed}")
    code, out = run_git(repo_dir, "push", "--quiet", "--all", "origin")
    assert (code, "rror" in out, out.count("unmeasured")) == (0, False, 1), out[-300:]


class TestTheFramework:
    """The pre-commit framework renames hooks that it finds, as we do."""

    def test_our_shim_works_under_another_name(self, repo_dir: Path) -> None:
        script(repo_dir / ".git/hooks/commit-msg", "echo oldest")
        install(repo_dir, "commit-msg")
        framework(repo_dir, "commit-msg")
        code, out = commit(repo_dir, SECRET)
        assert code == 1
        assert out.index("framework ran") < out.index("oldest") < out.index("GitHub token")
        assert states(repo_dir, "commit-msg") == [{"commit-msg": "chained"}]
        assert plan_install(Repository.open(repo_dir), ["commit-msg"]) == []
        uninstall(repo_dir)
        left = sorted(path.name for path in (repo_dir / ".git/hooks").glob("commit-msg*") if path.suffix != ".sample")
        assert left == ["commit-msg", "commit-msg.legacy"]
        assert "oldest" in (repo_dir / ".git/hooks/commit-msg.legacy").read_text()

    def test_each_wrapping_the_other_ends(self, repo_dir: Path) -> None:
        framework(repo_dir, "commit-msg")
        install(repo_dir, "commit-msg")
        framework(repo_dir, "commit-msg")
        code, out = commit(repo_dir, SECRET)
        assert (code, out.count("framework ran"), out.count("GitHub token")) == (1, 1, 1)
        assert "bug:" not in out


class TestTheShim:
    def _without_skillgit(self, folder: Path, name: str) -> Path:
        path = folder / ".git/hooks" / name
        text = path.read_text().replace(sys.executable, "/gone/python")
        path.write_text(text)
        return path

    def test_without_skillgit_a_check_fails_and_says_so(self, repo_dir: Path) -> None:
        install(repo_dir, "commit-msg")
        self._without_skillgit(repo_dir, "commit-msg")
        code, out = commit(repo_dir, PATH="/usr/bin:/bin")
        assert (code, "skillgit: not found" in out, "next: install skillgit" in out) == (1, True, True)

    def test_without_skillgit_a_merge_goes_on(self, repo_dir: Path) -> None:
        git(repo_dir, "branch", "other")
        commit(repo_dir)
        git(repo_dir, "switch", "--quiet", "other")
        install(repo_dir, "post-merge")
        self._without_skillgit(repo_dir, "post-merge")
        code, out = run_git(repo_dir, "merge", "--quiet", "main", env={"PATH": "/usr/bin:/bin"})
        assert (code, "skillgit: not found" in out) == (0, True)

    def test_another_skillgit_on_the_path_will_do(self, repo_dir: Path, tmp_path: Path) -> None:
        install(repo_dir, "commit-msg")
        self._without_skillgit(repo_dir, "commit-msg")
        script(tmp_path / "bin/skillgit", 'echo "found $*"')
        code, out = commit(repo_dir, PATH=f"{tmp_path}/bin:/usr/bin:/bin")
        assert (code, "found hook commit-msg .git/COMMIT_EDITMSG" in out) == (0, True)

    def test_modules_of_the_repository_are_not_run(self, repo_dir: Path) -> None:
        install(repo_dir, "commit-msg")
        for name in ("skillgit/__init__", "skillgit/__main__", "click", "json"):
            (repo_dir / f"{name}.py").parent.mkdir(exist_ok=True)
            (repo_dir / f"{name}.py").write_text("open('hijacked', 'w')\n")
        assert commit(repo_dir, SECRET)[0] == 1
        assert not (repo_dir / "hijacked").exists()

    @pytest.mark.parametrize("shell", ["dash", "bash --posix"])
    @pytest.mark.parametrize("name", NAMES)
    def test_it_is_plain_shell(self, shell: str, name: str, tmp_path: Path) -> None:
        if not shutil.which(shell.split()[0]):
            pytest.skip(f"no {shell}")
        path = tmp_path / "hook"
        path.write_bytes(shims.shim(name, "/outer 'folder'"))
        assert subprocess.run([*shell.split(), "-n", str(path)], check=False).returncode == 0
        path.write_bytes(shims.with_block(b"echo mine\n", name))
        assert subprocess.run([*shell.split(), "-n", str(path)], check=False).returncode == 0
