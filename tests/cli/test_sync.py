"""`skillgit sync` as people use it: which remote, what it tells, journals, and its exit codes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from skillgit.git.objects import Commit, write_commits
from skillgit.git.repository import Repository
from tests.conftest import git
from tests.git.helpers import Skillgit


@pytest.fixture
def pair(trained: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A trained repository with a remote, and a clone that knows nothing of the training yet."""
    bare = tmp_path / "team.git"
    git(
        tmp_path,
        "clone",
        "--quiet",
        "--bare",
        "--no-local",
        "--single-branch",
        "--branch=main",
        str(trained),
        str(bare),
    )
    git(bare, "config", "receive.denyNonFastForwards", "true")
    git(trained, "remote", "add", "origin", str(bare))
    git(tmp_path, "clone", "--quiet", str(bare), str(tmp_path / "other"))
    return trained, tmp_path / "other"


def _sync(skillgit: Skillgit, folder: Path, *args: str, code: int = 0) -> dict:
    found, out, err = skillgit(folder, "sync", *args, "--json")
    assert found == code, err
    return json.loads(out)


def _refs(folder: Path, *patterns: str) -> str:
    return git(folder, "for-each-ref", "--format=%(refname) %(objectname)", *patterns)


def test_records_come_to_a_clone_and_its_log_shows_them(pair: tuple[Path, Path], skillgit: Skillgit) -> None:
    one, two = pair
    sent = _sync(skillgit, one)
    assert (sent["remote"], sent["dry_run"], sent["runs"]) == ("origin", False, [])
    assert {entry["ref"].rsplit("/", 1)[1]: entry["pushed"] for entry in sent["notes"]} == {
        "evals": True,
        "results": True,
        "gates": True,
    }
    assert _sync(skillgit, two)["notes"][0]["received"] == sent["notes"][0]["sent"] > 0
    code, out, _ = skillgit(two, "log", "greeter", "--json")
    assert code == 0
    assert json.loads(out)["versions"][0]["scores"]["val"]["hard"] == 0.0
    assert _refs(two, "refs/skillgit") == ""


def test_journals_are_exchanged_when_asked(pair: tuple[Path, Path], skillgit: Skillgit) -> None:
    one, two = pair
    assert [run["action"] for run in _sync(skillgit, one, "--runs")["runs"]] == ["sent"]
    assert [run["action"] for run in _sync(skillgit, two, "--runs", "--dry-run")["runs"]] == ["received"]
    assert _refs(two, "refs/skillgit") == ""
    assert [run["action"] for run in _sync(skillgit, two, "--runs")["runs"]] == ["received"]
    assert _refs(one, "refs/skillgit/runs") == _refs(two, "refs/skillgit/runs") != ""
    code, out, _ = skillgit(two, "status", "greeter", "--json")
    assert (code, json.loads(out)["runs"][0]["status"]) == (0, "finished")
    assert _sync(skillgit, one, "--runs")["runs"] == []


def _append(folder: Path, ref: str, text: str) -> None:
    repo = Repository.open(folder)
    tip = repo.resolve(ref)
    new = write_commits(repo, [Commit(text, (tip,) if tip else (), {"x": text.encode()})])[0].commit
    git(folder, "update-ref", ref, new)


def test_a_journal_that_went_on_is_brought_forward_on_both_sides(pair: tuple[Path, Path], skillgit: Skillgit) -> None:
    one, two = pair
    ref = "refs/skillgit/rejected/greeter"
    _append(one, ref, "first")
    _sync(skillgit, one, "--runs")
    _sync(skillgit, two, "--runs")
    _append(two, ref, "second")
    assert _sync(skillgit, two, "--runs")["runs"] == [{"ref": ref, "action": "sent", "why": ""}]
    assert _sync(skillgit, one, "--runs")["runs"] == [{"ref": ref, "action": "received", "why": ""}]
    assert _refs(one, ref) == _refs(two, ref)


def test_a_journal_that_diverged_is_named_and_left_alone(pair: tuple[Path, Path], skillgit: Skillgit) -> None:
    one, two = pair
    _sync(skillgit, one, "--runs")
    _sync(skillgit, two, "--runs")
    ref = _refs(one, "refs/skillgit/runs").split()[0]
    _append(one, ref, "here")
    _append(two, ref, "there")
    _sync(skillgit, one, "--runs")
    before = _refs(two, ref), _refs(one, ref)
    assert _sync(skillgit, two, "--runs", code=7)["runs"] == [{"ref": ref, "action": "diverged", "why": ""}]
    code, _, err = skillgit(two, "sync", "--runs")
    assert code == 7
    assert ref in err
    assert (_refs(two, ref), _refs(one, ref)) == before
    aside = ref.replace("refs/skillgit/", "refs/skillgit/remotes/origin/")
    assert git(two, "rev-parse", aside) == git(one, "rev-parse", ref)


def test_a_run_that_is_being_worked_on_is_not_moved(pair: tuple[Path, Path], skillgit: Skillgit) -> None:
    one, two = pair
    _sync(skillgit, one, "--runs")
    _sync(skillgit, two, "--runs")
    ref = _refs(one, "refs/skillgit/runs").split()[0]
    _append(one, ref, "went on")
    _sync(skillgit, one, "--runs")
    before = _refs(two, ref)
    with Repository.open(two).lock(f"run-greeter-{ref.rsplit('/', 1)[1]}"):
        assert _sync(skillgit, two, "--runs")["runs"] == [{"ref": ref, "action": "in use", "why": ""}]
    assert _refs(two, ref) == before
    assert _sync(skillgit, two, "--runs")["runs"] == [{"ref": ref, "action": "received", "why": ""}]


