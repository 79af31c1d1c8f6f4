"""The merge driver in real git: merge, rebase, cherry-pick, revert, crossing merges, dry runs, worktrees, no driver."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgit.git import install
from skillgit.git.install import SETTINGS, driver_command
from skillgit.git.repository import Repository
from tests.bench import merge_pairs
from tests.conftest import git
from tests.git.helpers import Skillgit

PATH = "skills/greeter/SKILL.md"
RULES = "".join(f"- Rule {name} says something of its own.\n" for name in ("one", "two", "three"))
TEXT = f"---\nname: greeter\ndescription: d\n---\n\n# Greeter\n\n{RULES}"
CONFLICT = "<<<<<<< ours\n- Rule two says A of its own.\n=======\n- Rule two says B of its own.\n>>>>>>> theirs\n"
OLD_ATTRIBUTES = "skills/**/*.md text eol=lf diff=markdown\nevals/**/*.jsonl text eol=lf\n"


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("merge") / "repo"


@pytest.fixture
def repo(prepared: Path, repo_dir: Path, skillgit: Skillgit) -> Path:
    """A repository set up by `init` with a skill of three rules on main, and branches `a` and `b` that add one each."""
    if not prepared.exists():
        assert skillgit(repo_dir, "-q", "init")[0] == 0
        commit(repo_dir, TEXT, "base")
        branch(repo_dir, "a", adding("A."))
        branch(repo_dir, "b", adding("B."))
        git(repo_dir, "checkout", "--quiet", "main")
        shutil.copytree(repo_dir, prepared)
    shutil.rmtree(repo_dir)
    shutil.copytree(prepared, repo_dir)
    return repo_dir


def read(folder: Path) -> str:
    return (folder / PATH).read_text()


def commit(folder: Path, text: str, message: str) -> None:
    (folder / PATH).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", message)


def branch(folder: Path, name: str, change: Callable[[str], str], start: str = "main") -> None:
    """A branch with one commit that changes the skill; it is checked out afterwards."""
    git(folder, "checkout", "--quiet", "-b", name, start)
    commit(folder, change(read(folder)), name)


def adding(rule: str) -> Callable[[str], str]:
    return lambda text: f"{text}- {rule}\n"


def swapping(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


def attempt(folder: Path, *args: str) -> tuple[int, str]:
    done = subprocess.run(["git", "-C", str(folder), *args], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def two(repo: Path) -> Path:
    """The same with `b` checked out."""
    git(repo, "checkout", "--quiet", "b")
    return repo


BOTH = f"{TEXT}- A.\n- B.\n"


def test_merge_keeps_both_rules(two: Path) -> None:
    git(two, "merge", "--quiet", "--no-edit", "a")
    assert read(two) == BOTH
    git(two, "checkout", "--quiet", "--detach", "a")
    git(two, "merge", "--quiet", "--no-edit", "b")
    assert read(two) == BOTH
    assert git(two, "status", "--porcelain") == ""


def test_without_our_driver_the_same_merge_conflicts(two: Path) -> None:
    git(two, "config", "--remove-section", "merge.skillgit")
    code, said = attempt(two, "merge", "--no-edit", "a")
    assert (code, "CONFLICT (content)" in said) == (1, True)
    assert "<<<<<<< HEAD\n- B.\n=======\n- A.\n>>>>>>> a\n" in read(two)


def test_rebase_and_cherry_pick_keep_both_rules(two: Path) -> None:
    git(two, "rebase", "--quiet", "a")
    assert read(two) == BOTH
    git(two, "checkout", "--quiet", "-b", "c", "main")
    commit(two, adding("0.")(read(two)), "c")
    git(two, "cherry-pick", "b")
    assert read(two) == f"{TEXT}- 0.\n- B.\n"


def test_revert_undoes_one_rule_between_later_ones(repo: Path) -> None:
    for name in ("A.", "B.", "C."):
        commit(repo, adding(name)(read(repo)), name)
    git(repo, "revert", "--no-edit", "HEAD~1")
    assert read(repo) == f"{TEXT}- A.\n- C.\n"
    git(repo, "revert", "--no-edit", "HEAD~3")
    assert read(repo) == f"{TEXT}- C.\n"


def test_crossing_merges_bring_no_rule_twice_and_none_back(two: Path) -> None:
    for mine, other in (("a", "b"), ("b", "a")):
        git(two, "checkout", "--quiet", "-b", f"{mine}{other}", mine)
        git(two, "merge", "--quiet", "--no-edit", "--no-ff", other)
    git(two, "checkout", "--quiet", "ab")
    commit(two, swapping("- B.\n", "")(read(two)), "drop B")
    git(two, "checkout", "--quiet", "ba")
    commit(two, adding("C.")(read(two)), "add C")
    assert len(git(two, "merge-base", "--all", "ab", "ba").split()) == 2
    git(two, "merge", "--quiet", "--no-edit", "ab")
    assert read(two) == f"{TEXT}- A.\n- C.\n"


def test_crossing_merges_of_a_conflict_are_left_to_a_person(repo: Path) -> None:
    branch(repo, "d", swapping("two says something", "two says A"))
    branch(repo, "e", swapping("two says something", "two says B"))
    for mine, other in (("d", "e"), ("e", "d")):
        git(repo, "checkout", "--quiet", "-b", f"{mine}{other}", mine)
        git(repo, "merge", "--no-edit", "-s", "ours", other)
    code, said = attempt(repo, "merge", "--no-edit", "de")
    assert (code, git(repo, "status", "--porcelain")) == (1, f"UU {PATH}")
    assert "conflict markers in it already" in said
    assert read(repo).count("<<<<<<< ") == 1


def test_a_dry_run_tells_what_the_merge_will_be(two: Path) -> None:
    if attempt(two, "merge-tree", "--write-tree", "a", "b")[0] == 129:
        pytest.skip("git before 2.38 has no merge-tree --write-tree")
    before = read(two)
    tree = git(two, "merge-tree", "--write-tree", "a", "b")
    assert git(two, "show", f"{tree}:{PATH}") == BOTH.removesuffix("\n")
    branch(two, "d", swapping("two says something", "two says A"), "main")
    branch(two, "e", swapping("two says something", "two says B"), "main")
    code, said = attempt(two, "merge-tree", "--write-tree", "--name-only", "d", "e")
    assert (code, said.splitlines()[1]) == (1, PATH)
    assert git(two, "status", "--porcelain") == ""
    assert git(two, "show", f"b:{PATH}") == before.removesuffix("\n")


def test_it_works_in_a_linked_worktree(two: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(two, "worktree", "add", "--quiet", "--detach", str(linked), "a")
    git(linked, "merge", "--quiet", "--no-edit", "b")
    assert read(linked) == BOTH


def test_a_conflict_is_a_normal_one(repo: Path) -> None:
    branch(repo, "d", swapping("two says something", "two says A"))
    branch(repo, "e", lambda text: adding("B.")(swapping("two says something", "two says B")(text)))
    git(repo, "checkout", "--quiet", "d")
    code, said = attempt(repo, "merge", "--no-edit", "e")
    assert (code, "CONFLICT (content)" in said, f"{PATH} has conflicts" in said) == (1, True, True)
    assert git(repo, "status", "--porcelain") == f"UU {PATH}"
    assert read(repo) == swapping("- Rule two says something of its own.\n", CONFLICT)(TEXT) + "- B.\n"
    git(repo, "merge", "--abort")
    assert git(repo, "status", "--porcelain") == ""


def test_a_conflict_marker_size_is_kept(repo: Path) -> None:
    (repo / ".gitattributes").write_text(f"{PATH} merge=skillgit conflict-marker-size=11\n")
    commit(repo, TEXT, "attributes")
    branch(repo, "d", swapping("two says something", "two says A"))
    branch(repo, "e", swapping("two says something", "two says B"))
    assert attempt(repo, "merge", "d")[0] == 1
    assert f"{'<' * 11} ours\n" in read(repo)


def test_other_repositories_are_no_place_to_import_from(two: Path) -> None:
    for name in ("skillgit", "click", "yaml"):
        (two / f"{name}.py").write_text("raise SystemExit('imported from the repository')\n")
    git(two, "add", "--all")
    git(two, "commit", "--quiet", "-m", "trap")
    git(two, "merge", "--quiet", "--no-edit", "a")
    assert read(two) == BOTH


NOT_OURS = {
    "a damaged region": b"# T\n\none\n<!-- APPENDIX_END -->\n\ntwo\n",
    "an unclosed frontmatter": b"---\nname: x\n\none\n\ntwo\n",
    "bytes that are no UTF-8": b"# T\n\none\n\xff\n\ntwo\n",
}


@pytest.mark.parametrize("case", NOT_OURS)
@pytest.mark.parametrize("both", [True, False])
def test_what_we_do_not_understand_git_merges_by_lines(repo: Path, case: str, both: bool) -> None:
    base = NOT_OURS[case]
    texts = base.replace(b"one", b"ONE"), base.replace(*((b"one", b"uno") if both else (b"two", b"TWO")))
    (repo / PATH).write_bytes(base)
    git(repo, "commit", "--quiet", "-am", "odd")
    for name, text in zip("de", texts, strict=True):
        git(repo, "checkout", "--quiet", "-b", name, "main")
        (repo / PATH).write_bytes(text)
        git(repo, "commit", "--quiet", "-am", name)
    code, said = attempt(repo, "merge", "--no-edit", "d")
    assert f"skillgit: {PATH} is merged as plain text: " in said
    ours = (repo / PATH).read_bytes()
    git(repo, "reset", "--quiet", "--hard", "e")
    git(repo, "config", "--remove-section", "merge.skillgit")
    assert code == attempt(repo, "merge", "--no-edit", "d")[0] == int(both)
    gits = (repo / PATH).read_bytes().replace(b"<<<<<<< HEAD", b"<<<<<<< ours").replace(b">>>>>>> d", b">>>>>>> theirs")
    assert ours == gits


def test_files_git_holds_for_binary_conflict_and_stay(repo: Path) -> None:
    for name, text in (("base", b"\0\n"), ("a", b"\0a\n"), ("b", b"\0b\n")):
        git(repo, "checkout", "--quiet", "-B", name)
        if name != "base":
            git(repo, "reset", "--quiet", "--hard", "base")
        (repo / PATH).write_bytes(text)
        git(repo, "commit", "--quiet", "-am", name)
    code, said = attempt(repo, "merge", "--no-edit", "a")
    assert (code, (repo / PATH).read_bytes(), git(repo, "status", "--porcelain")) == (1, b"\0b\n", f"UU {PATH}"), said


@pytest.mark.parametrize("python", ["/nowhere/bin/python", "a python without skillgit"])
def test_a_driver_that_is_gone_leaves_a_text_merge_and_says_so(two: Path, python: str, tmp_path: Path) -> None:
    if not python.startswith("/"):
        shim = tmp_path / "it's 100%L python"
        shim.write_text("#!/bin/sh\necho No module named skillgit >&2\nexit 1\n")
        shim.chmod(0o755)
        python = str(shim)
    git(two, "config", "merge.skillgit.driver", driver_command(python))
    code, said = attempt(two, "merge", "--no-edit", "a")
    assert (code, git(two, "status", "--porcelain")) == (1, f"UU {PATH}")
    assert f"skillgit cannot run, see skillgit doctor: text merge of {PATH}" in said
    assert "<<<<<<< ours\n- B.\n=======\n- A.\n>>>>>>> theirs\n" in read(two)


def test_the_driver_needs_no_path(two: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for tool in ("git", "sh"):
        found = next(Path(part, tool) for part in os.environ["PATH"].split(os.pathsep) if Path(part, tool).exists())
        (tmp_path / "bin" / tool).symlink_to(found)
    env = os.environ | {"PATH": str(tmp_path / "bin")}
    subprocess.run(["git", "-C", two, "merge", "--quiet", "--no-edit", "a"], env=env, check=True)
    assert read(two) == BOTH


def test_a_fault_of_ours_does_not_stop_a_merge(tmp_path: Path, skillgit: Skillgit, monkeypatch) -> None:
    monkeypatch.setattr("skillgit.skills.merge.documents.merge", lambda *_: 1 / 0)
    for name, text in (("base", "a\n\nb\n"), ("ours", "A\n\nb\n"), ("theirs", "a\n\nB\n")):
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in ("base", "ours", "theirs")]
    code, _, err = skillgit(tmp_path, "merge-driver", *files, "7", "x\x1b.md")
    assert (code, (tmp_path / "ours").read_text()) == (0, "A\n\nB\n")
    assert "skillgit: x\\x1b.md is merged as plain text: unexpected ZeroDivisionError" in err


def test_old_attribute_lines_get_the_new_ones_once(repo_dir: Path, skillgit: Skillgit) -> None:
    (repo_dir / ".gitattributes").write_text(OLD_ATTRIBUTES)
    skillgit(repo_dir, "init")
    once = (repo_dir / ".gitattributes").read_text()
    skillgit(repo_dir, "init")
    assert (repo_dir / ".gitattributes").read_text() == once
    assert once.startswith(OLD_ATTRIBUTES)
    assert len(set(once.splitlines())) == len(once.splitlines())
    paths = (
        PATH,
        "skills/bare.md",
        ".agents/skills/x/SKILL.md",
        ".claude/skills/x/SKILL.md",
        "skills/x/references/r.md",
    )
    found = [line.rsplit(": ", 1)[1] for line in git(repo_dir, "check-attr", "merge", *paths).splitlines()]
    assert found == [*["skillgit"] * 4, "unspecified"]
    assert git(repo_dir, "check-attr", "diff", PATH).endswith("markdown")


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        (driver_command("/bin/sh"), True),
        (driver_command("/nowhere/bin/python"), False),
        (driver_command(sys.executable).replace(" -P", ""), False),
        ("it's not a command", False),
        ("", False),
    ],
)
def test_a_driver_of_another_interpreter_counts_while_that_is_there(repo_dir: Path, value: str, accepted: bool) -> None:
    driver = next(setting for setting in SETTINGS if setting.key == "merge.skillgit.driver")
    repo = Repository.open(repo_dir)
    git(repo_dir, "config", driver.key, value)
    assert install.is_set(repo, driver) == accepted
    install.apply(repo, driver)
    assert git(repo_dir, "config", "--get-all", driver.key) == driver.value


def test_doctor_notices_an_interpreter_that_is_gone(repo: Path, skillgit: Skillgit) -> None:
    git(repo, "config", "merge.skillgit.driver", driver_command("/nowhere/bin/python"))
    lines = skillgit(repo, "doctor")[1].splitlines()
    assert any(line.startswith("FAIL") and "driver" in line for line in lines)


def test_proposals_merge_more_often_and_lose_nothing() -> None:
    shares = merge_pairs.measure(pairs=4)
    assert shares["driver"].clean > shares["text"].clean
    assert shares["driver"].whole == 1.0
