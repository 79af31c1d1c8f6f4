"""Proof follows the content: whatever history the skill goes through, its object still leads to its records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.git import notes
from skillgit.git.repository import Repository
from tests.conftest import git
from tests.git.helpers import Skillgit, cherry_pick, rebase, squash, train


def _amend(folder: Path, branch: str) -> None:
    git(folder, "merge", "--quiet", "--no-edit", branch)
    git(folder, "commit", "--quiet", "--amend", "-m", "reworded")


def _merge(folder: Path, branch: str) -> None:
    git(folder, "merge", "--quiet", "--no-ff", "--no-edit", branch)


@pytest.mark.parametrize("adopt", [_merge, squash, cherry_pick, rebase, _amend])
def test_the_record_stays_reachable(repo_dir: Path, adopt: Callable[[Path, str], None], skillgit: Skillgit) -> None:
    last = train(skillgit, repo_dir)
    (repo_dir / "other.txt").write_text("main went on\n")
    git(repo_dir, "add", "other.txt")
    git(repo_dir, "commit", "--quiet", "-m", "other")
    adopt(repo_dir, last["branch"])
    assert git(repo_dir, "rev-parse", "HEAD") != last["best"]["commit"]
    assert _scores(repo_dir) == [("accept_new_best", 0.5)]
    assert "accept_new_best" in git(repo_dir, "notes", "--ref=skillgit/evals", "show", "HEAD:skills/greeter")


def test_changed_text_has_no_record(repo_dir: Path, skillgit: Skillgit) -> None:
    last = train(skillgit, repo_dir)
    skillgit(repo_dir, "init")
    _amend(repo_dir, last["branch"])
    with (repo_dir / "skills/greeter/SKILL.md").open("a") as file:
        file.write("- Slipped in.\n")
    git(repo_dir, "commit", "--quiet", "-a", "--amend", "--no-edit")
    assert _scores(repo_dir) == []


def test_a_revert_leads_back_to_the_old_record(repo_dir: Path, skillgit: Skillgit) -> None:
    last = train(skillgit, repo_dir)
    git(repo_dir, "merge", "--quiet", last["branch"])
    git(repo_dir, "revert", "--no-edit", "HEAD")
    assert ("baseline", 0.0) in _scores(repo_dir)


def test_records_survive_pruning(repo_dir: Path, skillgit: Skillgit) -> None:
    """Rejected candidates are kept by the journal, so their notes stay too."""
    last = train(skillgit, repo_dir)
    before = git(repo_dir, "notes", "--ref=skillgit/evals", "list")
    git(repo_dir, "gc", "--quiet", "--prune=now")
    git(repo_dir, "notes", "--ref=skillgit/evals", "prune")
    assert git(repo_dir, "notes", "--ref=skillgit/evals", "list") == before
    assert len(before.splitlines()) == 3
    git(repo_dir, "merge", "--quiet", last["branch"])
    assert _scores(repo_dir) == [("accept_new_best", 0.5)]


def test_gate_lines_are_seen_with_plain_git(repo_dir: Path, skillgit: Skillgit) -> None:
    last = train(skillgit, repo_dir)
    assert "Notes (skillgit/gates):" not in git(repo_dir, "log", last["branch"])
    assert skillgit(repo_dir, "init")[0] == 0
    assert "Notes (skillgit/gates):" in git(repo_dir, "log", last["branch"])


def test_gate_lines_survive_amend_and_rebase_once_init_ran(repo_dir: Path, skillgit: Skillgit) -> None:
    skillgit(repo_dir, "init")
    git(repo_dir, "add", "--all")
    git(repo_dir, "commit", "--quiet", "-m", "init")
    last = train(skillgit, repo_dir)
    git(repo_dir, "switch", "--quiet", last["branch"])
    line = git(repo_dir, "notes", "--ref=skillgit/gates", "show", "HEAD")
    git(repo_dir, "commit", "--quiet", "--amend", "-m", "reworded")
    assert git(repo_dir, "notes", "--ref=skillgit/gates", "show", "HEAD") == line
    git(repo_dir, "rebase", "--quiet", "--force-rebase", "main")
    assert git(repo_dir, "notes", "--ref=skillgit/gates", "show", "HEAD") == line


def _scores(folder: Path) -> list[tuple[str, float]]:
    repo = Repository.open(folder)
    tree = repo.resolve("HEAD:skills/greeter")
    assert tree is not None
    records = notes.read_records(repo, notes.EVALS, [tree]).get(tree, [])
    return [(record["gate"]["verdict"], record["score"]) for record in records]
