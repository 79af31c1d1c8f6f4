"""The GitHub Actions example: its steps, run against a real repository with a bare remote and a recording `gh`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import git

_EXAMPLE = Path(__file__).parents[2] / "examples/github-actions/skills.yml"
_WORKFLOW: dict[str, Any] = yaml.load(_EXAMPLE.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
_BASE = "release/$(touch${IFS}pwned)"

_GH = """#!{python}
import json, os, pathlib, sys
body = [pathlib.Path(arg.removeprefix("body=@")).read_text() for arg in sys.argv if arg.startswith("body=@")]
with open(os.environ["GH_LOG"], "a") as log:
    log.write(json.dumps({{"args": sys.argv[1:], "body": body, "token": os.environ.get("GH_TOKEN")}}) + "\\n")
if "--jq" in sys.argv:
    print(os.environ["GH_IDS"])
"""


@dataclass
class Pull:
    """A pull request as a runner sees it: the checkout of its merge, and what the steps did."""

    folder: Path
    temp: Path

    def step(self, job: str, name: str, **extra: str) -> subprocess.CompletedProcess[str]:
        """Run one step as a runner does."""
        step = next(step for step in _WORKFLOW["jobs"][job]["steps"] if step.get("name") == name)
        env = {
            **os.environ,
            "PATH": f"{self.temp / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_STEP_SUMMARY": str(self.temp / "summary.md"),
            "GITHUB_REPOSITORY": "me/skills",
            "GH_LOG": str(self.temp / "gh.jsonl"),
            "GH_IDS": "",
            **{key: _value(value) for scope in (_WORKFLOW, step) for key, value in scope.get("env", {}).items()},
            **extra,
        }
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(shell, cwd=self.folder, env=env, capture_output=True, text=True, check=False)

    def table(self, **extra: str) -> dict[str, Any]:
        """Run the job that comments; the call of `gh` that wrote."""
        for name in ("Fetch records", "Make the table", "Comment"):
            done = self.step("table", name, **extra)
            assert done.returncode == 0, done.stderr
        return json.loads((self.temp / "gh.jsonl").read_text().splitlines()[-1])


def _value(text: str) -> str:
    values = {"github.base_ref": _BASE, "github.event.pull_request.number": "7", "github.token": "t0ken"}
    return values[text.removeprefix("${{ ").removesuffix(" }}")] if text.startswith("${{") else text


@pytest.fixture
def pull(trained: Path, tmp_path: Path) -> Pull:
    """The trained branch as a pull request into a base with a hostile name; records are on the remote."""
    branch = git(trained, "for-each-ref", "--format=%(refname:short)", "refs/heads/train")
    return _pull(trained, tmp_path, branch)


def _pull(repo: Path, tmp_path: Path, head: str) -> Pull:
    remote, runner = tmp_path / "remote.git", tmp_path / "runner"
    git(tmp_path, "init", "--quiet", "--bare", str(remote))
    git(repo, "switch", "--quiet", "--detach", "main")
    git(repo, "merge", "--quiet", "--no-ff", "-m", "Merge", head)
    merged = ("main:refs/heads/" + _BASE, "HEAD:refs/pull/7/merge", "refs/notes/*:refs/notes/*")
    git(repo, "push", "--quiet", str(remote), *merged)
    git(tmp_path, "init", "--quiet", str(runner))
    git(runner, "remote", "add", "origin", str(remote))
    git(runner, "fetch", "--quiet", "origin", "+refs/heads/*:refs/remotes/origin/*", "+refs/pull/7/merge:refs/pull/7")
    git(runner, "checkout", "--quiet", "--detach", "refs/pull/7")
    (tmp_path / "temp/bin").mkdir(parents=True)
    (tmp_path / "temp/bin/gh").write_text(_GH.format(python=sys.executable))
    (tmp_path / "temp/bin/gh").chmod(0o755)
    return Pull(runner, tmp_path / "temp")


def _unmeasured(trained: Path, tmp_path: Path, text: str) -> Pull:
    git(trained, "switch", "--quiet", "-c", "hand", "main")
    document = trained / "skills/greeter/SKILL.md"
    document.write_text(f"{document.read_text()}{text}\n")
    git(trained, "commit", "--quiet", "-am", "by hand")
    return _pull(trained, tmp_path, "hand")


def test_a_measured_improvement_passes_every_check(pull: Pull) -> None:
    for name in ("Lint", "Fetch records", "Check records"):
        done = pull.step("check", name)
        assert done.returncode == 0, done.stdout + done.stderr
    assert not (pull.folder / "pwned").exists()


def test_the_scores_are_commented_once_and_then_updated(pull: Pull) -> None:
    first = pull.table()
    assert first["args"][:5] == ["api", "--silent", "--method", "POST", "repos/me/skills/issues/7/comments"]
    assert first["token"] == "t0ken"
    (body,) = first["body"]
    assert body.startswith("<!-- skillgit -->\n")
    assert "(**+1.000**)" in body
    assert "RULE_A" in body
    assert (pull.temp / "summary.md").read_text() in body
    again = pull.table(GH_IDS="41\n42")
    assert again["args"][:5] == ["api", "--silent", "--method", "PATCH", "repos/me/skills/issues/comments/41"]
    assert again["body"] == first["body"]
    assert not (pull.folder / "pwned").exists()


def test_a_skill_without_a_record_fails_the_check_and_is_in_the_table(trained: Path, tmp_path: Path) -> None:
    pull = _unmeasured(trained, tmp_path, "- By hand.")
    assert pull.step("check", "Fetch records").returncode == 0
    done = pull.step("check", "Check records")
    assert done.returncode == 1
    assert "greeter" in done.stdout + done.stderr
    assert "unmeasured" in pull.table()["body"][0]


def test_a_finding_is_an_annotation(trained: Path, tmp_path: Path) -> None:
    pull = _unmeasured(trained, tmp_path, "- See [the guide](references/missing.md).")
    document = pull.folder / "skills/greeter/SKILL.md"
    document.write_text(document.read_text().replace("name: greeter", "name: Not Greeter"))
    done = pull.step("check", "Lint")
    assert done.returncode == 1
    assert "::error file=skills/greeter/SKILL.md,line=2" in done.stdout


def test_a_table_too_long_for_a_comment_is_pointed_to(trained: Path, tmp_path: Path) -> None:
    pull = _unmeasured(trained, tmp_path, "- By hand.")
    assert pull.step("table", "Fetch records").returncode == 0
    assert pull.step("table", "Make the table").returncode == 0
    (pull.temp / "table.md").write_text("x" * 70_000)
    assert pull.step("table", "Comment").returncode == 0
    (body,) = json.loads((pull.temp / "gh.jsonl").read_text().splitlines()[-1])["body"]
    assert "in the summary of the run" in body
    assert len(body) < 200


def test_scripts_hold_no_expression_and_permissions_are_small() -> None:
    jobs = _WORKFLOW["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []
    assert {step["uses"] for step in steps if "uses" in step} == {"actions/checkout@v4"}
    assert _WORKFLOW["on"] == {"pull_request": ""}
    assert _WORKFLOW["permissions"] == {}
    assert jobs["check"]["permissions"] == {"contents": "read"}
    assert jobs["table"]["permissions"] == {"contents": "read", "pull-requests": "write"}
