"""Real commits and pushes under the hooks: native ones, and those of the pre-commit framework."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from tests.conftest import SKILL as TEXT
from tests.conftest import git
from tests.git.helpers import Skillgit, user_state
from tests.git.hooks import run_git

SKILL = "skills/greeter/SKILL.md"
GOOD, BAD = f"{TEXT}- Greet.\n", TEXT.replace("description", "describes")
OTHER = TEXT.replace("greeter", "other")
HOOKS_FILE = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
STAGES = ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push")


def _framework(folder: Path) -> None:
    """`pre-commit install` of the hooks in `.pre-commit-hooks.yaml`, run from here instead of from a clone."""
    hooks = yaml.safe_load(HOOKS_FILE.read_text())
    for hook in hooks:
        hook["entry"] = hook["entry"].replace("skillgit", f"{sys.executable} -P -m skillgit", 1)
        hook["language"] = "system"
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    git(folder, "add", ".pre-commit-config.yaml")
    git(folder, "commit", "--quiet", "-m", "framework")
    types = [word for stage in STAGES for word in ("--hook-type", stage)]
    subprocess.run([sys.executable, "-m", "pre_commit", "install", *types], cwd=folder, check=True, capture_output=True)


@pytest.mark.skipif(find_spec("pre_commit") is None, reason="the pre-commit framework is not installed")
def test_the_framework_finds_nothing_wrong_with_the_hooks_file() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-manifest", str(HOOKS_FILE)], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.fixture(params=["native", pytest.param("framework", marks=pytest.mark.slow)])
def hooked(request: pytest.FixtureRequest, repo_dir: Path, monkeypatch: pytest.MonkeyPatch, skillgit: Skillgit) -> Path:
    """The greeter repository where git runs skillgit's checks."""
    if request.param == "native":
        assert skillgit(repo_dir, "hooks", "install")[0] == 0
    elif find_spec("pre_commit") is None:
        pytest.skip("the pre-commit framework is not installed")
    else:
        monkeypatch.setenv("PRE_COMMIT_HOME", str(repo_dir.parent / "cache"))
        _framework(repo_dir)
    return repo_dir


def stage(folder: Path, text: str, path: str = SKILL) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)
    git(folder, "add", "--", path)


def commit(folder: Path, *args: str) -> tuple[int, str]:
    return run_git(folder, "commit", "--quiet", "-m", "words", *args)


def _state(folder: Path) -> dict[str, object]:
    """All that is the user's; of the index what it holds, for `git commit` itself rewrites the file."""
    state = user_state(folder)
    del state[str(folder / ".git/index")]
    return state | {"index": git(folder, "ls-files", "--stage")}


def test_a_bad_skill_is_stopped_and_a_good_one_is_committed(hooked: Path) -> None:
    stage(hooked, BAD)
    before = _state(hooked)
    code, out = commit(hooked)
    assert (code, "description" in out) == (1, True)
    assert _state(hooked) == before
    stage(hooked, GOOD)
    assert commit(hooked)[0] == 0
    assert git(hooked, "status", "--porcelain") == ""


def test_what_is_staged_is_judged_and_not_what_lies_in_the_folder(hooked: Path) -> None:
    stage(hooked, BAD)
    (hooked / SKILL).write_text(GOOD)
    assert commit(hooked)[0] == 1
    assert (hooked / SKILL).read_text() == GOOD
    stage(hooked, GOOD)
    (hooked / SKILL).write_text(BAD)
    assert commit(hooked)[0] == 0
    assert git(hooked, "show", f"HEAD:{SKILL}") + "\n" == GOOD
    assert (hooked / SKILL).read_text() == BAD


def test_commit_all_and_commit_of_one_file_are_judged_by_what_they_take(hooked: Path) -> None:
    (hooked / SKILL).write_text(BAD)
    assert commit(hooked, "-a")[0] == 1
    stage(hooked, OTHER, "skills/other/SKILL.md")
    stage(hooked, BAD)
    assert commit(hooked, "--", "skills/other/SKILL.md")[0] == 0
    assert git(hooked, "diff", "--cached", "--name-only") == SKILL
    assert commit(hooked, "--", SKILL)[0] == 1


def test_a_commit_without_skills_is_not_held_up(hooked: Path) -> None:
    (hooked / SKILL).write_text(BAD)
    stage(hooked, "words\n", "notes.txt")
    code, out = commit(hooked)
    assert (code, "nothing found" in out) == (0, False)
    assert git(hooked, "diff", "--name-only") == SKILL


