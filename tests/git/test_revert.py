"""Undoing a commit to a skill: what is in the commit, what is not, and what is as before when it cannot be made."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skillgit.errors import GitError
from skillgit.git.repository import Repository
from skillgit.git.revert import invert
from skillgit.git.skillstore import find
from skillgit.git.usercommit import commit_files
from skillgit.report.revert import message
from tests.conftest import git
from tests.git.helpers import Skillgit, user_state

FOLDER = "skills/greeter"
SKILL = f"{FOLDER}/SKILL.md"


@pytest.fixture
def lesson(repo_dir: Path) -> Path:
    """HEAD is a lesson that changed, added and removed files of the skill; other files exist beside it."""
    write(repo_dir, f"{FOLDER}/references/old.md", "old\n")
    write(repo_dir, "other.txt", "other\n")
    commit(repo_dir, "before")
    write(repo_dir, SKILL, text(repo_dir, SKILL) + "\n- Be kind.\n")
    write(repo_dir, f"{FOLDER}/references/new.md", "new\n")
    write(repo_dir, f"{FOLDER}/scripts/run.sh", "#!/bin/sh\n")
    (repo_dir / FOLDER / "scripts/run.sh").chmod(0o755)
    (repo_dir / FOLDER / "references/old.md").unlink()
    commit(repo_dir, "skill(greeter): be kind")
    return repo_dir


def write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(text.encode())


def text(folder: Path, path: str) -> str:
    return (folder / path).read_bytes().decode()


def commit(folder: Path, subject: str) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", subject)
    return git(folder, "rev-parse", "HEAD")


def hook(folder: Path, name: str, body: str) -> None:
    path = folder / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_every_file_of_the_skill_goes_back(lesson: Path, skillgit: Skillgit) -> None:
    code, _, err = skillgit(lesson, "revert", "HEAD")
    assert code == 0, err
    assert git(lesson, "rev-parse", "HEAD:skills/greeter") == git(lesson, "rev-parse", "HEAD~2:skills/greeter")
    assert git(lesson, "status", "--porcelain") == ""
    assert not (lesson / FOLDER / "scripts").exists()
    code, _, err = skillgit(lesson, "revert", "HEAD")
    assert code == 0, err
    assert git(lesson, "rev-parse", "HEAD:skills/greeter") == git(lesson, "rev-parse", "HEAD~2:skills/greeter")
    assert os.access(lesson / FOLDER / "scripts/run.sh", os.X_OK)


def test_the_object_is_known_before_anything_is_written(lesson: Path) -> None:
    repo = Repository.open(lesson)
    inverse = invert(repo, find(repo, "greeter"), repo.commit("HEAD"))
    assert inverse.object == git(lesson, "rev-parse", "HEAD~:skills/greeter")
    assert set(inverse.after) == {
        SKILL,
        *(f"{FOLDER}/{name}" for name in ("references/new.md", "references/old.md", "scripts/run.sh")),
    }


def test_what_else_is_staged_changed_or_untracked_stays_so(lesson: Path, skillgit: Skillgit) -> None:
    write(lesson, "staged.txt", "staged\n")
    git(lesson, "add", "staged.txt")
    write(lesson, "other.txt", "dirty\n")
    write(lesson, "untracked.txt", "untracked\n")
    write(lesson, f"{FOLDER}/draft.md", "not yet added\n")
    before = git(lesson, "status", "--porcelain")
    assert skillgit(lesson, "revert", "HEAD")[0] == 0
    assert git(lesson, "status", "--porcelain") == before
    changed = git(lesson, "show", "--name-only", "--format=", "HEAD").splitlines()
    assert all(path.startswith(FOLDER) for path in changed)
    assert "skills/greeter/draft.md" not in changed
    assert text(lesson, "other.txt") == "dirty\n"


@pytest.mark.parametrize("stage", [False, True])
def test_a_skill_with_uncommitted_changes_is_refused(lesson: Path, skillgit: Skillgit, stage: bool) -> None:
    write(lesson, SKILL, text(lesson, SKILL) + "mine\n")
    if stage:
        git(lesson, "add", SKILL)
    before = user_state(lesson)
    code, _, err = skillgit(lesson, "revert", "HEAD")
    assert code == 4
    assert "git stash push" in err
    assert user_state(lesson) == before


def test_a_merge_under_way_is_refused(lesson: Path, skillgit: Skillgit) -> None:
    git(lesson, "branch", "side", "HEAD~")
    git(lesson, "merge", "--no-ff", "--no-commit", "side", check=False)
    git(lesson, "update-ref", "MERGE_HEAD", "HEAD~")
    code, _, err = skillgit(lesson, "revert", "HEAD")
    assert code == 4
    assert "a merge is under way" in err


def test_a_rebase_under_way_is_refused_in_a_linked_worktree_too(
    lesson: Path, tmp_path: Path, skillgit: Skillgit
) -> None:
    git(lesson, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    stop = os.environ | {"GIT_SEQUENCE_EDITOR": "sed -i s/pick/edit/"}
    subprocess.run(
        ["git", "-C", tmp_path / "linked", "rebase", "-qi", "HEAD~"], env=stop, check=True, capture_output=True
    )
    code, _, err = skillgit(tmp_path / "linked", "revert", "HEAD")
    assert code == 4
    assert "a rebase is under way" in err
    assert skillgit(lesson, "revert", "HEAD")[0] == 0


def test_a_detached_head_in_a_linked_worktree_is_fine(lesson: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    git(lesson, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    main = git(lesson, "rev-parse", "main")
    assert skillgit(tmp_path / "linked" / FOLDER, "revert", "HEAD")[0] == 0
    assert "kind" not in text(tmp_path / "linked", SKILL)
    assert git(lesson, "rev-parse", "main") == main


def test_a_bare_repository_says_where_it_can_be_done(lesson: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    git(lesson, "clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    code, _, err = skillgit(tmp_path / "bare", "revert", "HEAD", "greeter")
    assert code == 4
    assert "git worktree add" in err
    assert skillgit(tmp_path / "bare", "revert", "HEAD", "greeter", "--dry-run")[0] == 0


@pytest.mark.parametrize("name", ["pre-commit", "commit-msg"])
def test_a_hook_that_refuses_leaves_everything_as_it_was(lesson: Path, skillgit: Skillgit, name: str) -> None:
    write(lesson, "staged.txt", "staged\n")
    git(lesson, "add", "staged.txt")
    hook(lesson, name, f"echo scribble >> {SKILL}; echo no such lesson >&2; exit 1")
    before = user_state(lesson)
    code, _, err = skillgit(lesson, "revert", "HEAD")
    assert code == 4
    assert "no such lesson" in err
    after = user_state(lesson)
    # The index is written anew, for a file had to be made known to git; what it says is the same.
    assert {k: v for k, v in after.items() if not k.endswith("index")} == {
        k: v for k, v in before.items() if not k.endswith("index")
    }
    assert git(lesson, "diff", "--cached", "--name-only") == "staged.txt"


def test_a_refused_change_of_one_text_leaves_even_the_index_alone(repo_dir: Path, skillgit: Skillgit) -> None:
    write(repo_dir, SKILL, text(repo_dir, SKILL) + "\n- Be kind.\n")
    commit(repo_dir, "skill(greeter): be kind")
    hook(repo_dir, "pre-commit", "exit 1")
    before = user_state(repo_dir)
    assert skillgit(repo_dir, "revert", "HEAD")[0] == 4
    assert user_state(repo_dir) == before


def test_hooks_see_the_change_staged_and_on_disk(lesson: Path, skillgit: Skillgit) -> None:
    hook(lesson, "pre-commit", f"git diff --cached --name-only >seen; ! grep -q kind {SKILL}")
    hook(lesson, "commit-msg", 'echo "Signed-off-by: me" >>"$1"')
    code, _, err = skillgit(lesson, "revert", "HEAD")
    assert code == 0, err
    assert SKILL in text(lesson, "seen").splitlines()
    assert git(lesson, "log", "-1", "--format=%B").splitlines()[-1] == "Signed-off-by: me"


def test_a_signature_that_cannot_be_made_leaves_everything_as_it_was(repo_dir: Path, skillgit: Skillgit) -> None:
    write(repo_dir, SKILL, text(repo_dir, SKILL) + "\n- Be kind.\n")
    commit(repo_dir, "skill(greeter): be kind")
    git(repo_dir, "config", "commit.gpgsign", "true")
    git(repo_dir, "config", "user.signingkey", "nobody@example.invalid")
    before = user_state(repo_dir)
    assert skillgit(repo_dir, "revert", "HEAD")[0] == 4
    assert user_state(repo_dir) == before


def test_windows_line_endings_stay_on_disk_and_out_of_git(repo_dir: Path, skillgit: Skillgit) -> None:
    write(repo_dir, ".gitattributes", "*.md text eol=crlf\n")
    write(repo_dir, SKILL, text(repo_dir, SKILL).replace("\n", "\r\n") + "\r\n- Be kind.\r\n")
    commit(repo_dir, "skill(greeter): be kind")
    assert skillgit(repo_dir, "revert", "HEAD")[0] == 0
    assert "\r" not in git(repo_dir, "cat-file", "-p", f"HEAD:{SKILL}")
    assert "rules yet.\r\n" in text(repo_dir, SKILL)
    assert git(repo_dir, "status", "--porcelain") == ""


def test_an_untracked_file_in_the_way_is_not_written_over(lesson: Path, skillgit: Skillgit) -> None:
    write(lesson, f"{FOLDER}/references/old.md", "mine\n")
    before = user_state(lesson)
    code, _, err = skillgit(lesson, "revert", "HEAD")
    assert code == 4
    assert "references/old.md" in err
    assert user_state(lesson) == before


def test_nothing_is_written_through_a_symbolic_link(lesson: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    (tmp_path / "outside").mkdir()
    git(lesson, "rm", "-rq", f"{FOLDER}/references")
    commit(lesson, "no references")
    (lesson / FOLDER / "references").symlink_to(tmp_path / "outside")
    code, _, err = skillgit(lesson, "revert", "HEAD~")
    assert code == 4
    assert "lies below, a symbolic link" in err
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("later", [False, True])
def test_a_binary_file_goes_back_only_when_nobody_touched_it_since(
    repo_dir: Path, skillgit: Skillgit, later: bool
) -> None:
    image = repo_dir / FOLDER / "assets/a.bin"
    for data in (b"\0one", b"\0two", b"\0three")[: 2 + later]:
        image.parent.mkdir(exist_ok=True)
        image.write_bytes(data)
        commit(repo_dir, f"skill(greeter): {data[1:].decode()}")
    code, out, _ = skillgit(repo_dir, "revert", "HEAD~" if later else "HEAD")
    assert (code, image.read_bytes()) == ((7, b"\0three") if later else (0, b"\0one"))
    assert later == ("binary and has changed since" in out)


def test_a_bare_file_is_a_skill_too(repo_dir: Path, skillgit: Skillgit) -> None:
    write(repo_dir, "guide.md", "# Guide\n\n- One.\n")
    commit(repo_dir, "guide")
    write(repo_dir, "guide.md", "# Guide\n\n- One.\n\n- Two.\n")
    commit(repo_dir, "two")
    code, out, err = skillgit(repo_dir, "revert", "HEAD", "guide.md", "--json")
    assert code == 0, err
    assert json.loads(out)["object"] == git(repo_dir, "rev-parse", "HEAD~2:guide.md")


def test_a_commit_to_something_else_or_the_first_one_is_refused(lesson: Path, skillgit: Skillgit) -> None:
    write(lesson, "other.txt", "more\n")
    commit(lesson, "else")
    code, _, err = skillgit(lesson, "revert", "HEAD", "greeter")
    assert code == 4
    assert "did not change skills/greeter" in err
    first = git(lesson, "rev-list", "--max-parents=0", "HEAD")
    code, _, err = skillgit(lesson, "revert", first, "greeter")
    assert code == 2
    assert "created the skill" in err


def test_subjects_stay_within_their_width(repo_dir: Path) -> None:
    write(repo_dir, SKILL, text(repo_dir, SKILL) + "\n- Be kind.\n")
    head = commit(repo_dir, "skill(greeter): " + "very " * 30)
    repo = Repository.open(repo_dir)
    subject = message(invert(repo, find(repo, "greeter"), head)).splitlines()[0]
    assert subject.endswith('very v…"')
    assert len(subject) <= 72


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_stopped_in_a_hook_it_leaves_what_git_can_undo(lesson: Path, number: signal.Signals, code: int) -> None:
    hook(lesson, "pre-commit", "touch running; sleep 1; exit 1")
    head = git(lesson, "rev-parse", "HEAD")
    process = subprocess.Popen(
        [sys.executable, "-m", "skillgit", "-C", lesson, "revert", "HEAD"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    while not (lesson / "running").exists():
        time.sleep(0.02)
    process.send_signal(number)
    process.communicate()
    assert process.returncode == code
    while (lesson / ".git/index.lock").exists():
        time.sleep(0.02)
    if number == signal.SIGKILL:
        assert "skills/greeter/SKILL.md" in git(lesson, "status", "--porcelain")
        git(lesson, "restore", "--staged", "--worktree", "--", FOLDER)
    assert git(lesson, "status", "--porcelain") == "?? running"
    assert git(lesson, "rev-parse", "HEAD") == head


def test_a_text_that_cannot_be_read_by_rules_is_merged_line_by_line(repo_dir: Path, skillgit: Skillgit) -> None:
    marker = "\n<<<<<<< left over by someone\n"
    write(repo_dir, SKILL, text(repo_dir, SKILL) + marker)
    commit(repo_dir, "damage")
    head, body = text(repo_dir, SKILL).split("No rules yet.")
    write(repo_dir, SKILL, f"{head}Be kind.\n\nNo rules yet.{body}")
    lesson = commit(repo_dir, "skill(greeter): be kind")
    write(repo_dir, SKILL, text(repo_dir, SKILL) + "\nMore.\n")
    commit(repo_dir, "more")
    assert skillgit(repo_dir, "revert", lesson)[0] == 0
    assert text(repo_dir, SKILL) == f"{head}No rules yet.{body}\nMore.\n"


def test_a_head_that_moved_meanwhile_is_not_written_over(repo_dir: Path) -> None:
    write(repo_dir, SKILL, text(repo_dir, SKILL) + "\n- Be kind.\n")
    lesson = commit(repo_dir, "skill(greeter): be kind")
    repo = Repository.open(repo_dir)
    inverse = invert(repo, find(repo, "greeter"), lesson)
    write(repo_dir, SKILL, text(repo_dir, SKILL) + "\n- More.\n")
    commit(repo_dir, "more")
    before = user_state(repo_dir)
    with pytest.raises(GitError, match="HEAD moved"):
        commit_files(repo, inverse.place, inverse.after, "undo\n", inverse.head)
    assert user_state(repo_dir) == before


@pytest.mark.skipif(os.name == "nt", reason="no terminals of this kind")
def test_at_a_terminal_the_message_can_be_edited(lesson: Path) -> None:
    import pty

    terminal, stdin = pty.openpty()
    command = [sys.executable, "-m", "skillgit", "-C", lesson, "revert", "HEAD"]
    editor = os.environ | {"GIT_EDITOR": "sed -i '1s/kind/kind, by mistake/'"}
    subprocess.run(command, env=editor, stdin=stdin, check=True, capture_output=True)
    assert git(lesson, "log", "-1", "--format=%s") == 'skill(greeter): revert "be kind, by mistake"'
    git(lesson, "reset", "--quiet", "--hard", "HEAD~")
    subprocess.run([*command, "--no-edit"], env=editor, stdin=stdin, check=True, capture_output=True)
    assert git(lesson, "log", "-1", "--format=%s") == 'skill(greeter): revert "be kind"'
    for handle in (terminal, stdin):
        os.close(handle)
