"""Installing versions into folders: whole, checked, atomic, and never over anyone's work."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.errors import ConfigError, GitError, NeedsPersonError
from skillgit.git.deploy import stage
from skillgit.git.deploy.folder import identities, read_folder, stored
from skillgit.git.deploy.install import Outcome, Target, install
from skillgit.git.deploy.package import Package
from skillgit.git.deploy.provenance import read_provenance
from skillgit.git.objects import Entry, tree_of
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place
from tests.conftest import git

PLACE = Place("greeter", "skills/greeter", "skills/greeter/SKILL.md")
Put = Callable[..., Outcome]


@pytest.fixture
def repo_dir(repo_dir: Path) -> Path:
    """The greeter with an executable, Windows line endings, a deep file and a second version without that file."""
    skill = repo_dir / "skills/greeter"
    for name, data in (
        ("scripts/run.sh", b"#!/bin/sh\n"),
        ("references/a.md", b"one\r\ntwo\r\n"),
        ("references.md", b""),
        ("assets/x/é y.bin", b"\0\xff"),
    ):
        (skill / name).parent.mkdir(parents=True, exist_ok=True)
        (skill / name).write_bytes(data)
    (skill / "scripts/run.sh").chmod(0o755)
    _commit(repo_dir, "files")
    git(repo_dir, "tag", "first")
    (skill / "references/a.md").unlink()
    (skill / "SKILL.md").write_text("---\nname: greeter\ndescription: Answers.\n---\n\nNew.\n")
    _commit(repo_dir, "second")
    return repo_dir


def _commit(folder: Path, message: str) -> None:
    git(folder, "-c", "core.autocrlf=false", "add", "--all")
    git(folder, "commit", "--quiet", "-m", message)


@pytest.fixture
def put(repo: Repository, tmp_path: Path) -> Put:
    """Install the greeter as of a revision into `out/greeter`."""

    def call(revision: str = "HEAD", path: str = "out/greeter", **options: bool) -> Outcome:
        return install(repo, _package(repo, revision), Target(tmp_path, path), **options)

    return call


def _package(repo: Repository, revision: str) -> Package:
    commit = repo.commit(revision)
    skill = repo.resolve(f"{commit}:{PLACE.path}")
    assert skill
    return Package(PLACE, "greeter", skill, commit, revision, 0.5)


def _is(repo: Repository, folder: Path, revision: str) -> bool:
    skill = _package(repo, revision).object
    mark = read_provenance(folder)
    files = read_folder(repo, folder, stored(repo, skill) or {})
    return skill in identities(repo, files) and mark is not None and mark["object"] == skill


def test_the_whole_tree_arrives_with_modes_and_bytes(repo: Repository, put: Put, tmp_path: Path) -> None:
    done = put("first")
    folder = tmp_path / "out/greeter"
    assert (done.action, done.folder, done.replaced) == ("installed", folder, None)
    assert _is(repo, folder, "first")
    assert (folder / "references/a.md").read_bytes() == b"one\r\ntwo\r\n"
    assert (folder / "assets/x/é y.bin").read_bytes() == b"\0\xff"
    assert (folder / "scripts/run.sh").stat().st_mode & 0o111
    assert not (folder / "SKILL.md").stat().st_mode & 0o111
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["greeter"]


def test_the_provenance_is_one_canonical_line_without_credentials(repo: Repository, put: Put, tmp_path: Path) -> None:
    git(repo.root, "remote", "add", "origin", "https://me:s3cret@example.invalid/x.git?token=t0ken")
    put()
    text = (tmp_path / "out/greeter/.skillgit.json").read_text()
    value = json.loads(text)
    assert text == json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n"
    assert (value["remote"], value["val"]) == ("https://example.invalid/x.git", 0.5)
    keys = {"v", "skill", "path", "object", "commit", "revision", "remote", "val", "exported_at", "harness"}
    assert set(value) == keys


def test_an_address_that_is_none_costs_no_export(repo: Repository, put: Put, tmp_path: Path) -> None:
    git(repo.root, "remote", "add", "origin", "https://[bad/x")
    put()
    assert json.loads((tmp_path / "out/greeter/.skillgit.json").read_text())["remote"] == "https://[bad/x"


def test_installing_again_changes_nothing(put: Put, tmp_path: Path) -> None:
    put()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("out/**/*")}
    assert put().action == "unchanged"
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("out/**/*")} == before


def test_an_update_leaves_no_file_of_the_old_version(repo: Repository, put: Put, tmp_path: Path) -> None:
    put("first")
    done = put()
    assert (done.action, done.replaced) == ("updated", _package(repo, "first").object)
    assert _is(repo, tmp_path / "out/greeter", "HEAD")
    assert not (tmp_path / "out/greeter/references").exists()


def test_what_running_a_skill_leaves_behind_is_no_edit(put: Put, tmp_path: Path) -> None:
    put("first")
    (tmp_path / "out/greeter/scripts/__pycache__").mkdir()
    (tmp_path / "out/greeter/scripts/__pycache__/x.cpython-311.pyc").write_bytes(b"x")
    assert put().action == "updated"


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda folder: (folder / "SKILL.md").write_text("mine"), "SKILL.md"),
        (lambda folder: (folder / "notes.md").write_text("mine"), "notes.md"),
        (lambda folder: (folder / "references/a.md").unlink(), "references/a.md"),
        (lambda folder: (folder / "scripts/run.sh").chmod(0o644), "scripts/run.sh"),
        (lambda folder: (folder / "link").symlink_to("/etc/passwd"), "link"),
    ],
)
def test_local_edits_are_refused_by_name(put: Put, tmp_path: Path, edit: Callable, named: str) -> None:
    put("first")
    folder = tmp_path / "out/greeter"
    edit(folder)
    before = sorted(folder.rglob("*"))
    with pytest.raises(NeedsPersonError, match=rf"edited since it was exported: {named}\n"):
        put()
    assert sorted(folder.rglob("*")) == before


def test_forced_edits_are_kept_as_a_commit_to_cherry_pick(repo: Repository, put: Put, tmp_path: Path) -> None:
    put()
    (tmp_path / "out/greeter/SKILL.md").write_text("---\nname: greeter\n---\n\nMine.\n")
    (tmp_path / "out/greeter/extra.md").write_text("more\n")
    planned = put("first", force=True, dry_run=True).backup
    done = put("first", force=True)
    assert _is(repo, tmp_path / "out/greeter", "first")
    assert done.backup == planned
    assert done.backup
    git(repo.root, "cherry-pick", done.backup)
    assert "Mine." in (repo.root / "skills/greeter/SKILL.md").read_text()
    assert (repo.root / "skills/greeter/extra.md").read_text() == "more\n"


def test_edits_of_a_version_this_clone_does_not_have_are_kept_too(repo: Repository, put: Put, tmp_path: Path) -> None:
    put()
    path = tmp_path / "out/greeter/.skillgit.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"object": "1" * 40, "commit": "2" * 40}))
    with pytest.raises(NeedsPersonError, match=r"edited since it was exported\n"):
        put("first")
    backup = put("first", force=True).backup
    assert "New." in git(repo.root, "show", f"{backup}:skills/greeter/SKILL.md")


def test_a_version_of_another_repository_is_not_replaced_unasked(repo: Repository, put: Put, tmp_path: Path) -> None:
    put()
    (tmp_path / "out/greeter/SKILL.md").write_text("theirs")
    path = tmp_path / "out/greeter/.skillgit.json"
    theirs = tree_of(repo, read_folder(repo, tmp_path / "out/greeter", {}))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"object": theirs, "remote": "host:them.git\x1b[2J"}))
    with pytest.raises(NeedsPersonError, match=r"does not have\n  why:  it was exported from host:them.git�\[2J\n"):
        put("first")
    backup = put("first", force=True).backup
    assert git(repo.root, "show", f"{backup}:skills/greeter/SKILL.md") == "theirs"


def test_a_foreign_folder_is_refused_even_by_force(put: Put, tmp_path: Path) -> None:
    (tmp_path / "out/greeter").mkdir(parents=True)
    (tmp_path / "out/greeter/SKILL.md").write_text("other")
    for force in (False, True):
        with pytest.raises(NeedsPersonError, match="not exported by skillgit"):
            put(force=force)
    assert (tmp_path / "out/greeter/SKILL.md").read_text() == "other"


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"skill":"x","path":"x","object":"--help"}', "[" * 100_000])
def test_damaged_provenance_is_no_provenance(put: Put, tmp_path: Path, text: str) -> None:
    put()
    (tmp_path / "out/greeter/.skillgit.json").write_text(text)
    assert read_provenance(tmp_path / "out/greeter") is None
    with pytest.raises(NeedsPersonError, match="not exported by skillgit"):
        put("first")


def test_a_folder_that_holds_the_version_already_is_adopted(repo: Repository, put: Put, tmp_path: Path) -> None:
    put()
    (tmp_path / "out/greeter/.skillgit.json").unlink()
    assert put().action == "adopted"
    assert _is(repo, tmp_path / "out/greeter", "HEAD")


def test_nothing_is_written_through_links(put: Put, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/greeter").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "linked").symlink_to(tmp_path / "elsewhere")
    for path in ("out/greeter", "linked/greeter", "linked/deep/greeter"):
        with pytest.raises(GitError, match="is a symbolic link"):
            put(path=path)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("path", ["out", "out/greeter", "out/skills/greeter"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_file_where_a_folder_must_be_is_named(put: Put, tmp_path: Path, path: str, dry_run: bool) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(GitError) as caught:
        put(path=path, dry_run=dry_run)
    assert (caught.value.what, bool(caught.value.fix)) == (f"{tmp_path / 'out'} is a file", True)
    assert (tmp_path / "out").read_text() == "mine"


def test_a_failure_leaves_nothing_behind(put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:1])
        raise OSError(28, "No space left on device")

    put("first")
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(GitError) as caught:
        put()
    assert ("No space left" in caught.value.why, "--to" in caught.value.fix) == (True, True)
    monkeypatch.undo()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["greeter"]
    assert put("first").action == "unchanged"


def test_a_dry_run_writes_nothing(put: Put, tmp_path: Path) -> None:
    assert put(dry_run=True).action == "installed"
    assert not (tmp_path / "out").exists()


def test_the_skill_itself_is_no_target(repo: Repository) -> None:
    for path in ("skills/greeter", "skills", "skills/greeter/inner/greeter"):
        with pytest.raises(ConfigError, match="where the skill itself lies"):
            install(repo, _package(repo, "HEAD"), Target(repo.root, path))


def test_links_submodules_and_our_own_file_in_a_skill_are_refused(repo: Repository, put: Put, tmp_path: Path) -> None:
    skill = repo.root / "skills/greeter"
    (skill / "link").symlink_to("SKILL.md")
    _commit(repo.root, "link")
    with pytest.raises(GitError, match="skills/greeter/link is a symbolic link"):
        put()
    (skill / "link").unlink()
    git(repo.root, "update-index", "--add", "--cacheinfo", f"160000,{repo.commit('HEAD')},skills/greeter/sub")
    git(repo.root, "rm", "--quiet", "--cached", "skills/greeter/link")
    git(repo.root, "commit", "--quiet", "-m", "sub")
    with pytest.raises(GitError, match="skills/greeter/sub is a submodule"):
        put()
    git(repo.root, "rm", "--quiet", "--cached", "skills/greeter/sub")
    (skill / ".skillgit.json").write_text("{}")
    _commit(repo.root, "own")
    with pytest.raises(GitError, match="keeps for itself"):
        put()
    assert not (tmp_path / "out/greeter").exists()


def test_a_file_system_without_modes_is_noticed(
    repo: Repository, put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo.root / "skills/greeter/more.sh").write_text("x")
    (repo.root / "skills/greeter/more.sh").chmod(0o755)
    put("first")
    _commit(repo.root, "third")
    monkeypatch.setattr(Path, "chmod", lambda self, mode: None)
    with pytest.raises(GitError, match="and was removed"):
        put()
    assert _is(repo, tmp_path / "out/greeter", "first")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["greeter"]


def test_an_edit_while_the_folder_is_replaced_is_not_lost(
    put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("first")
    folder, swap, calls = tmp_path / "out/greeter", stage.exchange, []

    def late(one: Path, other: Path) -> bool:
        if not calls:
            (folder / "SKILL.md").write_text("just typed")
        calls.append(one)
        return swap(one, other)

    monkeypatch.setattr(stage, "exchange", late)
    with pytest.raises(NeedsPersonError, match="changed while it was exported"):
        put()
    assert (folder / "SKILL.md").read_text() == "just typed"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["greeter"]


def test_without_a_swap_in_one_step_a_kill_between_two_is_mended(
    repo: Repository, put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "exchange", lambda one, other: False)
    put("first")
    assert put().action == "updated"
    assert _is(repo, tmp_path / "out/greeter", "HEAD")
    folder, old = tmp_path / "out/greeter", stage._beside(repo, tmp_path / "out/greeter", "old")
    folder.rename(old)
    stage._beside(repo, folder, "new").mkdir()
    assert put().action == "unchanged"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["greeter"]


def test_parallel_exports_leave_one_whole_version(repo: Repository, put: Put, tmp_path: Path) -> None:
    failed: list[BaseException] = []

    def run(revision: str) -> None:
        try:
            for _ in range(4):
                install(repo, _package(repo, revision), Target(tmp_path, "out/greeter"))
        except GitError as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(revision,)) for revision in ("first", "HEAD") * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert any(_is(repo, tmp_path / "out/greeter", revision) for revision in ("first", "HEAD"))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["greeter"]


_LOOP = """
import sys
from pathlib import Path
from tests.git.test_deploy import _package, Target, Repository, install
repo, folder = Repository.open(Path(sys.argv[1])), Path(sys.argv[2])
packages = [_package(repo, name) for name in ("first", "HEAD")]
print("ready", flush=True)
while True:
    for package in packages:
        install(repo, package, Target(folder, "out/greeter"))