def test_a_linked_worktree_has_the_same_hooks(hooked: Path) -> None:
    linked = hooked.parent / "linked"
    git(hooked, "worktree", "add", "--quiet", str(linked))
    (linked / SKILL).write_text(BAD)
    assert commit(linked, "-a")[0] == 1
    (linked / SKILL).write_text(GOOD)
    assert commit(linked, "-a")[0] == 0


def test_windows_line_endings_are_no_matter(hooked: Path) -> None:
    git(hooked, "config", "core.autocrlf", "true")
    (hooked / SKILL).write_bytes(GOOD.replace("\n", "\r\n").encode())
    assert commit(hooked, "-a")[0] == 0
    assert "\r" not in git(hooked, "show", f"HEAD:{SKILL}")
    (hooked / SKILL).write_bytes(BAD.replace("\n", "\r\n").encode())
    assert commit(hooked, "-a")[0] == 1


def test_a_removed_part_of_a_skill_is_judged_too(hooked: Path) -> None:
    stage(hooked, "# More\n", "skills/greeter/references/more.md")
    git(hooked, "commit", "--quiet", "--no-verify", "-m", "more")
    git(hooked, "rm", "--quiet", SKILL)
    assert "SKILL.md" in commit(hooked)[1]
    assert git(hooked, "log", "-1", "--format=%s") == "more"


def test_skills_anywhere_are_judged_and_the_framework_can_judge_all(hooked: Path) -> None:
    stage(hooked, BAD.replace("greeter", "far"), "tools/far/SKILL.md")
    git(hooked, "commit", "--quiet", "--no-verify", "-m", "bad")
    stage(hooked, "# More\n", "tools/far/references/more.md")
    stage(hooked, GOOD)
    code, out = commit(hooked)
    assert (code, "tools/far" in out) == (1, True)
    git(hooked, "reset", "--quiet", "--hard")
    if (hooked / ".pre-commit-config.yaml").exists():
        every = [sys.executable, "-m", "pre_commit", "run", "--all-files", "skillgit-lint"]
        done = subprocess.run(every, cwd=hooked, capture_output=True, text=True)
        assert (done.returncode, "tools/far" in done.stdout) == (1, True)


def test_training_steps_may_be_squashed(hooked: Path) -> None:
    """Each brings its own set of trailers, of which git reads the last."""
    text = TEXT
    for step, more in ((1, "Skillgit-Epoch: 1\n"), (2, "")):
        text += f"- Rule {step}.\n"
        stage(hooked, text)
        message = f"skill(greeter): add rule {step}\n\nSkillgit-Run: r1\nSkillgit-Step: {step}\n{more}"
        git(hooked, "commit", "--quiet", "-m", message)
    editors = {"GIT_SEQUENCE_EDITOR": "sed -i.bak '2s/^pick/squash/'", "GIT_EDITOR": "true"}
    code, out = run_git(hooked, "rebase", "--quiet", "-i", "HEAD~2", env=editors)
    assert (code, git(hooked, "status", "--porcelain", "--untracked-files=no")) == (0, ""), out
    assert git(hooked, "log", "-1", "--format=%(trailers:key=Skillgit-Step,valueonly)").strip() == "2"
    assert "Skillgit-Epoch: 1" in git(hooked, "log", "-1", "--format=%B")
    assert git(hooked, "show", f"HEAD:{SKILL}") == text.strip()


def test_message_merge_and_push_are_checked(hooked: Path) -> None:
    stage(hooked, GOOD)
    code, out = run_git(hooked, "commit", "-m", "words\n\nSkillgit-Foo: 1")
    assert (code, "unknown trailer Skillgit-Foo" in out) == (1, True)
    assert commit(hooked)[0] == 0
    git(hooked, "switch", "--quiet", "-c", "side", "HEAD^")
    stage(hooked, BAD, "skills/side/SKILL.md")
    git(hooked, "commit", "--quiet", "--no-verify", "-m", "bad")
    code, out = run_git(hooked, "merge", "--no-edit", "main")
    assert (code, "description" in out) == (0, False)  # what was committed before is not judged again
    git(hooked, "init", "--quiet", "--bare", "../remote.git")
    git(hooked, "remote", "add", "origin", "../remote.git")
    (hooked / "skillgit.yaml").write_text("git:\n  push_gate: block\n")
    code, out = run_git(hooked, "push", "origin", "side")
    assert (code, "unmeasured skills/greeter" in out) == (1, True)
    (hooked / "skillgit.yaml").write_text("git:\n  push_gate: warn\n")
    code, out = run_git(hooked, "push", "origin", "side")
    assert (code, "unmeasured skills/greeter" in out) == (0, True)
