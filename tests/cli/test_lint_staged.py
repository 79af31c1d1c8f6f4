"""`skillgit lint --staged`: the index's own bytes are judged, from hooks too, and nothing is changed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import SKILL, git

Run = Callable[..., tuple[int, str, str]]
BAD = SKILL.replace("description:", "version: 1\ndescription:")
REGION = "\n<!-- SLOW_UPDATE_START -->\n{}\n<!-- SLOW_UPDATE_END -->\n"
MAIN = "skills/greeter/SKILL.md"


def staged(skillgit: Run, folder: Path, *args: str) -> list[tuple[str, str]]:
    code, out, err = skillgit(folder, "lint", "--staged", "--json", *args)
    assert code in (0, 1), err
    return [(finding["path"], finding["rule"]) for finding in json.loads(out)["findings"]]


def put(folder: Path, text: str, path: str = MAIN, *, stage: bool = True) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(text.encode())
    if stage:
        git(folder, "add", "--", path)


def test_only_skills_with_staged_changes_are_judged(skillgit: Run, repo_dir: Path) -> None:
    put(repo_dir, BAD, "skills/other/SKILL.md", stage=False)
    assert staged(skillgit, repo_dir) == []
    put(repo_dir, BAD)
    put(repo_dir, SKILL, stage=False)
    assert staged(skillgit, repo_dir) == [(MAIN, "unknown-key")]
    put(repo_dir, SKILL)
    put(repo_dir, BAD, stage=False)
    assert staged(skillgit, repo_dir) == []


def test_named_paths_are_judged_as_staged_even_unchanged_or_gone(skillgit: Run, repo_dir: Path) -> None:
    put(repo_dir, BAD)
    git(repo_dir, "commit", "--quiet", "-m", "bad")
    assert staged(skillgit, repo_dir) == []
    (repo_dir / MAIN).unlink()
    for path in (MAIN, "skills/greeter", "skills", "."):
        assert staged(skillgit, repo_dir, path) == [(MAIN, "unknown-key")]
    assert staged(skillgit, repo_dir / "skills", "greeter") == [("greeter/SKILL.md", "unknown-key")]
    assert staged(skillgit, repo_dir, "script.json") == []


def test_a_change_beside_the_document_counts_and_a_whole_removal_does_not(skillgit: Run, repo_dir: Path) -> None:
    put(repo_dir, "[no](no.md)\n", "skills/greeter/references/a.md")
    assert staged(skillgit, repo_dir) == [("skills/greeter/references/a.md", "broken-link")]
    git(repo_dir, "commit", "--quiet", "-m", "more")
    git(repo_dir, "rm", "--quiet", "--cached", MAIN)
    assert (MAIN, "skill-file-missing") in staged(skillgit, repo_dir)
    git(repo_dir, "rm", "--quiet", "-r", "--cached", "skills/greeter")
    assert staged(skillgit, repo_dir) == []


def test_nothing_is_changed(skillgit: Run, repo_dir: Path) -> None:
    put(repo_dir, BAD)
    put(repo_dir, SKILL + "more", stage=False)

    def state() -> list[object]:
        index = (repo_dir / ".git/index").read_bytes()
        names = ("status", "--porcelain"), ("stash", "list"), ("for-each-ref",), ("count-objects",)
        return [index, *(git(repo_dir, *name) for name in names)]

    before = state()
    staged(skillgit, repo_dir)
    assert state() == before


def test_line_ends_of_the_working_tree_do_not_matter(skillgit: Run, repo_dir: Path) -> None:
    git(repo_dir, "config", "core.autocrlf", "true")
    put(repo_dir, (SKILL + "- One more.\n").replace("\n", "\r\n"))
    assert git(repo_dir, "diff", "--cached", "--name-only") == MAIN
    assert staged(skillgit, repo_dir) == []


@pytest.mark.parametrize("worktree", [False, True])
@pytest.mark.parametrize("how", ["-a", "--only", "add"])
def test_a_hook_judges_the_index_that_git_names(repo_dir: Path, how: str, worktree: bool) -> None:
    hook = repo_dir / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} -m skillgit lint --staged\n")
    hook.chmod(0o755)
    folder = repo_dir
    if worktree:
        folder = repo_dir.parent / "linked"
        git(repo_dir, "worktree", "add", "--quiet", "-b", "side", str(folder))
    put(folder, BAD, stage=how == "add")
    args = {"-a": ("-a",), "--only": ("--", MAIN), "add": ()}[how]
    head = git(folder, "rev-parse", "HEAD")
    done = subprocess.run(
        ["git", "-C", str(folder), "commit", "-q", "-m", "bad", *args], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert f"{MAIN}:3:1: error unknown-key" in done.stdout + done.stderr
    assert git(folder, "rev-parse", "HEAD") == head
    put(folder, SKILL + "- Fine.\n", stage=how == "add")
    git(folder, "commit", "-q", "-m", "good", *args)
    assert git(folder, "rev-parse", "HEAD") != head


def test_an_index_is_named_from_the_top_folder(skillgit: Run, repo_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(repo_dir, BAD)
    (repo_dir / ".git/index").rename(repo_dir / ".git/other")
    git(repo_dir, "read-tree", "HEAD")
    assert staged(skillgit, repo_dir) == []
    for name in (".git/other", str(repo_dir / ".git/other")):
        monkeypatch.setenv("GIT_INDEX_FILE", name)
        assert staged(skillgit, repo_dir / "skills") == [("greeter/SKILL.md", "unknown-key")]


def test_paths_may_lead_over_a_link_to_the_repository(skillgit: Run, repo_dir: Path, tmp_path: Path) -> None:
    put(repo_dir, BAD)
    (tmp_path / "link").symlink_to(repo_dir)
    assert [rule for _, rule in staged(skillgit, tmp_path / "link/skills", "greeter")] == ["unknown-key"]
    given = str(tmp_path / "link" / MAIN)
    assert staged(skillgit, repo_dir, given) == [(MAIN, "unknown-key")]


def test_a_commit_without_learned_text_loads_nothing_of_evaluations(repo_dir: Path) -> None:
    put(repo_dir, BAD)
    code = (
        f"import sys; from skillgit.cli.main import run; run(['-C', {str(repo_dir)!r}, 'hook', 'pre-commit']); "
        "print(*({'skillgit.evals', 'skillgit.skills.patch', 'openai', 'rich', 'jsonschema'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "unknown-key" in out
    assert out.splitlines()[-1] == ""


def test_a_repository_that_is_a_skill_may_be_cloned_under_any_name(skillgit: Run, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    put(tmp_path, SKILL, "SKILL.md")
    assert staged(skillgit, tmp_path) == []
    assert skillgit(tmp_path, "lint")[:2] == (0, "1 skill: nothing found\n")
    put(tmp_path, BAD, "SKILL.md")
    assert staged(skillgit, tmp_path) == [("SKILL.md", "unknown-key")]


def test_a_bare_repository_has_nothing_staged(skillgit: Run, repo_dir: Path, tmp_path: Path) -> None:
    git(repo_dir, "clone", "--quiet", "--bare", str(repo_dir), str(tmp_path / "bare"))
    code, _, err = skillgit(tmp_path / "bare", "lint", "--staged")
    assert (code, "has no index" in err) == (4, True)


def test_the_first_commit_is_judged_too(skillgit: Run, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    put(tmp_path, BAD)
    assert staged(skillgit, tmp_path) == [(MAIN, "unknown-key")]


def test_a_name_changes_with_its_folder_only(skillgit: Run, repo_dir: Path) -> None:
    put(repo_dir, SKILL.replace("name: greeter", "name: host"))
    assert {rule for _, rule in staged(skillgit, repo_dir)} == {"name-change", "name-folder"}
    git(repo_dir, "mv", "-f", "skills/greeter", "skills/host")
    assert staged(skillgit, repo_dir) == []


def test_a_name_that_becomes_the_folders_is_a_repair(skillgit: Run, repo_dir: Path) -> None:
    put(repo_dir, SKILL.replace("name: greeter", "name: host"))
    git(repo_dir, "commit", "--quiet", "-m", "wrong")
    put(repo_dir, SKILL)
    assert staged(skillgit, repo_dir) == []


def test_protected_text_changed_by_hand_is_refused(skillgit: Run, repo_dir: Path) -> None:
    put(repo_dir, SKILL + REGION.format("Keep it."))
    git(repo_dir, "commit", "--quiet", "-m", "region")
    put(repo_dir, SKILL + "- A rule.\n" + REGION.format("Keep it."))
    assert staged(skillgit, repo_dir) == []
    for text in (SKILL + REGION.format("Keep it!"), SKILL):
        put(repo_dir, text)
        assert staged(skillgit, repo_dir) == [(MAIN, "protected-change")]


def test_protected_text_of_a_merged_or_picked_commit_is_accepted(skillgit: Run, repo_dir: Path) -> None:
    git(repo_dir, "branch", "theirs")
    put(repo_dir, SKILL + "- Ours.\n")
    git(repo_dir, "commit", "--quiet", "-m", "ours")
    git(repo_dir, "checkout", "--quiet", "theirs")
    put(repo_dir, SKILL + REGION.format("Trained."))
    git(repo_dir, "commit", "--quiet", "-m", "theirs")
    git(repo_dir, "checkout", "--quiet", "main")
    for command in (("merge", "--no-commit", "--no-ff"), ("cherry-pick", "--no-commit")):
        git(repo_dir, *command, "theirs", check=False)
        put(repo_dir, SKILL + "- Ours.\n" + REGION.format("Trained."))
        if command[0] == "cherry-pick":
            git(repo_dir, "update-ref", "CHERRY_PICK_HEAD", "theirs")
        assert staged(skillgit, repo_dir) == []
        put(repo_dir, SKILL + "- Ours.\n" + REGION.format("Invented."))
        assert staged(skillgit, repo_dir) == [(MAIN, "protected-change")]
        git(repo_dir, "reset", "--quiet", "--hard")


def test_a_revert_may_bring_back_what_stood_before(skillgit: Run, repo_dir: Path) -> None:
    put(repo_dir, SKILL + REGION.format("First."))
    git(repo_dir, "commit", "--quiet", "-m", "first")
    put(repo_dir, SKILL + REGION.format("Second."))
    git(repo_dir, "commit", "--quiet", "-m", "second")
    git(repo_dir, "revert", "--no-commit", "HEAD")
    git(repo_dir, "update-ref", "REVERT_HEAD", "HEAD")
    assert staged(skillgit, repo_dir) == []


def test_protected_text_that_was_measured_is_accepted(skillgit: Run, repo_dir: Path) -> None:
    put(repo_dir, SKILL + REGION.format("Trained."))
    put(repo_dir, "x\n", "skills/greeter/scripts/a.sh")
    put(repo_dir, "x\n", "skills/greeter/scripts-b")
    assert staged(skillgit, repo_dir) == [(MAIN, "protected-change")]
    git(repo_dir, "commit", "--quiet", "-m", "region")
    put(repo_dir, SKILL + REGION.format("Trained again."))
    assert staged(skillgit, repo_dir) == [(MAIN, "protected-change")]
    skill = git(repo_dir, "rev-parse", f"{git(repo_dir, 'write-tree')}:skills/greeter")
    scores = {"n": 1, "hard": 1.0, "soft": 1.0}
    record = json.dumps({"v": 1, "id": "r", "skill": skill, "split": "val", **scores})
    git(repo_dir, "notes", "--ref=skillgit/evals", "add", "-m", record, skill)
    assert staged(skillgit, repo_dir) == []
    put(repo_dir, SKILL + REGION.format("Invented."))
    assert staged(skillgit, repo_dir) == [(MAIN, "protected-change")]


def test_names_and_modes_of_all_kinds_are_read(skillgit: Run, repo_dir: Path) -> None:
    put(repo_dir, "x\n", "skills/greeter/assets/ä b.txt")
    (repo_dir / "skills/greeter/assets/link").symlink_to("../../../script.json")
    git(repo_dir, "add", "--all")
    assert staged(skillgit, repo_dir) == [("skills/greeter/assets/link", "symlink-outside")]


def test_many_skills_take_few_processes(skillgit: Run, repo_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from skillgit.git.runner import Runner

    for number in range(30):
        put(repo_dir, SKILL.replace("greeter", f"s{number}"), f"skills/s{number}/SKILL.md", stage=False)
    git(repo_dir, "add", "--all")
    calls: list[tuple[str, ...]] = []
    run = Runner.run
    monkeypatch.setattr(Runner, "run", lambda self, *args, **how: (calls.append(args), run(self, *args, **how))[1])
    code, out, _ = skillgit(repo_dir, "lint", "--staged")
    assert (code, out) == (0, "30 skills: nothing found\n")
    assert len(calls) < 15
