"""Training end to end on a scripted model and a real repository."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import SCRIPTED, git


def events(out: str) -> list[dict]:
    return [json.loads(line) for line in out.splitlines()]


def test_learns_two_rules_and_rejects_the_harmful_edit(repo_dir: Path, skillgit) -> None:
    before = {name: git(repo_dir, *args) for name, args in _user_state().items()}
    code, out, err = skillgit(repo_dir, "train", "greeter", *SCRIPTED, "--json")
    assert code == 0, err
    told = events(out)
    verdicts = [event["verdict"] for event in told if event["event"] == "step_finished" and event["kind"] == "step"]
    assert verdicts == ["accept_new_best", "reject", "reject", "accept_new_best"]
    last = told[-1]
    assert (last["event"], last["accepted"], last["rejected"], last["reason"]) == ("run_finished", 2, 2, "no_headroom")
    assert last["best"]["score"] == 1.0
    assert git(repo_dir, "log", "--format=%s", f"main..{last['branch']}").splitlines() == [
        'skill(greeter): add "RULE_B: answer B with a dash"',
        'skill(greeter): add "RULE_A: answer A with a dash"',
    ]
    assert {name: git(repo_dir, *args) for name, args in _user_state().items()} == before


def _user_state() -> dict[str, tuple[str, ...]]:
    return {
        "head": ("rev-parse", "HEAD"),
        "symbolic": ("symbolic-ref", "HEAD"),
        "status": ("status", "--porcelain=v2", "--branch", "--untracked-files=all"),
        "index": ("ls-files", "--stage"),
        "stash": ("stash", "list"),
        "config": ("config", "--local", "--list"),
    }
