"""`skillgit new` writes a skill that is ready to train, refuses names that would hurt later, and never overwrites."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.conftest import SKILL, git
from tests.git.helpers import Skillgit, user_state


def test_it_writes_a_skill_with_tasks_that_load(repo_dir: Path, skillgit: Skillgit) -> None:
    code, out, _ = skillgit(repo_dir, "new", "date-format")
    assert code == 0
    files = ["skills/date-format/SKILL.md", "evals/date-format/train.jsonl", "evals/date-format/val.jsonl"]
    assert [line for line in out.splitlines() if line.startswith("added")] == [f"added      {name}" for name in files]
    text = (repo_dir / files[0]).read_bytes()
    assert text.startswith(b"---\nname: date-format\ndescription: ")
    assert b"\r" not in text
    options = ("--set", "model.backend=scripted", "--set", "model.script=script.json", "--dry-run")
    code, out, err = skillgit(repo_dir, "train", "date-format", *options)
    assert (code, "3 train, 3 val, 0 test" in out) == (0, True), err


@pytest.mark.parametrize(
    "description",
    [
        'Says "hi": with # and \\',
        "- [a]: {b}",
        "@x %y !z",
        "ünï 日本",
        "two\nlines\ttab",
        "'",
        "x" * 1024,
        "\u2028 a\x85b",
    ],
)
def test_the_frontmatter_holds_any_description(repo_dir: Path, description: str, skillgit: Skillgit) -> None:
    assert skillgit(repo_dir, "new", "plain", "--description", description)[0] == 0
    block = (repo_dir / "skills/plain/SKILL.md").read_text(encoding="utf-8").split("---\n")[1]
    assert yaml.safe_load(block) == {"name": "plain", "description": " ".join(description.split())}


@pytest.mark.parametrize("description", ["", "  \n ", "x" * 1025])
def test_a_description_that_agents_would_refuse_is_refused(
    repo_dir: Path, description: str, skillgit: Skillgit
) -> None:
    code, _, err = skillgit(repo_dir, "new", "plain", "--description", description)
    assert (code, "1 to 1024 characters" in err) == (2, True)
    assert not (repo_dir / "skills/plain").exists()


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../x", "/tmp/x", "a/b", "a\\b", ".git", "-", "-x", "x-", "a--b", "x.lock", "a:b", "dot."),
        *("Research", "two words", "häuser", "a_b", "x" * 65, "new\nline", "a\n", "$x", "１"),
        *("con", "nul", "aux", "prn", "com1", "lpt9"),
    ],
)
def test_a_bad_name_is_refused_with_its_rule(repo_dir: Path, name: str, skillgit: Skillgit) -> None:
    before = user_state(repo_dir)
    code, _, err = skillgit(repo_dir, "new", "--", name)
    assert (code, user_state(repo_dir)) == (2, before)
    assert "is no skill name" in err
    assert "why:" in err


@pytest.mark.parametrize("name", ["a", "0", "x" * 64, "a-b-c", "console", "com", "com10"])
def test_a_good_name_is_taken(repo_dir: Path, name: str, skillgit: Skillgit) -> None:
    assert skillgit(repo_dir, "new", name)[0] == 0


def test_a_name_that_differs_in_case_alone_is_refused(repo_dir: Path, skillgit: Skillgit) -> None:
    (repo_dir / "skills/Research").mkdir()
    code, _, err = skillgit(repo_dir, "new", "research")
    assert (code, "there is a skill 'Research'" in err) == (2, True)
    assert not (repo_dir / "skills/research").exists()


def test_nothing_that_exists_is_overwritten(repo_dir: Path, skillgit: Skillgit) -> None:
    before = {path: path.read_bytes() for path in (repo_dir / "evals").rglob("*.jsonl")}
    code, out, _ = skillgit(repo_dir, "new", "greeter")
    assert code == 0
    assert (repo_dir / "skills/greeter/SKILL.md").read_text() == SKILL
    assert {path: path.read_bytes() for path in (repo_dir / "evals").rglob("*.jsonl")} == before
    assert out.count("exists     ") == 3
    (repo_dir / "evals/greeter/val.jsonl").unlink()
    _, out, _ = skillgit(repo_dir, "new", "greeter")
    assert (out.count("exists     "), out.count("added      ")) == (2, 1)


def test_a_link_that_leads_nowhere_is_not_followed(repo_dir: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    (repo_dir / "skills/plain").mkdir()
    (repo_dir / "skills/plain/SKILL.md").symlink_to(tmp_path / "outside")
    assert skillgit(repo_dir, "new", "plain")[0] == 0
    assert not (tmp_path / "outside").exists()


def test_a_dry_run_writes_nothing(repo_dir: Path, skillgit: Skillgit) -> None:
    before = user_state(repo_dir)
    code, out, _ = skillgit(repo_dir, "new", "plain", "--dry-run")
    assert (code, out.count("would add")) == (0, 3)
    assert user_state(repo_dir) == before
    assert not (repo_dir / "skills/plain").exists()


def test_from_a_subfolder_the_files_go_to_the_top(repo_dir: Path, skillgit: Skillgit) -> None:
    skillgit(repo_dir / "evals/greeter", "new", "plain")
    assert (repo_dir / "skills/plain/SKILL.md").is_file()


def test_a_bare_repository_is_refused(tmp_path: Path, skillgit: Skillgit) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    before = sorted((tmp_path / "bare.git").iterdir())
    code, _, err = skillgit(tmp_path / "bare.git", "new", "plain")
    assert (code, "bare repository" in err, "git worktree add" in err) == (4, True, True)
    assert sorted((tmp_path / "bare.git").iterdir()) == before


def test_a_skill_of_an_empty_repository_trains(tmp_path: Path, skillgit: Skillgit) -> None:
    git(tmp_path, "init", "--quiet")
    skillgit(tmp_path, "new", "plain")
    (tmp_path / "script.json").write_text('{"rules": [], "default": "dunno"}')
    options = ("--set", "model.backend=scripted", "--set", "model.script=script.json", "--set", "train.num_epochs=1")
    code, _, err = skillgit(tmp_path, "train", "plain", *options)
    assert code == 0, err
    assert git(tmp_path, "status", "--porcelain").split() == ["??", "evals/", "??", "script.json", "??", "skills/"]
