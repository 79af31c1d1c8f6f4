"""Finding a skill, and its uncommitted files as `git add` would store them."""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path

import pytest

from skillgit.errors import GitError, SkillError
from skillgit.git.objects import Commit, list_tree, read_blob, write_commits
from skillgit.git.repository import Repository
from skillgit.git.skillstore import Place, changes_to, find, read_version, uncommitted, with_document
from skillgit.skills.document import Document
from tests.conftest import SKILL, git

GREETER = Place("greeter", "skills/greeter", "skills/greeter/SKILL.md")


@pytest.mark.parametrize(
    ("skill", "cwd"),
    [
        ("greeter", "."),
        ("skills/greeter", "."),
        ("skills/greeter/", "."),
        ("skills/greeter/SKILL.md", "."),
        ("../skills/greeter", "evals"),
        (".", "skills/greeter"),
        ("SKILL.md", "skills/greeter"),
        ("greeter", "evals/greeter"),
    ],
)
def test_a_skill_is_found_by_name_folder_or_document(repo: Repository, skill: str, cwd: str) -> None:
    assert find(repo, skill, cwd=repo.root / cwd) == GREETER


def test_a_skill_is_found_by_its_absolute_path(repo: Repository) -> None:
    assert find(repo, str(repo.root / "skills/greeter")) == GREETER


def test_one_markdown_file_is_a_skill(repo: Repository) -> None:
    (repo.root / "HOUSE.md").write_text("Be brief.\n")
    assert find(repo, "HOUSE.md") == Place("HOUSE", "HOUSE.md", "HOUSE.md")


@pytest.mark.parametrize("folder", [".agents/skills", ".claude/skills"])
def test_agents_own_folders_are_looked_up(repo: Repository, folder: str) -> None:
    shutil.copytree(repo.root / "skills/greeter", repo.root / folder / "other")
    assert find(repo, "other").path == f"{folder}/other"


def test_a_skill_that_is_only_in_head_is_found(repo: Repository) -> None:
    shutil.rmtree(repo.root / "skills")
    assert find(repo, "greeter") == GREETER
    assert uncommitted(repo, GREETER) == {}


def test_the_configured_path_wins(repo: Repository) -> None:
    shutil.copytree(repo.root / "skills/greeter", repo.root / "elsewhere/greeter")
    assert find(repo, "greeter", path="elsewhere/greeter").path == "elsewhere/greeter"


@pytest.mark.parametrize("path", ["../outside", "/etc", "a/../../b", ".git/x", "a//b", "./a", "a\0b"])
def test_a_configured_path_outside_is_refused(repo: Repository, path: str) -> None:
    with pytest.raises(SkillError, match=r"skill\.path is"):
        find(repo, "greeter", path=path)


@pytest.mark.parametrize("skill", ["nothing", "../nothing", "/etc", "../../..", ".git", "a b", ""])
def test_an_unknown_skill_says_where_it_was_looked_for(repo: Repository, skill: str) -> None:
    with pytest.raises(SkillError, match="no skill") as caught:
        find(repo, skill)
    assert "looked for skills/" in str(caught.value) or "not in the repository" in str(caught.value)


@pytest.mark.parametrize("name", ["two words", "häuser", "x.lock", "a..b", "-x"])
def test_a_name_that_cannot_name_a_branch_is_refused(repo: Repository, name: str) -> None:
    shutil.copytree(repo.root / "skills/greeter", repo.root / "skills" / name)
    with pytest.raises(SkillError, match="cannot name a branch"):
        find(repo, name)


@pytest.mark.parametrize("bare", [False, True])
def test_a_symbolic_link_is_no_skill(repo: Repository, tmp_path: Path, bare: bool) -> None:
    (repo.root / "skills/linked").mkdir()
    (repo.root / "skills/linked/SKILL.md").symlink_to("../greeter/SKILL.md")
    git(repo.root, "add", "--all")
    git(repo.root, "commit", "--quiet", "-m", "link")
    if bare:
        git(tmp_path, "clone", "--quiet", "--bare", str(repo.root), "bare.git")
        repo = Repository.open(tmp_path / "bare.git")
    with pytest.raises(SkillError, match="is a symbolic link"):
        find(repo, "linked")


def test_a_linked_folder_is_no_skill(repo: Repository) -> None:
    (repo.root / ".claude").mkdir()
    (repo.root / ".claude/skills").symlink_to("../skills")
    (repo.root / "evals/x").symlink_to("../skills/greeter")
    with pytest.raises(SkillError, match="evals/x is a symbolic link"):
        find(repo, "greeter", path="evals/x")
    assert find(repo, "greeter") == GREETER


