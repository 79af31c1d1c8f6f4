"""A night whose models are a person, or the user's own agent: asked in rounds, never twice, with the same result."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from skillgit.sleep.mine import tasksfile
from skillgit.sleep.proposals.journal import read_nights
from tests.conftest import git
from tests.models.person import Person
from tests.sleep.night.lab import NightLab, mined
from tests.train.test_handoff import play


def write_tasks(file: Path) -> None:
    tasks = []
    for split, count in (("train", 4), ("val", 4)):
        for number in range(count):
            name = f"{split}{number}"
            kind = "AB"[number % 2]
            said = (f"No, {kind} wants a dash and nothing else.",)
            more: dict[str, Any] = {"said": said, "skill": "greeter", "sessions": [f"{number:012x}"]}
            tasks.append(mined(name, f"{kind}{name}", f"{kind.lower()}-{name}", split, **more))
    tasksfile.write(file, tasks, project="", sources=())


def lessons(folder: Path) -> list[tuple[str, str, float | None]]:
    (record,) = read_nights(NightLab(folder).repo, "greeter")
    return [(one.rule, one.verdict, one.score) for one in record.lessons]


def test_a_person_is_asked_in_few_rounds_and_never_twice(repo_dir: Path, skillgit, tmp_path: Path) -> None:
    write_tasks(tmp_path / "tasks.jsonl")
    shutil.copytree(repo_dir, tmp_path / "scripted")
    command = ("sleep", "run", "--tasks-file", str(tmp_path / "tasks.jsonl"), "--unreviewed")
    scripted = ("--backend", "scripted", "--set", "model.script=script.json")
    assert skillgit(tmp_path / "scripted", *command, *scripted)[0] == 0

    person = Person(repo_dir / "script.json")
    rounds, _ = play(skillgit, repo_dir, person, *command, "--backend", "handoff")
    assert lessons(repo_dir) == lessons(tmp_path / "scripted")
    assert max(person.asked.values()) == 1
    # Baseline and train answers together, the analysts, then each lesson's own trial.
    assert rounds[0] == 8
    assert len(rounds) == 2 + len(lessons(repo_dir))
    assert git(repo_dir, "branch", "--list", "sleep/*") != ""
