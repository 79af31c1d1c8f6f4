"""`skillgit doctor` proves a set-up: every fault it can find is named with its next command, and nothing is changed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from skillgit.git import notes
from skillgit.git.objects import Commit, write_commits
from skillgit.git.publish import Publication, publish
from skillgit.git.repository import Repository
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
    assert (code, after["init"]["ok"], after["attributes"]["detail"]) == (0, True, "hold for 1 skills")


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


# --- worktrees, merging, records


def test_every_worktree_is_named_with_its_hooks(ready: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    linked = tmp_path / "linked"
    git(ready, "worktree", "add", "--quiet", "-b", "side", str(linked))
    code, found = checks(skillgit, ready)
    assert (code, found["hooks"]["ok"], found["hooks"]["fix"]) == (0, None, "skillgit hooks install")
    assert found[f"worktree {ready}"]["detail"].startswith("main; hooks in ")
    assert found[f"worktree {linked}"]["ok"] is True
    assert skillgit(ready, "hooks", "install")[0] == 0
    code, found = checks(skillgit, ready)
    assert (code, found["hooks"]["ok"]) == (0, True)
    assert found[f"worktree {linked}"]["detail"].startswith("side; ")
    assert "of ours run" in found[f"worktree {linked}"]["detail"]


def test_a_worktree_in_which_our_hooks_do_not_run_fails(ready: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    linked = tmp_path / "linked"
    git(ready, "worktree", "add", "--quiet", "--detach", str(linked))
    skillgit(ready, "hooks", "install")
    git(ready, "config", "extensions.worktreeConfig", "true")
    git(linked, "config", "--worktree", "core.hooksPath", str(tmp_path))
    code, found = checks(skillgit, ready)
    assert (code, found[f"worktree {linked}"]["ok"], found[f"worktree {ready}"]["ok"]) == (1, False, True)
    assert found[f"worktree {linked}"]["fix"] == f"skillgit -C {linked} hooks install"
    assert "detached at" in found[f"worktree {linked}"]["detail"]


def test_a_worktree_whose_folder_is_gone_is_no_failure(ready: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    linked = tmp_path / "linked"
    git(ready, "worktree", "add", "--quiet", "--detach", str(linked))
    linked.rename(tmp_path / "moved")
    code, found = checks(skillgit, ready)
    assert (code, found[f"worktree {linked}"]["ok"], found[f"worktree {linked}"]["fix"]) == (
        0,
        None,
        "git worktree prune",
    )


def test_a_merge_driver_whose_interpreter_is_gone_fails(ready: Path, skillgit: Skillgit) -> None:
    code, found = checks(skillgit, ready)
    assert (code, found["merge driver"]["ok"]) == (0, True)
    git(ready, "config", "merge.skillgit.driver", "/nowhere/python -P -m skillgit merge-driver %O %A %B %L %P")
    code, found = checks(skillgit, ready)
    assert (code, found["merge driver"]["ok"]) == (1, False)
    assert "/nowhere/python" in found["merge driver"]["detail"]
    git(ready, "config", "--unset", "merge.skillgit.driver")
    assert checks(skillgit, ready)[1]["merge driver"]["ok"] is None


def test_attributes_that_another_line_overrides_are_told(ready: Path, skillgit: Skillgit) -> None:
    with (ready / ".gitattributes").open("a") as file:
        file.write("SKILL.md merge=union -text\n")
    code, found = checks(skillgit, ready)
    assert (code, found["attributes"]["ok"]) == (0, None)
    assert "skills/greeter/SKILL.md: text is unset and 1 more" in found["attributes"]["detail"]


def _keep(folder: Path, name: str) -> None:
    repo = Repository.open(folder)
    tree = str(repo.resolve("HEAD:skills/greeter"))
    record = notes.canonical({"id": name, "skill": tree})
    publish(repo, Publication(notes={notes.EVALS: {tree: (record,)}}))


def test_records_that_were_not_sent_are_counted(ready: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "team.git")
    git(ready, "remote", "add", "origin", str(tmp_path / "team.git"))
    assert "nothing was measured" in checks(skillgit, ready)[1]["sync origin"]["detail"]
    _keep(ready, "a")
    code, found = checks(skillgit, ready)
    assert (code, found["sync origin"]["ok"], found["sync origin"]["fix"]) == (0, None, "skillgit sync origin")
    assert "never synced" in found["sync origin"]["detail"]
    assert skillgit(ready, "sync")[0] == 0
    assert checks(skillgit, ready)[1]["sync origin"]["ok"] is True
    _keep(ready, "b")
    _keep(ready, "c")
    assert checks(skillgit, ready)[1]["sync origin"]["detail"] == "2 lines not pushed"


@pytest.mark.parametrize("spec", ["+refs/notes/*:refs/notes/*", "refs/notes/skillgit/evals:refs/notes/skillgit/evals"])
def test_a_fetch_that_writes_over_notes_is_named(ready: Path, skillgit: Skillgit, spec: str) -> None:
    git(ready, "remote", "add", "origin", "https://example.invalid/x")
    assert "fetch origin" not in checks(skillgit, ready)[1]
    git(ready, "config", "--add", "remote.origin.fetch", spec)
    code, found = checks(skillgit, ready)
    assert (code, found["fetch origin"]["ok"]) == (1, False)
    assert spec in found["fetch origin"]["detail"]
    run = found["fetch origin"]["fix"].partition(",")[0]
    assert subprocess.run(["sh", "-c", run], cwd=ready, check=False).returncode == 0
    assert "fetch origin" not in checks(skillgit, ready)[1]


def test_records_that_need_repair_are_told(ready: Path, skillgit: Skillgit) -> None:
    _keep(ready, "a")
    assert checks(skillgit, ready)[1]["records"] == {
        "name": "records",
        "ok": True,
        "detail": "1 skill objects have records",
        "fix": "skillgit notes repair --dry-run",
    }
    git(ready, "notes", "--ref=skillgit/evals", "copy", "HEAD:skills/greeter", "HEAD:evals")
    code, found = checks(skillgit, ready)
    assert (code, found["records"]["ok"]) == (0, None)
    assert "to look at: 1 moved" in found["records"]["detail"]


def test_a_journal_that_cannot_be_read_fails_and_is_told_everywhere(ready: Path, skillgit: Skillgit) -> None:
    repo = Repository.open(ready)
    broken = write_commits(repo, [Commit("x", (), {"state.json": b"[]"})])[0].commit
    git(ready, "update-ref", "refs/skillgit/runs/greeter/00-broken", broken)
    code, found = checks(skillgit, ready)
    assert (code, found["journals"]["ok"]) == (1, False)
    assert "refs/skillgit/runs/greeter/00-broken" in found["journals"]["detail"]
    code, out, _ = skillgit(ready, "status", "--json")
    assert code == 0
    (row,) = json.loads(out)["unreadable"]
    assert (row["skill"], row["run"]) == ("greeter", "00-broken")
    code, out, _ = skillgit(ready, "status")
    assert "unreadable" in out
    code, out, err = skillgit(ready, "train", "greeter", "--dry-run")
    assert code == 0, err
    assert "the journal of run 00-broken cannot be read and is passed over" in out + err
