"""Gate lines are a rendering of records: always the same text, on every commit that holds the measured object."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.evals.gatelines import gate_line, planned, render_gate_lines
from skillgit.git import notes
from skillgit.git.publish import Publication, publish
from skillgit.git.repository import Repository
from tests.conftest import git
from tests.git.helpers import Skillgit, cherry_pick, rebase, squash, train

RECORD: dict[str, Any] = {"id": "r", "split": "val", "metric": "hard", "score": 0.6, "hard": 0.6, "soft": 0.6, "n": 20}
GATE = {
    "verdict": "accept",
    "base_score": 0.5,
    "run": "R",
    "kind": "step",
    "step": 3,
    "epoch": 1,
    "title": "add a rule",
}
BOUND = {"score_at_most": 0.45, "planned": 20}


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (RECORD | {"gate": GATE}, "accept: val hard 0.500 -> 0.600 (n=20); run R, step 3: add a rule"),
        (
            RECORD | {"n": 7, "bound": BOUND, "gate": GATE | {"verdict": "reject", "why": "it cannot win"}},
            "reject (it cannot win): val hard 0.500 -> at most 0.450 (n=7 of 20); run R, step 3: add a rule",
        ),
        (
            RECORD | {"gate": GATE | {"kind": "boundary", "believable": 0.12}},
            "accept: val hard 0.500 -> 0.600 (n=20); believable change 0.120; run R, end of epoch 1: add a rule",
        ),
        (RECORD | {"gate": GATE | {"kind": "compaction", "title": ""}}, None),
        (RECORD | {"gate": {"verdict": "baseline", "run": "R", "step": 0}}, "baseline: val hard 0.600 (n=20); run R"),
        (RECORD | {"skill": "ab" * 20}, "measured: val hard 0.600 (n=20); object abababababab"),
        (RECORD | {"skill": "ab" * 20, "score": None}, "measured: val not measured; object abababababab"),
        # Records of older versions knew less.
        (
            RECORD | {"gate": {"verdict": "reject", "base_score": 0.5, "run": "R", "step": 3}},
            "reject: val hard 0.500 -> 0.600 (n=20); run R, step 3",
        ),
    ],
)
def test_a_record_has_one_line(record: dict[str, Any], line: str | None) -> None:
    assert gate_line(record) == (line or "accept: val hard 0.500 -> 0.600 (n=20); run R, compaction of epoch 1")


texts = st.text(st.characters(exclude_categories=())) | st.none() | st.integers() | st.lists(st.integers())
keys = st.sampled_from(["split", "metric", "n", "score", "skill", "bound", "gate", "verdict", "why", "run", "title"])


@given(st.dictionaries(keys, texts), st.dictionaries(keys, texts), st.dictionaries(keys, texts))
def test_whatever_a_record_holds_its_line_is_one_printable_line(record: dict, gate: dict, bound: dict) -> None:
    line = gate_line(record | {"gate": gate, "bound": bound})
    assert line.isprintable()
    assert line == gate_line(record | {"gate": gate, "bound": bound})


# --- histories


def _reword(folder: Path, branch: str) -> None:
    cherry_pick(folder, branch)
    git(folder, "commit", "--quiet", "--amend", "-m", "reworded")


def gates(folder: Path, revision: str = "HEAD") -> list[str]:
    return git(folder, "notes", "--ref=skillgit/gates", "show", revision, check=False).splitlines()


def render(folder: Path, *revisions: str) -> int:
    repo = Repository.open(folder)
    return render_gate_lines(repo, git(folder, "rev-list", *(revisions or ("HEAD",))).split())


@pytest.fixture
def went_on(repo_dir: Path, skillgit: Skillgit) -> tuple[Path, str]:
    """A trained branch beside a main that went on."""
    branch = train(skillgit, repo_dir)["branch"]
    (repo_dir / "other.txt").write_text("main went on\n")
    git(repo_dir, "add", "other.txt")
    git(repo_dir, "commit", "--quiet", "-m", "other")
    return repo_dir, branch


def _val(skillgit: Skillgit, folder: Path) -> float | None:
    import json

    code, out, err = skillgit(folder, "log", "greeter", "HEAD", "-n", "1", "--json")
    assert code == 0, err
    return json.loads(out)["versions"][0]["scores"].get("val", {}).get("hard")


@pytest.mark.parametrize("adopt", [squash, cherry_pick, rebase, _reword])
def test_scores_stay_visible(went_on: tuple[Path, str], adopt: Callable[[Path, str], None], skillgit: Skillgit) -> None:
    folder, branch = went_on
    line = gates(folder, branch)[0]
    adopt(folder, branch)
    assert line not in gates(folder)
    assert _val(skillgit, folder) == 0.5
    assert render(folder) == 1
    # The branch's commit also carries what was rejected after it.
    assert gates(folder) == [line]
    assert line in git(folder, "log", "-1", "--notes=skillgit/gates")
    assert render(folder) == 0


def test_an_amended_text_shows_as_unmeasured(went_on: tuple[Path, str], skillgit: Skillgit) -> None:
    folder, branch = went_on
    assert skillgit(folder, "init")[0] == 0
    cherry_pick(folder, branch)
    render(folder)
    git(folder, "notes", "--ref=skillgit/gates", "append", "-m", "checked by hand", "HEAD")
    with (folder / "skills/greeter/SKILL.md").open("a") as file:
        file.write("- Slipped in.\n")
    git(folder, "commit", "--quiet", "-a", "--amend", "--no-edit")
    assert "accept_new_best" in gates(folder)[0], "git copies notes to whatever an amend makes"
    assert _val(skillgit, folder) is None
    assert render(folder) == 1
    assert [line for line in gates(folder) if line] == ["checked by hand"]


def test_what_training_wrote_is_what_render_writes(trained: Path) -> None:
    branches = git(trained, "for-each-ref", "--format=%(refname)", "refs/heads/train").split()
    assert render(trained, *branches) == 0


def test_notes_that_are_gone_come_back(trained: Path) -> None:
    branch = git(trained, "for-each-ref", "--format=%(refname)", "refs/heads/train")
    before = [gates(trained, f"{branch}~{n}")[0] for n in (1, 0)]
    git(trained, "update-ref", "-d", notes.GATES)
    assert render(trained, branch) == 3
    assert [gates(trained, f"{branch}~{n}")[0] for n in (1, 0)] == before
    assert gates(trained, "main")[0].startswith("baseline: val hard 0.000 (n=6); run ")


def test_nothing_goes_that_no_record_contradicts(trained: Path) -> None:
    """A clone that has gate lines and no records yet must not lose them."""
    branch = git(trained, "for-each-ref", "--format=%(refname)", "refs/heads/train")
    git(trained, "update-ref", "-d", notes.EVALS)
    assert render(trained, branch) == 0


def test_a_measurement_without_a_gate_is_told_until_there_is_a_better_one(repo_dir: Path) -> None:
    repo = Repository.open(repo_dir)
    _keep(repo, score=0.125, n=None, at="2025-01-01T00:00:00Z")
    assert render(repo_dir) == 1
    _keep(repo, score=0.25, at="2026-01-01T00:00:00Z")
    assert render(repo_dir) == 1
    tree = str(repo.resolve("HEAD:skills/greeter"))
    assert gates(repo_dir) == [f"measured: val hard 0.250 (n=20); object {tree[:12]}"]
    _keep(repo, score=0.75, at="2026-01-02T00:00:00Z")
    render(repo_dir)
    assert gates(repo_dir) == [f"measured: val hard 0.750 (n=20); object {tree[:12]}"]
    _keep(repo, score=0.6, gate=GATE)
    render(repo_dir)
    assert gates(repo_dir) == ["accept: val hard 0.500 -> 0.600 (n=20); run R, step 3: add a rule"]


def test_a_record_copied_to_another_object_makes_no_line(repo_dir: Path) -> None:
    repo = Repository.open(repo_dir)
    line = notes.canonical(RECORD | {"skill": "ab" * 20, "gate": GATE})
    publish(repo, Publication(notes={notes.EVALS: {str(repo.resolve("HEAD:skills/greeter")): (line,)}}))
    assert planned(repo, [repo.commit("HEAD")]) == {}


@pytest.mark.parametrize("facts", [{"score": "high"}, {"hard": None, "n": -1}, {"gate": {"verdict": []}}, {"gate": 1}])
def test_a_record_that_cannot_be_read_makes_no_line(repo_dir: Path, facts: dict[str, Any]) -> None:
    _keep(Repository.open(repo_dir), **facts)
    assert render(repo_dir) == 0


def test_a_merge_that_changes_nothing_itself_gets_no_line(went_on: tuple[Path, str]) -> None:
    folder, branch = went_on
    git(folder, "merge", "--quiet", "--no-ff", "--no-edit", branch)
    assert render(folder) == 0
    assert gates(folder) == []


def test_a_merge_that_makes_a_text_of_its_own_gets_its_line(went_on: tuple[Path, str]) -> None:
    folder, branch = went_on
    git(folder, "merge", "--quiet", "--no-ff", "--no-commit", branch)
    with (folder / "skills/greeter/SKILL.md").open("a") as file:
        file.write("- Joined by hand.\n")
    git(folder, "commit", "--quiet", "-a", "-m", "joined")
    assert render(folder) == 0
    _keep(Repository.open(folder), gate=GATE)
    assert render(folder) == 1
    assert gates(folder) == [gate_line(RECORD | {"gate": GATE})]


def test_a_skill_that_is_one_file_gets_its_line(repo_dir: Path) -> None:
    (repo_dir / "notes.md").write_text("# Notes\n")
    git(repo_dir, "add", "notes.md")
    git(repo_dir, "commit", "--quiet", "-m", "one file")
    repo = Repository.open(repo_dir)
    _keep(repo, score=0.6, gate=GATE, at_path="notes.md")
    assert render(repo_dir) == 1
    assert gates(repo_dir) == [gate_line(RECORD | {"gate": GATE})]


def test_sha256_repositories_render(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "--initial-branch=main", "sha256")
    folder = tmp_path / "sha256"
    (folder / "skills/greeter").mkdir(parents=True)
    (folder / "skills/greeter/SKILL.md").write_text("# Greeter\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "start")
    _keep(Repository.open(folder), gate=GATE)
    assert (render(folder), render(folder)) == (1, 0)
    assert gates(folder) == [gate_line(RECORD | {"gate": GATE})]


def _keep(repo: Repository, at_path: str = "skills/greeter", **facts: Any) -> None:
    name = str(repo.resolve(f"HEAD:{at_path}"))
    line = notes.canonical(RECORD | {"skill": name, "complete": True} | facts)
    publish(repo, Publication(notes={notes.EVALS: {name: (line,)}}))
