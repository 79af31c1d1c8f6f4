"""The versions between two commits, with branches and merges."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.errors import GitError
from skillgit.git.lineage import Lineage, lineage
from skillgit.git.repository import Repository
from skillgit.git.skillstore import find
from tests.conftest import git

PATH = "skills/greeter/SKILL.md"


def write(folder: Path, line: str) -> str:
    (folder / PATH).write_text(f"{line}\n{(folder / PATH).read_text()}")
    return commit(folder, line)


def commit(folder: Path, subject: str) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", subject)
    return git(folder, "rev-parse", "HEAD")


def between(folder: Path, old: str, new: str = "HEAD") -> Lineage:
    repo = Repository.open(folder)
    return lineage(repo, find(repo, "greeter"), repo.commit(old), repo.commit(new))


def subjects(folder: Path, found: Lineage) -> list[tuple[str, tuple[int, ...]]]:
    return [(git(folder, "log", "-1", "--format=%s", node.commit), node.parents) for node in found.nodes]


def test_commits_that_leave_the_skill_alone_are_no_versions(repo_dir: Path) -> None:
    write(repo_dir, "one")
    commit(repo_dir, "nothing")
    last = write(repo_dir, "two")
    commit(repo_dir, "nothing again")
    found = between(repo_dir, "HEAD~4")
    assert subjects(repo_dir, found) == [("start", ()), ("one", (0,)), ("two", (1,))]
    assert found.nodes[-1].commit == last
    assert found.nodes[-1].object == git(repo_dir, "rev-parse", "HEAD:skills/greeter")


def test_a_merge_of_two_changes_has_both_behind_it(repo_dir: Path) -> None:
    git(repo_dir, "switch", "--quiet", "-c", "side")
    (repo_dir / PATH).write_text((repo_dir / PATH).read_text() + "side\n")
    commit(repo_dir, "side")
    git(repo_dir, "switch", "--quiet", "main")
    write(repo_dir, "one")
    git(repo_dir, "merge", "--quiet", "--no-edit", "side")
    found = between(repo_dir, "HEAD~2")
    assert {subject for subject, _ in subjects(repo_dir, found)[1:3]} == {"one", "side"}
    assert found.nodes[3].commit == git(repo_dir, "rev-parse", "HEAD")
    assert sorted(found.nodes[3].parents) == [1, 2]


def test_a_branch_whose_text_a_merge_threw_away_is_not_searched(repo_dir: Path) -> None:
    git(repo_dir, "switch", "--quiet", "-c", "side")
    write(repo_dir, "side")
    git(repo_dir, "switch", "--quiet", "main")
    write(repo_dir, "one")
    git(repo_dir, "merge", "--quiet", "--no-edit", "--strategy=ours", "side")
    write(repo_dir, "two")
    assert subjects(repo_dir, between(repo_dir, "HEAD~3")) == [("start", ()), ("one", (0,)), ("two", (1,))]


def test_a_branch_older_than_the_good_commit_counts_as_its_merge(repo_dir: Path) -> None:
    git(repo_dir, "branch", "side")
    write(repo_dir, "one")
    git(repo_dir, "switch", "--quiet", "side")
    (repo_dir / PATH).write_text((repo_dir / PATH).read_text() + "side\n")
    commit(repo_dir, "side")
    git(repo_dir, "switch", "--quiet", "main")
    git(repo_dir, "merge", "--quiet", "--no-edit", "side")
    found = between(repo_dir, "HEAD~")
    assert [node.commit for node in found.nodes] == git(repo_dir, "rev-parse", "HEAD~", "HEAD").split()


def test_a_skill_that_was_away_for_a_while_goes_on_from_where_it_was(repo_dir: Path) -> None:
    text = (repo_dir / PATH).read_text()
    (repo_dir / PATH).unlink()
    gone = commit(repo_dir, "gone")
    (repo_dir / PATH).write_text(text + "back\n")
    commit(repo_dir, "back")
    found = between(repo_dir, "HEAD~2")
    assert (subjects(repo_dir, found), found.left_out) == ([("start", ()), ("back", (0,))], (gone,))


def test_two_commits_of_different_lines_name_where_they_part(repo_dir: Path) -> None:
    start = git(repo_dir, "rev-parse", "HEAD")
    git(repo_dir, "branch", "side")
    write(repo_dir, "one")
    git(repo_dir, "switch", "--quiet", "side")
    write(repo_dir, "side")
    with pytest.raises(GitError) as caught:
        between(repo_dir, "main", "side")
    assert start[:12] in caught.value.fix
