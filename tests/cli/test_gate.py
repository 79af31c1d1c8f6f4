"""`skillgit gate`, and real pushes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import git
from tests.git.helpers import Skillgit
from tests.git.hooks import run_git


@pytest.fixture
def adopted(trained: Path) -> Path:
    """The greeter repository with the result of its training on main, which a remote does not have yet."""
    git(trained, "init", "--quiet", "--bare", "../remote.git")
    git(trained, "remote", "add", "origin", "../remote.git")
    git(trained, "push", "--quiet", "-u", "origin", "main")
    branch = git(trained, "branch", "--list", "--format=%(refname:short)", "train/*")
    git(trained, "merge", "--quiet", branch)
    return trained


def _spoil(folder: Path) -> None:
    with (folder / "skills/greeter/SKILL.md").open("a") as file:
        file.write("- Slipped in.\n")
    git(folder, "commit", "--quiet", "-a", "-m", "by hand")


def _policy(folder: Path, policy: str) -> None:
    (folder / "skillgit.yaml").write_text(f"git:\n  push_gate: {policy}\n")


def test_a_measured_skill_passes(adopted: Path, skillgit: Skillgit) -> None:
    code, out, _ = skillgit(adopted, "gate", "--json")
    document = json.loads(out)["pushes"][0]
    assert (code, document["base"]) == (0, git(adopted, "rev-parse", "origin/main"))
    (skill,) = document["skills"]
    assert (skill["verdict"], skill["score_before"], skill["score_after"]) == ("measured", 0.0, 1.0)


def test_an_unmeasured_one_does_not(adopted: Path, skillgit: Skillgit) -> None:
    _spoil(adopted)
    code, out, err = skillgit(adopted, "gate")
    assert (code, out.split()[0], "next: skillgit eval greeter" in err) == (1, "unmeasured", True)
    assert skillgit(adopted, "gate", "HEAD^", "--against", "origin/main")[0] == 0
    assert skillgit(adopted, "gate", "--policy", "warn")[0] == 0
    assert skillgit(adopted, "gate", "--policy", "off") == (0, "", "")


def test_a_worse_one_does_not(adopted: Path, skillgit: Skillgit) -> None:
    head = git(adopted, "rev-parse", "HEAD")
    git(adopted, "checkout", "--quiet", "origin/main", "--", "skills")
    git(adopted, "commit", "--quiet", "-m", "back")
    code, out, err = skillgit(adopted, "gate", "--against", head)
    assert code == 1
    assert out.startswith("regressed  skills/greeter  val fell from 1.000 to 0.000\n")
    assert "worse: val0, val1" in out
    assert "next: skillgit log greeter" in err


def test_a_name_cannot_write_to_the_terminal(adopted: Path, skillgit: Skillgit) -> None:
    (adopted / "skills/e\x1b[2Jvil").mkdir()
    (adopted / "skills/e\x1b[2Jvil/SKILL.md").write_text("x\n")
    git(adopted, "add", "--all")
    git(adopted, "commit", "--quiet", "-m", "evil")
    _, out, err = skillgit(adopted, "gate")
    assert "\\x1b[2Jvil" in out
    assert "\x1b" not in out + err


def test_a_push_is_judged_by_policy(adopted: Path, skillgit: Skillgit) -> None:
    skillgit(adopted, "hooks", "install", "--hook", "pre-push")
    _spoil(adopted)
    push = ("push", "--quiet", "origin", "main")
    _policy(adopted, "block")
    code, out = run_git(adopted, *push)
    assert (code, "unmeasured skills/greeter" in out, "next: skillgit eval greeter" in out) == (1, True, True)
    assert run_git(adopted, "push", "--quiet", "origin", "HEAD^:refs/heads/main")[0] == 0
    assert run_git(adopted, "push", "--quiet", "origin", "HEAD:refs/tags/v1") == (0, "")
    _policy(adopted, "warn")
    code, out = run_git(adopted, *push)
    assert (code, "unmeasured skills/greeter" in out) == (0, True)
    _spoil(adopted)
    _policy(adopted, "off")
    assert run_git(adopted, *push) == (0, "")


def test_gate_lines_follow_a_merge_and_a_rebase(adopted: Path, skillgit: Skillgit) -> None:
    skillgit(adopted, "hooks", "install", "--hook", "post-merge", "--hook", "post-rewrite")
    notes = ("notes", "--ref=skillgit/gates", "show", "HEAD")
    git(adopted, "update-ref", "-d", "refs/notes/skillgit/gates")
    git(adopted, "commit", "--quiet", "--amend", "-m", "reworded")
    assert "accept" in git(adopted, *notes)
    git(adopted, "switch", "--quiet", "-c", "side", "origin/main")
    git(adopted, "update-ref", "-d", "refs/notes/skillgit/gates")
    assert run_git(adopted, "merge", "--quiet", "main") == (0, "")
    assert "accept" in git(adopted, *notes)
