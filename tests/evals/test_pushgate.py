"""The gate of a push, from records alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import GitError
from skillgit.evals.evidence import Evidence
from skillgit.evals.pushgate import check, judge
from skillgit.git import notes
from skillgit.git.hooks.pushes import Push, against, from_framework, from_lines
from skillgit.git.publish import Publication, publish
from skillgit.git.repository import Repository
from tests.conftest import git

ZERO = "0" * 40


def evidence(score: float | None, *, complete: bool = True, model: str = "m", **tasks: float) -> Evidence:
    record = {
        "id": f"r{score}{model}",
        "split": "val",
        "n": 4,
        "hard": score,
        "soft": score,
        "metric": "hard",
        "score": score,
        "tasks": "t",
        "target": {"model": model},
        "complete": complete,
        "at": "2026-01-01",
    }
    scores = {task: {"hard": value, "soft": value} for task, value in tasks.items()}
    return Evidence((record,), {record["id"]: scores})


NOTHING = Evidence()


@pytest.mark.parametrize(
    ("before", "after", "has_tasks", "verdict"),
    [
        (NOTHING, NOTHING, False, "untrained"),
        (NOTHING, NOTHING, True, "unmeasured"),
        (evidence(0.5), NOTHING, False, "unmeasured"),
        (NOTHING, evidence(0.0), True, "measured"),
        (NOTHING, evidence(0.5, complete=False), True, "unmeasured"),
        (evidence(0.5), evidence(0.5), True, "measured"),
        (evidence(0.5), evidence(0.75), True, "measured"),
        (evidence(0.5), evidence(0.499), True, "regressed"),
        (evidence(0.9, model="big"), evidence(0.1), True, "measured"),
        (evidence(0.5, a=1, b=0), evidence(0.5, a=0, b=1), True, "measured"),
        (evidence(0.5, a=1, b=0), evidence(0.6, a=0, b=1), True, "measured"),
        (evidence(0.5, a=1, b=0), evidence(0.5, a=1, b=0), True, "measured"),
        (evidence(0.5, complete=False), evidence(0.1), True, "measured"),
        (evidence("broken"), evidence(0.4), True, "measured"),  # type: ignore[arg-type]
        (evidence(0.5, a=1, b=1), evidence(0.4, complete=False, a=1), True, "unmeasured"),
    ],
)
def test_the_verdict(before: Evidence, after: Evidence, has_tasks: bool, verdict: str) -> None:
    judgement = judge(before, after, has_tasks=has_tasks)
    assert (judgement.verdict, judgement.ok) == (verdict, verdict in ("measured", "untrained"))


def test_a_verdict_carries_scores_and_tasks() -> None:
    judgement = judge(evidence(0.5, a=1, b=0), evidence(0.25, a=0, b=1), has_tasks=True)
    assert (judgement.before, judgement.after, judgement.regressed) == (0.5, 0.25, ("a",))
    assert judgement.why == "val fell from 0.500 to 0.250"
    # A task that got worse is told even where the score rose.
    assert judge(evidence(0.5, a=1, b=0), evidence(0.6, a=0, b=1), has_tasks=True).regressed == ("a",)


# --- with git


@pytest.fixture
def repo(repo_dir: Path) -> Repository:
    return Repository.open(repo_dir)


def edit(repo: Repository, path: str, text: str = "- more\n") -> str:
    assert repo.top is not None
    (repo.top / path).parent.mkdir(parents=True, exist_ok=True)
    with (repo.top / path).open("a") as file:
        file.write(text)
    git(repo.top, "add", "--all")
    git(repo.top, "commit", "--quiet", "-m", f"edit {path}")
    return git(repo.top, "rev-parse", "HEAD")


def record(repo: Repository, revision: str, score: float) -> None:
    name = repo.resolve(revision)
    assert name is not None
    line: Mapping[str, Any] = {**evidence(score).records[0], "skill": name}
    publish(repo, Publication(notes={notes.EVALS: {name: (notes.canonical(line),)}}))


def verdicts(repo: Repository, base: str | None, head: str) -> dict[str, str]:
    return {finding.path: finding.judgement.verdict for finding in check(repo, Push("b", head, base))}


def test_only_changed_skills_are_judged(repo: Repository) -> None:
    start = repo.commit("HEAD")
    assert verdicts(repo, None, start) == {"skills/greeter": "unmeasured"}
    assert verdicts(repo, start, edit(repo, "README.md")) == {}
    head = edit(repo, "deep/er/tool/SKILL.md")
    assert verdicts(repo, start, head) == {"deep/er/tool": "untrained"}
    assert verdicts(repo, head, edit(repo, "deep/er/tool/scripts/x.py")) == {"deep/er/tool": "untrained"}


def test_records_decide(repo: Repository) -> None:
    start = repo.commit("HEAD")
    record(repo, "HEAD:skills/greeter", 0.5)
    better = edit(repo, "skills/greeter/SKILL.md")
    assert verdicts(repo, start, better) == {"skills/greeter": "unmeasured"}
    record(repo, "HEAD:skills/greeter", 0.75)
    assert verdicts(repo, start, better) == {"skills/greeter": "measured"}
    assert verdicts(repo, better, start) == {"skills/greeter": "regressed"}


def test_a_removed_skill_and_one_that_came_back_pass(repo: Repository) -> None:
    start = repo.commit("HEAD")
    assert repo.top is not None
    git(repo.top, "rm", "--quiet", "-r", "skills")
    git(repo.top, "commit", "--quiet", "-m", "gone")
    assert verdicts(repo, start, repo.commit("HEAD")) == {}
    git(repo.top, "revert", "--no-edit", "HEAD")
    assert verdicts(repo, start, repo.commit("HEAD")) == {}


def test_a_bare_file_with_records_is_a_skill(repo: Repository) -> None:
    start = edit(repo, "one.md")
    record(repo, "HEAD:one.md", 0.5)
    head = edit(repo, "one.md")
    assert verdicts(repo, start, head) == {"one.md": "unmeasured"}


def test_a_note_copied_from_other_content_proves_nothing(repo: Repository) -> None:
    record(repo, "HEAD:skills/greeter", 0.5)
    old = repo.resolve("HEAD:skills/greeter")
    start, head = repo.commit("HEAD"), edit(repo, "skills/greeter/SKILL.md")
    assert repo.top is not None
    git(repo.top, "notes", "--ref=skillgit/evals", "copy", str(old), "HEAD:skills/greeter")
    assert verdicts(repo, start, head) == {"skills/greeter": "unmeasured"}


class TestWhatIsPushed:
    @pytest.fixture
    def remote(self, repo: Repository) -> Repository:
        assert repo.top is not None
        git(repo.top, "init", "--quiet", "--bare", "../remote.git")
        git(repo.top, "remote", "add", "origin", "../remote.git")
        git(repo.top, "push", "--quiet", "-u", "origin", "main")
        return repo

    def line(self, repo: Repository, remote_ref: str, old: str) -> list[str]:
        return [f"refs/heads/x {repo.commit('HEAD')} {remote_ref} {old}\n"]

    def test_a_branch_is_compared_with_what_the_remote_has(self, remote: Repository) -> None:
        old, head = remote.commit("HEAD"), edit(remote, "a.txt")
        assert from_lines(remote, self.line(remote, "refs/heads/x", old), "origin") == [Push("refs/heads/x", head, old)]

    @pytest.mark.parametrize("old", [ZERO, "1" * 40])
    def test_a_new_or_unseen_branch_starts_where_it_left_the_remote(self, old: str, remote: Repository) -> None:
        fork, head = remote.commit("HEAD"), edit(remote, "a.txt")
        assert from_lines(remote, self.line(remote, "refs/heads/x", old), "origin") == [
            Push("refs/heads/x", head, fork)
        ]
        assert from_lines(remote, self.line(remote, "refs/heads/x", old), "/a/path")[0].base is None

    def test_deletions_tags_and_notes_are_left_out(self, remote: Repository) -> None:
        head = remote.commit("HEAD")
        lines = [f"(delete) {ZERO} refs/heads/x {head}"]
        lines += [
            f"{ref} {head} {ref} {ZERO}"
            for ref in ("refs/tags/v1", "refs/notes/skillgit/evals", "refs/skillgit/runs/x")
        ]
        assert from_lines(remote, [*lines, "\n"], "origin") == []

    def test_branches_at_the_same_commit_are_one(self, remote: Repository) -> None:
        lines = self.line(remote, "refs/heads/x", ZERO) + self.line(remote, "refs/heads/y", ZERO)
        assert len(from_lines(remote, lines, "origin")) == 1

    def test_other_words_are_refused(self, remote: Repository) -> None:
        with pytest.raises(GitError, match="not started by git"):
            from_lines(remote, ["hello"], "origin")

    def test_the_framework_tells_of_it_in_the_environment(self, remote: Repository) -> None:
        old, head = remote.commit("HEAD"), edit(remote, "a.txt")
        told = {"PRE_COMMIT_FROM_REF": old, "PRE_COMMIT_TO_REF": head, "PRE_COMMIT_REMOTE_BRANCH": "refs/heads/x"}
        assert from_framework(remote, told) == [Push("refs/heads/x", head, old)]
        assert from_framework(remote, {**told, "PRE_COMMIT_REMOTE_BRANCH": "refs/tags/v1"}) == []
        first = {"PRE_COMMIT_LOCAL_BRANCH": "refs/heads/main", "PRE_COMMIT_REMOTE_NAME": "other"}
        assert from_framework(remote, first) == [Push("refs/heads/main", head, None)]
        assert from_framework(remote, {}) == [Push("HEAD", head, old)]

    def test_by_hand_it_is_compared_with_the_upstream(self, remote: Repository) -> None:
        fork, head = remote.commit("HEAD"), edit(remote, "a.txt")
        assert against(remote, "HEAD") == Push("HEAD", head, fork)
        assert against(remote, "main", f"{head}^") == Push("main", head, fork)
        assert remote.top is not None
        git(remote.top, "switch", "--quiet", "-c", "side")
        assert against(remote, "HEAD").base == fork
        with pytest.raises(GitError, match="no commit is called 'nowhere'"):
            against(remote, "HEAD", "nowhere")
