"""Several trainings in one repository, and Ctrl-C: nobody's work is lost."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from skillgit.evals.store import Payer, Store
from skillgit.models.base import Reply, Usage
from tests.conftest import git
from tests.train.processes import (
    SETTINGS,
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


def check_whole(repo: Path, run: str) -> None:
    """The journal is closed and gapless, the branch is where it says, every record and gate line is in the notes."""
    ref = f"refs/skillgit/runs/greeter/{run}"
    state = json.loads(git(repo, "show", f"{ref}:state.json"))
    assert state["closed"]
    assert git(repo, "rev-parse", f"train/greeter/{run}") == state["current"]["commit"]
    names = git(repo, "ls-tree", "--name-only", ref, "steps/").splitlines()
    assert len(names) == state["tick"] + 1
    gates = git(repo, "log", "--all", "--notes=skillgit/gates", "--format=%N").splitlines()
    for name in names:
        step = json.loads(git(repo, "show", f"{ref}:{name}"))
        if record := step.get("record"):
            lines = git(repo, "notes", "--ref=skillgit/evals", "show", record["skill"]).splitlines()
            assert record in map(json.loads, lines), name
            lines = git(repo, "notes", "--ref=skillgit/results", "show", record["skill"]).splitlines()
            assert record["id"] in [json.loads(line)["record"] for line in lines], name
            where = f"run {run}"
            assert any(where in line for line in gates), name
    told = [line for line in gates if f"run {run}" in line]
    assert len(told) == sum("gate" in _record(repo, ref, name) for name in names) + 1, "one line per gate and baseline"


def _record(repo: Path, ref: str, name: str) -> dict[str, Any]:
    return json.loads(git(repo, "show", f"{ref}:{name}"))


def results(repo: Path, run: str) -> Any:
    found = left_behind(repo, run)
    return found["tree"], found["messages"], {name: found["files"][name] for name in found["files"] if "cand" in name}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return install_backend(tmp_path)


def test_two_different_trainings_at_once_keep_both_journals_and_every_note(tmp_path: Path, env) -> None:
    repo = make_repository(tmp_path / "repo")
    other = {**SETTINGS, "train.seed": "7"}
    both = [Process(repo, env), Process(repo, env, settings=other)]
    assert [process.wait() for process in both] == [0, 0], [process.error for process in both]
    assert sorted(process.run for process in both) == sorted(runs(repo))
    for process in both:
        check_whole(repo, process.run)
    alone = make_repository(tmp_path / "alone")
    for process, settings in zip(both, (SETTINGS, other), strict=True):
        calm = train(alone, env, settings=settings)
        assert results(repo, process.run) == results(alone, calm.run)


@pytest.mark.parametrize("later", ["", "run_planned", "baseline", "step_finished"])
def test_the_same_command_twice_at_once_makes_two_whole_runs(tmp_path: Path, env, later: str) -> None:
    repo = make_repository(tmp_path / "repo")
    first = Process(repo, env)
    if later:
        first.wait_for(later)
    second = Process(repo, env)
    assert [first.wait(), second.wait()] == [0, 0], (first.error, second.error)
    assert first.run != second.run
    for run in (first.run, second.run):
        check_whole(repo, run)
    assert results(repo, first.run) == results(repo, second.run)


def test_one_of_two_commands_goes_on_with_a_killed_run(tmp_path: Path, env) -> None:
    repo = make_repository(tmp_path / "repo")
    killed = Process(repo, env)
    killed.wait_for("step_finished")
    killed.kill()
    both = [Process(repo, env), Process(repo, env)]
    codes = [process.wait() for process in both]
    assert 0 in codes
    assert set(codes) <= {0, 4}
    for process, code in zip(both, codes, strict=True):
        if code == 4:
            assert "another" in process.error
        else:
            check_whole(repo, process.run)
    assert killed.run in [process.run for process, code in zip(both, codes, strict=True) if code == 0]


def test_a_run_that_is_going_on_is_not_resumed_by_name(tmp_path: Path, env) -> None:
    repo = make_repository(tmp_path / "repo")
    first = Process(repo, {**env, "COUNTED_LATENCY": "0.05"})
    first.wait_for("baseline")
    second = Process(repo, env, "--resume", first.run, settings={})
    assert second.wait() == 4
    assert "another skillgit process" in second.error
    assert first.wait() == 0
    check_whole(repo, first.run)


def test_a_branch_that_someone_looks_at_stops_the_resumed_run_before_it_spends(tmp_path: Path, env) -> None:
    repo = make_repository(tmp_path / "repo")
    first = Process(repo, env)
    first.wait_for("step_finished")
    first.kill()
    git(repo, "worktree", "add", "--quiet", str(tmp_path / "look"), f"train/greeter/{first.run}")
    calls = len(begun(env))
    for args in ((), ("--resume", first.run)):
        again = Process(repo, env, *args, settings={} if args else SETTINGS)
        assert again.wait() == 4
        assert "is checked out in" in again.error
    assert len(begun(env)) == calls


def test_more_patience_or_another_address_goes_on_with_the_same_run(tmp_path: Path, env) -> None:
    repo = make_repository(tmp_path / "repo")
    first = Process(repo, env)
    first.wait_for("step_finished")
    first.kill()
    changed = {"model.timeout": "9", "model.retries": "1", "model.base_url": "http://127.0.0.1:1", "env.workers": "2"}
    assert train(repo, env, "--max-calls", "5000", settings={**SETTINGS, **changed}).run == first.run


def test_another_seed_or_task_starts_a_new_run(tmp_path: Path, env) -> None:
    repo = make_repository(tmp_path / "repo")
    first = Process(repo, env)
    first.wait_for("step_finished")
    first.kill()
    assert train(repo, env, "--dry-run", settings={**SETTINGS, "train.seed": "1"}).run != first.run
    assert train(repo, env, "--dry-run", "--fresh").run != first.run
    assert train(repo, env, "--dry-run").run == first.run
    with (repo / "evals/greeter/val.jsonl").open("a") as tasks:
        tasks.write('{"id": "new", "input": "Anew", "answers": ["a-new"]}\n')
    assert train(repo, env, "--dry-run").run != first.run


def interrupt(process: Process, times: int = 1) -> float:
    """Seconds until the process ends after Ctrl-C."""
    started = time.monotonic()
    for _ in range(times):
        process.popen.send_signal(signal.SIGINT)
        time.sleep(0.3 if times > 1 else 0)
    assert process.wait() == 130, process.error
    return time.monotonic() - started


@pytest.mark.parametrize("when", ["baseline", "rollouts", "analysts"])
def test_ctrl_c_keeps_the_calls_in_flight_and_resume_finishes(
    tmp_path: Path, env: Mapping[str, str], when: str
) -> None:
    calls = {"baseline": 3, "rollouts": 13, "analysts": 19}[when]
    repo = make_repository(tmp_path / "repo")
    process = Process(repo, {**env, "COUNTED_LATENCY": "0.2"})
    while len(begun(env)) < calls:
        time.sleep(0.005)
    assert interrupt(process) < 3
    assert "Traceback" not in process.error
    stored = {request for _, request in ledger(repo)}
    assert stored == {request for _, request in begun(env)}, "a call that was paid for was not kept"

    second = train(repo, env)
    assert second.run == process.run
    assert not repeated([request for _, request in begun(env)])
    calm = train(make_repository(tmp_path / "calm"), install_backend(tmp_path / "calm"))
    assert left_behind(repo, process.run) == left_behind(tmp_path / "calm", calm.run)


def test_a_second_ctrl_c_does_not_wait_for_anything(tmp_path: Path, env) -> None:
    repo = make_repository(tmp_path / "repo")
    process = Process(repo, {**env, "COUNTED_LATENCY": "30"})
    while not begun(env):
        time.sleep(0.01)
    assert interrupt(process, times=2) < 3
    assert train(repo, env).run == process.run


def test_many_processes_open_a_new_store_at_once(tmp_path: Path) -> None:
    def use(number: int) -> int:
        store = Store(tmp_path / f"cache{number // 8}.db")
        try:
            reply = Reply(f"answer {number}", Usage(1, 1))
            store.put(f"own {number}", reply, Payer(f"run{number}", 0, "target", "val"))
            kept = store.put("common", reply, Payer(f"run{number}", 0, "target", "val"))
            assert store.get("common")[0] == kept
            return store.spent(f"run{number}")[0].calls
        finally:
            store.close()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(use, range(160))) == {2}, "a call that lost the race was paid all the same"