def test_journals_that_a_server_refuses_end_in_an_error(pair: tuple[Path, Path], skillgit: Skillgit) -> None:
    one, _ = pair
    hook = one.parent / "team.git/hooks/update"
    hook.write_text('#!/bin/sh\ncase "$1" in refs/skillgit/*) exit 1 ;; esac\n')
    hook.chmod(0o755)
    code, _, err = skillgit(one, "sync", "--runs")
    assert code == 4
    assert "origin did not take refs/skillgit/runs/greeter/" in err


def test_a_dry_run_says_what_would_be(pair: tuple[Path, Path], skillgit: Skillgit) -> None:
    one, two = pair
    ref = _refs(one, "refs/skillgit/runs").split()[0]
    assert f"{ref}  would be sent" in skillgit(one, "sync", "--runs", "--dry-run")[1]
    _sync(skillgit, one, "--runs")
    assert f"{ref}  would be received" in skillgit(two, "sync", "--runs", "--dry-run")[1]
    assert f"{ref}  received" in skillgit(two, "sync", "--runs")[1]


def test_a_refused_ref_and_a_removed_line_are_told(pair: tuple[Path, Path], skillgit: Skillgit) -> None:
    one, _ = pair
    _sync(skillgit, one)
    git(one, "notes", "--ref=skillgit/gates", "remove", "HEAD")
    hook = one.parent / "team.git/hooks/update"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    code, out, _ = skillgit(one, "sync")
    assert code == 4
    assert "refs/notes/skillgit/gates  0 lines received, 0 sent, refused" in out
    hook.unlink()
    assert "0 lines received, 0 sent, 1 removed, as on the other side, pushed" in skillgit(one, "sync")[1]


def test_the_best_of_a_run_whose_branch_stayed_elsewhere(pair: tuple[Path, Path], skillgit: Skillgit) -> None:
    one, two = pair
    _sync(skillgit, one, "--runs")
    _sync(skillgit, two, "--runs")
    branch = _refs(one, "refs/heads/train").split()[0].removeprefix("refs/heads/")
    code, out, err = skillgit(two, "best", "greeter")
    assert (code, branch in out, "does not have that commit" in err) == (0, True, True)
    code, _, err = skillgit(two, "export", "greeter", "best", "--to", "out")
    assert code == 4
    assert f"git push origin {branch} where it was trained, then git fetch here" in err
    git(one, "push", "--quiet", "origin", branch)
    git(two, "fetch", "--quiet")
    assert skillgit(two, "export", "greeter", "best", "--to", "out")[0] == 0
    assert skillgit(two, "best", "greeter")[2] == ""


@pytest.mark.parametrize("address", ["https://me:s3cret@127.0.0.1:1/x?s3cret", "//me:s3cret@host/x"])
def test_no_secret_of_an_address_is_told(pair: tuple[Path, Path], skillgit: Skillgit, address: str) -> None:
    git(pair[0], "remote", "set-url", "origin", address)
    code, out, err = skillgit(pair[0], "sync")
    assert (code, "s3cret" in out + err) == (4, False)


def test_a_journal_that_someone_else_holds_ends_in_an_error(pair: tuple[Path, Path], skillgit: Skillgit) -> None:
    one, _ = pair
    ref = _refs(one, "refs/skillgit/runs").split()[0]
    lock = one.parent / f"team.git/{ref}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    code, out, err = skillgit(one, "sync", "--runs")
    assert (code, f"{ref}  moved meanwhile" in out, "next: skillgit sync --runs" in err) == (4, True, True)
    lock.unlink()
    assert skillgit(one, "sync", "--runs")[0] == 0


# --- which remote


def test_the_branchs_own_remote_is_used_before_origin(pair: tuple[Path, Path], skillgit: Skillgit) -> None:
    _, two = pair
    shutil.copytree(two.parent / "team.git", two.parent / "fork.git")
    git(two, "remote", "add", "fork", str(two.parent / "fork.git"))
    assert _sync(skillgit, two)["remote"] == "origin"
    git(two, "fetch", "--quiet", "fork")
    git(two, "branch", "--set-upstream-to=fork/main")
    assert _sync(skillgit, two)["remote"] == "fork"
    assert _sync(skillgit, two, "origin")["remote"] == "origin"


def test_the_only_remote_is_used_whatever_its_name(pair: tuple[Path, Path], skillgit: Skillgit) -> None:
    _, two = pair
    git(two, "remote", "rename", "origin", "up/stream")
    git(two, "switch", "--quiet", "--detach")
    assert _sync(skillgit, two)["remote"] == "up/stream"


def test_without_a_remote_it_says_what_to_do(trained: Path, skillgit: Skillgit) -> None:
    code, _, err = skillgit(trained, "sync")
    assert code == 2
    assert "git remote add" in err
    git(trained, "remote", "add", "a", "nowhere")
    git(trained, "remote", "add", "b", "nowhere")
    code, _, err = skillgit(trained, "sync")
    assert code == 2
    assert "remotes: a, b" in err
    code, _, err = skillgit(trained, "sync", "--", "--upload-pack=touch /tmp/x")
    assert code == 2
    assert "no remote '--upload-pack=touch /tmp/x'" in err


def test_the_report_is_for_people_too(pair: tuple[Path, Path], skillgit: Skillgit) -> None:
    one, two = pair
    code, out, err = skillgit(one, "sync")
    assert code == 0
    assert "refs/notes/skillgit/evals  0 lines received" in out
    assert out.count(", pushed") == 3
    assert "fetching from origin" in err
    code, out, _ = skillgit(one, "sync")
    assert "nothing new here or on origin" in out
    code, out, _ = skillgit(two, "sync", "--dry-run")
    assert "would be received" in out
