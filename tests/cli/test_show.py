"""`skillgit show`: commits of steps, people and merges, squashed commits, and candidates that were not accepted."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import git


def _show(skillgit, folder: Path, *args: str) -> dict:
    code, out, err = skillgit(folder, "show", *args, "--json")
    assert code == 0, err
    return json.loads(out)


def _branch(folder: Path) -> str:
    return git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")


def test_a_step_tells_patch_gate_flips_reasoning_edits_and_usage(trained: Path, skillgit) -> None:
    shown = _show(skillgit, trained, _branch(trained))
    assert "+- RULE_B: answer B with a dash" in shown["patch"]
    assert shown["step"]["gate"]["improved"] == ["val1", "val3", "val5"]
    assert shown["step"]["reasoning"] == "seen in the cases"
    assert shown["step"]["record"]["usage"]["calls"] == 6
    assert [(edit["op"], edit["outcome"]) for edit in shown["step"]["edits"]] == [("append", "applied")]
    assert shown["gate"]["verdict"] == "accept_new_best"
    assert shown["scores"]["val"]["change"] == 0.5
    assert [(t["task"], t["before"]["hard"], t["after"]["hard"]) for t in shown["tasks"] if t["split"] == "val"] == [
        (task, 0.0, 1.0) for task in ("val1", "val3", "val5")
    ]


def test_usage_is_what_this_step_paid_by_role(trained: Path, skillgit) -> None:
    usage = _show(skillgit, trained, _branch(trained))["usage"]
    assert {(paid["role"], paid["stage"]) for paid in usage} >= {("optimizer", "analyst"), ("target", "val")}
    assert next(paid["calls"] for paid in usage if paid["stage"] == "val") == 6


def test_what_a_step_looks_like(trained: Path, skillgit) -> None:
    _, out, _ = skillgit(trained, "show", _branch(trained))
    for line in (
        "  gate      accept_new_best (from 0.500)",
        "  + val val1  0 -> 1",
        "  seen in the cases",
        "  1. append [applied]: - RULE_B: answer B with a dash",
        "+- RULE_B: answer B with a dash",
    ):
        assert line in out.splitlines()


def test_a_rejected_candidate_is_shown_by_its_object_or_its_step(trained: Path, skillgit) -> None:
    code, out, _ = skillgit(trained, "log", "greeter", "--rejected", "--json")
    assert code == 0
    candidate = json.loads(out)["rejected"][0]
    by_object = _show(skillgit, trained, candidate["object"][:10])
    by_step = _show(skillgit, trained, f"{candidate['run']}:{candidate['step']}")
    assert by_object == by_step
    assert by_object["commit"] is None
    assert by_object["gate"]["verdict"] == "reject"
    assert "+- HARM: shout" in by_object["patch"]
    _, text, _ = skillgit(trained, "show", candidate["object"][:10], "greeter")
    assert "(not a commit)" in text
    assert "  gate      reject (from 0.500): the score does not rise" in text


def test_a_step_that_was_accepted_is_its_commit(trained: Path, skillgit) -> None:
    run = _branch(trained).rpartition("/")[2]
    assert _show(skillgit, trained, f"{run}:4") == _show(skillgit, trained, _branch(trained))


def test_what_does_not_exist_is_refused_with_the_next_command(trained: Path, skillgit) -> None:
    run = _branch(trained).rpartition("/")[2]
    for name in ("nothing", "0123456789", f"{run}:99", "norun:1"):
        code, out, err = skillgit(trained, "show", name)
        assert (code, out) == (4, "")
        assert "next: " in err


def test_a_squashed_commit_shows_the_records_of_its_object(trained: Path, skillgit) -> None:
    git(trained, "merge", "--quiet", "--squash", _branch(trained))
    git(trained, "commit", "--quiet", "-m", "take it all")
    shown = _show(skillgit, trained, "HEAD")
    assert shown["version"]["run"] is None
    assert shown["run"] == _branch(trained).rpartition("/")[2]
    assert shown["gate"]["verdict"] == "accept_new_best"
    # From the first version to the last at once, as the commit does.
    assert shown["scores"]["val"]["change"] == 1.0
    assert shown["step"]["reasoning"] == "seen in the cases"
    _, out, _ = skillgit(trained, "show", "HEAD")
    assert f"  run       {shown['run']}, steps up to 4" in out.splitlines()


def test_a_merge_is_compared_with_its_first_parent(trained: Path, skillgit) -> None:
    (trained / "other.txt").write_text("main went on\n")
    git(trained, "add", "other.txt")
    git(trained, "commit", "--quiet", "-m", "other")
    git(trained, "merge", "--quiet", "--no-edit", _branch(trained))
    shown = _show(skillgit, trained, "HEAD")
    assert len(shown["parents"]) == 2
    assert {"+- RULE_A: answer A with a dash", "+- RULE_B: answer B with a dash"} <= set(shown["patch"].splitlines())
    assert shown["version"]["scores"]["val"]["hard"] == 1.0
    _, out, _ = skillgit(trained, "show", "HEAD")
    assert "  merge of " in out


def test_a_first_commit_of_a_person(trained: Path, skillgit) -> None:
    shown = _show(skillgit, trained, "main")
    assert (shown["step"], shown["base"], shown["gate"]) == ({}, None, None)
    assert "+# Greeter" in shown["patch"]
    assert shown["scores"]["val"]["problem"] == "before unmeasured"


def test_a_commit_of_several_skills_or_none_needs_a_name(repo_dir: Path, skillgit) -> None:
    (repo_dir / "other.txt").write_text("x\n")
    git(repo_dir, "add", "--all")
    git(repo_dir, "commit", "--quiet", "-m", "no skill")
    code, _, err = skillgit(repo_dir, "show", "HEAD")
    assert code == 2
    assert "changes no skill" in err
    for name in ("one", "two"):
        (repo_dir / f"skills/{name}").mkdir()
        (repo_dir / f"skills/{name}/SKILL.md").write_text(f"# {name}\n")
    git(repo_dir, "add", "--all")
    git(repo_dir, "commit", "--quiet", "-m", "two skills")
    code, _, err = skillgit(repo_dir, "show", "HEAD")
    assert code == 2
    assert "skills/one, skills/two" in err
    assert "skillgit show REVISION one" in err
    assert "two" not in _show(skillgit, repo_dir, "HEAD", "one")["patch"]


def test_a_commit_that_leaves_the_skill_alone_says_so(trained: Path, skillgit) -> None:
    git(trained, "switch", "--quiet", _branch(trained))
    (trained / "other.txt").write_text("x\n")
    git(trained, "add", "--all")
    git(trained, "commit", "--quiet", "-m", "elsewhere")
    shown = _show(skillgit, trained, "HEAD", "greeter")
    assert (shown["patch"], shown["step"], shown["base"]) == ("", {}, shown["object"])
    _, out, _ = skillgit(trained, "show", "HEAD", "greeter")
    assert "the skill is the same as before this commit" in out


def test_without_the_journal_the_records_still_speak(trained: Path, skillgit) -> None:
    branch = _branch(trained)
    git(trained, "update-ref", "-d", f"refs/skillgit/runs/greeter/{branch.rpartition('/')[2]}")
    shown = _show(skillgit, trained, branch)
    assert shown["step"] == {}
    assert shown["gate"]["improved"] == ["val1", "val3", "val5"]
    assert shown["missing_run"] == branch.rpartition("/")[2]
    _, out, _ = skillgit(trained, "show", branch)
    assert "skillgit sync --runs" in out


def test_a_renamed_skill_shows_its_rename(repo_dir: Path, skillgit) -> None:
    git(repo_dir, "mv", "skills/greeter", "skills/größer als")
    git(repo_dir, "commit", "--quiet", "-m", "rename")
    shown = _show(skillgit, repo_dir, "HEAD")
    assert shown["base"] == shown["object"]
    assert "rename to" in shown["patch"]


def test_a_subject_may_name_what_is_no_skill(repo_dir: Path, skillgit) -> None:
    (repo_dir / "skills/greeter/SKILL.md").write_text("# Greeter\n")
    git(repo_dir, "commit", "--quiet", "-am", "skill(gone): say nothing")
    assert _show(skillgit, repo_dir, "HEAD")["skill"] == "greeter"


def test_a_folder_with_a_dot_keeps_its_name(repo_dir: Path, skillgit) -> None:
    (repo_dir / "skills/a.b").mkdir()
    (repo_dir / "skills/a.b/SKILL.md").write_text("# Dotted\n")
    git(repo_dir, "add", "--all")
    git(repo_dir, "commit", "--quiet", "-m", "dotted")
    assert _show(skillgit, repo_dir, "HEAD")["skill"] == "a.b"


@pytest.mark.parametrize("how", [["--no-ff", "--no-edit"], ["--squash"]])
def test_what_brings_several_steps_does_not_pass_off_the_last_ones_story_as_its_own(
    trained: Path, skillgit, how: list[str]
) -> None:
    git(trained, "merge", "--quiet", *how, _branch(trained))
    if how == ["--squash"]:
        git(trained, "commit", "--quiet", "-m", "squashed")
    code, out, err = skillgit(trained, "show", "HEAD")
    assert code == 0, err
    run = _branch(trained).rpartition("/")[2]
    assert f"  run       {run}, steps up to 4" in out
    assert "val hard 0.000 (n=6) -> 1.000 (n=6) (+1.000)" in out
    assert "  gate      of the last step: accept_new_best (from 0.500)" in out
    assert f"what each step did: skillgit log greeter, then skillgit show {run}:STEP" in out
    assert "seen in the cases" not in out
    assert "\nusage\n" not in out


def test_show_says_how_to_see_what_was_rejected(trained: Path, skillgit) -> None:
    assert "skillgit log greeter --rejected" in skillgit(trained, "show", _branch(trained))[1]
    assert "skillgit log SKILL --rejected" in " ".join(skillgit(trained, "show", "--help")[1].split())


def test_a_printed_patch_can_be_applied(trained: Path, skillgit) -> None:
    run = _branch(trained).rpartition("/")[2]
    git(trained, "switch", "--quiet", "--detach", f"{_branch(trained)}~1")
    _, out, _ = skillgit(trained, "show", f"{run}:2")
    patch = out[out.index("diff --git") :]
    assert not patch.endswith("\n\n")
    subprocess.run(["git", "apply", "--index"], cwd=trained, input=patch.encode(), check=True)


def test_a_commit_to_very_many_skills_names_only_some(repo_dir: Path, skillgit) -> None:
    for number in range(30):
        (repo_dir / f"skills/s{number:02}").mkdir()
        (repo_dir / f"skills/s{number:02}/SKILL.md").write_text("# S\n")
    git(repo_dir, "add", "--all")
    git(repo_dir, "commit", "--quiet", "-m", "many")
    _, _, err = skillgit(repo_dir, "show", "HEAD")
    assert "this commit changes 30 skills" in err
    assert "skills/s07 and 22 more" in err
