"""Opening a repository: wherever it lies, whatever a hook exported, and in git's words when it will not open."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from skillgit.errors import GitError
from skillgit.git import runner
from skillgit.git.bootstrap import first_commit
from skillgit.git.repository import FALLBACK_IDENTITY, Repository
from tests.conftest import git
from tests.git.helpers import Skillgit, made, train, user_state


def test_top_and_common_folder_of_each_layout(repo_dir: Path, tmp_path: Path) -> None:
    linked, bare, of_bare = tmp_path / "linked", tmp_path / "bare.git", tmp_path / "of bare"
    git(repo_dir, "worktree", "add", "--quiet", "--detach", str(linked))
    git(tmp_path, "clone", "--quiet", "--bare", str(repo_dir), str(bare))
    git(bare, "worktree", "add", "--quiet", str(of_bare), "main")
    found = {path: Repository.open(path) for path in (repo_dir, repo_dir / "evals/greeter", linked, bare, of_bare)}
    assert [(repo.top, repo.common_dir) for repo in found.values()] == [
        (repo_dir, repo_dir / ".git"),
        (repo_dir, repo_dir / ".git"),
        (linked, repo_dir / ".git"),
        (None, bare),
        (of_bare, bare),
    ]


@pytest.mark.parametrize("name", ["with space", "quote'\"", "naïve 日本", "-dash", "$(touch x)", "new\nline"])
def test_a_repository_in_a_folder_of_any_name(repo_dir: Path, name: str, skillgit: Skillgit) -> None:
    folder = repo_dir.with_name(name)
    repo_dir.rename(folder)
    repo = Repository.open(folder)
    assert (repo.top, repo.common_dir) == (folder, folder / ".git")


def test_a_submodule_is_a_repository_of_its_own(repo_dir: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    git(tmp_path, "init", "--quiet", str(outer))
    git(outer, "submodule", "--quiet", "add", str(repo_dir), "inner")
    repo = Repository.open(outer / "inner")
    assert (repo.top, repo.common_dir) == (outer / "inner", outer / ".git/modules/inner")


def test_no_repository_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="not in a git repository") as caught:
        Repository.open(tmp_path)
    assert "git init" in caught.value.fix


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_a_folder_that_is_none_is_said_so(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(GitError, match="no folder"):
        Repository.open(tmp_path / name)


def test_gits_words_on_an_unsafe_owner_are_passed_on(repo_dir: Path, monkeypatch, skillgit: Skillgit) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    code, _, err = skillgit(repo_dir, "status")
    assert code == 4
    assert "dubious ownership" in err
    assert "next: git config --global --add safe.directory" in err


def test_gits_words_on_an_unsafe_bare_repository_are_passed_on(tmp_path: Path, skillgit: Skillgit) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text("[safe]\n\tbareRepository = explicit\n")
    code, _, err = skillgit(tmp_path / "bare.git", "status")
    assert code == 4
    assert "safe.bareRepository" in err


def test_gits_words_on_a_damaged_configuration_are_passed_on(repo_dir: Path, skillgit: Skillgit) -> None:
    (repo_dir / ".git/config").write_text("[core\n")
    code, _, err = skillgit(repo_dir, "status")
    assert code == 4
    assert "bad config line 1" in err


def test_variables_of_a_hook_do_not_mislead(repo_dir: Path, tmp_path: Path, monkeypatch, skillgit: Skillgit) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "--quiet", str(other))
    before = user_state(repo_dir)
    with monkeypatch.context() as patch:
        patch.setenv("GIT_DIR", str(other / ".git"))
        patch.setenv("GIT_WORK_TREE", str(other))
        patch.setenv("GIT_COMMON_DIR", str(other / ".git"))
        patch.setenv("GIT_INDEX_FILE", str(other / ".git/index.lock"))
        patch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git/objects"))
        patch.setenv("GIT_PREFIX", "evals/")
        patch.setenv("GIT_LITERAL_PATHSPECS", "1")
        patch.setenv("GIT_NAMESPACE", "elsewhere")
        train(skillgit, repo_dir)
        assert not {"GIT_DIR", "GIT_INDEX_FILE", "GIT_PREFIX"} & set(os.environ)
    assert user_state(repo_dir) == before
    assert len(made(repo_dir)) == 5
    assert (made(other), list((other / ".git/objects").rglob("??/*"))) == ([], [])


def test_a_run_started_by_a_real_hook_stays_in_its_repository(repo_dir: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(repo_dir, "worktree", "add", "--quiet", "--detach", str(linked))
    hook = repo_dir / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    code = "from skillgit.cli.main import run; import sys; sys.exit(run(['-C', 'skills', 'status', '--json']))"
    hook.write_text(f'#!/bin/sh\ntest -n "$GIT_INDEX_FILE" && exec {sys.executable} -c "{code}"\n')
    hook.chmod(0o755)
    (linked / "script.json").write_text("{}\n")
    git(linked, "commit", "--quiet", "-a", "-m", "by hook")
    assert git(linked, "log", "-1", "--format=%s") == "by hook"
    assert git(linked, "status", "--porcelain") == ""


@pytest.mark.parametrize("value", ["1", "x"])
def test_odd_settings_of_the_environment_change_nothing(repo_dir: Path, monkeypatch, value: str) -> None:
    monkeypatch.setenv("LANGUAGE", "de")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("GIT_TRACE", value)
    monkeypatch.setenv("GIT_PAGER", "false")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    repo = Repository.open(repo_dir)
    assert repo.head() == git(repo_dir, "rev-parse", "HEAD")
    assert repo.resolve("nothing") is None


# --- identity


def test_the_users_identity_is_taken(repo_dir: Path) -> None:
    assert Repository.open(repo_dir).identity() == "Test <test@example.invalid> 1767323045 +0000"


def test_author_and_committer_may_differ(repo_dir: Path, monkeypatch) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ann Ünal")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "ann@example.invalid")
    repo = Repository.open(repo_dir)
    assert repo.identity("AUTHOR").startswith("Ann Ünal <ann@example.invalid> ")
    assert repo.identity("COMMITTER").startswith("Test <test@example.invalid> ")


def test_the_time_is_now_unless_it_is_given(repo_dir: Path, monkeypatch) -> None:
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    seconds = int(Repository.open(repo_dir).identity().split()[-2])
    assert abs(seconds - time.time()) < 5


@pytest.mark.parametrize("settings", ["", "[user]\n\tuseConfigOnly = true\n", "[user]\n\tname = Only A Name\n"])
def test_without_an_identity_the_documented_one_stands_in(repo_dir: Path, settings: str, skillgit: Skillgit) -> None:
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text(settings)
    last = train(skillgit, repo_dir)
    name, mail = FALLBACK_IDENTITY
    assert git(repo_dir, "log", "-1", "--format=%an <%ae> %cn <%ce>", last["branch"]) == (
        f"{name} <{mail}> {name} <{mail}>"
    )


def test_a_name_that_is_not_utf8_is_kept(repo_dir: Path, skillgit: Skillgit) -> None:
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_bytes(b"[user]\n\tname = J\xe9r\xf4me\n\temail = j@example.invalid\n")
    last = train(skillgit, repo_dir)
    commit = subprocess.run(
        ["git", "-C", repo_dir, "cat-file", "commit", last["branch"]], capture_output=True, check=True
    ).stdout
    assert b"author J\xe9r\xf4me <j@example.invalid>" in commit


# --- running git


def test_without_git_the_error_says_so(tmp_path: Path) -> None:
    code = "from skillgit.cli.main import run; import sys; sys.exit(run(['status']))"
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "git was not found" in done.stderr) == (4, True), done.stderr


def test_a_git_that_hangs_is_stopped_with_all_it_started(repo_dir: Path) -> None:
    repo = Repository.open(repo_dir)
    mark = repo_dir / "mark"
    git(repo_dir, "config", "alias.hang", f"!(sleep 3; touch {mark}) & sleep 60; true")
    started = time.monotonic()
    with pytest.raises(GitError, match=r"gave no answer in 1 seconds"):
        repo.git.run("hang", timeout=1)
    assert time.monotonic() - started < 2.5
    time.sleep(3)
    assert not mark.exists()


def test_a_timeout_is_never_taken_for_an_answer(repo_dir: Path) -> None:
    repo = Repository.open(repo_dir)
    git(repo_dir, "config", "alias.hang", "!sleep 60")
    with pytest.raises(GitError, match="gave no answer"):
        repo.git.run("hang", ok=(0, 1, -9, 128), timeout=0.2)


def test_bytes_go_through_as_they_are(repo_dir: Path) -> None:
    repo = Repository.open(repo_dir)
    data = bytes(range(256)) * 1000 + b"\r\n\n\n"
    name = repo.git.run("hash-object", "-w", "--stdin", data=data).decode().strip()
    assert repo.git.run("cat-file", "blob", name) == data


@pytest.mark.skipif(os.name == "nt", reason="signals of a terminal")
def test_ctrl_c_does_not_reach_git(repo_dir: Path) -> None:
    repo = Repository.open(repo_dir)
    git(repo_dir, "config", "alias.group", "!ps -o pgid= -p $$ || echo none")
    group = repo.git.text("group").strip()
    assert group == "none" or int(group) != os.getpgrp()


def test_prompts_are_off(repo_dir: Path) -> None:
    git(repo_dir, "config", "alias.env", "!env")
    out = Repository.open(repo_dir).git.text("env")
    assert {"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GCM_INTERACTIVE=never"} <= set(out.splitlines())


# --- revisions, branches, locks


def test_a_revision_that_looks_like_an_option_is_none(repo_dir: Path) -> None:
    repo = Repository.open(repo_dir)
    assert repo.resolve("--all") is None
    with pytest.raises(GitError, match="no commit is called '--git-dir'"):
        repo.commit("--git-dir")


def test_where_a_branch_is_checked_out(repo_dir: Path, tmp_path: Path) -> None:
    linked = tmp_path / "with space ü"
    git(repo_dir, "branch", "free")
    git(repo_dir, "worktree", "add", "--quiet", "-b", "a/b", str(linked))
    repo = Repository.open(repo_dir)
    assert [repo.checked_out(name) for name in ("main", "a/b", "free", "nothing")] == [
        str(repo_dir),
        str(linked),
        None,
        None,
    ]


def test_a_lock_keeps_others_out_and_ends(repo_dir: Path) -> None:
    one, other = Repository.open(repo_dir), Repository.open(repo_dir)
    with one.lock(seconds=0):
        with pytest.raises(GitError, match="another skillgit process"), other.lock(seconds=0):
            pass
        with other.lock("elsewhere", seconds=0):
            pass
    with other.lock(seconds=0):
        pass


def test_a_waiting_lock_goes_on_as_soon_as_it_can(repo_dir: Path) -> None:
    repo = Repository.open(repo_dir)
    held = threading.Event()

    def hold() -> None:
        with Repository.open(repo_dir).lock():
            held.set()
            time.sleep(0.2)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    with repo.lock():
        pass
    thread.join()


def test_a_state_folder_that_cannot_be_made_is_said_so(repo_dir: Path, skillgit: Skillgit) -> None:
    (repo_dir / ".git/skillgit").touch()
    code, _, err = skillgit(repo_dir, "train", "greeter", "--set", "model.backend=scripted")
    assert (code, "cannot write to" in err) == (4, True), err


def test_the_files_of_a_bare_head_go_with_the_process(repo_dir: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repo_dir), "bare.git")
    code = (
        "from pathlib import Path; from skillgit.git.repository import Repository;"
        "repo = Repository.open(Path('bare.git')); assert repo.root == repo.root;"
        "assert (repo.root / 'evals/greeter/val.jsonl').is_file(); print(repo.root)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout
    assert not Path(done.stdout.strip()).exists()


def test_a_bare_head_without_files_is_an_empty_folder(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main", "work")
    git(tmp_path / "work", "commit", "--quiet", "--allow-empty", "-m", "nothing")
    git(tmp_path, "clone", "--quiet", "--bare", "work", "bare.git")
    assert list(Repository.open(tmp_path / "bare.git").root.iterdir()) == []


# --- a new repository


def test_the_first_commit_holds_all_files(template: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    shutil.copytree(template, folder)
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text("[commit]\n\tgpgsign = true\n")
    repo = first_commit(folder, "Begin\n")
    assert repo.top == folder
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "log", "--format=%s %an %D").strip() == "Begin skillgit HEAD -> main"
    assert "skills/**/*.md text eol=lf diff=markdown" in (folder / ".gitattributes").read_text()


def test_variables_are_scrubbed_as_git_lists_them(repo_dir: Path) -> None:
    listed = set(git(repo_dir, "rev-parse", "--local-env-vars").split())
    assert listed - set(runner._HOOK_VARIABLES) <= {"GIT_CONFIG_COUNT"}
