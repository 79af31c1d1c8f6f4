"""Whatever state a repository is in, a training run leaves all of it that is the user's as it was, byte for byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import SKILL, git
from tests.git.helpers import SHORT, Skillgit, made, train, user_state

MINE = "- Mine.\n"


def test_a_clean_tree(repo_dir: Path, skillgit: Skillgit) -> None:
    before = user_state(repo_dir)
    last = train(skillgit, repo_dir)
    assert last["accepted"] == 1
    assert user_state(repo_dir) == before
    assert made(repo_dir) == [
        f"refs/heads/{last['branch']}",
        "refs/notes/skillgit/evals",
        "refs/notes/skillgit/gates",
        "refs/notes/skillgit/results",
        f"refs/skillgit/runs/greeter/{last['run']}",
    ]


def test_a_dirty_index_and_untracked_and_ignored_files(repo_dir: Path, skillgit: Skillgit) -> None:
    (repo_dir / "staged.txt").write_text("staged\n")
    (repo_dir / "both.txt").write_text("staged\n")
    git(repo_dir, "add", "staged.txt", "both.txt")
    (repo_dir / "both.txt").write_text("and changed again\n")
    (repo_dir / ".gitignore").write_text("secret\n")
    (repo_dir / "secret").write_text("ignored\n")
    (repo_dir / "script.json").touch()
    before = user_state(repo_dir)
    last = train(skillgit, repo_dir)
    assert user_state(repo_dir) == before
    assert git(repo_dir, "diff", "--name-only", "main", last["branch"]) == "skills/greeter/SKILL.md"


def test_a_stash(repo_dir: Path, skillgit: Skillgit) -> None:
    (repo_dir / "script.json").write_text((repo_dir / "script.json").read_text() + "\n")
    git(repo_dir, "stash")
    before = user_state(repo_dir)
    train(skillgit, repo_dir)
    assert user_state(repo_dir) == before


def test_the_middle_of_a_merge(repo_dir: Path, skillgit: Skillgit) -> None:
    _conflict(repo_dir, "notes.txt")
    git(repo_dir, "merge", "other", check=False)
    before = user_state(repo_dir)
    assert any("MERGE_HEAD" in name for name in before)
    train(skillgit, repo_dir)
    assert user_state(repo_dir) == before


def test_the_middle_of_a_rebase(repo_dir: Path, skillgit: Skillgit) -> None:
    _conflict(repo_dir, "notes.txt")
    git(repo_dir, "rebase", "other", check=False)
    before = user_state(repo_dir)
    assert any("rebase-merge" in name for name in before)
    train(skillgit, repo_dir)
    assert user_state(repo_dir) == before


def test_a_skill_with_merge_conflicts_is_refused(repo_dir: Path, skillgit: Skillgit) -> None:
    _conflict(repo_dir, "skills/greeter/SKILL.md")
    git(repo_dir, "merge", "other", check=False)
    before = user_state(repo_dir)
    code, _, err = skillgit(repo_dir, "train", "greeter", *SHORT)
    assert (code, made(repo_dir)) == (4, [])
    assert "skills/greeter has merge conflicts" in err
    assert user_state(repo_dir) == before


def _conflict(folder: Path, name: str) -> None:
    git(folder, "switch", "--quiet", "-c", "other")
    for branch, text in (("other", "theirs\n"), ("main", "ours\n")):
        git(folder, "switch", "--quiet", branch)
        (folder / name).write_text(SKILL + text)
        git(folder, "add", name)
        git(folder, "commit", "--quiet", "-m", f"{branch} writes")


def test_a_detached_head(repo_dir: Path, skillgit: Skillgit) -> None:
    git(repo_dir, "commit", "--quiet", "--allow-empty", "-m", "later")
    git(repo_dir, "switch", "--quiet", "--detach", "HEAD~1")
    before = user_state(repo_dir)
    last = train(skillgit, repo_dir)
    assert user_state(repo_dir) == before
    assert git(repo_dir, "merge-base", "HEAD", last["branch"]) == git(repo_dir, "rev-parse", "HEAD")


def test_a_subfolder(repo_dir: Path, skillgit: Skillgit) -> None:
    before = user_state(repo_dir)
    train(skillgit, repo_dir / "skills/greeter", skill=".")
    train(skillgit, repo_dir / "evals", "--fresh", skill="../skills/greeter")
    train(skillgit, repo_dir / "evals/greeter", "--fresh")
    assert user_state(repo_dir) == before


def test_a_linked_worktree(repo_dir: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    linked = tmp_path / "linked"
    git(repo_dir, "worktree", "add", "--quiet", "-b", "side", str(linked))
    (linked / "skills/greeter/SKILL.md").write_text(SKILL + MINE)
    before = user_state(repo_dir), user_state(linked)
    last = train(skillgit, linked)
    assert (user_state(repo_dir), user_state(linked)) == before
    assert MINE in git(repo_dir, "show", f"{last['branch']}:skills/greeter/SKILL.md") + "\n"
    assert (repo_dir / ".git/skillgit/cache.db").is_file()
    assert not (repo_dir / ".git/worktrees/linked/skillgit").exists()


def test_an_unborn_head(repo_dir: Path, skillgit: Skillgit) -> None:
    shutil.rmtree(repo_dir / ".git")
    git(repo_dir, "init", "--quiet", "--initial-branch=main")
    before = user_state(repo_dir)
    last = train(skillgit, repo_dir)
    assert user_state(repo_dir) == before
    assert git(repo_dir, "log", "--format=%s", "--reverse", last["branch"]).splitlines() == [
        "skill(greeter): start from uncommitted changes",
        'skill(greeter): add "RULE_A: answer A with a dash"',
    ]
    assert git(repo_dir, "ls-tree", "-r", "--name-only", last["branch"]) == "skills/greeter/SKILL.md"


def test_uncommitted_changes_of_the_skill_are_the_first_commit(repo_dir: Path, skillgit: Skillgit) -> None:
    (repo_dir / "skills/greeter/SKILL.md").write_text(SKILL + MINE)
    (repo_dir / "skills/greeter/extra.md").write_text("More.\n")
    (repo_dir / "unrelated.txt").write_text("stays out\n")
    before = user_state(repo_dir)
    last = train(skillgit, repo_dir)
    assert user_state(repo_dir) == before
    first = git(repo_dir, "rev-list", "--reverse", f"main..{last['branch']}").splitlines()[0]
    assert git(repo_dir, "diff", "--name-only", "main", first).split() == [
        "skills/greeter/SKILL.md",
        "skills/greeter/extra.md",
    ]
    assert git(repo_dir, "rev-parse", f"{first}^") == git(repo_dir, "rev-parse", "main")


def test_a_bare_repository_trains_from_the_files_of_head(repo_dir: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    (repo_dir / "skillgit.yaml").write_text("model:\n  backend: scripted\n  script: script.json\n")
    git(repo_dir, "add", "skillgit.yaml")
    git(repo_dir, "commit", "--quiet", "-m", "settings")
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(repo_dir), str(bare))
    hook = bare / "hooks/post-checkout"
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    before = {path.name for path in bare.iterdir()}
    last = train(skillgit, bare)
    assert last["accepted"] == 1
    assert {path.name for path in bare.iterdir()} - before == {"skillgit"}
    again = train(skillgit, repo_dir)
    assert (again["baseline"]["object"], again["best"]["object"]) == (
        last["baseline"]["object"],
        last["best"]["object"],
    )


def test_a_bare_repository_without_tasks_names_the_missing_file(tmp_path: Path, skillgit: Skillgit) -> None:
    work, bare = tmp_path / "work", tmp_path / "bare.git"
    (work / "skills/greeter").mkdir(parents=True)
    (work / "skills/greeter/SKILL.md").write_text(SKILL)
    git(work, "init", "--quiet", "--initial-branch=main")
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "-m", "start")
    git(tmp_path, "clone", "--quiet", "--bare", str(work), str(bare))
    code, _, err = skillgit(bare, "train", "greeter", *SHORT)
    assert (code, made(bare)) == (2, [])
    assert "evals/greeter/train.jsonl" in err


def test_an_empty_bare_repository_says_that_there_is_no_skill(tmp_path: Path, skillgit: Skillgit) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "init", "--quiet", "--bare", str(bare))
    code, _, err = skillgit(bare, "train", "greeter", *SHORT)
    assert code == 2, err
    assert "no skill 'greeter'" in err


@pytest.mark.parametrize("format", ["sha1", "sha256"])
def test_every_object_format(format: str, template: Path, tmp_path: Path, skillgit: Skillgit) -> None:  # noqa: A002
    folder = tmp_path / "repo"
    shutil.copytree(template, folder)
    git(folder, "init", "--quiet", "--initial-branch=main", f"--object-format={format}")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "start")
    (folder / "skills/greeter/SKILL.md").write_text(SKILL + MINE)
    last = train(skillgit, folder)
    assert len(last["best"]["commit"]) == {"sha1": 40, "sha256": 64}[format]
    tree = git(folder, "rev-parse", f"{last['branch']}:skills/greeter")
    assert f'"skill":"{tree}"' in git(folder, "notes", "--ref=skillgit/evals", "show", tree)
    git(folder, "fsck", "--strict", "--no-dangling")
