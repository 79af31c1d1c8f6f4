"""Behaviour that a fresh reading of the whole found wrong once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import SCRIPTED, git


@pytest.mark.parametrize("url", ["https://h/v1?api-key=K123", "https://bob:K123@h/v1", "https://h/v1#K123"])
def test_an_address_with_a_secret_in_it_is_refused_and_never_shown(
    repo_dir: Path, skillgit, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    models = ("--set", "model.target=t", "--set", "model.optimizer=o")
    monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", url)
    code, out, err = skillgit(repo_dir, "train", "greeter", *models)
    assert code == 2
    assert "K123" not in out + err
    assert git(repo_dir, "for-each-ref", "refs/skillgit") == ""


def test_a_resumed_run_keeps_the_limits_that_are_not_given_anew(repo_dir: Path, skillgit) -> None:
    limits = ("--max-calls", "8", "--max-tokens", "100000")
    code, _, err = skillgit(repo_dir, "train", "greeter", *SCRIPTED, *limits)
    assert code == 6, err
    (run,) = git(repo_dir, "for-each-ref", "--format=%(refname:lstrip=4)", "refs/skillgit/runs").splitlines()
    code, out, err = skillgit(repo_dir, "train", "--resume", run, "--max-calls", "500", "--json")
    assert code == 0, err
    planned = json.loads(out.splitlines()[0])
    assert planned["config"]["budget"]["calls"] == 500
    assert planned["config"]["budget"]["tokens"] == 100000


def test_a_resumed_run_refuses_options_it_would_ignore(repo_dir: Path, skillgit) -> None:
    for option in (("--target", "other"), ("--fresh",), ("--backend", "local")):
        code, _, err = skillgit(repo_dir, "train", "greeter", "--resume", "any", *option)
        assert code == 2, err


def test_log_never_puts_scores_of_different_task_sets_into_one_column(trained: Path, skillgit) -> None:
    branch = git(trained, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")
    before = json.loads(skillgit(trained, "log", "greeter", "--json")[1])
    code, _, err = skillgit(trained, "eval", "greeter", branch, *SCRIPTED, "--set", "evaluation.sel_env_num=3")
    assert code == 0, err
    after = json.loads(skillgit(trained, "log", "greeter", "--json")[1])
    assert [version["scores"] for version in after["versions"]] == [v["scores"] for v in before["versions"]]
    assert after["versions"][0]["other_conditions"] == ["val"]


def test_what_was_not_applied_is_told_with_its_reason(repo_dir: Path, skillgit) -> None:
    rules = json.loads((repo_dir / "script.json").read_text())
    wrong = {"op": "replace", "target": "no such line", "content": "x"}
    rules["rules"].insert(0, {"role": "optimizer", "reply": {"reasoning": "r", "edits": [wrong]}})
    (repo_dir / "script.json").write_text(json.dumps(rules))
    code, out, err = skillgit(repo_dir, "train", "greeter", *SCRIPTED, "--json", "--set", "train.num_epochs=1")
    assert code == 0, err
    steps = [json.loads(line) for line in out.splitlines() if '"step_finished"' in line]
    assert all("edit not applied (unmatched)" in step["problems"][0] for step in steps if step["kind"] == "step")
