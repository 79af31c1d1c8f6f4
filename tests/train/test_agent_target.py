"""Training with a command-line agent as the target: it reads each version of the skill from its folder."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import ModelConfigError
from skillgit.evals.caller import Caller
from skillgit.evals.setup import conditions, load_tasks, locate, make_rollouts
from skillgit.evals.workspaces import Workspaces
from skillgit.events import ignore
from skillgit.git.repository import Repository
from skillgit.git.skillstore import read_version, with_document
from skillgit.models.base import Message, ModelSpec, Reply, Request, Workspace
from skillgit.models.budget import Budget, Limits
from skillgit.models.scripted import Scripted
from skillgit.skills.document import Document
from skillgit.tasks.base import Task
from tests.conftest import SCRIPTED, SETTINGS, git
from tests.evals.fakes import Memory
from tests.train.lab import Lab
from tests.train.processes import ROOT, Process

_AGENT = """#!{python}
import json, os, sys
if "--version" in sys.argv:
    print("codex-cli 1.0"); sys.exit()
skill = open(".agents/skills/greeter/SKILL.md").read()
more = open(".agents/skills/greeter/references/more.md").read()
task = open("task.md").read().strip()
told = sys.stdin.read()
with open({log!r}, "a") as log:
    log.write(json.dumps([task, skill, more, told, sys.argv[1:]]) + "\\n")
answer = task[0].lower() + "-" + task[1:] if "RULE_" + task[0] in skill else "dunno"
if "HARM" in skill and task[0] == "A":
    answer = "dunno"
