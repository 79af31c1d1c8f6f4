"""`skillgit log`: scores follow the skill object through every kind of history; the graph and the curve."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import git

Adopt = Callable[[Path, str], None]


def _squash(folder: Path, branch: str) -> None:
    git(folder, "merge", "--quiet", "--squash", branch)
    git(folder, "commit", "--quiet", "-m", "squashed")


def _cherry_pick(folder: Path, branch: str) -> None:
    git(folder, "cherry-pick", f"main..{branch}")


def _rebase(folder: Path, branch: str) -> None:
    git(folder, "switch", "--quiet", "-c", "moved", branch)
    git(folder, "rebase", "--quiet", "main")


def _merge(folder: Path, branch: str) -> None:
    git(folder, "merge", "--quiet", "--no-ff", "--no-edit", branch)


def _versions(skillgit, folder: Path, *args: str) -> list[dict]:
    code, out, err = skillgit(folder, "log", "greeter", *args, "--json")
    assert code == 0, err
    return json.loads(out)["versions"]


def _branch(folder: Path) -> str:
    return git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")


def _go_on(folder: Path) -> None:
    (folder / "other.txt").write_text("main went on\n")
    git(folder, "add", "other.txt")
    git(folder, "commit", "--quiet", "-m", "other")


@pytest.mark.parametrize("adopt", [_merge, _squash, _cherry_pick, _rebase])
def test_adopted_versions_keep_their_scores(trained: Path, skillgit, adopt: Adopt) -> None:
    _go_on(trained)
    adopt(trained, _branch(trained))
    newest = _versions(skillgit, trained, "HEAD")[0]
    assert newest["scores"]["val"]["hard"] == 1.0
    assert newest["object"] == git(trained, "rev-parse", "HEAD:skills/greeter")


def test_an_amended_text_shows_as_unmeasured(trained: Path, skillgit) -> None:
    git(trained, "merge", "--quiet", _branch(trained))
    with (trained / "skills/greeter/SKILL.md").open("a") as file:
        file.write("- Slipped in.\n")
    git(trained, "commit", "--quiet", "-a", "--amend", "--no-edit")
    newest = _versions(skillgit, trained, "HEAD")[0]
    assert newest["scores"] == {}
    _, out, _ = skillgit(trained, "log", "greeter", "HEAD")
    assert out.splitlines()[1].split()[1] == "–"


def test_the_graph_stands_beside_the_versions_with_a_curve_on_top(trained: Path, skillgit) -> None:
    code, out, _ = skillgit(trained, "log", "greeter", "--graph")
    assert code == 0
    curve, head, *rows = out.splitlines()
    assert curve == "val ▁▅█  0.000 to 1.000, 3 of 3 measured"
    assert head.startswith("  commit")
    assert [row[:2] for row in rows] == ["* "] * 3
    assert [row.split()[2] for row in rows] == ["1.000", "0.500", "0.000"]


def test_the_graph_draws_merged_branches(trained: Path, skillgit) -> None:
    skill = trained / "skills/greeter/SKILL.md"
    branch = _branch(trained)
    skill.write_text(skill.read_text().replace("# Greeter", "# The greeter"))
    git(trained, "commit", "--quiet", "-a", "-m", "title")
    git(trained, "merge", "--quiet", "--no-edit", branch)
    _, out, _ = skillgit(trained, "log", "greeter", "--graph")
    curve, head, *rows = out.splitlines()
    assert any(row.startswith("|\\") for row in rows)
    assert curve.startswith("val ▁")
    assert "3 of 5 measured" in curve
    column = head.index("what")
    assert any(row[column:] == "start" for row in rows)


def test_versions_by_graph_are_the_same_versions(trained: Path, skillgit) -> None:
    plain, drawn = _versions(skillgit, trained), _versions(skillgit, trained, "--graph")
    assert [{k: v for k, v in version.items() if k != "graph"} for version in drawn] == plain


def test_a_terminal_without_block_signs_gets_a_curve_in_ascii(trained: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "skillgit", "-C", str(trained), "log", "greeter", "--graph", "-n", "2"],
        env={**os.environ, "PYTHONIOENCODING": "ascii:backslashreplace"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("val _@  0.500 to 1.000")


def test_rejected_candidates_have_a_table_of_their_own(trained: Path, skillgit) -> None:
    _, out, _ = skillgit(trained, "log", "greeter", "--rejected", "-n", "1")
    assert out.splitlines()[2] == "not accepted"
    assert "reject" in out.splitlines()[4]


def test_control_characters_of_messages_do_not_reach_the_terminal(repo_dir: Path, skillgit) -> None:
    (repo_dir / "skills/greeter/SKILL.md").write_text("# Greeter\n")
    git(repo_dir, "commit", "--quiet", "-a", "-m", "red \x1b[31m\x1f and [bold] \u202e turned")
    _, out, _ = skillgit(repo_dir, "log", "greeter", "--graph")
    assert "red \\x1b[31m\\x1f and [bold] \\u202e turned" in out
    assert _versions(skillgit, repo_dir)[0]["subject"].startswith("red \x1b[31m\x1f")


def test_trailers_that_are_no_numbers_are_left_out(repo_dir: Path, skillgit) -> None:
    (repo_dir / "skills/greeter/SKILL.md").write_text("# Greeter\n")
    git(repo_dir, "commit", "-qam", "x\n\nSkillgit-Run: r\nSkillgit-Step: ²\nSkillgit-Epoch: 99999999999999")
    newest = _versions(skillgit, repo_dir)[0]
    assert (newest["run"], newest["step"], newest["epoch"]) == ("r", None, None)


def test_settings_of_the_user_do_not_change_what_is_read(trained: Path, skillgit) -> None:
    before = _versions(skillgit, trained, "--graph")
    for key, value in (("color.ui", "always"), ("log.follow", "true"), ("log.showSignature", "true")):
        git(trained, "config", key, value)
    assert _versions(skillgit, trained, "--graph") == before


def test_a_skill_that_was_never_committed_has_no_versions(tmp_path: Path, template: Path, skillgit) -> None:
    folder = tmp_path / "unborn"
    shutil.copytree(template, folder)
    git(folder, "init", "--quiet")
    assert _versions(skillgit, folder) == []
    code, out, _ = skillgit(folder, "log", "greeter", "--graph")
    assert (code, out.split()[0]) == (0, "commit")


def test_a_bare_repository_and_odd_folder_names(trained: Path, tmp_path: Path, skillgit) -> None:
    folder = trained / "more skills/größe, ü/greeter"
    shutil.copytree(trained / "skills/greeter", folder)
    git(trained, "add", "--all")
    git(trained, "commit", "--quiet", "-m", "copied")
    git(trained, "clone", "--quiet", "--bare", "--mirror", str(trained), str(tmp_path / "bare.git"))
    code, out, err = skillgit(tmp_path / "bare.git", "log", "more skills/größe, ü/greeter", "--json")
    assert code == 0, err
    (version,) = json.loads(out)["versions"]
    assert version["scores"]["val"]["hard"] == 0.0
