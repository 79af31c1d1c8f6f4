"""A run whose models are people: asked in rounds, never twice, with the same result as a model that says the same."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgit.errors import Pending, PendingAnswerError
from skillgit.evals.store import Store
from skillgit.git.skillstore import Version
from skillgit.optimizer.boundary import compare
from skillgit.tasks.base import Task
from tests.conftest import SETTINGS, git
from tests.evals.fakes import tasks, version
from tests.models.person import Person

Skillgit = Callable[..., tuple[int, str, str]]

PEOPLE = ("--backend", "handoff", *(arg for setting in SETTINGS[2:] for arg in ("--set", setting)))
SHORT = (*PEOPLE, "--set", "train.num_epochs=1", "--set", "optimizer.use_slow_update=false")
SHORT = (*SHORT, "--set", "optimizer.use_meta_skill=false", "--set", "evaluation.eval_test=false")


@pytest.fixture
def person(repo_dir: Path) -> Person:
    return Person(repo_dir / "script.json")


def play(skillgit: Skillgit, folder: Path, person: Person, *args: str) -> tuple[list[int], str]:
    """Repeat a command until nobody is asked any more: answers per round, and the last output."""
    rounds: list[int] = []
    while len(rounds) < 100:
        code, out, err = skillgit(folder, *args, "--json")
        if code != 7:
            assert code == 0, err
            return rounds, out
        rounds.append(person.round(out))
    raise AssertionError("it never ends")


def history(folder: Path) -> dict[str, Any]:
    """What a run left, without names, times and the names of its models."""
    branch = git(folder, "for-each-ref", "--format=%(refname)", "refs/heads/train")
    commits = git(folder, "log", "--reverse", "--format=%H", branch).split()
    journal = git(folder, "for-each-ref", "--format=%(refname)", "refs/skillgit/runs")
    subjects = git(folder, "log", "--reverse", "--format=%s", journal).splitlines()
    trees = [git(folder, "rev-parse", f"{commit}:skills/greeter") for commit in commits]
    records = [json.loads(line) for tree in dict.fromkeys(trees) for line in _notes(folder, tree)]
    kept = ("split", "n", "hard", "soft", "score", "tasks", "judge", "complete", "skill")
    scores = sorted(json.dumps({name: record.get(name) for name in kept}) for record in records)
    return {"trees": trees, "journal": [subject.partition("; run ")[0] for subject in subjects], "scores": scores}


def _notes(folder: Path, tree: str) -> list[str]:
    return git(folder, "notes", "--ref=skillgit/evals", "show", tree).splitlines()


def test_people_give_the_same_run_as_a_script_and_are_asked_once(
    trained: Path, tmp_path: Path, skillgit: Skillgit
) -> None:
    folder, person = tmp_path / "people", Person(trained / "script.json")
    git(tmp_path, "clone", "--quiet", "--no-local", "--single-branch", "--branch=main", str(trained), str(folder))
    rounds, out = play(skillgit, folder, person, "train", "greeter", *PEOPLE)
    assert history(folder) == history(trained)
    finished = json.loads(out.splitlines()[-1])
    assert (finished["event"], finished["reason"]) == ("run_finished", "no_headroom")
    assert set(person.asked.values()) == {1}
    # A whole evaluation, batch or report is one round: the baseline, rollouts, analyst and candidate of a step, …
    assert rounds[:4] == [6, 4, 1, 6]
    assert rounds[-1] == 8  # two versions on test
    assert len(rounds) == 13
    assert list((folder / ".git/skillgit-handoff/prompts").iterdir()) == []
    assert not (folder / ".git/skillgit-handoff/PROMPTS.md").exists()


def test_what_people_wrote_outlives_the_store_of_calls(repo_dir: Path, person: Person, skillgit: Skillgit) -> None:
    sizes = []
    while (done := skillgit(repo_dir, "train", "greeter", *SHORT, "--json"))[0] == 7:
        sizes.append(person.round(done[1]))
        shutil.rmtree(repo_dir / ".git/skillgit")
    assert done[0] == 0, done[2]
    assert sizes[:4] == [6, 4, 1, 6]
    assert set(person.asked.values()) == {1}


def test_a_death_before_an_answer_is_stored_loses_nothing(
    repo_dir: Path, person: Person, skillgit: Skillgit, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out, _ = skillgit(repo_dir, "train", "greeter", *SHORT, "--json")
    assert person.round(out) == 6
    with monkeypatch.context() as patch:
        patch.setattr(Store, "put", lambda *_: (_ for _ in ()).throw(RuntimeError("killed")))
        assert skillgit(repo_dir, "train", "greeter", *SHORT, "--json")[0] == 3
    code, out, _ = skillgit(repo_dir, "train", "greeter", *SHORT, "--json")
    assert (code, person.round(out)) == (7, 4)
    assert set(person.asked.values()) == {1}


def test_a_kill_while_prompts_are_written_changes_nothing(repo_dir: Path, person: Person, skillgit: Skillgit) -> None:
    prompts = repo_dir / ".git/skillgit-handoff/prompts"
    command = [sys.executable, "-m", "skillgit", "-C", str(repo_dir), "train", "greeter", *SHORT]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (prompts.is_dir() and list(prompts.glob("*.md"))) and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    rounds, _ = play(skillgit, repo_dir, person, "train", "greeter", *SHORT)
    assert rounds[0] == 6
    assert set(person.asked.values()) == {1}
    assert list(prompts.glob("*.md")) == []


def test_a_bad_answer_is_named_and_the_others_count(repo_dir: Path, person: Person, skillgit: Skillgit) -> None:
    _, out, _ = skillgit(repo_dir, "train", "greeter", *SHORT, "--json")
    person.round(out)
    first, second = (Path(each["answer"]) for each in json.loads(out.splitlines()[-1])["pending"][:2])
    good = first.read_text()
    first.write_text("  \n")
    second.write_bytes(b"\xff\xfe")
    code, out, err = skillgit(repo_dir, "train", "greeter", *SHORT, "--json")
    assert code == 7
    assert "2 answers are needed" in err
    assert f"{first} is empty" in err
    assert f"{second} cannot be read" in err
    assert {each["answer"]: each["problem"] for each in json.loads(out.splitlines()[-1])["pending"]}[str(first)]
    assert git(repo_dir, "notes", "--ref=skillgit/evals", "list", check=False) == ""
    first.write_text(good)
    second.write_text("dunno")
    code, out, _ = skillgit(repo_dir, "train", "greeter", *SHORT, "--json")
    assert (code, len(json.loads(out.splitlines()[-1])["pending"])) == (7, 4)


def test_answers_of_a_part_are_kept_and_only_the_rest_is_asked(
    repo_dir: Path, person: Person, skillgit: Skillgit
) -> None:
    _, out, _ = skillgit(repo_dir, "train", "greeter", *SHORT, "--json")
    pending = json.loads(out.splitlines()[-1])["pending"]
    person.answer(pending[0])
    code, out, _ = skillgit(repo_dir, "train", "greeter", *SHORT, "--json")
    assert (code, json.loads(out.splitlines()[-1])["pending"]) == (7, pending[1:])


def test_one_role_can_be_a_person_and_the_other_a_model(repo_dir: Path, person: Person, skillgit: Skillgit) -> None:
    mixed = ("--set", "model.target_backend=scripted", "--set", "model.script=script.json")
    rounds, _ = play(skillgit, repo_dir, person, "train", "greeter", *SHORT, *mixed)
    assert all(name.startswith("optimizer-") for name in person.asked)
    assert rounds == [1, 1]
    branch = git(repo_dir, "for-each-ref", "--format=%(refname)", "refs/heads/train")
    assert "RULE_A" in git(repo_dir, "show", f"{branch}:skills/greeter/SKILL.md")


def test_all_analysts_of_a_step_ask_in_one_round(repo_dir: Path, person: Person, skillgit: Skillgit) -> None:
    alone = ("--set", "gradient.minibatch_size=1", "--set", "gradient.analyst_workers=1")
    sizes = []
    for _ in range(3):
        _, out, _ = skillgit(repo_dir, "train", "greeter", *SHORT, *alone, "--json")
        sizes.append(person.round(out))
    assert sizes == [6, 4, 4]


def test_merges_of_failures_and_of_successes_ask_in_one_round(
    repo_dir: Path, person: Person, skillgit: Skillgit
) -> None:
    with (repo_dir / "skills/greeter/SKILL.md").open("a") as file:
        file.write("\n- RULE_A: answer A with a dash\n")
    git(repo_dir, "commit", "--quiet", "--all", "-m", "one rule")
    both = ("gradient.minibatch_size=1", "gradient.failure_only=false", "train.batch_size=8")
    args = (*SHORT, *(arg for setting in (*both, "gradient.merge_batch_size=2") for arg in ("--set", setting)))
    sizes = []
    for _ in range(6):
        _, out, _ = skillgit(repo_dir, "train", "greeter", *args, "--json")
        sizes.append(person.round(out))
        for each in json.loads(out.splitlines()[-1])["pending"]:
            if each["role"] == "optimizer":
                # No two say the same, so that no two merges ask the same.
                path = Path(each["answer"])
                path.write_text(json.dumps({**json.loads(path.read_text()), "reasoning": path.name}))
    # Two merges of two patches on each side, one of these on each, and one of both sides.
    assert sizes == [6, 8, 8, 4, 2, 1]


def test_both_versions_of_an_epoch_are_compared_in_one_round() -> None:
    class Asking:
        workers = 1

        def run(self, version: Version, tasks: list[Task], *, step: int, stage: str) -> None:
            raise PendingAnswerError([Pending("target", f"{version.object}/{task.id}", "") for task in tasks])

    with pytest.raises(PendingAnswerError) as caught:
        compare(Asking(), version("old"), version("new"), tasks(2), samples=2, seed=1, step=1)
    assert sorted(each.prompt for each in caught.value.pending) == ["new/t0", "new/t1", "old/t0", "old/t1"]


def test_eval_asks_for_all_splits_and_noise_for_both_samples_at_once(
    repo_dir: Path, person: Person, skillgit: Skillgit
) -> None:
    backend = ("--set", "model.backend=handoff")
    rounds, out = play(skillgit, repo_dir, person, "eval", "greeter", "--split", "all", *backend)
    assert rounds == [18]
    assert [record["hard"] for record in json.loads(out)["records"]] == [0.0, 0.0, 0.0]
    rounds, _ = play(skillgit, repo_dir, person, "noise", "greeter", *backend)
    assert rounds == [12]
    assert set(person.asked.values()) == {1}


def test_what_is_needed_is_listed_for_people_too(repo_dir: Path, skillgit: Skillgit) -> None:
    code, out, err = skillgit(repo_dir, "eval", "greeter", "--set", "model.backend=handoff")
    assert code == 7
    assert out == ""
    prompts = sorted((repo_dir / ".git/skillgit-handoff/prompts").iterdir())
    assert len(prompts) == 6
    assert all(f"{prompt} waits for an answer" in err for prompt in prompts)
    assert f"read {repo_dir}/.git/skillgit-handoff/PROMPTS.md" in err


def test_worktrees_share_their_prompts(repo_dir: Path, tmp_path: Path, skillgit: Skillgit) -> None:
    git(repo_dir, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    code, _, err = skillgit(tmp_path / "linked", "eval", "greeter", "--set", "model.backend=handoff")
    assert code == 7
    assert str(repo_dir / ".git/skillgit-handoff/prompts") in err