"""


def test_a_kill_at_any_instant_leaves_the_old_or_the_new_folder(repo: Repository, put: Put, tmp_path: Path) -> None:
    put("first")
    chance, seen, left = random.Random(7), set(), 0
    for _ in range(20):
        args = [sys.executable, "-c", _LOOP, str(repo.root), str(tmp_path)]
        process = subprocess.Popen(args, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2])
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        time.sleep(chance.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        whole = [name for name in ("first", "HEAD") if _is(repo, tmp_path / "out/greeter", name)]
        assert len(whole) == 1
        seen.add(whole[0])
        left += len(list((tmp_path / "out").iterdir())) > 1
    assert put("first").action in ("updated", "unchanged")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["greeter"]
    print(f"versions seen after kills: {sorted(seen)}; kills that left something to clear: {left}")


def test_ids_of_a_sha256_repository_are_checked_too(tmp_path: Path) -> None:
    top = tmp_path / "sha256"
    git(tmp_path, "init", "--quiet", "--object-format=sha256", str(top))
    (top / "skills/greeter").mkdir(parents=True)
    (top / "skills/greeter/SKILL.md").write_text("---\nname: greeter\n---\nHi.\n")
    _commit(top, "start")
    repo = Repository.open(top)
    install(repo, _package(repo, "HEAD"), Target(tmp_path, "out/greeter"))
    assert _is(repo, tmp_path / "out/greeter", "HEAD")


_part = st.text(alphabet="ab.-0é", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
_paths = st.lists(st.lists(_part, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8, unique=True)


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scratch")
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


@settings(max_examples=25)
@given(paths=_paths)
def test_a_listing_has_the_id_that_git_gives_its_tree(scratch: Path, paths: list[str]) -> None:
    files = {path for path in paths if not any(other.startswith(f"{path}/") for other in paths)}
    blob = git(scratch, "hash-object", "-w", "--stdin", check=True)
    rows = "".join(f"100644 {blob}\t{path}\n" for path in files)
    (scratch / ".git/index").unlink(missing_ok=True)
    subprocess.run(["git", "-C", scratch, "update-index", "--index-info"], input=rows.encode(), check=True)
    listing = {path: Entry("100644", blob) for path in files}
    assert tree_of(Repository.open(scratch), listing) == git(scratch, "write-tree")
