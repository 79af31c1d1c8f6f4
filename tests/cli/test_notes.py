"""`skillgit notes render` and `repair`: what they tell, dry runs, and lines that come with untrusted text."""

from __future__ import annotations

import json
from pathlib import Path

from skillgit.git import notes
from skillgit.git.publish import Publication, publish
from skillgit.git.repository import Repository
from tests.conftest import git
from tests.git.helpers import Skillgit


def _json(skillgit: Skillgit, folder: Path, *args: str) -> dict:
    code, out, err = skillgit(folder, "notes", *args, "--json")
    assert code == 0, err
    return json.loads(out)


def test_render_writes_what_its_dry_run_tells(trained: Path, skillgit: Skillgit) -> None:
    branch = git(trained, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")
    git(trained, "merge", "--quiet", "--squash", branch)
    git(trained, "commit", "--quiet", "-m", "squashed")
    told = _json(skillgit, trained, "render", "--dry-run")
    assert [(entry["commit"], entry["before"]) for entry in told["changed"]] == [
        (git(trained, "rev-parse", "HEAD"), [])
    ]
    assert "squashed\n\nNotes" not in git(trained, "log", "-1", "--notes=skillgit/gates")
    done = _json(skillgit, trained, "render")
    assert done == told | {"dry_run": False}
    assert done["changed"][0]["after"][0].startswith("accept_new_best: val hard 0.500 -> 1.000 (n=6); run ")
    assert done["changed"][0]["after"][0] in git(trained, "log", "-1", "--notes=skillgit/gates")
    code, out, _ = skillgit(trained, "notes", "render")
    assert (code, out.splitlines()[-1]) == (0, f"0 of {told['commits']} commits changed")


def test_render_takes_revisions_and_ranges(trained: Path, skillgit: Skillgit) -> None:
    branch = git(trained, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")
    git(trained, "update-ref", "-d", notes.GATES)
    assert len(_json(skillgit, trained, "render", f"main..{branch}")["changed"]) == 2
    assert len(_json(skillgit, trained, "render", "main")["changed"]) == 1
    code, _, err = skillgit(trained, "notes", "render", "nothing-there")
    assert code == 4
    assert "no commits are called 'nothing-there'" in err


def test_render_prints_no_control_characters(repo_dir: Path, skillgit: Skillgit) -> None:
    repo = Repository.open(repo_dir)
    tree = str(repo.resolve("HEAD:skills/greeter"))
    gate = {"verdict": "accept", "base_score": 0, "run": "R\x1b[31m", "step": 1, "title": "red\x1b[31m\n[bold]x"}
    record = {"id": "x", "skill": tree, "split": "val", "n": 3, "gate": gate}
    record |= {"metric": "hard", "score": 1.0, "hard": 1.0, "soft": 1.0}
    publish(repo, Publication(notes={notes.EVALS: {tree: (notes.canonical(record),)}}))
    code, out, _ = skillgit(repo_dir, "notes", "render")
    assert code == 0
    assert "\x1b" not in out
    assert "red [31m [bold]x" in out
    assert "\x1b" not in git(repo_dir, "log", "-1", "--notes=skillgit/gates", "--format=%N")


def test_render_in_a_repository_without_commits_or_records(tmp_path: Path, repo_dir: Path, skillgit: Skillgit) -> None:
    git(tmp_path, "init", "--quiet", "empty")
    assert _json(skillgit, tmp_path / "empty", "render") == {"dry_run": False, "commits": 0, "changed": []}
    assert _json(skillgit, repo_dir, "render") == {"dry_run": False, "commits": 1, "changed": []}
    assert git(repo_dir, "for-each-ref", "refs/notes") == ""


def test_repair_tells_what_it_mended(trained: Path, skillgit: Skillgit) -> None:
    git(trained, "update-ref", "-d", notes.EVALS)
    told = _json(skillgit, trained, "repair", "--dry-run")
    assert {finding["kind"] for finding in told["findings"]} == {"restored"}
    code, out, _ = skillgit(trained, "notes", "repair")
    assert code == 0
    assert out.splitlines()[-1] == f"{len(told['findings'])} mended, 0 for a person to look at"
    assert _json(skillgit, trained, "repair") == {"dry_run": False, "findings": []}


def test_repair_prints_no_control_characters(repo_dir: Path, skillgit: Skillgit) -> None:
    repo = Repository.open(repo_dir)
    tree = str(repo.resolve("HEAD:skills/greeter"))
    publish(repo, Publication(notes={notes.EVALS: {tree: ("evil \x1b[31m [bold]text",)}}))
    code, out, _ = skillgit(repo_dir, "notes", "repair")
    assert code == 0
    assert "\x1b" not in out
    assert "[bold]text" in out


def test_repair_has_one_document_whatever_the_bytes(repo_dir: Path, skillgit: Skillgit) -> None:
    tree = git(repo_dir, "rev-parse", "HEAD:skills/greeter")
    (repo_dir / "note").write_bytes(b"\xff\xfe \xc2\x9b31m\n")
    blob = git(repo_dir, "hash-object", "-w", "note")
    git(repo_dir, "notes", "--ref=skillgit/evals", "add", "-C", blob, tree)
    (finding,) = _json(skillgit, repo_dir, "repair")["findings"]
    assert finding["detail"] == "\udcff\udcfe \x9b31m"
    assert "\x9b" not in skillgit(repo_dir, "notes", "repair", "--json")[1]
