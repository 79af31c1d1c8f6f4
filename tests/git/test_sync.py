"""Clones that measured apart meet: both hold every line afterwards, and nothing is ever forced or lost."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from skillgit.errors import GitError, RefConflictError
from skillgit.git import notes
from skillgit.git.publish import Publication, publish
from skillgit.git.repository import Repository
from skillgit.git.rewrite import read_all
from skillgit.git.sync import notes as syncing
from skillgit.git.sync.notes import NOTES, side_ref, sync_notes
from skillgit.train.journal import steps
from tests.conftest import git
from tests.git.helpers import SHORT, Skillgit, train

OBJECT = "skills/greeter"


def quiet(_: str) -> None:
    pass


class Clones:
    """A bare remote that refuses force, and clones of it."""

    def __init__(self, folder: Path, source: Path) -> None:
        self.folder, self.bare = folder, folder / "team.git"
        git(folder, "clone", "--quiet", "--bare", str(source), str(self.bare))
        for key in ("receive.denyNonFastForwards", "receive.denyDeletes"):
            git(self.bare, "config", key, "true")

    def clone(self, name: str) -> Repository:
        git(self.folder, "clone", "--quiet", str(self.bare), str(self.folder / name))
        return Repository.open(self.folder / name)


@pytest.fixture
def team(tmp_path: Path, repo_dir: Path) -> Clones:
    return Clones(tmp_path, repo_dir)


def add(repo: Repository, *ids: str, ref: str = notes.EVALS, at: str = f"HEAD:{OBJECT}") -> None:
    name = repo.resolve(at)
    assert name is not None
    lines = tuple(notes.canonical({"id": key, "skill": name}) for key in ids)
    publish(repo, Publication(notes={ref: {name: lines}}))


def ids(repo: Repository, ref: str = notes.EVALS) -> list[str]:
    name = repo.resolve(f"HEAD:{OBJECT}")
    assert name is not None
    return sorted(record["id"] for record in notes.read_records(repo, ref, [name]).get(name, []))


def sync(repo: Repository) -> dict[str, tuple[int, int, bool]]:
    found = sync_notes(repo, "origin", quiet)
    return {r.ref.rsplit("/", 1)[1]: (r.received, r.sent, r.pushed) for r in found if r.received or r.sent or r.pushed}


def tips(repo: Repository) -> dict[str, str]:
    return repo.refs(*NOTES)


# --- what a sync does


def test_two_clones_that_measured_apart_hold_the_same_lines_afterwards(team: Clones) -> None:
    one, two = team.clone("one"), team.clone("two")
    add(one, "a", "b")
    add(two, "b", "c")
    assert sync(one) == {"evals": (0, 2, True)}
    assert sync(two) == {"evals": (1, 1, True)}
    assert sync(one) == {"evals": (1, 0, False)}
    assert ids(one) == ids(two) == ids(Repository.open(team.bare)) == ["a", "b", "c"]
    assert tips(one) == tips(two) == tips(Repository.open(team.bare))


def test_a_union_is_a_merge_of_both_histories(team: Clones) -> None:
    one, two = team.clone("one"), team.clone("two")
    add(one, "a")
    add(two, "b")
    before = [tips(one)[notes.EVALS], tips(two)[notes.EVALS]]
    sync(one)
    sync(two)
    parents = git(two.root, "rev-parse", f"{notes.EVALS}^1", f"{notes.EVALS}^2").split()
    assert parents == before[::-1]


def test_nothing_new_makes_no_commit_and_moves_nothing(team: Clones) -> None:
    one, two = team.clone("one"), team.clone("two")
    add(one, "a")
    sync(one)
    assert sync(two) == {"evals": (1, 0, False)}
    before = tips(two)
    assert sync(two) == sync(one) == {}
    assert tips(two) == tips(one) == before


def test_what_the_remote_had_is_remembered_under_its_name(team: Clones) -> None:
    one = team.clone("one")
    assert sync(one) == {}
    assert one.refs("refs/notes") == {}
    add(one, "a")
    sync(one)
    side = side_ref("origin", notes.EVALS)
    assert side == "refs/notes/remotes/origin/skillgit/evals"
    assert one.resolve(side) == tips(one)[notes.EVALS]


def test_all_three_kinds_are_exchanged(team: Clones) -> None:
    one, two = team.clone("one"), team.clone("two")
    for ref in NOTES:
        add(one, "a", ref=ref)
    sync(one)
    assert sync(two) == dict.fromkeys(("evals", "results", "gates"), (1, 0, False))


def test_lines_that_are_no_records_survive(team: Clones) -> None:
    one, two = team.clone("one"), team.clone("two")
    tree = one.resolve(f"HEAD:{OBJECT}")
    pretty = json.dumps({"id": "pretty", "skill": tree, "target": {"model": "m"}}, indent=2)
    (one.root / "note").write_text(f"{pretty}\nlooks good\n" + '{"half":\n')
    git(one.root, "notes", "--ref=skillgit/evals", "add", "-F", "note", str(tree))
    other = pretty.replace("pretty", "other")
    (two.root / "note").write_text(f"{other}\nnot sure\n")
    git(two.root, "notes", "--ref=skillgit/evals", "add", "-F", "note", str(tree))
    sync(one)
    sync(two)
    assert ids(two) == ["other", "pretty"]
    assert {"looks good", "not sure", '{"half":'} < set(notes.read(two, notes.EVALS, [str(tree)])[str(tree)])


def test_bytes_that_are_not_utf8_survive(team: Clones) -> None:
    one, two = team.clone("one"), team.clone("two")
    tree = str(one.resolve(f"HEAD:{OBJECT}"))
    (one.root / "note").write_bytes(b"caf\xe9\n")
    git(one.root, "notes", "--ref=skillgit/evals", "add", "-F", "note", tree)
    add(two, "b")
    sync(one)
    sync(two)
    assert b"caf\xe9\n" in two.git.run("notes", "--ref=skillgit/evals", "show", tree)


def test_notes_that_git_spread_differently_meet(team: Clones) -> None:
    """One side keeps a note at the top of the tree, the other in a folder: git must find one note, with both lines."""
    one, two = team.clone("one"), team.clone("two")
    tree = str(one.resolve(f"HEAD:{OBJECT}"))
    git(one.root, "notes", "--ref=skillgit/evals", "add", "-m", '{"id":"flat"}', tree)
    add(two, "fanned")
    sync(one)
    sync(two)
    assert ids(two) == ["fanned", "flat"]
    assert len(git(two.root, "notes", "--ref=skillgit/evals", "list").splitlines()) == 1


def test_a_configured_refspec_cannot_overwrite_our_notes(team: Clones) -> None:
    """`+refs/notes/*:refs/notes/*` is what many pages advise; with it a plain fetch would lose our lines."""
    one, two = team.clone("one"), team.clone("two")
    add(one, "a")
    sync(one)
    git(two.root, "config", "--add", "remote.origin.fetch", "+refs/notes/*:refs/notes/*")
    add(two, "b")
    sync(two)
    assert ids(two) == ["a", "b"]


def test_a_dry_run_moves_no_ref_anywhere(team: Clones) -> None:
    one, two = team.clone("one"), team.clone("two")
    add(one, "a")
    sync(one)
    add(two, "b")
    before = git(two.root, "for-each-ref"), git(team.bare, "for-each-ref")
    found = {r.ref: (r.received, r.sent, r.pushed) for r in sync_notes(two, "origin", quiet, dry_run=True)}
    assert found[notes.EVALS] == (1, 1, False)
    assert (git(two.root, "for-each-ref"), git(team.bare, "for-each-ref")) == before


def test_lines_that_were_taken_away_are_counted_as_that(team: Clones) -> None:
    """What one side removes on top of the other's history is no line to receive or to send."""
    one, two = team.clone("one"), team.clone("two")
    add(one, "a")
    sync(one)
    sync(two)
    git(two.root, "notes", "--ref=skillgit/evals", "remove", f"HEAD:{OBJECT}")

    def counted(repo: Repository, **how: bool) -> tuple[int, int, int]:
        report = sync_notes(repo, "origin", quiet, **how)[0]
        return report.received, report.sent, report.removed

    assert counted(two, dry_run=True) == counted(two) == (0, 0, 1)
    assert counted(one, dry_run=True) == counted(one) == (0, 0, 1)
    assert ids(one) == ids(two) == []
    assert counted(one) == counted(two) == (0, 0, 0)


