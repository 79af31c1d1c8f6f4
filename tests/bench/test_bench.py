"""The benchmarks run, and what must hold whatever the machine's speed does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import fail_first, history, lint, rollout_efficiency, startup, step_overhead


def test_step_overhead_sees_accepted_and_rejected_steps() -> None:
    measured = step_overhead.measure(tasks=5, epochs=12)
    assert {"accept_new_best", "reject"} <= {verdict for verdict, _ in measured}
    assert all(0 < ms < 10_000 for _, ms in measured)


def test_rollouts_use_all_workers() -> None:
    shares = rollout_efficiency.measure(count=16, workers=8, latency=0.1, rounds=2)
    assert 0.5 < max(shares) <= 1.0


def test_fail_first_decides_the_same_with_fewer_calls() -> None:
    full, first = (fail_first.measure(val=20, epochs=5, fail_first=on) for on in (False, True))
    assert first.verdicts == full.verdicts
    assert {"accept_new_best", "reject"} <= set(full.verdicts)
    assert first.calls < full.calls


@pytest.mark.parametrize("command", ["--help", "--version"])
def test_start_up_loads_nothing_heavy(command: str) -> None:
    assert startup.imported(command) == set()


def test_long_histories_are_listed_and_explained(tmp_path: Path) -> None:
    folder = history.build(tmp_path / "repo", versions=40)
    assert set(history.measure(folder, rounds=1)) == {"log", "log --graph", "blame"}


def test_start_up_is_measured() -> None:
    assert set(startup.measure(rounds=1)) == {"python", "--help", "--version"}


def test_lint_is_measured_on_skills_without_faults() -> None:
    seconds, spent, lines, said = lint.measure(count=60, rounds=1)
    assert 0 < seconds < 60
    assert 0 < spent < 60
    assert 60 * 60 <= lines <= 60 * 160
    assert said.startswith("60 skills: ")
    assert not {"error", "errors", "warning", "warnings"} & set(said.split())
