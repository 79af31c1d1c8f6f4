"""`skillgit init` sets each thing once, says what it did, and touches nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgit.config.load import load_config
from skillgit.config.schema import Config
from skillgit.git.install import SETTINGS
from tests.conftest import git
from tests.git.helpers import Skillgit, user_state


def _values(folder: Path, key: str) -> list[str]:
    return git(folder, "config", "--local", "--get-all", key, check=False).splitlines()


def test_it_sets_everything_and_says_so(repo_dir: Path, skillgit: Skillgit) -> None:
    code, out, _ = skillgit(repo_dir, "init")
    assert code == 0
    for setting in SETTINGS:
        assert _values(repo_dir, setting.key) == [setting.value]
        assert f"set        {setting.shown}  ({setting.why})" in out
    assert max(map(len, out.splitlines())) < 120
    assert "set        .gitattributes" in out
    assert "set        skillgit.yaml" in out
    assert "next       skillgit doctor" in out
    assert git(repo_dir, "status", "--porcelain").split() == ["??", ".gitattributes", "??", "skillgit.yaml"]


def test_again_it_changes_nothing(repo_dir: Path, skillgit: Skillgit) -> None:
    skillgit(repo_dir, "init")
    before = user_state(repo_dir)
    code, out, _ = skillgit(repo_dir, "init", "--json")
    assert (code, user_state(repo_dir)) == (0, before)
    items = json.loads(out)["items"]
    assert len(items) == len(SETTINGS) + 2
    assert not any(item["changed"] for item in items)


def test_a_dry_run_says_the_same_and_writes_nothing(repo_dir: Path, skillgit: Skillgit) -> None:
    before = user_state(repo_dir)
    code, dry, _ = skillgit(repo_dir, "init", "--dry-run")
    assert (code, user_state(repo_dir)) == (0, before)
    document = json.loads(skillgit(repo_dir, "init", "--dry-run", "--json")[1])
    assert document["dry_run"] is True
    assert all(item["changed"] for item in document["items"])
    _, wet, _ = skillgit(repo_dir, "init")
    assert [line.split()[-1] for line in dry.splitlines()] == [line.split()[-1] for line in wet.splitlines()]
    assert dry.count("would set") == wet.count("\nset  ") + 1


def test_what_is_there_is_kept(repo_dir: Path, skillgit: Skillgit) -> None:
    (repo_dir / "skillgit.yaml").write_text("train: {seed: 1}\n")
    (repo_dir / ".gitattributes").write_bytes(b"caf\xe9.bin binary\r\n*.md text")
    git(repo_dir, "config", "notes.displayRef", "refs/notes/mine")
    git(repo_dir, "config", "notes.skillgit/evals.mergeStrategy", "manual")
    _, out, _ = skillgit(repo_dir, "init")
    assert (repo_dir / "skillgit.yaml").read_text() == "train: {seed: 1}\n"
    assert "kept       skillgit.yaml" in out
    content = (repo_dir / ".gitattributes").read_bytes()
    assert content.startswith(b"caf\xe9.bin binary\r\n*.md text\nskills/**/*.md text eol=lf diff=markdown\n")
    assert _values(repo_dir, "notes.displayRef") == ["refs/notes/mine", "refs/notes/skillgit/gates"]
    assert _values(repo_dir, "notes.skillgit/evals.mergeStrategy") == ["cat_sort_uniq"]


def test_the_attributes_hold_for_skills_and_tasks(repo_dir: Path, skillgit: Skillgit) -> None:
    skillgit(repo_dir, "init")
    paths = ("skills/greeter/SKILL.md", "skills/greeter/references/deep/x.md", "evals/greeter/val.jsonl", "README.md")
    found = git(repo_dir, "check-attr", "eol", *paths).splitlines()
    assert [line.rsplit(": ", 1)[1] for line in found] == ["lf", "lf", "lf", "unspecified"]


def test_the_written_configuration_is_the_default_one(repo_dir: Path, skillgit: Skillgit) -> None:
    skillgit(repo_dir, "init")
    assert load_config(repo_dir) == Config()


def test_from_a_subfolder_the_files_go_to_the_top(repo_dir: Path, skillgit: Skillgit) -> None:
    skillgit(repo_dir / "evals", "init")
    assert (repo_dir / "skillgit.yaml").is_file()
    assert not (repo_dir / "evals/skillgit.yaml").exists()


def test_a_linked_worktree_shares_the_settings(repo_dir: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    git(repo_dir, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    skillgit(tmp_path / "linked", "init")
    assert _values(repo_dir, "notes.displayRef") == ["refs/notes/skillgit/gates"]
    assert (tmp_path / "linked/skillgit.yaml").is_file()
    assert not (repo_dir / "skillgit.yaml").exists()


def test_a_bare_repository_gets_settings_and_no_files(tmp_path: Path, skillgit: Skillgit) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    before = {path.name for path in (tmp_path / "bare.git").iterdir()}
    code, out, _ = skillgit(tmp_path / "bare.git", "init", "--json")
    assert code == 0
    assert [item["what"].split(" ")[0] for item in json.loads(out)["items"]] == [setting.key for setting in SETTINGS]
    assert {path.name for path in (tmp_path / "bare.git").iterdir()} == before


def test_an_unborn_head_is_fine(tmp_path: Path, skillgit: Skillgit) -> None:
    git(tmp_path, "init", "--quiet")
    assert skillgit(tmp_path, "init")[0] == 0
    assert (tmp_path / "skillgit.yaml").is_file()


@pytest.mark.parametrize("args", [("init",), ("init", "--dry-run")])
def test_outside_a_repository_it_says_what_to_do(tmp_path: Path, args: tuple[str, ...], skillgit: Skillgit) -> None:
    code, _, err = skillgit(tmp_path, *args)
    assert (code, "next: git init" in err) == (4, True)
    assert list(tmp_path.iterdir()) == []


def test_quiet_says_nothing(repo_dir: Path, skillgit: Skillgit) -> None:
    assert skillgit(repo_dir, "-q", "init") == (0, "", "")