@pytest.mark.parametrize("kind", ["blob", "tree", "tag"])
def test_a_ref_of_the_remote_that_is_no_commit_is_named(team: Clones, kind: str) -> None:
    one = team.clone("one")
    add(one, "a")
    git(team.bare, "-c", "user.name=x", "-c", "user.email=x@y", "tag", "-a", "-m", "x", "tagged", "main")
    what = {"blob": f"main:{OBJECT}/SKILL.md", "tree": "main^{tree}", "tag": "tagged"}[kind]
    git(team.bare, "update-ref", notes.EVALS, git(team.bare, "rev-parse", what))
    before = tips(one)
    with pytest.raises(GitError) as caught:
        sync(one)
    assert (caught.value.what, caught.value.fix) == (
        f"{notes.EVALS} of origin is no commit",
        f"git push --delete origin {notes.EVALS} removes it there",
    )
    assert tips(one) == before
    assert ids(one) == ["a"]


def test_a_remote_that_stands_still_and_takes_nothing_is_told_as_that(
    team: Clones, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = team.clone("one")
    add(one, "a")
    sync(one)
    lock = team.bare / f"{notes.EVALS}.lock"
    lock.touch()
    add(one, "b")
    monkeypatch.setattr(syncing, "_STALLED", 2)
    with pytest.raises(RefConflictError) as caught:
        sync(one)
    assert ("nobody else moves them" in caught.value.what, ".lock" in caught.value.why) == (True, True)
    lock.unlink()
    assert sync(one) == {"evals": (0, 1, True)}


def test_bare_clones_and_worktrees_sync(team: Clones) -> None:
    one = team.clone("one")
    git(team.folder, "clone", "--quiet", "--bare", str(team.bare), str(team.folder / "mirror.git"))
    mirror = Repository.open(team.folder / "mirror.git")
    add(mirror, "bare")
    assert sync(mirror) == {"evals": (0, 1, True)}
    git(one.root, "worktree", "add", "--quiet", "--detach", str(team.folder / "linked"))
    linked = Repository.open(team.folder / "linked")
    add(linked, "linked")
    assert sync(linked) == {"evals": (1, 1, True)}
    assert ids(one) == ["bare", "linked"]


def test_sha256_repositories_sync(tmp_path: Path, template: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "--initial-branch=main", "source")
    source = tmp_path / "source"
    (source / OBJECT).mkdir(parents=True)
    (source / OBJECT / "SKILL.md").write_bytes((template / OBJECT / "SKILL.md").read_bytes())
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "-m", "start")
    team = Clones(tmp_path, source)
    one, two = team.clone("one"), team.clone("two")
    add(one, "a")
    add(two, "b")
    sync(one)
    assert sync(two) == {"evals": (1, 1, True)}
    assert ids(two) == ["a", "b"]
    assert len(tips(two)[notes.EVALS]) == 64