NAMES = [
    "with space.md",
    'quote".md',
    "apostrophe's.md",
    "back\\slash.md",
    "tab\there.md",
    "line\nbreak.md",
    "naïve-日本.md",
    ":(glob)*.md",
    "-dash.md",
    "[a]*?.md",
    os.fsdecode(b"latin-\xe9.md"),
    "deep/er/still.md",
]


@pytest.mark.parametrize("unborn", [False, True])
def test_files_of_any_name_are_committed_as_git_add_would(repo: Repository, unborn: bool) -> None:
    if unborn:
        shutil.rmtree(repo.root / ".git")
        git(repo.root, "init", "--quiet", "--initial-branch=main")
        repo = Repository.open(repo.root)
    for name in NAMES:
        path = repo.root / "skills/greeter" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name!r}\n")
    changes = uncommitted(repo, GREETER)
    expected = {f"skills/greeter/{name}" for name in NAMES} | ({GREETER.document} if unborn else set())
    assert set(changes) == expected
    assert _committed(repo, changes) == _added(repo)


def test_modes_links_and_deletions_are_kept(repo: Repository) -> None:
    folder = repo.root / "skills/greeter"
    (folder / "gone.md").write_text("gone\n")
    (folder / "mode.sh").write_text("#!/bin/sh\n")
    git(repo.root, "add", "--all")
    git(repo.root, "commit", "--quiet", "-m", "more")
    (folder / "gone.md").unlink()
    (folder / "mode.sh").chmod(0o755)
    (folder / "new.sh").write_text("#!/bin/sh\n")
    (folder / "new.sh").chmod(0o755)
    (folder / "link.md").symlink_to("SKILL.md")
    changes = uncommitted(repo, GREETER)
    modes = {Path(path).name: entry and entry.mode for path, entry in changes.items()}
    assert modes == {"gone.md": None, "mode.sh": "100755", "new.sh": "100755", "link.md": "120000"}
    assert _committed(repo, changes) == _added(repo)


def test_a_file_staged_and_then_removed_is_no_change(repo: Repository) -> None:
    path = repo.root / "skills/greeter/brief.md"
    path.write_text("x\n")
    git(repo.root, "add", str(path))
    path.unlink()
    assert uncommitted(repo, GREETER) == {}


def test_ignored_files_stay_out(repo: Repository) -> None:
    (repo.root / ".gitignore").write_text("*.tmp\n")
    (repo.root / "skills/greeter/x.tmp").write_text("x\n")
    assert uncommitted(repo, GREETER) == {}


def test_an_ignored_skill_is_refused_in_gits_words(repo: Repository) -> None:
    shutil.copytree(repo.root / "skills/greeter", repo.root / "skills/secret")
    (repo.root / ".gitignore").write_text("secret/\n")
    with pytest.raises(GitError, match="ignored"):
        uncommitted(repo, find(repo, "secret"))


@pytest.mark.parametrize(
    "setting", ["core.autocrlf=true", "core.autocrlf=input", "core.eol=crlf", "core.safecrlf=false"]
)
@pytest.mark.parametrize("attributes", ["", "*.md text\n", "*.md text eol=crlf\n", "*.md -text\n", "*.md text=auto\n"])
@pytest.mark.parametrize("committed", [b"one\ntwo\n", b"one\r\ntwo\r\n"])
def test_line_endings_are_those_of_git_add(repo: Repository, setting: str, attributes: str, committed: bytes) -> None:
    path = repo.root / "skills/greeter/ends.md"
    path.write_bytes(committed)
    git(repo.root, "add", "--all")
    git(repo.root, "commit", "--quiet", "-m", "ends")
    git(repo.root, "config", *setting.split("="))
    (repo.root / ".gitattributes").write_text(attributes)
    path.write_bytes(b"one\r\ntwo\r\nthree\r\n")
    changes = uncommitted(repo, GREETER)
    assert path.read_bytes() == b"one\r\ntwo\r\nthree\r\n"
    assert _committed(repo, changes) == _added(repo)


