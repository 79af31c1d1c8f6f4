"""Commits follow the user's signing policy; a key that does not work is found in seconds, before anything is paid."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from skillgit.git import signing
from skillgit.git.objects import Commit, write_commits
from skillgit.git.repository import Repository
from tests.conftest import SKILL, git
from tests.git.helpers import SHORT, Skillgit, made, train, user_state

needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen here")


@pytest.fixture
def signed(repo_dir: Path) -> Path:
    """A repository whose user signs commits, with a key that does not exist."""
    git(repo_dir, "config", "commit.gpgsign", "true")
    git(repo_dir, "config", "user.signingkey", "nobody@example.invalid")
    return repo_dir


@pytest.fixture
def ssh(signed: Path, tmp_path: Path) -> Path:
    """The same with an ssh key that works."""
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "t", "-f", key], check=True)
    allowed = tmp_path / "allowed"
    public = key.with_suffix(".pub").read_text()
    allowed.write_text("".join(f"{mail} {public}" for mail in ("test@example.invalid", "skillgit@localhost.invalid")))
    for name, value in (("gpg.format", "ssh"), ("user.signingkey", key), ("gpg.ssh.allowedSignersFile", allowed)):
        git(signed, "config", name, str(value))
    return signed


@pytest.fixture
def hanging(signed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same with a signing program that waits for ever, as one does behind a prompt that nobody sees."""
    program = signed / ".git/gpg"
    program.write_text("#!/bin/sh\nsleep 300\n")
    program.chmod(0o755)
    git(signed, "config", "gpg.program", str(program))
    monkeypatch.setattr(signing, "_SIGN_SECONDS", 0.5)
    return signed


def _refused(folder: Path, skillgit: Skillgit) -> str:
    before, started = user_state(folder), time.monotonic()
    code, _, err = skillgit(folder, "train", "greeter", *SHORT)
    assert time.monotonic() - started < 10
    assert (code, made(folder)) == (4, []), err
    assert user_state(folder) == before
    assert "commits cannot be signed, and commit.gpgsign asks for it" in err
    assert "git.sign=never" in err
    return err


@pytest.mark.parametrize("changed", [False, True])
def test_without_a_key_nothing_is_made(signed: Path, changed: bool, skillgit: Skillgit) -> None:
    if changed:
        (signed / "skills/greeter/SKILL.md").write_text(SKILL + "- Mine.\n")
    err = _refused(signed, skillgit)
    assert not (signed / ".git/skillgit/cache.db").exists(), "nothing was paid"
    assert "why:" in err


@pytest.mark.parametrize("changed", [False, True])
def test_a_program_that_hangs_is_stopped(hanging: Path, changed: bool, skillgit: Skillgit) -> None:
    if changed:
        (hanging / "skills/greeter/SKILL.md").write_text(SKILL + "- Mine.\n")
    assert "gave no answer in 0.5 seconds" in _refused(hanging, skillgit)


def test_a_program_that_is_not_there_is_named(signed: Path, skillgit: Skillgit) -> None:
    git(signed, "config", "gpg.program", "/nowhere/gpg")
    assert "/nowhere/gpg" in _refused(signed, skillgit)


def test_the_real_limit_is_under_half_a_minute() -> None:
    assert signing._SIGN_SECONDS <= 25


def test_never_leaves_commits_unsigned(signed: Path, skillgit: Skillgit) -> None:
    last = train(skillgit, signed, "--set", "git.sign=never")
    assert git(signed, "log", "--format=%G?", f"main..{last['branch']}") == "N"


def test_never_holds_for_uncommitted_changes_too(signed: Path, skillgit: Skillgit) -> None:
    (signed / "skills/greeter/SKILL.md").write_text(SKILL + "- Mine.\n")
    last = train(skillgit, signed, "--set", "git.sign=never")
    assert git(signed, "log", "--format=%G?", f"main..{last['branch']}").split() == ["N", "N"]


@needs_ssh
def test_every_commit_of_the_branch_is_signed(ssh: Path, skillgit: Skillgit) -> None:
    (ssh / "skills/greeter/SKILL.md").write_text(SKILL + "- Mine.\n")
    before = user_state(ssh)
    last = train(skillgit, ssh)
    assert user_state(ssh) == before
    assert git(ssh, "log", "--format=%G? %an", f"main..{last['branch']}").splitlines() == ["G Test", "G Test"]


@needs_ssh
def test_a_signed_copy_is_the_same_commit(ssh: Path) -> None:
    repo = Repository.open(ssh)
    head = repo.commit("HEAD")
    side = write_commits(repo, [Commit("side", (), {"a": b"b"})])[0].commit
    message = "subject\n\nbody: ünï\n\nKey: value\n"
    plain = write_commits(repo, [Commit(message, (head, side), {"x": b"y"})])[0].commit
    copy = signing.resign(repo, plain)
    fields = "--format=%T%n%P%n%an%n%ae%n%at%n%cn%n%ce%n%ct%n%B"
    assert git(ssh, "log", "-1", fields, copy) == git(ssh, "log", "-1", fields, plain)
    assert git(ssh, "log", "-1", "--format=%G?", copy) == "G"


@needs_ssh
def test_signing_works_without_an_identity(ssh: Path, skillgit: Skillgit) -> None:
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text("[user]\n\tuseConfigOnly = true\n")
    last = train(skillgit, ssh)
    assert git(ssh, "log", "-1", "--format=%G? %an", last["branch"]) == "G skillgit"


def test_without_the_wish_nothing_is_tried(repo_dir: Path) -> None:
    git(repo_dir, "config", "gpg.program", "/nowhere/gpg")
    repo = Repository.open(repo_dir)
    assert not signing.wanted(repo)
    signing.check(repo)


@pytest.mark.parametrize(
    ("value", "wanted"), [("true", True), ("1", True), ("yes", True), ("false", False), ("0", False)]
)
def test_the_wish_is_read_as_git_reads_it(repo_dir: Path, value: str, wanted: bool) -> None:
    git(repo_dir, "config", "commit.gpgsign", value)
    assert signing.wanted(Repository.open(repo_dir)) is wanted
