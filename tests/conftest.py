"""Fixtures shared by all tests: real git repositories in a sandboxed environment, and a scripted skill to train."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("skillgit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("skillgit")

SKILL = "---\nname: greeter\ndescription: Answers in house form.\n---\n\n# Greeter\n\nNo rules yet.\n"


def _append(text: str) -> dict[str, object]:
    return {"reasoning": "seen in the cases", "edits": [{"op": "append", "content": text}]}


_HARM = {"op": "replace", "target": "RULE_A: answer A with a dash", "content": "HARM: shout"}

# The optimizer learns RULE_A, then proposes a harmful edit that the gate must reject, then learns RULE_B.
RULES = {
    "rules": [
        {
            "role": "optimizer",
            "system": "write the guidance block",
            "reply": {"slow_update_content": "Keep the house form."},
        },
        {
            "role": "optimizer",
            "system": "keep notes for yourself",
            "reply": {"meta_skill_content": "Short rules help."},
        },
        {"role": "optimizer", "unless": "RULE_A", "reply": _append("- RULE_A: answer A with a dash")},
        {"role": "optimizer", "unless": "HARM|RULE_B", "reply": {"reasoning": "bad", "edits": [_HARM]}},
        {"role": "optimizer", "unless": "RULE_B", "reply": _append("- RULE_B: answer B with a dash")},
        {"role": "optimizer", "reply": {"reasoning": "nothing to add", "edits": []}},
        {"role": "target", "system": "RULE_A", "user": "A(\\w+)", "reply": "a-\\1"},
        {"role": "target", "system": "RULE_B", "user": "B(\\w+)", "reply": "b-\\1"},
    ],
    "default": "dunno",
}


@pytest.fixture(autouse=True)
def sandbox(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration, credentials or clock of this machine reaches git or skillgit."""
    home = tmp_path_factory.mktemp("home")
    config = home / "gitconfig"
    config.write_text("[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n")
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_COMPATIBLE_BASE_URL",
        "OPENAI_COMPATIBLE_API_KEY",
        "OPENAI_COMPATIBLE_MODEL",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-01-02T03:04:05+00:00")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-01-02T03:04:05+00:00")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "160")


def git(folder: Path, *args: str, check: bool = True) -> str:
    """Run git and return its output without the last newline."""
    done = subprocess.run(["git", "-C", str(folder), *args], capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(args)}: {done.stderr}")
    return done.stdout.removesuffix("\n")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one skill, its tasks and a script; not a repository yet."""
    folder = tmp_path_factory.mktemp("template")
    write_skill(folder)
    return folder


def write_skill(folder: Path, *, train: int = 8, val: int = 6, test: int = 4) -> None:
    """Write the greeter skill with tasks of two kinds, and `script.json`, which learns it in two good steps."""
    (folder / "skills/greeter").mkdir(parents=True)
    (folder / "evals/greeter").mkdir(parents=True)
    (folder / "skills/greeter/SKILL.md").write_text(SKILL)
    for split, count in (("train", train), ("val", val), ("test", test)):
        rows = [_task(split, number) for number in range(count)]
        (folder / f"evals/greeter/{split}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "script.json").write_text(json.dumps(RULES))


def _task(split: str, number: int) -> dict[str, object]:
    kind = "AB"[number % 2]
    name = f"{split}{number}"
    return {"id": name, "input": f"{kind}{name}", "answers": [f"{kind.lower()}-{name}"], "tags": [kind]}


@pytest.fixture
def repo_dir(template: Path, tmp_path: Path) -> Path:
    """A repository with the greeter skill in one commit on main."""
    folder = tmp_path / "repo"
    shutil.copytree(template, folder)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "start")
    return folder


SETTINGS = (
    "model.backend=scripted",
    "model.script=script.json",
    "train.batch_size=4",
    "train.num_epochs=3",
    "gradient.failure_only=true",
)
SCRIPTED = tuple(arg for setting in SETTINGS for arg in ("--set", setting))


@pytest.fixture
def skillgit(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a skillgit command in this process: exit code, standard output, standard error."""
    from skillgit.cli.main import run

    def call(folder: Path, *args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["-C", str(folder), *args])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture(scope="session")
def _trained_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trained") / "repo"


@pytest.fixture
def trained(_trained_once: Path, repo_dir: Path, skillgit: Callable[..., tuple[int, str, str]]) -> Path:
    """A copy of the greeter repository after one finished training run; the run itself is made once per session."""
    if not _trained_once.exists():
        code, _, err = skillgit(repo_dir, "train", "greeter", *SCRIPTED, "--json")
        assert code == 0, err
        shutil.copytree(repo_dir, _trained_once)
    shutil.rmtree(repo_dir)
    shutil.copytree(_trained_once, repo_dir)
    return repo_dir