# --- real measurements


def test_clones_that_trained_and_evaluated_apart_unite(team: Clones, skillgit: Skillgit) -> None:
    one, two = team.clone("one"), team.clone("two")
    train(skillgit, one.root)
    setting = ("--set", "model.backend=scripted", "--set", "model.script=script.json")
    for split in ("val", "test"):
        assert skillgit(two.root, "eval", "greeter", "--split", split, *setting)[0] == 0
    assert skillgit(one.root, "sync")[0] == 0
    code, out, err = skillgit(two.root, "sync", "--json")
    assert code == 0, err
    report = {entry["ref"]: entry for entry in json.loads(out)["notes"]}
    assert (report[notes.EVALS]["received"], report[notes.EVALS]["sent"], report[notes.EVALS]["pushed"]) == (3, 2, True)
    assert skillgit(one.root, "sync")[0] == 0
    assert tips(one) == tips(two)
    for ref in (notes.EVALS, notes.RESULTS):
        for line in git(one.root, "notes", f"--ref={ref}", "list").splitlines():
            for record in git(one.root, "cat-file", "blob", line.split()[0]).splitlines():
                assert notes.canonical(json.loads(record)) == record
    tree = str(one.resolve(f"HEAD:{OBJECT}"))
    assert len(notes.read_records(one, notes.EVALS, [tree])[tree]) == 3


# --- refusals