open(sys.argv[sys.argv.index("--output-last-message") + 1], "w").write(answer)
item = {{"type": "command_execution", "command": "cat task.md", "aggregated_output": task, "exit_code": 0}}
print(json.dumps({{"type": "item.completed", "item": item}}))
print(json.dumps({{"type": "turn.completed", "usage": {{"input_tokens": 50, "output_tokens": 5}}}}))
"""
AGENT = ("model.target_backend=codex_exec", "model.target=m1")


class Agent:
    """A stand-in for `codex` that does tasks by the skill in its folder, and notes what it was given."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "agent.log"
        program = folder / "bin/codex"
        program.parent.mkdir()
        program.write_text(_AGENT.format(python=sys.executable, log=str(self._log)))
        program.chmod(0o755)
        self.path = f"{program.parent}:{os.environ['PATH']}"

    @property
    def given(self) -> list[list[Any]]:
        """Task, skill, reference, prompt and arguments of every run."""
        return [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    made = Agent(tmp_path)
    monkeypatch.setenv("PATH", made.path)
    return made


@pytest.fixture
def skill_repo(repo_dir: Path) -> Path:
    """The greeter skill with a reference file."""
    (repo_dir / "skills/greeter/references").mkdir()
    (repo_dir / "skills/greeter/references/more.md").write_text("More.\n")
    (repo_dir / "skills/greeter/run.sh").write_text("#!/bin/sh\n")
    (repo_dir / "skills/greeter/run.sh").chmod(0o755)
    git(repo_dir, "add", "--all")
    git(repo_dir, "commit", "--quiet", "-m", "a reference")
    return repo_dir


def settings(*more: str) -> list[str]:
    return [part for text in (*AGENT, *more) for part in ("--set", text)]


def test_an_agent_learns_from_versions_in_its_folder_and_records_say_what_it_may(
    skill_repo: Path, agent: Agent, skillgit: Any
) -> None:
    code, out, err = skillgit(skill_repo, "train", "greeter", *SCRIPTED, *settings(), "--json")
    assert code == 0, err
    events = [json.loads(line) for line in out.splitlines()]
    verdicts = [e["verdict"] for e in events if e["event"] == "step_finished" and e["kind"] == "step"]
    assert verdicts[:2] == ["accept_new_best", "reject"]
    assert events[-1]["best"]["score"] == 1.0
    given = agent.given
    assert {more for _, _, more, _, _ in given} == {"More.\n"}
    assert not any("Greeter" in told or "RULE_" in told for *_, told, _ in given)
    assert all(args[args.index("--sandbox") + 1] == "read-only" for *_, args in given)
    notes = git(skill_repo, "notes", "--ref=skillgit/evals", "list").splitlines()
    records = [
        json.loads(text)
        for line in notes
        for text in git(skill_repo, "cat-file", "blob", line.split()[0]).splitlines()
        if text
    ]
    assert {record["target"]["sandbox"] for record in records} == {"read-only"}
    assert {record["target"]["backend"] for record in records} == {"codex_exec"}


def test_a_run_with_a_bypassed_sandbox_says_so_and_is_not_compared_with_others(
    skill_repo: Path, agent: Agent, skillgit: Any
) -> None:
    free = settings("model.codex.sandbox=danger-full-access")
    for more in (settings(), free):
        code, _, err = skillgit(skill_repo, "eval", "greeter", *SCRIPTED, *more, "--json")
        assert code == 0, err
    listed = git(skill_repo, "notes", "--ref=skillgit/evals", "list").split()[0]
    records = [json.loads(line) for line in git(skill_repo, "cat-file", "blob", listed).splitlines() if line]
    said = {record["target"]["sandbox"] for record in records}
    assert said == {"read-only", "danger-full-access (permissions bypassed)"}
    ids = {record["id"] for record in records}
    assert len(ids) == len(records) == 2


def test_a_killed_run_pays_nothing_twice(skill_repo: Path, agent: Agent, tmp_path: Path) -> None:
    own = dict(text.split("=", 1) for text in (*SETTINGS, *AGENT, "env.workers=2"))
    env = {**os.environ, "PATH": agent.path, "PYTHONPATH": str(ROOT)}
    first = Process(skill_repo, env, settings=own)
    deadline = time.monotonic() + 60
    while len(agent.given) < 9 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert first.kill()
    time.sleep(0.3)  # an agent that was at work ends by itself
    before = len(agent.given)
    second = Process(skill_repo, env, settings=own)
    assert second.wait() == 0, second.error
    assert second.run == first.run
    seen = Counter((task, skill) for task, skill, *_ in agent.given)
    # Only what was in flight is asked again.
    assert sum(seen.values()) - len(seen) <= 2
    assert len(agent.given) > before


# --- workspaces


def test_a_candidate_that_is_not_written_yet_has_the_files_of_its_base(skill_repo: Path) -> None:
    repo = Repository.open(skill_repo)
    place = locate(repo, Lab(skill_repo).config(skill_repo), "greeter")
    base = read_version(repo, "HEAD", place)
    assert base is not None
    first = with_document(repo, base, place, Document("# One\n"))
    second = with_document(repo, first, place, Document("# Two\n"))
    assert repo.resolve(f"{second.object}^{{tree}}") is None
    work = Workspaces(repo, place, edits=True).of(second, Task("t", "in", files={"a.txt": "A"}))
    files = {"SKILL.md": b"# Two\n", "references/more.md": b"More.\n", "run.sh": b"#!/bin/sh\n"}
    assert (work.files, work.executables) == (files, {"run.sh"})
    assert (work.skill, work.object, work.attachments, work.writable) == (
        "greeter",
        second.object,
        {"a.txt": "A"},
        True,
    )


def test_a_skill_of_one_file_is_a_folder_there(skill_repo: Path) -> None:
    (skill_repo / "alone.md").write_text("# Alone\n")
    git(skill_repo, "add", "--all")
    git(skill_repo, "commit", "--quiet", "-m", "alone")
    repo = Repository.open(skill_repo)
    place = locate(repo, Lab(skill_repo).config(skill_repo, "skill.path=alone.md"), "")
    version = read_version(repo, "HEAD", place)
    assert version is not None
    changed = with_document(repo, version, place, Document("# Changed\n"))
    for each, text in ((version, b"# Alone\n"), (changed, b"# Changed\n")):
        assert Workspaces(repo, place, edits=False).of(each, Task("t", "in")).files == {"SKILL.md": text}


def test_a_symbolic_link_in_a_skill_stops_the_run_before_the_agent_is_asked(
    skill_repo: Path, agent: Agent, skillgit: Any
) -> None:
    (skill_repo / "skills/greeter/references/link.md").symlink_to("/etc/hostname")
    git(skill_repo, "add", "--all")
    git(skill_repo, "commit", "--quiet", "-m", "a link")
    code, _, err = skillgit(skill_repo, "eval", "greeter", *SCRIPTED, *settings())
    assert code == 4
    assert "references/link.md is a symbolic link" in err
    assert agent.given == []


def test_files_are_read_once_per_version(skill_repo: Path) -> None:
    repo = Repository.open(skill_repo)
    place = locate(repo, Lab(skill_repo).config(skill_repo), "greeter")
    version = read_version(repo, "HEAD", place)
    assert version is not None
    made = Workspaces(repo, place, edits=False)
    assert made.of(version, Task("a", "in")).files is made.of(version, Task("b", "in")).files


# --- calls


def test_a_call_is_known_by_skill_object_and_attachments(tmp_path: Path) -> None:
    model = Scripted(ModelSpec("target", "scripted", "m"), lambda request: Reply("said"))
    memory = Memory()
    caller = Caller(model, memory, Budget(Limits()), "r")  # type: ignore[arg-type]
    ask = (Message("user", "Hi"),)

    def keys(*works: Workspace | None) -> int:
        memory.replies.clear()
        for work in works:
            caller.call(Request(ask, workspace=work), scope=("x",), step=0, stage="val")
        return len(memory.replies)

    work = Workspace("s", "v1", {"SKILL.md": b"bytes"}, attachments={"a": "1"})
    assert keys(work, replace(work, files={"SKILL.md": b"other bytes"})) == 1
    others = [{"object": "v2"}, {"attachments": {"a": "2"}}, {"writable": True}, {"skill": "t"}]
    assert keys(work, *(replace(work, **change) for change in others), None) == 6


def test_tasks_that_ask_for_edits_need_an_agent(skill_repo: Path, agent: Agent) -> None:
    repo = Repository.open(skill_repo)
    config = Lab(skill_repo).config(skill_repo)
    place = locate(repo, config, "greeter")
    benchmark, splits = load_tasks(repo, config, place)
    benchmark.edits = True  # type: ignore[attr-defined]
    chat = Scripted(ModelSpec("target", "scripted", "m"), lambda request: Reply("x"))
    caller = Caller(chat, Memory(), Budget(Limits()), "r")  # type: ignore[arg-type]
    with pytest.raises(ModelConfigError, match="ask for changes to files, which scripted cannot make"):
        make_rollouts(repo, config, place, benchmark, caller, ignore)
    from skillgit.models.registry import build

    caller = Caller(build(ModelSpec("target", "codex_exec", "m")), Memory(), Budget(Limits()), "r")  # type: ignore[arg-type]
    assert conditions(config, benchmark, splits, "val", caller).target["sandbox"] == "workspace-write"
    assert make_rollouts(repo, config, place, benchmark, caller, ignore)
