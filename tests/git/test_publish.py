"""A step becomes visible as a whole or not at all, whoever else writes and whenever a process dies."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from skillgit.errors import GitError, RefConflictError
from skillgit.git import notes
from skillgit.git import publish as module
from skillgit.git.objects import Commit, write_commits
from skillgit.git.publish import Publication, RefUpdate, publish, refuse_blocked
from skillgit.git.repository import Repository
from tests.conftest import git
from tests.git.helpers import Skillgit, made, train, user_state

BRANCH = "refs/heads/train/x/1"
JOURNAL = "refs/skillgit/runs/x/1"


@pytest.fixture
def step(repo: Repository) -> Publication:
    """Branch, journal and a note, all new."""
    head = repo.commit("HEAD")
    new = write_commits(repo, [Commit("step\n", (head,))])[0].commit
    lines = {notes.EVALS: {head: ('{"id":1}',)}}
    return Publication([RefUpdate(BRANCH, new, None), RefUpdate(JOURNAL, new, None)], notes=lines)


def test_everything_moves_together(repo: Repository, step: Publication) -> None:
    publish(repo, step)
    assert made(repo.root) == [BRANCH, notes.EVALS, JOURNAL]
    assert git(repo.root, "log", "-1", "--format=%gs", "-g", BRANCH) == "skillgit"


def test_nothing_to_do_is_fine(repo: Repository) -> None:
    before = repo.refs()
    publish(repo, Publication())
    publish(repo, Publication(notes={notes.EVALS: {}}))
    assert repo.refs() == before


def test_a_line_that_is_there_makes_no_commit(repo: Repository, step: Publication) -> None:
    publish(repo, step)
    tip = repo.resolve(notes.EVALS)
    publish(repo, Publication(notes=step.notes))
    assert repo.resolve(notes.EVALS) == tip


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["appeared", "moved", "deleted"])
def test_a_branch_moved_by_someone_else_is_not_written_over(
    repo: Repository, step: Publication, kind: str, packed: bool
) -> None:
    head, new = repo.commit("HEAD"), step.refs[0].new
    other = write_commits(repo, [Commit("other\n", (head,))])[0].commit
    if kind != "deleted":
        git(repo.root, "update-ref", BRANCH, other)
    if packed:
        git(repo.root, "pack-refs", "--all")
    before = repo.refs()
    expected = None if kind == "appeared" else head
    moves = [RefUpdate(BRANCH, new, expected), RefUpdate(JOURNAL, new, None)]
    with pytest.raises(RefConflictError, match=f"{BRANCH} moved") as caught:
        publish(repo, Publication(moves, notes=step.notes))
    assert "nothing was written over" in caught.value.fix
    assert repo.refs() == before


@pytest.mark.parametrize("ref", ["refs/heads/train", "refs/heads/train/x", "refs/heads/train/x/1/y"])
def test_a_branch_where_git_needs_a_folder_is_named(repo: Repository, step: Publication, ref: str) -> None:
    git(repo.root, "update-ref", ref, "HEAD")
    before = repo.refs()
    other = ref.removeprefix("refs/heads/")
    for attempt in (lambda: publish(repo, step), lambda: refuse_blocked(repo, "train/x/1")):
        with pytest.raises(GitError, match=f"train/x/1 cannot be made, for there is a branch {other}") as caught:
            attempt()
        assert f"git branch -m {other}" in caught.value.fix
    assert repo.refs() == before


def test_a_branch_beside_others_is_not_blocked(repo: Repository) -> None:
    for name in ("train/x/2", "train/xy", "trains", "x/1"):
        git(repo.root, "branch", name)
    refuse_blocked(repo, "train/x/1")


def test_a_notes_ref_where_git_needs_a_folder_is_gits_to_explain(repo: Repository, step: Publication) -> None:
    git(repo.root, "update-ref", "refs/notes/skillgit", "HEAD")
    with pytest.raises(GitError, match="'refs/notes/skillgit' exists; cannot create"):
        publish(repo, step)
    assert made(repo.root) == ["refs/notes/skillgit"]


@pytest.mark.parametrize("ref", [BRANCH, JOURNAL, notes.EVALS])
def test_a_lock_file_left_behind_is_named(repo: Repository, step: Publication, ref: str, monkeypatch) -> None:
    monkeypatch.setattr(module, "_REF_LOCK_MS", 20)
    lock = repo.common_dir / f"{ref}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with pytest.raises(GitError) as caught:
        publish(repo, step)
    assert str(lock) in caught.value.why
    assert "remove the lock file" in caught.value.fix
    assert made(repo.root) == []
    lock.unlink()
    publish(repo, step)


def test_a_lock_that_goes_away_is_waited_for(repo: Repository, step: Publication) -> None:
    lock = repo.common_dir / f"{BRANCH}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    timer = threading.Timer(0.3, lock.unlink)
    timer.start()
    publish(repo, step)
    timer.join()
    assert BRANCH in made(repo.root)


@pytest.mark.parametrize("linked", [False, True])
def test_a_branch_that_is_checked_out_stays_where_it_is(
    repo: Repository, step: Publication, tmp_path: Path, linked: bool
) -> None:
    publish(repo, step)
    folder = tmp_path / "linked" if linked else repo.root
    branch = BRANCH.removeprefix("refs/heads/")
    git(repo.root, *(("worktree", "add", "--quiet", str(folder)) if linked else ("switch", "--quiet")), branch)
    before = repo.refs(), user_state(folder)
    new = write_commits(repo, [Commit("next\n", (step.refs[0].new,))])[0].commit
    with pytest.raises(GitError, match=f"is checked out in {folder}") as caught:
        publish(repo, Publication([RefUpdate(BRANCH, new, step.refs[0].new)]))
    assert "switch --detach" in caught.value.fix
    assert (repo.refs(), user_state(folder)) == before


def test_a_hook_of_the_user_may_refuse(repo: Repository, step: Publication) -> None:
    hook = repo.common_dir / "hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        '#!/bin/sh\ngrep -q refs/heads && test "$1" = prepared && echo "no branches here" >&2 && exit 1\n:\n'
    )
    hook.chmod(0o755)
    with pytest.raises(GitError, match="no branches here"):
        publish(repo, step)
    assert made(repo.root) == []


def test_a_note_written_by_hand_in_between_is_kept(repo: Repository, monkeypatch) -> None:
    """Plain git knows nothing of our lock: its note lands between our reading and our writing."""
    head = repo.commit("HEAD")
    real, calls = module._write, []

    def slow(*args):
        moves = real(*args)
        if not calls:
            git(repo.root, "notes", "--ref=skillgit/evals", "append", "-m", "by hand", "HEAD")
        calls.append(1)
        return moves

    monkeypatch.setattr(module, "_write", slow)
    publish(repo, Publication(notes={notes.EVALS: {head: ('{"id":1}',)}}))
    assert notes.read(repo, notes.EVALS, [head]) == {head: ["by hand", '{"id":1}']}
    assert len(calls) == 2


def test_notes_that_never_rest_end_in_an_error(repo: Repository, monkeypatch) -> None:
    real = module._write

    def always(*args):
        moves = real(*args)
        git(repo.root, "notes", "--ref=skillgit/evals", "append", "-m", "again", "HEAD")
        return moves

    monkeypatch.setattr(module, "_write", always)
    monkeypatch.setattr(module, "_ATTEMPTS", 3)
    with pytest.raises(RefConflictError, match="kept moving"):
        publish(repo, Publication(notes={notes.EVALS: {repo.commit("HEAD"): ("x",)}}))


# --- many processes


def _start(repo: Repository, writer: str, count: int, objects: list[str]) -> subprocess.Popen[str]:
    args = [sys.executable, "-m", "tests.git.publisher", str(repo.root), writer, str(count), *objects]
    root = Path(__file__).parents[2]
    return subprocess.Popen(args, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _ids(repo: Repository, ref: str, objects: list[str]) -> list[str]:
    return sorted(record["id"] for lines in notes.read_records(repo, ref, objects).values() for record in lines)


def test_sixteen_processes_lose_nothing(repo: Repository) -> None:
    common = git(repo.root, "rev-parse", "HEAD:skills/greeter")
    own = [repo.git.run("hash-object", "-w", "--stdin", data=b"%d" % n).decode().strip() for n in range(16)]
    processes = [_start(repo, f"w{number}", 5, [common, own[number]]) for number in range(16)]
    for process in processes:
        _, err = process.communicate()
        assert process.returncode == 0, err
    expected = sorted(f"w{writer}-{number}" for writer in range(16) for number in range(5))
    for ref in (notes.EVALS, notes.RESULTS):
        assert _ids(repo, ref, [common, *own]) == expected
    assert git(repo.root, "for-each-ref", "--format=%(refname)", "refs/skillgit/runs").count("\n") == 15
    git(repo.root, "fsck", "--no-dangling")


def test_killing_a_writer_leaves_whole_steps_and_no_lock(repo: Repository) -> None:
    objects = [git(repo.root, "rev-parse", f"HEAD:{path}") for path in ("skills/greeter", "evals")]
    for round_number in range(3):
        victim, other = (
            _start(repo, f"{name}{round_number}", count, objects) for name, count in (("v", 500), ("o", 5))
        )
        assert victim.stdout is not None
        for _ in range(2 + round_number):
            victim.stdout.readline()
        time.sleep(0.007 * round_number)
        victim.kill()
        victim.communicate()
        _, err = other.communicate()
        assert other.returncode == 0, err
        # A git that the victim had started may still end its transaction; it is whole either way.
        deadline = time.monotonic() + 5
        while list(repo.common_dir.glob("refs/**/*.lock")) and time.monotonic() < deadline:
            time.sleep(0.02)
        steps = int(git(repo.root, "show", f"refs/skillgit/runs/x/v{round_number}:step")) + 1
        expected = sorted(f"v{round_number}-{number}" for number in range(steps))
        for ref in (notes.EVALS, notes.RESULTS):
            ids = _ids(repo, ref, objects)
            assert [name for name in ids if name.startswith(f"v{round_number}-")] == expected
            assert [name for name in ids if name.startswith(f"o{round_number}-")] == [
                f"o{round_number}-{number}" for number in range(5)
            ]
    with repo.lock(seconds=0):
        pass


def test_a_run_goes_on_only_where_it_left_its_branch(repo_dir: Path, skillgit: Skillgit) -> None:
    last = train(skillgit, repo_dir)
    git(repo_dir, "branch", "-f", last["branch"], "main")
    before = made(repo_dir), git(repo_dir, "for-each-ref")
    code, _, err = skillgit(repo_dir, "train", "greeter", "--resume", last["run"])
    assert (code, "is not where run" in err) == (4, True), err
    assert (made(repo_dir), git(repo_dir, "for-each-ref")) == before


def test_a_checked_out_branch_is_refused_before_spending(repo_dir: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    last = train(skillgit, repo_dir)
    git(repo_dir, "worktree", "add", "--quiet", str(tmp_path / "look"), last["branch"])
    code, out, err = skillgit(repo_dir, "train", "greeter", "--resume", last["run"], "--json")
    assert (code, out) == (4, ""), err
    assert f"is checked out in {tmp_path / 'look'}" in err