def test_a_change_within_the_tick_of_the_index_is_seen(repo: Repository) -> None:
    path = repo.root / GREETER.document
    git(repo.root, "add", "--all")
    before = path.stat()
    path.write_text(SKILL.replace("No rules", "No RULES"))
    index = repo.root / ".git/index"
    for file in (path, index):
        os.utime(file, ns=(before.st_mtime_ns, before.st_mtime_ns))
    assert list(uncommitted(repo, GREETER)) == [GREETER.document]


def _committed(repo: Repository, changes: dict) -> str:
    head = repo.head()
    commit = write_commits(repo, [Commit("x", (head,) if head else (), changes)])[0].commit
    return git(repo.root, "ls-tree", "-r", commit, "skills/greeter")


def _added(repo: Repository) -> str:
    git(repo.root, "add", "--all", "skills/greeter")
    tree = git(repo.root, "write-tree")
    return git(repo.root, "ls-tree", "-r", tree, "skills/greeter")


def test_a_new_version_changes_the_document_alone(repo: Repository) -> None:
    (repo.root / "skills/greeter/references").mkdir()
    (repo.root / "skills/greeter/references/more.md").write_text("More.\n")
    git(repo.root, "add", "--all")
    git(repo.root, "commit", "--quiet", "-m", "more")
    head = repo.commit("HEAD")
    old = read_version(repo, "HEAD", GREETER)
    assert old is not None
    assert old.object == repo.resolve("HEAD:skills/greeter")
    assert with_document(repo, old, GREETER, old.document) == old
    version = with_document(repo, old, GREETER, Document.parse((SKILL + "- New.\n").encode()))
    assert (repo.head(), repo.refs()) == (head, {"refs/heads/main": head})
    assert repo.resolve(f"{version.object}^{{tree}}") is None
    written = write_commits(repo, [Commit("new", (head,), changes_to(GREETER, version))], [GREETER.path])[0]
    assert written.at == {GREETER.path: version.object}
    before, after = list_tree(repo, "HEAD:skills/greeter"), list_tree(repo, version.object)
    assert after.pop("SKILL.md") != before.pop("SKILL.md")
    assert after == before


def test_the_object_of_a_bare_file_is_its_blob(repo: Repository) -> None:
    place = dataclasses.replace(GREETER, path=GREETER.document)
    version = read_version(repo, "HEAD", place)
    assert version is not None
    assert read_blob(repo, version.object) == SKILL.encode()
    assert version.text == "# Greeter\n\nNo rules yet."


def test_a_revision_without_the_skill_has_no_version(repo: Repository) -> None:
    git(repo.root, "rm", "--quiet", "-r", "skills")
    git(repo.root, "commit", "--quiet", "-m", "gone")
    assert read_version(repo, "HEAD", GREETER) is None


# --- exported copies


def _copy(folder: Path, path: str) -> None:
    (folder / path).mkdir(parents=True)
    (folder / path / "SKILL.md").write_bytes((folder / "skills/greeter/SKILL.md").read_bytes())
    (folder / path / ".skillgit.json").write_text("{}\n")


def test_a_name_never_means_an_exported_copy(repo_dir: Path) -> None:
    _copy(repo_dir, "skills/other")
    _copy(repo_dir, ".agents/skills/other")
    shutil.move(repo_dir / "skills/greeter", repo_dir / ".claude/skills/other")
    repo = Repository.open(repo_dir)
    assert find(repo, "other").path == ".claude/skills/other"


@pytest.mark.parametrize("committed", [False, True])
def test_when_there_are_only_copies_it_says_so(repo_dir: Path, tmp_path: Path, committed: bool) -> None:
    _copy(repo_dir, ".claude/skills/other")
    folder = repo_dir
    if committed:
        git(repo_dir, "add", "--all", "--force")
        git(repo_dir, "commit", "--quiet", "-m", "copy")
        folder = tmp_path / "bare.git"
        git(tmp_path, "clone", "--quiet", "--bare", str(repo_dir), str(folder))
    with pytest.raises(SkillError) as caught:
        find(Repository.open(folder), "other")
    assert "only copies that were exported: .claude/skills/other" in caught.value.what


@pytest.mark.parametrize(("cwd", "given"), [(".", ".claude/skills/other"), (".claude/skills", "other")])
def test_a_copys_path_means_the_copy(repo_dir: Path, cwd: str, given: str) -> None:
    _copy(repo_dir, ".claude/skills/other")
    repo = Repository.open(repo_dir)
    assert find(repo, given, cwd=repo_dir / cwd).path == ".claude/skills/other"
    assert find(repo, "other", path=".claude/skills/other").path == ".claude/skills/other"
