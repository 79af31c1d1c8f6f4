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
    assert (newest["scores"], newest["verdict"]) == ({}, None)
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
    assert out.splitlines()[2] == "not accepted (skillgit show STEP tells all of one)"
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


def _commit(folder: Path, message: str) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def test_scores_of_other_conditions_are_told_of_but_not_mixed_in(trained: Path, skillgit) -> None:
    branch = git(trained, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")
    tree = git(trained, "rev-parse", f"{branch}:skills/greeter")
    note = git(trained, "notes", "--ref=skillgit/evals", "show", tree).splitlines()
    records = [json.loads(line) for line in note]
    other = [json.dumps(r | {"judge": "another", "score": 0.25} if r["split"] == "val" else r) for r in records]
    git(trained, "notes", "--ref=skillgit/evals", "add", "-f", "-m", "\n".join(other), tree)
    versions = _versions(skillgit, trained)
    assert [version["scores"].get("val", {}).get("score") for version in versions] == [None, 0.5, 0.0]
    assert ["val" in version["other_conditions"] for version in versions] == [True, False, False]
    _, out, err = skillgit(trained, "log", "greeter")
    assert "0.250" not in out
    assert f"git notes --ref=skillgit/evals show {versions[0]['commit'][:10]}:skills/greeter" in err
    assert skillgit(trained, "-q", "log", "greeter")[2] == ""


def test_a_record_copied_to_another_object_is_none_of_its_own(trained: Path, skillgit) -> None:
    trees = [
        git(trained, "rev-parse", f"{version['commit']}:skills/greeter") for version in _versions(skillgit, trained)
    ]
    git(trained, "notes", "--ref=skillgit/evals", "copy", "-f", trees[0], trees[2])
    assert _versions(skillgit, trained)[2]["scores"] == {}


def test_the_score_is_the_one_that_the_gate_goes_by(trained: Path, skillgit) -> None:
    for version in _versions(skillgit, trained):
        note = git(trained, "notes", "--ref=skillgit/evals", "show", version["object"]).splitlines()
        soft = [json.dumps({**json.loads(line), "metric": "soft", "soft": 0.625, "score": 0.625}) for line in note]
        git(trained, "notes", "--ref=skillgit/evals", "add", "-f", "-m", "\n".join(soft), version["object"])
    _, out, _ = skillgit(trained, "log", "greeter", "--graph")
    assert out.startswith("val ▅▅▅  0.625 to 0.625, 3 of 3 measured")
    assert out.count("0.625  6") == 3


def test_a_renamed_skill_says_where_its_earlier_versions_are(trained: Path, skillgit) -> None:
    git(trained, "mv", "skills/greeter", "skills/host")
    renamed = _commit(trained, "rename")
    code, out, err = skillgit(trained, "log", "host")
    assert (code, len(out.splitlines())) == (0, 2)
    assert f"renamed from skills/greeter; for what was before: skillgit log greeter {renamed[:10]}^" in err
    assert json.loads(skillgit(trained, "log", "host", "--json")[1])["renamed"] == {
        "from": "skills/greeter",
        "in": renamed,
    }
    assert skillgit(trained, "log", "greeter", f"{renamed[:10]}^")[0] == 0


def test_a_skill_that_is_gone_is_found_in_the_commit_before(repo_dir: Path, skillgit) -> None:
    git(repo_dir, "rm", "-r", "--quiet", "skills/greeter")
    gone = _commit(repo_dir, "away")
    for command in (["log", "greeter"], ["blame", "greeter"]):
        code, _, err = skillgit(repo_dir, *command)
        assert code == 2
        assert f"commit {gone[:12]} removed or renamed it" in err
        assert f"skillgit log greeter {gone[:12]}^" in err
        assert skillgit(repo_dir, *command, f"{gone[:12]}^")[0] == 0
    assert skillgit(repo_dir, "log", "skills/greeter/", f"{gone[:12]}^")[0] == 0
    assert "skillgit new never" in skillgit(repo_dir, "log", "never")[2]


def test_a_skill_that_no_commit_holds_says_so(repo_dir: Path, skillgit) -> None:
    (repo_dir / "skills/fresh").mkdir()
    (repo_dir / "skills/fresh/SKILL.md").write_text("# Fresh\n")
    code, out, err = skillgit(repo_dir, "log", "fresh")
    assert (code, len(out.splitlines())) == (0, 1)
    assert "no commit holds skills/fresh here" in err
    code, _, err = skillgit(repo_dir, "blame", "fresh")
    assert code == 4
    assert "git add skills/fresh/SKILL.md" in err


def test_the_step_of_a_candidate_is_what_show_takes(trained: Path, skillgit) -> None:
    _, out, _ = skillgit(trained, "log", "greeter", "--rejected")
    steps = [line.split()[5] for line in out.splitlines() if "  reject  " in line]
    assert len(steps) == 2
    for step in steps:
        assert f"step {step.rpartition(':')[2]}\n" in skillgit(trained, "show", step)[1]


def test_a_pattern_is_no_name_of_a_trained_skill(trained: Path, skillgit) -> None:
    git(trained, "rm", "-r", "--quiet", "skills/greeter")
    _commit(trained, "away")
    assert skillgit(trained, "log", "greeter")[0] == 0
    assert skillgit(trained, "log", "gree*")[0] == 2
