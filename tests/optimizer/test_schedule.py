"""Edit budgets over a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgit.optimizer.schedule import edit_budget

CASES = json.loads((Path(__file__).parents[1] / "data/schedule.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[f"{c['mode']}-{c['max_lr']}-{c['total_steps']}" for c in CASES])
def test_budgets_are_the_published_ones(case: dict[str, Any]) -> None:
    steps = range(1, len(case["budgets"]) + 1)
    found = [edit_budget(case["mode"], n, case["total_steps"], case["max_lr"], case["min_lr"]) for n in steps]
    assert found == case["budgets"]


@given(st.sampled_from(["constant", "linear", "cosine"]), st.integers(1, 60), st.integers(1, 20), st.integers(1, 20))
def test_a_budget_only_falls_and_stays_within_its_bounds(mode: str, total: int, a: int, b: int) -> None:
    low, high = sorted((a, b))
    budgets = [edit_budget(mode, step, total, high, low) for step in range(1, total + 3)]
    assert budgets == sorted(budgets, reverse=True)
    assert all(low <= budget <= high for budget in budgets)
    if mode != "constant" and total > 1:
        assert budgets[total - 1] == low
