"""The hooks as their users meet them: through `skillgit hooks`, real commits, and the pre-commit framework."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import git
from tests.git.helpers import Skillgit
from tests.git.hooks import husky, run_git, script, snapshot

TOKEN = "ghp_" + "a1B2" * 9
RUN = "learn\n\nSkillgit-Run: r1"
SKILL = "skills/greeter/SKILL.md"


def add(folder: Path, path: str, text: str = "- more\n") -> None:
    """Append to a file, not staged."""
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    with (folder / path).open("a") as file:
        file.write(text)


def commit(folder: Path, message: str, *args: str) -> tuple[int, str]:
    return run_git(folder, "commit", "--quiet", "-m", message, *args)


class TestTheCommands:
    def test_a_dry_run_tells_what_install_does(self, repo_dir: Path, skillgit: Skillgit) -> None:
        before = snapshot(repo_dir / ".git")
        code, out, _ = skillgit(repo_dir, "hooks", "install", "--dry-run", "--json")
        assert (code, snapshot(repo_dir / ".git")) == (0, before)
        planned = json.loads(out)
        assert planned["dry_run"] is True
        done = json.loads(skillgit(repo_dir, "hooks", "install", "--json")[1])
        assert done["changes"] == planned["changes"]
        assert [Path(change["what"]).name for change in done["changes"]] == [
            "pre-commit",
            "pre-merge-commit",
            "commit-msg",
            "pre-push",
            "post-merge",
            "post-rewrite",
        ]
        assert json.loads(skillgit(repo_dir, "hooks", "uninstall", "--dry-run", "--json")[1])["changes"]
        assert skillgit(repo_dir, "hooks", "uninstall")[0] == 0
        assert snapshot(repo_dir / ".git") == before

    def test_status_tells_where_and_exits_by_it(self, repo_dir: Path, skillgit: Skillgit) -> None:
        code, out, err = skillgit(repo_dir, "hooks", "status", "--json")
        assert (code, "next: skillgit -C" in err) == (1, True)
        assert set(json.loads(out)["worktrees"][0]["hooks"].values()) == {"missing"}
        skillgit(repo_dir, "hooks", "install", "--hook", "pre-push")
        code, out, _ = skillgit(repo_dir, "hooks", "status", "--hook", "pre-push")
        assert (code, "pre-push          ours" in out, str(repo_dir / ".git/hooks") in out) == (0, True, True)
        assert skillgit(repo_dir, "hooks", "status")[0] == 1

    def test_it_says_where_hooks_go_when_that_is_not_plain(self, repo_dir: Path, skillgit: Skillgit) -> None:
        (repo_dir / ".pre-commit-config.yaml").write_text("repos: []\n")
        out = skillgit(repo_dir, "hooks", "install")[1]
        assert "hooks: [{id: skillgit-lint}, {id: skillgit-commit-msg}, {id: skillgit-gate}]" in out
        git(repo_dir, "config", "core.hooksPath", ".githooks")
        assert "folder of the working tree" in skillgit(repo_dir, "hooks", "install")[1]
        husky(repo_dir)
        assert "husky runs the scripts" in skillgit(repo_dir, "hooks", "install")[1]
        git(repo_dir, "config", "core.hooksPath", "/nowhere")
        out = skillgit(repo_dir, "hooks", "install")[1]
        assert "hooks of /nowhere still run" in out
        assert "not this repository's" in out

    def test_two_hooks_of_others_need_a_person(self, repo_dir: Path, skillgit: Skillgit) -> None:
        hook = script(repo_dir / ".git/hooks/pre-push", "exit 0")
        skillgit(repo_dir, "hooks", "install", "--hook", "pre-push")
        script(hook, "echo replaced")
        code, _, err = skillgit(repo_dir, "hooks", "install")
        assert (code, "pre-push.before-skillgit are both there" in err) == (4, True)


@pytest.fixture
def guarded(repo_dir: Path, skillgit: Skillgit) -> Path:
    """The greeter repository with another skill, a script, and the commit-msg hook."""
    for path in ("skills/greeter/scripts/run.sh", "skills/other/SKILL.md", "README.md"):
        add(repo_dir, path)
    git(repo_dir, "add", "--all")
    git(repo_dir, "commit", "--quiet", "-m", "more")
    skillgit(repo_dir, "hooks", "install", "--hook", "commit-msg")
    return repo_dir


class TestALearnedCommit:
    """A message with Skillgit-Run or Skillgit-Evidence is held to documents of one skill."""

    def test_it_may_change_a_document(self, guarded: Path) -> None:
        add(guarded, SKILL)
        add(guarded, "skills/greeter/references/more.md")
        git(guarded, "add", "--all")
        assert commit(guarded, RUN) == (0, "")

    @pytest.mark.parametrize("path", ["skills/greeter/scripts/run.sh", "skills/other/SKILL.md", "README.md", "new.txt"])
    def test_it_may_change_nothing_else(self, path: str, guarded: Path) -> None:
        add(guarded, SKILL)
        add(guarded, path)
        git(guarded, "add", "--all")
        code, out = commit(guarded, f"{RUN.replace('Run', 'Evidence')}")
        assert (code, path.removesuffix("/SKILL.md") in out, "next: unstage it" in out) == (1, True, True)
        assert commit(guarded, "by a person") == (0, "")

    def test_its_name_is_protected(self, guarded: Path) -> None:
        text = (guarded / SKILL).read_text()
        (guarded / SKILL).write_text(text.replace("name: greeter", "name: meeter"))
        code, out = commit(guarded, RUN, "-a")
        assert (code, "frontmatter name is protected" in out) == (1, True)

    @pytest.mark.parametrize("linked", [False, True])
    def test_the_index_of_the_commit_is_judged(self, linked: bool, guarded: Path, tmp_path: Path) -> None:
        folder = guarded
        if linked:
            git(guarded, "worktree", "add", "--quiet", str(tmp_path / "linked"))
            folder = tmp_path / "linked"
        add(folder, SKILL)
        git(folder, "add", SKILL)
        add(folder, "skills/greeter/scripts/run.sh")
        code, out = commit(folder, RUN, "-a")
        assert (code, "scripts are protected" in out) == (1, True)
        assert commit(folder, RUN) == (0, "")
        git(folder, "add", "--all")
        add(folder, SKILL)
        assert commit(folder, RUN, "--", SKILL) == (0, "")
        assert commit(folder, RUN)[0] == 1
        assert git(folder, "status", "--porcelain") == "M  skills/greeter/scripts/run.sh"

    def test_what_a_merged_branch_brings_is_its_own(self, guarded: Path) -> None:
        git(guarded, "switch", "--quiet", "-c", "side")
        add(guarded, "README.md")
        commit(guarded, "side", "-a")
        git(guarded, "switch", "--quiet", "main")
        add(guarded, SKILL)
        commit(guarded, "main", "-a")
        git(guarded, "merge", "--quiet", "--no-commit", "--no-ff", "side")
        assert commit(guarded, RUN) == (0, "")
        git(guarded, "reset", "--quiet", "--hard", "HEAD^")
        git(guarded, "merge", "--quiet", "--no-commit", "--no-ff", "side")
        add(guarded, "new.txt")
        git(guarded, "add", "--all")
        assert commit(guarded, RUN)[0] == 1

    def test_a_first_commit_may_be_one(self, tmp_path: Path, skillgit: Skillgit) -> None:
        git(tmp_path, "init", "--quiet", "new")
        skillgit(tmp_path / "new", "hooks", "install", "--hook", "commit-msg")
        add(tmp_path / "new", SKILL, "---\nname: greeter\n---\n")
        git(tmp_path / "new", "add", "--all")
        assert commit(tmp_path / "new", RUN) == (0, "")

    def test_steps_of_a_run_can_be_picked_and_amended(self, trained: Path, skillgit: Skillgit) -> None:
        skillgit(trained, "hooks", "install", "--hook", "commit-msg")
        branch = git(trained, "branch", "--list", "--format=%(refname:short)", "train/*")
        for step in git(trained, "rev-list", "--reverse", f"main..{branch}").split():
            assert run_git(trained, "cherry-pick", step)[0] == 0
        assert run_git(trained, "commit", "--quiet", "--amend", "--no-edit") == (0, "")
        assert git(trained, "rev-parse", "HEAD^{tree}") == git(trained, "rev-parse", f"{branch}^{{tree}}")


class TestTheMessage:
    def test_how_git_cleans_it_up_decides_what_is_judged(self, guarded: Path) -> None:
        text = f"words\n\n# {TOKEN}\n"
        edit = {"GIT_EDITOR": "true"}
        (guarded / "template").write_text(text)
        file = ("commit", "--quiet", "--allow-empty", "-F", "template")
        assert run_git(guarded, *file)[0] == 1
        assert run_git(guarded, *file, "--edit", env=edit) == (0, "")
        git(guarded, "config", "core.commentChar", ";")
        assert run_git(guarded, *file, "--edit", env=edit)[0] == 1
        git(guarded, "config", "--unset", "core.commentChar")
        git(guarded, "config", "commit.cleanup", "scissors")
        assert run_git(guarded, *file, "--edit", env=edit)[0] == 1

    def test_the_shown_difference_is_no_part_of_it(self, guarded: Path) -> None:
        add(guarded, SKILL, f"{TOKEN}\nSkillgit-Run: no\n")
        code, out = run_git(guarded, "commit", "-a", "-v", "-m", "words", "--edit", env={"GIT_EDITOR": "true"})
        assert code == 0, out

    def test_a_long_subject_is_a_warning(self, guarded: Path) -> None:
        code, out = commit(guarded, f"skill(greeter): {'a' * 80}", "--allow-empty")
        assert (code, out) == (
            0,
            "warning: .git/COMMIT_EDITMSG:1: the subject has 96 characters\n  next: use at most 72\n",
        )

    def test_the_way_back_to_it_works(self, guarded: Path) -> None:
        code, out = commit(guarded, "words\n\nSkillgit-Foo: 1", "--allow-empty")
        assert (code, "unknown trailer Skillgit-Foo" in out) == (1, True)
        again = out.split("next: git ")[-1].split(" brings")[0].split()
        fixed = {"GIT_EDITOR": "sed -i /Skillgit/d"}
        assert run_git(guarded, *again, "--allow-empty", "--quiet", env=fixed) == (0, "")
        assert git(guarded, "log", "-1", "--format=%B").strip() == "words"

    def test_a_file_that_is_not_there_is_named(self, guarded: Path, skillgit: Skillgit) -> None:
        assert skillgit(guarded, "hook", "commit-msg", "nothing")[0] == 4
        assert skillgit(guarded, "hook", "commit-msg")[0] == 2
