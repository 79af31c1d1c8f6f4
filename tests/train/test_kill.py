"""`kill -9` at any instant: the repeated command ends where an uninterrupted run ends, and pays nothing twice."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.train.processes import (
    SETTINGS,
    WORKERS,
    Process,
    begun,
    install_backend,
    ledger,
    left_behind,
    make_repository,
    repeated,
    runs,
    train,
)

IN_FLIGHT = WORKERS  # calls under way at once, of whichever role: stages follow one another


@dataclass
class Killing:
    """One run, killed again and again until it is done."""

    repo: Path
    env: Mapping[str, str]
    chance: random.Random
    longest: float
    settings: Mapping[str, str] = field(default_factory=lambda: SETTINGS)
    kills: int = 0
    last: dict[str, Any] = field(default_factory=dict)

    def until_done(self) -> None:
        while not self._once():
            self.kills += 1

    def _once(self) -> bool:
        stored, known = {request for _, request in ledger(self.repo)}, runs(self.repo)
        process = Process(self.repo, self.env, settings=self.settings)
        planned = process.wait_for("run_planned")
        if known:
            assert planned["run"] == known[0], "the unfinished run was not found"
            assert f"going on with run {known[0]}" in planned["notes"][0]
        time.sleep(self.chance.uniform(0, self.longest))
        killed = process.kill(group=self.chance.random() < 0.3)
        mine = [request for pid, request in begun(self.env) if pid == process.popen.pid]
        assert not stored & set(mine), "a finished call was made again"
        assert not repeated(mine)
        assert killed or process.popen.returncode == 0, process.error
        if killed and (run := self._closed()):
            # Killed between its last word to git and its last word to us.
            killed, process = False, train(self.repo, self.env, "--resume", run, settings={})
        if not killed:
            self.last = process.events[-1]
        return not killed

    def _closed(self) -> str | None:
        for run in runs(self.repo):
            if json.loads(git(self.repo, "show", f"refs/skillgit/runs/greeter/{run}:state.json"))["closed"]:
                return run
        return None


def check_same(killing: Killing, expected: Mapping[str, Any], finished: Mapping[str, Any]) -> None:
    [run] = runs(killing.repo)
    found = left_behind(killing.repo, run)
    for part, value in expected.items():
        assert found[part] == value, part
    same = ("accepted", "rejected", "skipped", "calls", "usage", "test", "reason")
    assert {name: killing.last[name] for name in same} == {name: finished[name] for name in same}
    rows = ledger(killing.repo)
    assert not repeated([request for _, request in rows])
    assert not [key for key, _ in rows if " " in key], "a call was paid twice"
    assert len(rows) == sum(finished["calls"][role] for role in ("target", "optimizer"))
    assert len(begun(killing.env)) <= len(rows) + killing.kills * IN_FLIGHT
    assert not git(killing.repo, "for-each-ref", "--format=%(refname)", "refs/skillgit/scratch")
    git(killing.repo, "fsck", "--strict", "--no-dangling")


def kill_many(folder: Path, *, kills: int, longest: float, seed: int, sizes: Mapping[str, int], **settings: str) -> int:
    """Runs that are killed `kills` times in all, each compared with one that was not. Returns the number of runs."""
    settings = {**SETTINGS, **{key.replace("__", "."): value for key, value in settings.items()}}
    env = install_backend(folder / "calm")
    calm = make_repository(folder / "calm/repo", **sizes)
    process = train(calm, env, settings=settings)
    expected, finished = left_behind(calm, process.run), process.events[-1]
    assert {"accept_new_best", "reject"} <= {e["verdict"] for e in process.events if e["event"] == "step_finished"}
    assert {"slow_update", "meta_skill", "merge", "ranking"} <= set(finished["usage"]["optimizer"])

    chance = random.Random(seed)
    done = number = 0
    while done < kills:
        number += 1
        place = folder / f"killed{number}"
        killing = Killing(make_repository(place / "repo", **sizes), install_backend(place), chance, longest, settings)
        killing.until_done()
        check_same(killing, expected, finished)
        done += killing.kills
    return number


def test_a_run_killed_at_random_instants_ends_as_if_it_was_not(tmp_path: Path) -> None:
    kill_many(tmp_path, kills=50, longest=0.35, seed=7, sizes={})


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_larger_run_killed_many_times_ends_as_if_it_was_not(tmp_path: Path, seed: int) -> None:
    sizes = {"train": 40, "val": 24, "test": 12}
    kill_many(tmp_path, kills=60, longest=0.8, seed=seed, sizes=sizes, train__num_epochs="4", train__batch_size="5")


def test_a_run_killed_before_its_baseline_goes_on_under_its_name_and_counts_its_calls(tmp_path: Path) -> None:
    env = {**install_backend(tmp_path), "COUNTED_LATENCY": "0.05"}
    repo = make_repository(tmp_path / "repo")
    first = Process(repo, env)
    name = first.run
    while not ledger(repo):
        time.sleep(0.01)
    assert first.kill()
    before = len(ledger(repo))
    assert 0 < before < 12, "the baseline was over already"
    assert not git(repo, "branch", "--list", "train/*"), "the branch begins with the baseline"

    second = train(repo, env)
    assert second.run == name
    assert f"going on with run {name}" in second.wait_for("run_planned")["notes"][0]
    calls = second.events[-1]["calls"]
    assert calls["target"] + calls["optimizer"] == len(ledger(repo)) > before
    assert not repeated([request for _, request in ledger(repo)])


def test_a_run_that_was_killed_is_resumed_by_name_from_before_its_baseline(tmp_path: Path) -> None:
    env = {**install_backend(tmp_path), "COUNTED_LATENCY": "0.05"}
    repo = make_repository(tmp_path / "repo")
    first = Process(repo, env)
    while not ledger(repo):
        time.sleep(0.01)
    first.kill()
    second = train(repo, env, "--resume", first.run, settings={})
    assert second.events[-1]["run"] == first.run


def test_the_store_may_be_lost_between_two_kills(tmp_path: Path) -> None:
    """Calls since the last step are then made again; what the run did before stays as it was."""
    env = install_backend(tmp_path)
    calm = train(make_repository(tmp_path / "calm"), env)
    repo = make_repository(tmp_path / "repo")
    first = Process(repo, env)
    while len([event for event in first.events if event["event"] == "step_finished"]) < 3:
        time.sleep(0.005)
    first.kill()
    for part in (repo / ".git/skillgit").glob("cache.db*"):
        part.unlink()
    second = train(repo, env)
    assert second.run == first.run
    assert left_behind(repo, first.run)["messages"] == left_behind(tmp_path / "calm", calm.run)["messages"]
    assert second.events[-1]["test"] == calm.events[-1]["test"]
