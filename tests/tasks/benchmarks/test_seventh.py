"""The example of a benchmark from another package: installed beside skillgit, and trained on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from skillgit.config.load import load_config
from skillgit.errors import ConfigError, TaskError, TransientModelError
from skillgit.models.base import Reply
from skillgit.tasks.base import BenchmarkContext
from tests.conftest import git
from tests.train.processes import ROOT, Process

EXAMPLE = ROOT / "examples/seventh-benchmark"


def install(folder: Path) -> dict[str, str]:
    """Install the example's package as its own pyproject.toml says; the environment of processes that have it."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    info = folder / f"plugins/{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{name} = {at}\n" for name, at in points.items()) for group, points in groups]
    (info / "entry_points.txt").write_text("".join(lines))
    shutil.copy(EXAMPLE / "guess_number.py", folder / "plugins")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "plugins"), str(ROOT)])}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The example as a repository of its own."""
    folder = tmp_path / "repo"
    shutil.copytree(EXAMPLE, folder)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "start")
    return folder


def test_it_is_trained_on_and_measured(repository, tmp_path):
    env = install(tmp_path)
    process = Process(repository, env, settings={}, command="train guess-number")
    assert process.wait() == 0, process.error
    (step,) = [event for event in process.events if event.get("kind") == "step"]
    assert (step["verdict"], step["base_score"], step["score"]) == ("accept_new_best", 0.25, 1.0)
    assert len(step["improved"]) == 6
    assert "middle of the range" in git(repository, "log", "-1", "-p", f"train/guess-number/{process.run}")

    # Two guesses are another measurement, and a worse one.
    command = [sys.executable, "-m", "skillgit", "-C", str(repository), "eval", "guess-number"]
    command += [f"train/guess-number/{process.run}", "--split", "test", "--json", "--set"]
    found = []
    for guesses in (3, 2):
        done = subprocess.run(
            [*command, f"env.options={{guesses: {guesses}}}"], env=env, capture_output=True, check=True
        )
        found.append(json.loads(done.stdout))
    assert [record["hard"] for record in found] == [1.0, 0.5]
    assert found[0]["judge"] != found[1]["judge"]


@pytest.fixture
def guess_number(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    from guess_number import GuessNumber

    return lambda root, **options: GuessNumber(BenchmarkContext(root, "guess-number", options))


def test_it_is_less_than_a_hundred_lines_and_all_that_the_readme_names_is_there():
    assert len((EXAMPLE / "guess_number.py").read_text().splitlines()) < 100
    for name in ("guess_number.py", "pyproject.toml", "skillgit.yaml", "script.json", "skills/guess-number/SKILL.md"):
        assert (EXAMPLE / name).is_file()


def test_what_is_left_of_the_range_is_asked_and_scored(guess_number, repository):
    bench, replies, asked = guess_number(repository), iter(("14", "is it 16?", "no idea")), []

    def ask(request):
        asked.append([turn.content for turn in request.messages])
        return Reply(next(replies))

    task = next(task for task in bench.load().train if task.data["secret"] == 15)
    got = bench.rollout(task, "Halve.", ask)
    assert asked[0][0] == "## Skill\n\nHalve."
    assert ["from 11 to 17" in asked[0][-1], "from 15 to 17" in asked[1][-1], "from 15 to 15" in asked[2][-1]] == [
        True
    ] * 3
    assert (got.score.hard, got.score.reason) == (0.0, "it was 15; 15 to 15 was left")
    assert got.score.soft == pytest.approx(6 / 7)


def test_errors_of_the_model_pass_through(guess_number, repository):
    def ask(request):
        raise TransientModelError("no answer")

    bench = guess_number(repository)
    with pytest.raises(TransientModelError):
        bench.rollout(bench.load().val[0], "", ask)


def test_every_faulty_task_is_named(guess_number, tmp_path):
    folder = tmp_path / "evals/guess-number"
    folder.mkdir(parents=True)
    rows = [{"id": "a", "low": 1, "high": 7, "secret": 9}, {"id": "b", "low": 1.5, "high": 7, "secret": 2}, {"low": 1}]
    (folder / "train.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(TaskError, match="4 problems") as caught:
        guess_number(tmp_path).load()
    assert "train.jsonl:3" in str(caught.value)


@pytest.mark.parametrize("settings", ["{api_key: k}", "[1]", "{1: 2}"])
def test_settings_are_named_and_hold_no_secret(tmp_path, settings):
    with pytest.raises(ConfigError, match=r"env\.options(\.api_key would put a secret| must map names)"):
        load_config(tmp_path, "", [f"env.options={settings}"])
