"""The benchmark of hooks runs, and what must hold whatever the machine's speed does."""

from __future__ import annotations

import pytest

from tests.bench import hook_time


def test_a_commit_is_measured_with_and_without_hooks() -> None:
    taken = hook_time.measure(rounds=1)
    assert set(taken) == set(hook_time.ROWS)
    assert min(taken["git commit"]) < min(*taken["pre-commit"], *taken["commit-msg"])


@pytest.mark.parametrize(("name", "allowed"), [("commit-msg", set()), ("pre-commit", {"git", "yaml"})])
def test_a_hook_loads_nothing_it_does_not_need(name: str, allowed: set[str]) -> None:
    assert hook_time.imported(name) <= allowed
