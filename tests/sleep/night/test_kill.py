"""`kill -9` at any instant of a night: the repeated command ends as an uninterrupted night, paying nothing twice."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path
from typing import Any

from skillgit.sleep.mine import tasksfile
from tests.conftest import SKILL, git
from tests.sleep.night.lab import mined
from tests.train.processes import Process, begun, install_backend, ledger, repeated

WORKERS = 4
SETTINGS = {
    "model.backend": "counted",
    "model.target": "t",
    "model.optimizer": "o",
    "gradient.minibatch_size": "2",
    "gradient.analyst_workers": str(WORKERS),
    "env.workers": str(WORKERS),
    "sleep.edit_budget": "8",
    "sleep.rollouts": "2",
    "sleep.no_regression": "false",
}


def make(folder: Path) -> tuple[Path, dict[str, str]]:
    """A repository with a skill, reviewed tasks of four kinds, and the backend that counts."""
    repo = folder / "repo"
    (repo / "skills/greeter").mkdir(parents=True)
    (repo / "skills/greeter/SKILL.md").write_text(SKILL)
    git(repo, "init", "--quiet", "--initial-branch=main")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "start")
    tasks = []
    for split, count in (("train", 16), ("val", 12), ("test", 4)):
        for number in range(count):
            kind, name = "ABCD"[number % 4], f"{split}{number}"
            said = (f"No, answer {kind} with a dash.",)
            answer, sessions = f"{kind.lower()}-{name}", [f"{number:012x}"]
            tasks.append(mined(name, f"{kind}{name}", answer, split, said=said, skill="greeter", sessions=sessions))
    tasksfile.write(folder / "tasks.jsonl", tasks, project="", sources=())
    text = (folder / "tasks.jsonl").read_text()
    (folder / "tasks.jsonl").write_text(text.replace('"reviewed": false', '"reviewed": true', 1))
    return repo, install_backend(folder)


def night(repo: Path, env: dict[str, str]) -> Process:
    tasks = str(repo.parent / "tasks.jsonl")
    return Process(repo, env, "--tasks-file", tasks, settings=SETTINGS, command="sleep run")


def left_behind(repo: Path) -> dict[str, Any]:
    """Everything the night wrote into git, without times and commit ids."""
    refs = git(repo, "for-each-ref", "--format=%(refname)").splitlines()
    (branch,) = (ref for ref in refs if ref.startswith("refs/heads/sleep/"))
    commits = git(repo, "rev-list", "--reverse", f"main..{branch}").splitlines()
    names = {commit: f"COMMIT{n}" for n, commit in enumerate(commits)}

    def plain(text: str) -> str:
        for name, stand_in in names.items():
            text = text.replace(name, stand_in)
        return re.sub(r'"at":\s*"[^"]*"', '"at":""', text)

    kept = {}
    for ref in refs:
        if ref.startswith("refs/skillgit/"):
            files = git(repo, "ls-tree", "-r", "--name-only", ref).splitlines()
            kept[ref] = {name: plain(git(repo, "show", f"{ref}:{name}")) for name in files}
    notes = {}
    for ref in ("evals", "results", "gates"):
        for line in git(repo, "notes", f"--ref=skillgit/{ref}", "list").splitlines():
            blob, name = line.split()
            notes[ref, plain(name)] = sorted(plain(git(repo, "cat-file", "blob", blob)).splitlines())
    messages = plain(git(repo, "log", "--reverse", "--format=%B%x00", f"main..{branch}"))
    return {
        "refs": sorted(refs),
        "tree": git(repo, "rev-parse", f"{branch}^{{tree}}"),
        "messages": messages,
        "kept": kept,
        "notes": notes,
    }


def test_a_night_killed_at_random_instants_ends_as_if_it_was_not(tmp_path: Path) -> None:
    calm, env = make(tmp_path / "calm")
    process = night(calm, env)
    assert process.wait() == 0, process.error
    expected = left_behind(calm)
    verdicts = {event["verdict"] for event in process.events if event["event"] == "lesson_tried"}
    assert {"accept_new_best", "reject"} <= verdicts

    chance, kills, number = random.Random(3), 0, 0
    while kills < 20:
        number += 1
        repo, env = make(tmp_path / f"killed{number}")
        while not _once(repo, env, chance):
            kills += 1
        found = left_behind(repo)
        for part, value in expected.items():
            assert found[part] == value, part
        rows = ledger(repo)
        assert not repeated([request for _, request in rows])
        assert len(rows) == len(ledger(calm))
        git(repo, "fsck", "--strict", "--no-dangling")


def _once(repo: Path, env: dict[str, str], chance: random.Random) -> bool:
    """Run a night; true when it ended before it was killed."""
    stored = {request for _, request in ledger(repo)}
    process = night(repo, env)
    process.wait_for("night_planned")
    time.sleep(chance.uniform(0, 0.6))
    killed = process.kill(group=chance.random() < 0.3)
    mine = [request for pid, request in begun(env) if pid == process.popen.pid]
    assert not stored & set(mine), "a finished call was made again"
    assert not repeated(mine)
    assert killed or process.popen.returncode == 0, process.error
    return not killed


def test_a_night_killed_after_it_was_published_is_over(tmp_path: Path) -> None:
    repo, env = make(tmp_path)
    first = night(repo, env)
    assert first.wait() == 0, first.error
    before = left_behind(repo)
    again = night(repo, env)
    assert again.wait() == 0, again.error
    assert [event["event"] for event in again.events] == ["nothing_new"]
    assert left_behind(repo) == before
    assert json.loads(git(repo, "show", "refs/skillgit/nights/greeter:nights/" + _night(repo) + ".json"))["fingerprint"]


def _night(repo: Path) -> str:
    return git(repo, "branch", "--list", "sleep/*", "--format=%(refname:lstrip=4)")