def test_a_server_that_refuses_notes_leaves_ours_united(team: Clones, skillgit: Skillgit) -> None:
    one, two = team.clone("one"), team.clone("two")
    add(one, "a")
    sync(one)
    hook = team.bare / "hooks/update"
    hook.write_text("#!/bin/sh\necho no notes here >&2\nexit 1\n")
    hook.chmod(0o755)
    add(two, "b")
    code, _, err = skillgit(two.root, "sync")
    assert code == 4
    assert "origin did not take refs/notes/skillgit/evals" in err
    assert "hook declined" in err
    assert ids(two) == ["a", "b"]
    assert ids(Repository.open(team.bare)) == ["a"]


def test_a_pre_push_hook_that_refuses_is_named(team: Clones, skillgit: Skillgit) -> None:
    one = team.clone("one")
    add(one, "a")
    hook = one.common_dir / "hooks/pre-push"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    code, _, err = skillgit(one.root, "sync")
    assert code == 4
    assert "pre-push hook" in err


def test_a_remote_that_cannot_be_reached_is_an_error_of_git(team: Clones, skillgit: Skillgit) -> None:
    one = team.clone("one")
    git(one.root, "remote", "set-url", "origin", str(team.folder / "nowhere"))
    code, _, err = skillgit(one.root, "sync")
    assert code == 4
    assert "remote origin could not be used" in err


# --- many at once


WRITER = """
import sys
from pathlib import Path
from skillgit.git.repository import Repository
from skillgit.git.sync.notes import sync_notes
repo = Repository.open(Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    sync_notes(repo, "origin", lambda _: None)
"""


def _sync_process(repo: Repository, times: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(repo.root), str(times)], stderr=subprocess.PIPE)


def _finish(processes: Iterable[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, (err or b"").decode()


def test_eight_syncs_beside_writers_lose_nothing(team: Clones) -> None:
    clones = [team.clone(f"c{n}") for n in range(4)]
    for n, repo in enumerate(clones):
        add(repo, f"before-{n}")
    tree = str(clones[0].resolve(f"HEAD:{OBJECT}"))
    syncs = [_sync_process(repo, 1) for repo in clones for _ in range(2)]
    command = [sys.executable, "-m", "tests.git.publisher"]
    writers = [
        subprocess.Popen([*command, str(repo.root), f"w{n}", "5", tree], stdout=subprocess.DEVNULL)
        for n, repo in enumerate(clones)
    ]
    _finish([*syncs, *writers])
    for repo in [*clones, *clones]:
        sync(repo)
    expected = sorted([f"before-{n}" for n in range(4)] + [f"w{n}-{k}" for n in range(4) for k in range(5)])
    assert [ids(repo) for repo in clones] == [expected] * 4
    assert len(set(map(str, map(tips, clones)))) == 1


def test_a_training_that_is_running_loses_nothing(team: Clones) -> None:
    one, two = team.clone("one"), team.clone("two")
    command = [sys.executable, "-m", "skillgit", "-C", str(one.root), "train", "greeter", *SHORT, "--json"]
    training = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    count = 0
    while training.poll() is None:
        add(two, f"other-{count}")
        sync(two)
        sync(one)
        count += 1
    _finish([training])
    sync(one)
    sync(two)
    ((journal, tip),) = one.refs("refs/skillgit/runs").items()
    kept = {notes.canonical(record) for step in steps(one, tip) for record in [step.get("record")] if record}
    assert len(kept) == 3
    for repo in (one, two):
        lines = {line for rows in read_all(repo, repo.resolve(notes.EVALS)).values() for line in rows}
        assert kept < lines
        assert {f"other-{n}" for n in range(count)} <= {json.loads(line)["id"] for line in lines}, journal


def test_a_sync_killed_at_any_instant_leaves_either_state(team: Clones) -> None:
    chance = random.Random(7)
    one, two = team.clone("one"), team.clone("two")
    killed = 0
    for n in range(10):
        add(one, f"one-{n}")
        add(two, f"two-{n}")
        sync(one)
        before, united = set(ids(two)), {*ids(one), *ids(two)}
        process = _sync_process(two, 1)
        time.sleep(chance.uniform(0.05, 0.4))
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        assert set(ids(two)) in (before, united)
        git(two.root, "fsck", "--strict", "--no-dangling")
    time.sleep(0.5)  # a git that the killed process started lives in a session of its own
    sync(two)
    sync(one)
    assert ids(one) == ids(two) == sorted(f"{side}-{n}" for side in ("one", "two") for n in range(10))
    assert killed > 2
